/* Softmax of rows of logits: the body of the kernels pc_softmax_*.
 *
 * Formula, edge cases and order of every sum are those of kernels/row_kernels_template.h, so that
 * the bits are those of the CPU:
 *   1. more than PC_NARROW_CLASSES classes: PC_LANES threads for a row; thread l adds the terms of
 *      classes l, l + PC_LANES, ... in that order, and the first thread folds the lanes.
 *   2. fewer: one thread for a row adds all terms in the order of the classes.
 *   3. the term of the largest logit, the lowest index on ties, is left out.
 *   4. a logit that is not finite sets *odd; the host then converts the rows itself.
 *   5. a label that is no class counts as class 0; the host refuses the row.
 * Cost: each logit is read twice, the second time from a cache.
 *
 * This header is plain C: device_kernels.cu compiles it for the GPU, and tests compile it for the
 * CPU and call the phases of a block thread by thread.  All threads of a block finish a phase
 * before the next one begins. */
#ifndef PC_SOFTMAX_ROWS_BODY_H
#define PC_SOFTMAX_ROWS_BODY_H

#include "device/softmax_rows.h"
#include "kernels/lane_math.h"

/* Memory that the threads of a block share. */
typedef struct pc_softmax_rows_shared {
  double top[PC_SOFTMAX_ROWS_THREADS];
  double sum[PC_SOFTMAX_ROWS_THREADS], square[PC_SOFTMAX_ROWS_THREADS];
  uint32_t at[PC_SOFTMAX_ROWS_THREADS];
} pc_softmax_rows_shared;

/* The row of a thread that works on a wide row. */
static inline uint64_t pc_softmax_rows_wide_row(uint32_t block, uint32_t thread) {
  return (uint64_t)block * (PC_SOFTMAX_ROWS_THREADS / PC_SOFTMAX_ROWS_LANES) +
         thread / PC_SOFTMAX_ROWS_LANES;
}

/* Fixed order: lanes 8 apart, then 4, 2, 1, as row_fold in kernels/row_kernels.c. */
static inline double pc_softmax_rows_fold(const double *lanes) {
  double folded[PC_SOFTMAX_ROWS_LANES / 2];
  for (int l = 0; l < 8; l++)
    folded[l] = lanes[l] + lanes[l + 8];
  for (int l = 0; l < 4; l++)
    folded[l] += folded[l + 4];
  return (folded[0] + folded[2]) + (folded[1] + folded[3]);
}

/* The largest logit of a wide row, and its lowest index, from those of its threads. */
static inline double pc_softmax_rows_largest(const pc_softmax_rows_shared *shared,
                                             uint32_t first, uint32_t *at) {
  double largest = shared->top[first];
  *at = shared->at[first];
  for (uint32_t t = first + 1; t < first + PC_SOFTMAX_ROWS_LANES; t++)
    if (shared->top[t] > largest || (shared->top[t] == largest && shared->at[t] < *at)) {
      largest = shared->top[t];
      *at = shared->at[t];
    }
  return largest;
}

/* exp(z - largest). */
static inline double pc_softmax_rows_term(double z, double largest) {
  const double gap = z - largest;
  double scale;
  const double reduced = pc_lane_exp_reduce(gap < -709.0 ? -709.0 : gap, &scale);
  return pc_lane_exp_finish(reduced, scale);
}

static inline uint32_t pc_softmax_rows_label(const pc_softmax_rows *rows, uint64_t row) {
  const uint32_t label = (uint32_t)rows->labels[row];
  return label < rows->classes ? label : 0;
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "device/softmax_rows_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "device/softmax_rows_template.h"
#undef NAMED
#undef NUMBER

#endif
