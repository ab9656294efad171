/* softmax(beta scores) of rows of logits: the body of the kernels pc_scaled_softmax_*.
 *
 * Formula, edge cases and order of every sum are those of the kernel `softmax` in
 * kernels/temperature_template.h, so that the bits are those of the CPU:
 *   1. more than PC_NARROW_CLASSES classes: PC_LANES threads for a row; thread l adds the terms of
 *      classes l, l + PC_LANES, ... in that order, and the lanes are folded.
 *   2. fewer: one thread for a row adds all terms in the order of the classes.
 *   3. each result is rounded once; a result that would tie with that of the top class, or exceed it,
 *      is lowered to the number below it, as apply_keep_top in calibrators/apply.c.
 *   4. a logit that is not finite sets *odd; the host then maps the rows itself.
 * Cost: two exp for each score, so that terms need not be kept.
 *
 * This header is plain C, as softmax_rows_body.h: tests call the phases thread by thread. */
#ifndef PC_SCALED_SOFTMAX_BODY_H
#define PC_SCALED_SOFTMAX_BODY_H

#include "device/row_top.h"
#include "device/scaled_softmax.h"
#include "kernels/lane_math.h"

/* Memory that the threads of a block share. */
typedef struct pc_scaled_softmax_shared {
  double top[PC_SCALED_SOFTMAX_THREADS], sum[PC_SCALED_SOFTMAX_THREADS];
  uint32_t at[PC_SCALED_SOFTMAX_THREADS];
} pc_scaled_softmax_shared;

/* The row of a thread that works on a wide row. */
static inline uint64_t pc_scaled_softmax_row(uint32_t block, uint32_t thread) {
  return (uint64_t)block * (PC_SCALED_SOFTMAX_THREADS / PC_SCALED_SOFTMAX_LANES) +
         thread / PC_SCALED_SOFTMAX_LANES;
}

/* exp(beta (z - largest)). */
static inline double pc_scaled_softmax_term(double z, double largest, double beta) {
  return pc_lane_exp(beta * (z - largest));
}

/* The sum of a wide row, in the order of temperature_fold. */
static inline double pc_scaled_softmax_fold(const double *lanes) {
  double eight[8];
  for (int l = 0; l < 8; l++)
    eight[l] = lanes[l] + lanes[l + 8];
  for (int l = 0; l < 4; l++)
    eight[l] += eight[l + 4];
  return (eight[0] + eight[2]) + (eight[1] + eight[3]);
}

/* The largest logit of a wide row, and its lowest index, from those of its threads. */
static inline double pc_scaled_softmax_largest(const pc_scaled_softmax_shared *shared,
                                               uint32_t thread, uint32_t *at) {
  const uint32_t first = thread - thread % PC_SCALED_SOFTMAX_LANES;
  return pc_row_top_fold(shared->top + first, shared->at + first, PC_SCALED_SOFTMAX_LANES, at);
}

static inline float pc_scaled_softmax_below_f32(float value) {
  return pc_float_from_bits(pc_float_bits(value) - 1);
}

static inline double pc_scaled_softmax_below_f64(double value) {
  return pc_double_from_bits(pc_double_bits(value) - 1);
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "device/scaled_softmax_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "device/scaled_softmax_template.h"
#undef NAMED
#undef NUMBER

#endif
