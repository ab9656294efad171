/* Softmax of rows, and columns: see row_kernels.h.  Compilers vectorise the inner loops over
 * PC_LANES. */
#include "kernels/row_kernels.h"

#include <math.h>
#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/prefetch.h"
#include "kernels/transpose.h"
#include "kernels/variant.h"
#if defined(__AVX512F__)
#include "kernels/row_max_avx512.h"
#endif

#define ROW_INLINE static inline __attribute__((always_inline))
#define ROW_TILE 256 /* scores processed at once in each of the two steps of exp */

/* Fixed order: lanes 8 apart, then 4, 2, 1. */
static double row_fold(double lanes[PC_LANES]) {
  for (size_t l = 0; l < 8; l++)
    lanes[l] += lanes[l + 8];
  for (size_t l = 0; l < 4; l++)
    lanes[l] += lanes[l + 4];
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

#define ROW_LARGER(a, b) ((b) > (a) ? (b) : (a))

#if defined(__AVX512F__)
static float row_max_f32(const float *z, size_t count, size_t *at, int *finite) {
  row_max_avx512_tops tops;
  float odd = 0;
  row_max_avx512_look(z, count, &tops);
  if (tops.sum - tops.sum != 0)
    for (size_t j = 0; j < count; j++)
      odd += z[j] - z[j];
  *finite = odd == 0;
  *at = *finite ? row_max_avx512_find(z, count, &tops) : 0;
  return tops.best;
}
#define ROW_HAS_MAX
#endif

#define NUMBER float
#define NAMED(name) name##_f32
#include "kernels/row_kernels_template.h"
#undef NAMED
#undef NUMBER
#undef ROW_HAS_MAX

#define NUMBER double
#define NAMED(name) name##_f64
#include "kernels/row_kernels_template.h"
#undef NAMED
#undef NUMBER

static void row_finish_logits(const pc_logit_columns *columns, size_t count) {
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

static double row_largest(const double *x, size_t count) {
  double most[PC_LANES] = {0.0};
  const size_t whole = count / PC_LANES * PC_LANES;
  for (size_t i = 0; i < whole; i += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++)
      most[l] = ROW_LARGER(most[l], fabs(x[i + l]));
  for (size_t i = whole; i < count; i++)
    most[i - whole] = ROW_LARGER(most[i - whole], fabs(x[i]));
  for (size_t l = 1; l < PC_LANES; l++)
    most[0] = ROW_LARGER(most[0], most[l]);
  return most[0];
}

/* Splits r, |r| < 2^(e - 1) for the anchor 1.5 * 2^e: adds its multiple of 2^(e - 52), plus the
 * bits of the anchor, to *units, and returns the remainder. */
static inline double row_cut(double r, double anchor, uint64_t *units) {
  const double sum = r + anchor;
  *units += pc_double_bits(sum);
  return r - (sum - anchor);
}

#define ROW_SPLIT(i, l)                          \
  const double here = x[i];                      \
  most[l] = ROW_LARGER(most[l], fabs(here));     \
  double rest = row_cut(here, anchor[0], &a[l]); \
  rest = row_cut(rest, anchor[1], &b[l]);        \
  uncut[l] += fabs(rest);                        \
  left[i] = rest

static void row_split(const double *restrict x, size_t count, size_t round,
                      double *restrict left, pc_split_sums *sums) {
  static const double anchors[PC_SPLIT_ROUNDS][PC_SPLIT_PIECES] = {{0x1.8p12, 0x1.8p-39},
                                                                   {0x1.8p-90, 0x1.8p-141}};
  const double anchor[PC_SPLIT_PIECES] = {anchors[round][0], anchors[round][1]};
  uint64_t a[PC_LANES] = {0}, b[PC_LANES] = {0};
  double uncut[PC_LANES] = {0.0}, most[PC_LANES] = {0.0};
  const size_t whole = count / PC_LANES * PC_LANES;
  for (size_t i = 0; i < whole; i += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++) {
      ROW_SPLIT(i + l, l);
    }
  for (size_t i = whole; i < count; i++) {
    ROW_SPLIT(i, i - whole);
  }
  for (size_t l = 1; l < PC_LANES; l++) {
    a[0] += a[l];
    b[0] += b[l];
    most[0] = ROW_LARGER(most[0], most[l]);
  }
  sums->units[0] = (int64_t)(a[0] - count * pc_double_bits(anchor[0]));
  sums->units[1] = (int64_t)(b[0] - count * pc_double_bits(anchor[1]));
  sums->largest = most[0];
  sums->all = row_fold(uncut) == 0.0;
}

static void row_scale(const double *terms, size_t count, double factor, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = terms[j] * factor;
}

static void row_narrow_probs(const double *restrict terms, size_t count,
                             const double *restrict rest, double *restrict out) {
  double sum[PC_NARROW_ROWS], probs[PC_NARROW_CLASSES * PC_NARROW_ROWS];
  for (size_t l = 0; l < PC_NARROW_ROWS; l++)
    sum[l] = 1.0 + rest[l];
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_NARROW_ROWS; l++)
      probs[j * PC_NARROW_ROWS + l] = terms[j * PC_NARROW_ROWS + l] / sum[l];
  pc_transpose_f64(probs, count, PC_NARROW_ROWS, out);
}

const pc_row_kernels PC_VARIANT_TABLE(pc_row_kernels) = {
    .softmax_f32 = row_softmax_f32,
    .softmax_f64 = row_softmax_f64,
    .narrow_f32 = row_narrow_f32,
    .narrow_f64 = row_narrow_f64,
    .narrow_probs = row_narrow_probs,
    .finish_logits = row_finish_logits,
    .top_f32 = row_top_f32,
    .top_f64 = row_top_f64,
    .column_f32 = row_column_f32,
    .column_f64 = row_column_f64,
    .largest = row_largest,
    .split = row_split,
    .scale = row_scale,
};
