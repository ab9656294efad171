/* Softmax and simplex rows.  Compiled once for each instruction set with PC_VARIANT set to its
 * name; see row_kernels.h.  Inner loops over PC_LANES are what compilers turn into vectors. */
#include "kernels/row_kernels.h"

#include "kernels/lane_math.h"

#define KERNELS_JOIN(a, b) a##b
#define KERNELS_NAME(variant) KERNELS_JOIN(pc_row_kernels_, variant)
#define KERNELS_TEXT(variant) KERNELS_QUOTE(variant)
#define KERNELS_QUOTE(text) #text

/* Fixed order: lanes 8 apart, then 4, 2, 1. */
static double kernels_fold(double lanes[PC_LANES]) {
  for (size_t width = PC_LANES / 2; width > 0; width /= 2)
    for (size_t l = 0; l < width; l++)
      lanes[l] += lanes[l + width];
  return lanes[0];
}

/* The largest of a row, its lowest index, and whether all are finite.  z - z is 0 for finite
 * numbers and NaN for others.  `index` is as wide as `type`. */
#define KERNELS_MAX(name, type, index)                                     \
  static type name(const type *z, size_t count, size_t *at, int *finite) { \
    type top[PC_LANES], odd[PC_LANES];                                     \
    index where[PC_LANES];                                                 \
    for (size_t l = 0; l < PC_LANES; l++) {                                \
      top[l] = z[0];                                                       \
      odd[l] = 0;                                                          \
      where[l] = 0;                                                        \
    }                                                                      \
    const size_t whole = count / PC_LANES * PC_LANES;                      \
    for (size_t j = 0; j < whole; j += PC_LANES)                           \
      for (size_t l = 0; l < PC_LANES; l++) {                              \
        const type here = z[j + l];                                        \
        const int more = here > top[l];                                    \
        top[l] = more ? here : top[l];                                     \
        where[l] = more ? (index)j + (index)l : where[l];                  \
        odd[l] += here - here;                                             \
      }                                                                    \
    type best = z[0], any = 0;                                             \
    *at = 0;                                                               \
    for (size_t l = 0; l < PC_LANES; l++) {                                \
      if (top[l] > best || (top[l] == best && (size_t)where[l] < *at)) {   \
        best = top[l];                                                     \
        *at = (size_t)where[l];                                            \
      }                                                                    \
      any += odd[l];                                                       \
    }                                                                      \
    for (size_t j = whole; j < count; j++) {                               \
      if (z[j] > best) {                                                   \
        best = z[j];                                                       \
        *at = j;                                                           \
      }                                                                    \
      any += z[j] - z[j];                                                  \
    }                                                                      \
    *finite = any == 0;                                                    \
    return best;                                                           \
  }

KERNELS_MAX(kernels_max_f32, float, int32_t)
KERNELS_MAX(kernels_max_f64, double, int64_t)

/* Sums in lanes over everything below the maximum; `same` counts what equals it. */
static void kernels_close(double sum[PC_LANES], double square[PC_LANES], double same[PC_LANES],
                          pc_softmax_facts *facts) {
  const double ties = kernels_fold(same) - 1.0;
  facts->rest = kernels_fold(sum) + ties;
  facts->rest_square = kernels_fold(square) + ties;
}

#define KERNELS_TERM(l)                         \
  const double shift = (double)z[j + l] - max;  \
  const double term = pc_lane_exp(shift);       \
  const double below = shift < 0.0 ? 1.0 : 0.0; \
  const double counted = term * below;          \
  sum[l] += counted;                            \
  square[l] += counted * counted;               \
  same[l] += 1.0 - below

#define KERNELS_SOFTMAX(name, lean, full, largest, type)                                  \
  static void lean(const type *restrict z, size_t count, pc_softmax_facts *facts) {       \
    const double max = facts->max;                                                        \
    double sum[PC_LANES] = {0.0}, square[PC_LANES] = {0.0}, same[PC_LANES] = {0.0};       \
    const size_t whole = count / PC_LANES * PC_LANES;                                     \
    for (size_t j = 0; j < whole; j += PC_LANES)                                          \
      for (size_t l = 0; l < PC_LANES; l++) {                                             \
        KERNELS_TERM(l);                                                                  \
      }                                                                                   \
    for (size_t j = whole, l = 0; j + l < count; l++) {                                   \
      KERNELS_TERM(l);                                                                    \
    }                                                                                     \
    kernels_close(sum, square, same, facts);                                              \
  }                                                                                       \
  static void full(const type *restrict z, size_t count, double *restrict terms,          \
                   pc_softmax_facts *facts) {                                             \
    const double max = facts->max;                                                        \
    double sum[PC_LANES] = {0.0}, square[PC_LANES] = {0.0}, same[PC_LANES] = {0.0};       \
    const size_t whole = count / PC_LANES * PC_LANES;                                     \
    for (size_t j = 0; j < whole; j += PC_LANES)                                          \
      for (size_t l = 0; l < PC_LANES; l++) {                                             \
        KERNELS_TERM(l);                                                                  \
        terms[j + l] = term;                                                              \
      }                                                                                   \
    for (size_t j = whole, l = 0; j + l < count; l++) {                                   \
      KERNELS_TERM(l);                                                                    \
      terms[j + l] = term;                                                                \
    }                                                                                     \
    kernels_close(sum, square, same, facts);                                              \
  }                                                                                       \
  static void name(const type *z, size_t count, double *terms, pc_softmax_facts *facts) { \
    facts->max = (double)largest(z, count, &facts->top, &facts->finite);                  \
    if (!facts->finite)                                                                   \
      return;                                                                             \
    if (terms == NULL)                                                                    \
      lean(z, count, facts);                                                              \
    else                                                                                  \
      full(z, count, terms, facts);                                                       \
  }

KERNELS_SOFTMAX(kernels_softmax_f32, kernels_lean_f32, kernels_full_f32, kernels_max_f32, float)
KERNELS_SOFTMAX(kernels_softmax_f64, kernels_lean_f64, kernels_full_f64, kernels_max_f64,
                double)

static void kernels_softmax_fast(const float *restrict z, size_t count,
                                 pc_softmax_facts *facts) {
  const float max = kernels_max_f32(z, count, &facts->top, &facts->finite);
  float sum[PC_LANES] = {0.0f}, square[PC_LANES] = {0.0f}, same[PC_LANES] = {0.0f};
  const size_t whole = count / PC_LANES * PC_LANES;
  for (size_t j = 0; j < whole; j += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++) {
      const float shift = z[j + l] - max;
      const float below = shift < 0.0f ? 1.0f : 0.0f;
      const float term = pc_lane_expf(shift) * below;
      sum[l] += term;
      square[l] += term * term;
      same[l] += 1.0f - below;
    }
  double wide_sum[PC_LANES], wide_square[PC_LANES], wide_same[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++) {
    wide_sum[l] = (double)sum[l];
    wide_square[l] = (double)square[l];
    wide_same[l] = (double)same[l];
  }
  for (size_t j = whole, l = 0; j + l < count; l++) {
    const float shift = z[j + l] - max;
    const double term = shift < 0.0f ? (double)pc_lane_expf(shift) : 0.0;
    wide_sum[l] += term;
    wide_square[l] += term * term;
    wide_same[l] += shift < 0.0f ? 0.0 : 1.0;
  }
  facts->max = (double)max;
  kernels_close(wide_sum, wide_square, wide_same, facts);
}

static void kernels_softmax_lanes(const double *restrict z, size_t count,
                                  double *restrict terms, pc_softmax_lanes *restrict facts) {
  double max[PC_LANES], top[PC_LANES], odd[PC_LANES], rest[PC_LANES], square[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++) {
    max[l] = z[l];
    top[l] = odd[l] = rest[l] = square[l] = 0.0;
  }
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const double here = z[j * PC_LANES + l];
      top[l] = here > max[l] ? (double)j : top[l];
      max[l] = here > max[l] ? here : max[l];
      odd[l] += here - here;
    }
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const double term = pc_lane_exp(z[j * PC_LANES + l] - max[l]);
      const double counted = top[l] == (double)j ? 0.0 : term;
      terms[j * PC_LANES + l] = term;
      rest[l] += counted;
      square[l] += counted * counted;
    }
  for (size_t l = 0; l < PC_LANES; l++) {
    facts->max[l] = max[l];
    facts->rest[l] = rest[l];
    facts->rest_square[l] = square[l];
    facts->log_norm[l] = pc_lane_log1p(rest[l]);
    facts->top[l] = top[l];
    facts->odd[l] = odd[l];
  }
}

static void kernels_softmax_fast_lanes(const float *restrict z, size_t count,
                                       pc_softmax_lanes *restrict facts) {
  float max[PC_LANES], top[PC_LANES], odd[PC_LANES], rest[PC_LANES], square[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++) {
    max[l] = z[l];
    top[l] = odd[l] = rest[l] = square[l] = 0.0f;
  }
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const float here = z[j * PC_LANES + l];
      top[l] = here > max[l] ? (float)j : top[l];
      max[l] = here > max[l] ? here : max[l];
      odd[l] += here - here;
    }
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const float term = pc_lane_expf(z[j * PC_LANES + l] - max[l]);
      const float counted = top[l] == (float)j ? 0.0f : term;
      rest[l] += counted;
      square[l] += counted * counted;
    }
  for (size_t l = 0; l < PC_LANES; l++) {
    facts->max[l] = (double)max[l];
    facts->rest[l] = (double)rest[l];
    facts->rest_square[l] = (double)square[l];
    facts->top[l] = (double)top[l];
    facts->odd[l] = (double)odd[l];
  }
  for (size_t l = 0; l < PC_LANES; l++)
    facts->log_norm[l] = pc_lane_log1p(facts->rest[l]);
}

static void kernels_squares(const double *p, size_t begin, size_t end, double lanes[PC_LANES]) {
  size_t j = begin;
  for (; j + PC_LANES <= end; j += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++)
      lanes[l] += p[j + l] * p[j + l];
  for (size_t l = 0; j + l < end; l++)
    lanes[l] += p[j + l] * p[j + l];
}

static void kernels_simplex_f64(const double *p, size_t count, pc_simplex_facts *facts) {
  double sum[PC_LANES] = {0.0}, square[PC_LANES] = {0.0}, low[PC_LANES];
  int finite;
  facts->high = kernels_max_f64(p, count, &facts->top, &finite);
  for (size_t l = 0; l < PC_LANES; l++)
    low[l] = p[0];
  size_t j = 0;
  for (; j + PC_LANES <= count; j += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++) {
      low[l] = p[j + l] < low[l] ? p[j + l] : low[l];
      sum[l] += p[j + l];
    }
  for (size_t l = 0; j + l < count; l++) {
    low[l] = p[j + l] < low[l] ? p[j + l] : low[l];
    sum[l] += p[j + l];
  }
  for (size_t l = 1; l < PC_LANES; l++)
    low[0] = low[l] < low[0] ? low[l] : low[0];
  kernels_squares(p, 0, facts->top, square);
  kernels_squares(p, facts->top + 1, count, square);
  facts->low = low[0];
  facts->sum = kernels_fold(sum);
  facts->rest_square = kernels_fold(square);
  facts->finite = finite;
}

#define KERNELS_COLUMN(name, type)                                             \
  static void name(const type *restrict z, size_t count, double *restrict out, \
                   pc_column_facts *facts) {                                   \
    double low[PC_LANES], high[PC_LANES], odd[PC_LANES];                       \
    for (size_t l = 0; l < PC_LANES; l++) {                                    \
      low[l] = high[l] = count > 0 ? (double)z[0] : 0.0;                       \
      odd[l] = 0.0;                                                            \
    }                                                                          \
    const size_t whole = count / PC_LANES * PC_LANES;                          \
    for (size_t i = 0; i < whole; i += PC_LANES)                               \
      for (size_t l = 0; l < PC_LANES; l++) {                                  \
        const double here = (double)z[i + l];                                  \
        low[l] = here < low[l] ? here : low[l];                                \
        high[l] = here > high[l] ? here : high[l];                             \
        odd[l] += here - here;                                                 \
        out[i + l] = here;                                                     \
      }                                                                        \
    for (size_t i = whole, l = 0; i < count; i++, l++) {                       \
      const double here = (double)z[i];                                        \
      low[l] = here < low[l] ? here : low[l];                                  \
      high[l] = here > high[l] ? here : high[l];                               \
      odd[l] += here - here;                                                   \
      out[i] = here;                                                           \
    }                                                                          \
    for (size_t l = 1; l < PC_LANES; l++) {                                    \
      low[0] = low[l] < low[0] ? low[l] : low[0];                              \
      high[0] = high[l] > high[0] ? high[l] : high[0];                         \
      odd[0] += odd[l];                                                        \
    }                                                                          \
    *facts = (pc_column_facts){low[0], high[0], odd[0] == 0.0};                \
  }

KERNELS_COLUMN(kernels_column_f32, float)
KERNELS_COLUMN(kernels_column_f64, double)

static void kernels_divide(const double *terms, size_t count, double divisor, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = terms[j] / divisor;
}

const pc_row_kernels KERNELS_NAME(PC_VARIANT) = {
    .name = KERNELS_TEXT(PC_VARIANT),
    .softmax_f32 = kernels_softmax_f32,
    .softmax_f64 = kernels_softmax_f64,
    .softmax_fast = kernels_softmax_fast,
    .softmax_lanes = kernels_softmax_lanes,
    .softmax_fast_lanes = kernels_softmax_fast_lanes,
    .simplex_f64 = kernels_simplex_f64,
    .column_f32 = kernels_column_f32,
    .column_f64 = kernels_column_f64,
    .divide = kernels_divide,
};
