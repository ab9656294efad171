/* Softmax rows and columns.  Compiled once for each instruction set with PC_VARIANT set to its
 * name; see row_kernels.h.  Inner loops over PC_LANES are what compilers turn into vectors. */
#include "kernels/row_kernels.h"

#include <math.h>
#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/prefetch.h"
#include "kernels/transpose.h"
#include "kernels/variant.h"
#if defined(__AVX512F__)
#include "kernels/row_avx512.h"
#endif

#define KERNELS_INLINE static inline __attribute__((always_inline))
#define KERNELS_TILE 256 /* scores between the two steps of exp */

/* Fixed order: lanes 8 apart, then 4, 2, 1. */
static double kernels_fold(double lanes[PC_LANES]) {
  for (size_t l = 0; l < 8; l++)
    lanes[l] += lanes[l + 8];
  for (size_t l = 0; l < 4; l++)
    lanes[l] += lanes[l + 4];
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/* The lowest index of `best`, given the largest of each lane; 0 when the row has changed and no
 * longer holds it. */
#define KERNELS_FIND(name, type)                                                \
  static size_t name(const type *z, size_t count, const type *top, type best) { \
    size_t lowest = count;                                                      \
    for (size_t l = 0; l < PC_LANES; l++) {                                     \
      if (top[l] != best)                                                       \
        continue;                                                               \
      size_t j = l;                                                             \
      while (j < lowest && z[j] != best)                                        \
        j += PC_LANES;                                                          \
      lowest = j < lowest ? j : lowest;                                         \
    }                                                                           \
    return lowest < count ? lowest : 0;                                         \
  }

KERNELS_FIND(kernels_find_f64, double)

#define KERNELS_LARGER(a, b) ((b) > (a) ? (b) : (a))

/* The largest of a row, its lowest index, and whether all are finite: then so is their sum,
 * unless it overflows, and z - z is 0 where z is finite and NaN elsewhere. */
#define KERNELS_MAX(name, find, type)                                      \
  static type name(const type *z, size_t count, size_t *at, int *finite) { \
    type top[2 * PC_LANES], sum[2 * PC_LANES], best[PC_LANES], odd = 0;    \
    for (size_t l = 0; l < 2 * PC_LANES; l++) {                            \
      top[l] = (type)-INFINITY;                                            \
      sum[l] = 0;                                                          \
    }                                                                      \
    const size_t whole = count / (2 * PC_LANES) * (2 * PC_LANES);          \
    for (size_t j = 0; j < whole; j += 2 * PC_LANES)                       \
      for (size_t l = 0; l < 2 * PC_LANES; l++) {                          \
        top[l] = KERNELS_LARGER(top[l], z[j + l]);                         \
        sum[l] += z[j + l];                                                \
      }                                                                    \
    for (size_t j = whole; j < count; j++) {                               \
      top[j - whole] = KERNELS_LARGER(top[j - whole], z[j]);               \
      sum[j - whole] += z[j];                                              \
    }                                                                      \
    for (size_t l = 0; l < PC_LANES; l++) {                                \
      best[l] = top[l] = KERNELS_LARGER(top[l], top[l + PC_LANES]);        \
      sum[l] += sum[l + PC_LANES];                                         \
    }                                                                      \
    for (size_t l = 0; l < 8; l++) {                                       \
      best[l] = KERNELS_LARGER(best[l], best[l + 8]);                      \
      sum[l] += sum[l + 8];                                                \
    }                                                                      \
    for (size_t l = 0; l < 4; l++) {                                       \
      best[l] = KERNELS_LARGER(best[l], best[l + 4]);                      \
      sum[l] += sum[l + 4];                                                \
    }                                                                      \
    const type all = (sum[0] + sum[2]) + (sum[1] + sum[3]);                \
    const type even = KERNELS_LARGER(best[0], best[2]);                    \
    const type uneven = KERNELS_LARGER(best[1], best[3]);                  \
    const type max = KERNELS_LARGER(even, uneven);                         \
    if (all - all != 0)                                                    \
      for (size_t j = 0; j < count; j++)                                   \
        odd += z[j] - z[j];                                                \
    *finite = odd == 0;                                                    \
    *at = *finite ? find(z, count, top, max) : 0;                          \
    return max;                                                            \
  }

#if defined(__AVX512F__)
static float kernels_max_f32(const float *z, size_t count, size_t *at, int *finite) {
  sixteens_tops tops;
  float odd = 0;
  sixteens_look(z, count, &tops);
  if (tops.sum - tops.sum != 0)
    for (size_t j = 0; j < count; j++)
      odd += z[j] - z[j];
  *finite = odd == 0;
  *at = *finite ? sixteens_find(z, count, &tops) : 0;
  return tops.best;
}
#else
KERNELS_FIND(kernels_find_f32, float)
KERNELS_MAX(kernels_max_f32, kernels_find_f32, float)
#endif
KERNELS_MAX(kernels_max_f64, kernels_find_f64, double)

/* Vectors do not pay for short rows. */
#define KERNELS_TOP(name, largest, type)                         \
  static size_t name(const type *z, size_t count, int *finite) { \
    type best = (type)-INFINITY, odd = 0;                        \
    size_t at = 0;                                               \
    if (count >= PC_LANES) {                                     \
      largest(z, count, &at, finite);                            \
      return at;                                                 \
    }                                                            \
    for (size_t j = 0; j < count; j++) {                         \
      at = z[j] > best ? j : at;                                 \
      best = KERNELS_LARGER(best, z[j]);                         \
      odd += z[j] - z[j];                                        \
    }                                                            \
    *finite = odd == 0;                                          \
    return *finite ? at : 0;                                     \
  }

KERNELS_TOP(kernels_top_f32, kernels_max_f32, float)
KERNELS_TOP(kernels_top_f64, kernels_max_f64, double)

/* Sums of the terms of a row, and of their squares, over all but the largest. */
#define KERNELS_SUM(name, type)                                                  \
  static void name(const type *restrict z, size_t count, double *restrict terms, \
                   pc_softmax_facts *facts) {                                    \
    const double max = facts->max, lowest = pc_lane_exp_lowest(max);             \
    double sum[PC_LANES] = {0}, square[PC_LANES] = {0};                          \
    double reduced[KERNELS_TILE], scale[KERNELS_TILE];                           \
    for (size_t begin = 0; begin < count; begin += KERNELS_TILE) {               \
      const size_t left = count - begin;                                         \
      const size_t here = left < KERNELS_TILE ? left : KERNELS_TILE;             \
      pc_prefetch(z + begin, here * sizeof *z, count * sizeof *z);               \
      for (size_t i = 0; i < here; i++) {                                        \
        const double gap = (double)z[begin + i] - max;                           \
        reduced[i] = pc_lane_exp_reduce(gap < lowest ? lowest : gap, &scale[i]); \
      }                                                                          \
      if (facts->top - begin < here)                                             \
        scale[facts->top - begin] = 0;                                           \
      size_t whole = here;                                                       \
      for (; whole % PC_LANES != 0; whole++)                                     \
        reduced[whole] = scale[whole] = 0;                                       \
      for (size_t j = 0; j < whole; j += PC_LANES)                               \
        for (size_t l = 0; l < PC_LANES; l++) {                                  \
          const double term = pc_lane_exp_finish(reduced[j + l], scale[j + l]);  \
          sum[l] += term;                                                        \
          square[l] += term * term;                                              \
          reduced[j + l] = term;                                                 \
        }                                                                        \
      for (size_t i = 0; terms != NULL && i < here; i++)                         \
        terms[begin + i] = reduced[i];                                           \
    }                                                                            \
    if (terms != NULL)                                                           \
      terms[facts->top] = 1.0;                                                   \
    facts->rest = kernels_fold(sum);                                             \
    facts->rest_square = kernels_fold(square);                                   \
  }

KERNELS_SUM(kernels_sum_f32, float)
KERNELS_SUM(kernels_sum_f64, double)

#define KERNELS_SOFTMAX(name, largest, add, type)                                         \
  static void name(const type *z, size_t count, double *terms, pc_softmax_facts *facts) { \
    facts->max = (double)largest(z, count, &facts->top, &facts->finite);                  \
    if (facts->finite)                                                                    \
      add(z, count, terms, facts);                                                        \
  }

KERNELS_SOFTMAX(kernels_softmax_f32, kernels_max_f32, kernels_sum_f32, float)
KERNELS_SOFTMAX(kernels_softmax_f64, kernels_max_f64, kernels_sum_f64, double)

/* The largest of each lane; are all numbers finite (see KERNELS_MAX)? */
#define KERNELS_TOPS(name, type)                                                      \
  KERNELS_INLINE int name(const type *restrict z, size_t count, type *restrict top) { \
    type sum[PC_LANES], odd[PC_LANES];                                                \
    for (size_t l = 0; l < PC_LANES; l++) {                                           \
      top[l] = (type)-INFINITY;                                                       \
      sum[l] = 0;                                                                     \
    }                                                                                 \
    for (size_t j = 0; j < count; j++)                                                \
      for (size_t l = 0; l < PC_LANES; l++) {                                         \
        top[l] = KERNELS_LARGER(top[l], z[j * PC_LANES + l]);                         \
        sum[l] += z[j * PC_LANES + l];                                                \
      }                                                                               \
    for (size_t l = 0; l < PC_LANES; l++)                                             \
      odd[l] = sum[l] - sum[l];                                                       \
    for (size_t l = 0; l < 8; l++)                                                    \
      odd[l] += odd[l + 8];                                                           \
    for (size_t l = 0; l < 4; l++)                                                    \
      odd[l] += odd[l + 4];                                                           \
    return (odd[0] + odd[2]) + (odd[1] + odd[3]) == 0;                                \
  }

KERNELS_TOPS(kernels_tops_f32, float)
KERNELS_TOPS(kernels_tops_f64, double)

/* PC_LANES rows from row `first` on.  `where` is the lowest class that is the largest of its
 * lane: the only one of which the term is left out. */
#define KERNELS_LANES(name, turn, tops, type)                                              \
  KERNELS_INLINE void name(const type *restrict z, size_t count, const int32_t *labels,    \
                           size_t first, double *restrict terms, pc_narrow_facts *facts) { \
    type turned[PC_NARROW_CLASSES * PC_LANES], top[PC_LANES], where[PC_LANES];             \
    type wanted[PC_LANES];                                                                 \
    double reduced[PC_NARROW_CLASSES * PC_LANES], scale[PC_NARROW_CLASSES * PC_LANES];     \
    double sum[PC_LANES] = {0}, square[PC_LANES] = {0};                                    \
    turn(z + first * count, PC_LANES, count, turned);                                      \
    facts->finite &= tops(turned, count, top);                                             \
    const double lowest = pc_lane_exp_lowest((double)count);                               \
    for (size_t l = 0; l < PC_LANES; l++)                                                  \
      where[l] = (type)count;                                                              \
    for (size_t j = 0; j < count; j++)                                                     \
      for (size_t l = 0; l < PC_LANES; l++) {                                              \
        const size_t at = j * PC_LANES + l;                                                \
        const double gap = (double)turned[at] - (double)top[l];                            \
        const type place = turned[at] == top[l] ? (type)j : (type)count;                   \
        double factor;                                                                     \
        reduced[at] = pc_lane_exp_reduce(gap < lowest ? lowest : gap, &factor);            \
        scale[at] = place < where[l] ? 0 : factor;                                         \
        where[l] = place < where[l] ? place : where[l];                                    \
      }                                                                                    \
    for (size_t j = 0; j < count; j++)                                                     \
      for (size_t l = 0; l < PC_LANES; l++) {                                              \
        const size_t at = j * PC_LANES + l;                                                \
        const double term = pc_lane_exp_finish(reduced[at], scale[at]);                    \
        sum[l] += term;                                                                    \
        square[l] += term * term;                                                          \
        reduced[at] = term;                                                                \
      }                                                                                    \
    uint32_t bad = 0;                                                                      \
    for (size_t l = 0; l < PC_LANES; l++) {                                                \
      const uint32_t label = (uint32_t)labels[first + l];                                  \
      wanted[l] = turned[(label < count ? label : 0) * PC_LANES + l];                      \
      bad |= label >= count;                                                               \
    }                                                                                      \
    facts->labelled &= bad == 0;                                                           \
    for (size_t l = 0; l < PC_LANES; l++) {                                                \
      facts->rest[first + l] = sum[l];                                                     \
      facts->rest_square[first + l] = square[l];                                           \
      facts->gap[first + l] = (double)wanted[l] - (double)top[l];                          \
      facts->top[first + l] = where[l] < (type)count ? (int32_t)where[l] : 0;              \
    }                                                                                      \
    for (size_t j = 0; terms != NULL && j < count; j++)                                    \
      for (size_t l = 0; l < PC_LANES; l++)                                                \
        terms[j * PC_NARROW_ROWS + first + l] =                                            \
            where[l] == (type)j ? 1.0 : reduced[j * PC_LANES + l];                         \
  }

KERNELS_LANES(kernels_lanes_f32, pc_transpose_f32, kernels_tops_f32, float)
KERNELS_LANES(kernels_lanes_f64, pc_transpose_f64, kernels_tops_f64, double)

#define KERNELS_NARROW(name, lanes, type)                                             \
  static void name(const type *z, size_t count, const int32_t *labels, double *terms, \
                   pc_narrow_facts *facts) {                                          \
    facts->finite = facts->labelled = 1;                                              \
    for (size_t first = 0; first < PC_NARROW_ROWS; first += PC_LANES)                 \
      lanes(z, count, labels, first, terms, facts);                                   \
  }

KERNELS_NARROW(kernels_narrow_f32, kernels_lanes_f32, float)
KERNELS_NARROW(kernels_narrow_f64, kernels_lanes_f64, double)

static void kernels_finish_logits(const pc_logit_columns *columns, size_t count) {
  const int32_t *restrict label = columns->label, *restrict top_label = columns->top_label;
  double *restrict top = columns->top, *restrict true_gap = columns->true_gap;
  double *restrict others_square = columns->others_square;
  double *restrict log_true = columns->log_true;
  const double lowest = pc_lane_exp_lowest((double)count);
  for (size_t i = 0; i < count; i++) {
    const double rest = top[i], sum = 1.0 + rest, share = 1.0 / sum, gap = log_true[i];
    const double is_top = label[i] == top_label[i] ? 1.0 : 0.0;
    double scale;
    const double reduced = pc_lane_exp_reduce(gap < lowest ? lowest : gap, &scale);
    const double term = pc_lane_exp_finish(reduced, scale);
    const double others = is_top > 0.0 ? rest : 1.0 + (rest - term);
    const double square =
        is_top > 0.0 ? others_square[i] : 1.0 + (others_square[i] - term * term);
    top[i] = share;
    true_gap[i] = others * share;
    others_square[i] = square * (share * share);
    log_true[i] = gap - (pc_lane_log(sum) + (rest - (sum - 1.0)) * share); /* as log1p */
  }
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

static double kernels_largest(const double *x, size_t count) {
  double most[PC_LANES] = {0.0};
  const size_t whole = count / PC_LANES * PC_LANES;
  for (size_t i = 0; i < whole; i += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++)
      most[l] = KERNELS_LARGER(most[l], fabs(x[i + l]));
  for (size_t i = whole; i < count; i++)
    most[i - whole] = KERNELS_LARGER(most[i - whole], fabs(x[i]));
  for (size_t l = 1; l < PC_LANES; l++)
    most[0] = KERNELS_LARGER(most[0], most[l]);
  return most[0];
}

/* A number r of less than half an anchor 1.5 * 2^e, as a multiple of 2^(e - 52): the bits of
 * anchor + r less those of the anchor. */
static inline double kernels_cut(double r, double anchor, uint64_t *units) {
  const double sum = r + anchor;
  *units += pc_double_bits(sum);
  return r - (sum - anchor);
}

#define KERNELS_SPLIT(i, l)                          \
  const double here = x[i];                          \
  most[l] = KERNELS_LARGER(most[l], fabs(here));     \
  double rest = kernels_cut(here, anchor[0], &a[l]); \
  rest = kernels_cut(rest, anchor[1], &b[l]);        \
  uncut[l] += fabs(rest);                            \
  left[i] = rest

static void kernels_split(const double *restrict x, size_t count, size_t round,
                          double *restrict left, pc_split_sums *sums) {
  static const double anchors[PC_SPLIT_ROUNDS][PC_SPLIT_PIECES] = {{0x1.8p12, 0x1.8p-39},
                                                                   {0x1.8p-90, 0x1.8p-141}};
  const double anchor[PC_SPLIT_PIECES] = {anchors[round][0], anchors[round][1]};
  uint64_t a[PC_LANES] = {0}, b[PC_LANES] = {0};
  double uncut[PC_LANES] = {0.0}, most[PC_LANES] = {0.0};
  const size_t whole = count / PC_LANES * PC_LANES;
  for (size_t i = 0; i < whole; i += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++) {
      KERNELS_SPLIT(i + l, l);
    }
  for (size_t i = whole; i < count; i++) {
    KERNELS_SPLIT(i, i - whole);
  }
  for (size_t l = 1; l < PC_LANES; l++) {
    a[0] += a[l];
    b[0] += b[l];
    most[0] = KERNELS_LARGER(most[0], most[l]);
  }
  sums->units[0] = (int64_t)(a[0] - count * pc_double_bits(anchor[0]));
  sums->units[1] = (int64_t)(b[0] - count * pc_double_bits(anchor[1]));
  sums->largest = most[0];
  sums->all = kernels_fold(uncut) == 0.0;
}

static void kernels_scale(const double *terms, size_t count, double factor, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = terms[j] * factor;
}

const pc_row_kernels PC_VARIANT_TABLE(pc_row_kernels) = {
    .name = PC_VARIANT_NAME,
    .softmax_f32 = kernels_softmax_f32,
    .softmax_f64 = kernels_softmax_f64,
    .narrow_f32 = kernels_narrow_f32,
    .narrow_f64 = kernels_narrow_f64,
    .finish_logits = kernels_finish_logits,
    .top_f32 = kernels_top_f32,
    .top_f64 = kernels_top_f64,
    .column_f32 = kernels_column_f32,
    .column_f64 = kernels_column_f64,
    .largest = kernels_largest,
    .split = kernels_split,
    .scale = kernels_scale,
};
