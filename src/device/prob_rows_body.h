/* Checks of rows of probabilities: the body of the kernels pc_prob_rows_*.
 *
 * Edge cases, and the order of every sum, are those of data/row_convert.c and kernels/prob_row.c, so
 * that verdict and bits are those of the CPU:
 *   1. PC_PROB_ROWS_LANES threads for a row: thread l adds the classes l, l + PC_PROB_ROWS_LANES, ...,
 *      and squares from the first class after the largest on again beginning with thread 0.
 *   2. a row that is rescaled: the first thread adds all its numbers, in the order of the classes, and
 *      the row is looked at again, divided by that sum.
 *   3. a row of half-precision numbers is rescaled if rounding explains its sum.
 *   4. a number that is not finite, or a row that the host refuses: *odd is set to PC_PROB_ROWS_ODD.
 *   5. logarithms: their exponentials are checked; above 700 they are infinite.
 * Cost: each number is read twice, the second time from a cache; a fourth and a fifth time if the row is
 * rescaled.
 *
 * This header is plain C, as softmax_rows_body.h: tests call the phases thread by thread. */
#ifndef PC_PROB_ROWS_BODY_H
#define PC_PROB_ROWS_BODY_H

#include "device/gpu_layer.h"
#include "device/prob_rows.h"
#include "kernels/lane_math.h"
#include "kernels/prob_row.h"

/* Memory that the threads of a block share; `scale` and `at_row` have an element for each row. */
typedef struct pc_prob_rows_shared {
  double low[PC_PROB_ROWS_THREADS], high[PC_PROB_ROWS_THREADS], sum[PC_PROB_ROWS_THREADS];
  uint64_t bits[PC_PROB_ROWS_THREADS];
  uint32_t at[PC_PROB_ROWS_THREADS];
  double scale[PC_PROB_ROWS_THREADS / PC_PROB_ROWS_LANES];
} pc_prob_rows_shared;

/* What is known of a row. */
typedef struct pc_prob_rows_found {
  double low, high, sum;
  uint64_t bits; /* of all numbers, combined with | */
  uint32_t at;   /* lowest class of the largest */
} pc_prob_rows_found;

static inline uint64_t pc_prob_rows_row(uint32_t block, uint32_t thread) {
  return (uint64_t)block * (PC_PROB_ROWS_THREADS / PC_PROB_ROWS_LANES) +
         thread / PC_PROB_ROWS_LANES;
}

static inline double pc_prob_rows_value(double stored, uint32_t form) {
  if (form != PC_ROW_LOG_PROBS)
    return stored;
  return stored > 700 ? (double)INFINITY : pc_lane_exp(stored);
}

/* A number of a row that is divided by `scale`; 0: it is not. */
static inline double pc_prob_rows_scaled(double value, double scale) {
  return scale == 0 ? value : (value < 0 ? 0.0 : value) / scale;
}

static inline uint32_t pc_prob_rows_label(const pc_prob_rows *rows, uint64_t row) {
  const int64_t label = rows->label_size == 8   ? ((const int64_t *)rows->labels)[row]
                        : rows->label_size == 4 ? ((const int32_t *)rows->labels)[row]
                                                : ((const uint8_t *)rows->labels)[row];
  return label >= 0 && label < (int64_t)rows->classes ? (uint32_t)label : 0;
}

/* Lanes 8 apart, then 4, 2, 1, as prob_row_fold of kernels/prob_row.c. */
static inline double pc_prob_rows_fold(const double *lanes) {
  double folded[PC_PROB_ROWS_LANES / 2];
  for (int l = 0; l < 8; l++)
    folded[l] = lanes[l] + lanes[l + 8];
  for (int l = 0; l < 4; l++)
    folded[l] += folded[l + 4];
  return (folded[0] + folded[2]) + (folded[1] + folded[3]);
}

/* The row of a thread, from what its threads have found. */
static inline pc_prob_rows_found pc_prob_rows_join(const pc_prob_rows_shared *shared,
                                                   uint32_t thread) {
  const uint32_t first = thread - thread % PC_PROB_ROWS_LANES;
  pc_prob_rows_found all = {shared->low[first], shared->high[first],
                            pc_prob_rows_fold(shared->sum + first), shared->bits[first],
                            shared->at[first]};
  for (uint32_t t = first + 1; t < first + PC_PROB_ROWS_LANES; t++) {
    const int better = (shared->high[t] > all.high) |
                       ((shared->high[t] == all.high) & (shared->at[t] < all.at));
    all.at = better ? shared->at[t] : all.at;
    all.high = better ? shared->high[t] : all.high;
    all.low = shared->low[t] < all.low ? shared->low[t] : all.low;
    all.bits |= shared->bits[t];
  }
  return all;
}

/* As pc_prob_excess of data/row_check.h. */
static inline double pc_prob_rows_excess(double p) {
  return p < 0 ? -p : p > 1 ? p - 1 : 0.0;
}

/* As row_convert_half_error of data/row_convert.c. */
static inline double pc_prob_rows_half_error(uint64_t bits, uint32_t classes) {
  if ((bits & ((UINT64_C(1) << 45) - 1)) == 0)
    return 0x1p-8;
  return (bits & ((UINT64_C(1) << 42) - 1)) == 0 ? 0x1p-10 + (double)classes * 0x1p-25 : 0.0;
}

/* The largest error of a sum that is accepted, as row_convert_sum_limit. */
static inline double pc_prob_rows_sum_limit(const pc_prob_rows *rows, uint64_t bits,
                                            double off) {
  const double plain = rows->normalize ? PC_PROB_REPAIRABLE : PC_PROB_TOLERANCE;
  if (off <= plain || off > PC_PROB_REPAIRABLE || rows->form != PC_ROW_PROBS)
    return plain;
  const double half = pc_prob_rows_half_error(bits, rows->classes);
  return half > plain ? half : plain;
}

/* 1 if the row is rescaled, as row_convert_check_probs; *odd: pc_prob_rows_odd. */
static inline int pc_prob_rows_verdict(const pc_prob_rows *rows,
                                       const pc_prob_rows_found *found, uint32_t *odd) {
  const double limit = rows->normalize ? PC_PROB_REPAIRABLE : PC_PROB_TOLERANCE;
  const double low = pc_prob_rows_excess(found->low), high = pc_prob_rows_excess(found->high);
  const double worst = low > high ? low : high, off = fabs(found->sum - 1);
  *odd = PC_PROB_ROWS_ODD;
  if (found->sum - found->sum != 0 || worst > limit ||
      off > pc_prob_rows_sum_limit(rows, found->bits, off))
    return 0;
  *odd = PC_PROB_ROWS_EVEN;
  if (worst > PC_PROB_TOLERANCE || off > PC_PROB_TOLERANCE)
    return 1;
  if (worst > 0)
    *odd = PC_PROB_ROWS_OUTSIDE;
  return 0;
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "device/prob_rows_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "device/prob_rows_template.h"
#undef NAMED
#undef NUMBER

#endif
