/* The log score of rows of logits at a temperature and its derivatives by beta = 1/T: the body of the
 * kernels pc_temperature_*, pc_value_sums and pc_sample_rows_*.
 *
 * Formula, edge cases and order of every sum are those of kernels/temperature_kernels.c and
 * kernels/temperature_portable.h, so that the bits are those of the CPU:
 *   1. more than PC_NARROW_CLASSES classes: PC_TEMPERATURE_ROWS_LANES threads for a row, which go
 *      through blocks of 16 classes: the one with the largest logit, the incomplete one, the others.
 *   2. fewer: one thread for a row adds all terms in the order of the classes.
 *   3. the term of the largest logit, the lowest index on ties, is left out.
 *   4. a logit that is not finite, a label that is no class, a value that is not finite: the word
 *      PC_TEMPERATURE_ROWS_ODD is set; the host then goes through the rows itself.
 *   5. values of rows go through memory; pc_value_sums adds each column up exactly.  A value of 2^61
 *      or more, or with bits below the last piece, is added to the limbs directly.
 * Cost: about 45 double operations for each logit, 30 without the loss at beta = 1.
 *
 * This header is plain C, as softmax_rows_body.h: tests call the phases thread by thread. */
#ifndef PC_TEMPERATURE_ROWS_BODY_H
#define PC_TEMPERATURE_ROWS_BODY_H

#include "device/gpu_sums.h"
#include "device/row_top.h"
#include "device/temperature_rows.h"
#include "kernels/lane_math.h"
#include "kernels/sample_key.h"
#include "kernels/temperature_cumulants.h"
#include "kernels/temperature_exp2.h"

#define PC_TEMPERATURE_ROWS_BLOCK 16 /* classes: PC_LANES */
#define PC_TEMPERATURE_ROWS_DEEP (-1000.0)
#define PC_TEMPERATURE_ROWS_ROOTS 16

/* Memory that the threads of a block share. */
typedef struct pc_temperature_rows_shared {
  double roots[PC_TEMPERATURE_ROWS_ROOTS];
  double top[PC_TEMPERATURE_ROWS_THREADS];
  double sum[PC_TEMPERATURE_ROWS_VALUES][PC_TEMPERATURE_ROWS_THREADS];
  uint32_t at[PC_TEMPERATURE_ROWS_THREADS];
} pc_temperature_rows_shared;

/* First phase of every kernel. */
static inline void pc_temperature_rows_begin(uint32_t thread,
                                             pc_temperature_rows_shared *shared) {
  const double roots[PC_TEMPERATURE_ROWS_ROOTS] = {EXP2_ROOTS_LOW, EXP2_ROOTS_HIGH};
  if (thread == 0)
    for (uint32_t j = 0; j < PC_TEMPERATURE_ROWS_ROOTS; j++)
      shared->roots[j] = roots[j];
}

static inline int64_t pc_gpu_label(const void *labels, uint32_t size, uint64_t row) {
  if (size == 8)
    return ((const int64_t *)labels)[row];
  if (size == 4)
    return ((const int32_t *)labels)[row];
  return ((const uint8_t *)labels)[row];
}

/* The row in the arrays that item `item` of the work is. */
static inline uint64_t pc_temperature_rows_row(const pc_temperature_rows *rows, uint64_t item) {
  return rows->chosen == NULL ? item : rows->chosen[item];
}

/* ---- Powers of 2: temperature_exp2.h ---- */

/* The multiple of 1/16 below y plus EXP2_SHIFT. */
static inline double pc_temperature_rows_step(double y) {
  return pc_gpu_add_down(y, EXP2_SHIFT, 0.0625);
}

/* 2^whole for whole >= -1022. */
static inline double pc_temperature_rows_two_to(double whole) {
  return pc_double_from_bits(pc_double_bits(whole + (0x1.8p52 + 1023.0)) << 52);
}

/* root 2^i, i the whole part of y; as portable_powers. */
static inline double pc_temperature_rows_root(double root, double y, double step) {
  const uint64_t bits = pc_double_bits(step);
  if (y >= PC_TEMPERATURE_ROWS_DEEP)
    return pc_double_from_bits(pc_double_bits(root) + (bits >> 4 << 52));
  const double whole = (step - EXP2_SHIFT) - (double)(uint32_t)(bits & 15) * 0.0625;
  const double first = whole < PC_TEMPERATURE_ROWS_DEEP ? PC_TEMPERATURE_ROWS_DEEP : whole;
  return root * pc_temperature_rows_two_to(first) * pc_temperature_rows_two_to(whole - first);
}

/* 2^(d scale). */
static inline double pc_temperature_rows_power(const double *roots, double d, double scale) {
  const double all = d * scale, y = all < EXP2_LOWEST ? EXP2_LOWEST : all;
  const double step = pc_temperature_rows_step(y);
  const double w = y - (step - (EXP2_SHIFT + EXP2_OFFSET)), square = w * w;
  const double near = (square * (square + EXP2_A) + EXP2_B) * (w + EXP2_C) + EXP2_D;
  return near * pc_temperature_rows_root(roots[(uint32_t)pc_double_bits(step) & 15], y, step);
}

/* ---- One row ---- */

/* Sums of a row or of a thread: the terms, their moments, the terms at beta = 1. */
typedef struct pc_temperature_rows_sums {
  double value[PC_TEMPERATURE_ROWS_VALUES];
} pc_temperature_rows_sums;

typedef struct pc_temperature_rows_scales {
  double scale, lowest; /* of the exponent; of d */
  uint32_t with_one;
} pc_temperature_rows_scales;

static inline pc_temperature_rows_scales
pc_temperature_rows_scales_of(const pc_temperature_rows *rows) {
  pc_temperature_rows_scales scales;
  scales.scale = rows->beta * PC_LANE_LOG2_E;
  scales.lowest = EXP2_LOWEST / (scales.scale < PC_LANE_LOG2_E ? scales.scale : PC_LANE_LOG2_E);
  scales.with_one = rows->with_one;
  return scales;
}

static inline void pc_temperature_rows_clear(pc_temperature_rows_sums *sums) {
  PC_GPU_UNROLL(8)
  for (int v = 0; v < PC_TEMPERATURE_ROWS_VALUES; v++)
    sums->value[v] = 0;
}

/* Adds a term; gap is z - max. */
static inline void pc_temperature_rows_add_term(const pc_temperature_rows_scales *scales,
                                                const double *roots, double gap,
                                                pc_temperature_rows_sums *sums) {
  const double d = gap < scales->lowest ? scales->lowest : gap;
  const double t0 = pc_temperature_rows_power(roots, d, scales->scale);
  const double t1 = t0 * d, t2 = t1 * d, t3 = t2 * d, t4 = t3 * d, t5 = t4 * d;
  sums->value[0] += t0;
  sums->value[1] += t1;
  sums->value[2] += t2;
  sums->value[3] += t3;
  sums->value[4] += t4;
  sums->value[5] += t5;
  sums->value[6] += t5 * d;
  if (scales->with_one)
    sums->value[PC_TEMPERATURE_ROWS_ONE] += pc_temperature_rows_power(roots, d, PC_LANE_LOG2_E);
}

/* From the sums of a row to its values, as temperature_finish_log; gap is that of the label. */
static inline void pc_temperature_rows_finish(const pc_temperature_rows *rows, uint64_t item,
                                              const pc_temperature_rows_sums *sums,
                                              double gap) {
  const double scale = rows->beta * PC_LANE_LOG2_E, back = 1.0 / scale, rest = sums->value[0];
  const double low = gap < -PC_TEMPERATURE_GAP_MAX ? -PC_TEMPERATURE_GAP_MAX : gap;
  double mean[PC_TEMPERATURE_ROWS_SLOPES], unit = scale, factor = 1.0 / (1.0 + rest);
  double *out = rows->values + item;
  PC_GPU_UNROLL(6)
  for (int k = 0; k < PC_TEMPERATURE_ROWS_SLOPES; k++) {
    factor *= back;
    mean[k] = sums->value[k + 1] * unit * factor;
    unit *= scale;
  }
  pc_temperature_cumulants(mean);
  mean[0] -= low;
  out[0] = pc_lane_log1p(rest) - rows->beta * low;
  PC_GPU_UNROLL(6)
  for (int k = 0; k < PC_TEMPERATURE_ROWS_SLOPES; k++)
    out[(uint64_t)(k + 1) * rows->rows] = mean[k];
  if (rows->with_one)
    out[PC_TEMPERATURE_ROWS_ONE * rows->rows] =
        pc_lane_log1p(sums->value[PC_TEMPERATURE_ROWS_ONE]) - low;
  if (gap < 0)
    rows->words[PC_TEMPERATURE_ROWS_MISSED] = 1;
}

/* ---- Wide rows ---- */

static inline uint64_t pc_temperature_rows_item(uint32_t block, uint32_t thread) {
  return (uint64_t)block * (PC_TEMPERATURE_ROWS_THREADS / PC_TEMPERATURE_ROWS_LANES) +
         thread / PC_TEMPERATURE_ROWS_LANES;
}

/* The largest logit of a wide row, and its lowest index, from those of its threads. */
static inline double pc_temperature_rows_largest(const pc_temperature_rows_shared *shared,
                                                 uint32_t thread, uint32_t *at) {
  const uint32_t first = thread - thread % PC_TEMPERATURE_ROWS_LANES;
  return pc_row_top_fold(shared->top + first, shared->at + first, PC_TEMPERATURE_ROWS_LANES,
                         at);
}

/* Third phase: each thread of a row folds one sum, in the order of portable_fold. */
static inline void pc_temperature_rows_fold(const pc_temperature_rows *rows, uint32_t block,
                                            uint32_t thread,
                                            pc_temperature_rows_shared *shared) {
  const uint32_t lane = thread % PC_TEMPERATURE_ROWS_LANES;
  double *sum = shared->sum[lane] + (thread - lane), four[4];
  if (pc_temperature_rows_item(block, thread) >= rows->rows)
    return;
  PC_GPU_UNROLL(4)
  for (int l = 0; l < 4; l++)
    four[l] = sum[l] + sum[l + 4];
  sum[0] = (four[0] + four[2]) + (four[1] + four[3]);
}

/* ---- Sums of columns ---- */

typedef struct pc_value_sums_shared {
  int64_t units[PC_VALUE_SUMS_PIECES][PC_VALUE_SUMS_THREADS];
} pc_value_sums_shared;

static inline uint32_t pc_value_sums_blocks(uint64_t rows) { /* of a column */
  return (uint32_t)((rows + PC_VALUE_SUMS_ROWS - 1) / PC_VALUE_SUMS_ROWS);
}

static inline uint64_t *pc_value_sums_limbs(const pc_value_sums *sums, uint32_t block) {
  return sums->words + PC_TEMPERATURE_ROWS_FIRST +
         block / pc_value_sums_blocks(sums->rows) * PC_VALUE_SUMS_LIMBS;
}

/* Edge case 5. */
static inline void pc_value_sums_cut(const pc_value_sums *sums, uint32_t block, double value,
                                     int64_t units[PC_VALUE_SUMS_PIECES]) {
  int64_t cut[PC_VALUE_SUMS_PIECES];
  double rest = pc_gpu_cut(value, 0x1.8p63, &cut[0]);
  rest = pc_gpu_cut(rest, 0x1.8p12, &cut[1]);
  rest = pc_gpu_cut(rest, 0x1.8p-39, &cut[2]);
  rest = pc_gpu_cut(rest, 0x1.8p-90, &cut[3]);
  rest = pc_gpu_cut(rest, 0x1.8p-141, &cut[4]);
  if (value <= 0x1p61 && value >= -0x1p61 && rest == 0.0) {
    PC_GPU_UNROLL(5)
    for (int p = 0; p < PC_VALUE_SUMS_PIECES; p++)
      units[p] += cut[p];
  } else if (value - value != 0) {
    sums->words[PC_TEMPERATURE_ROWS_ODD] = 1;
  } else {
    pc_gpu_add_whole(pc_value_sums_limbs(sums, block), value);
  }
}

/* First phase: the values of the thread. */
static inline void pc_value_sums_add(const pc_value_sums *sums, uint32_t block, uint32_t thread,
                                     pc_value_sums_shared *shared) {
  const uint32_t blocks = pc_value_sums_blocks(sums->rows);
  const double *column = sums->values + block / blocks * sums->rows;
  const uint64_t first = (uint64_t)(block % blocks) * PC_VALUE_SUMS_ROWS;
  const uint64_t end =
      first + PC_VALUE_SUMS_ROWS < sums->rows ? first + PC_VALUE_SUMS_ROWS : sums->rows;
  int64_t units[PC_VALUE_SUMS_PIECES] = {0, 0, 0, 0, 0};
  for (uint64_t i = first + thread; i < end; i += PC_VALUE_SUMS_THREADS)
    pc_value_sums_cut(sums, block, column[i], units);
  PC_GPU_UNROLL(5)
  for (int p = 0; p < PC_VALUE_SUMS_PIECES; p++)
    shared->units[p][thread] = units[p];
}

/* Second phase: a thread for each piece adds the block to the limbs. */
static inline void pc_value_sums_publish(const pc_value_sums *sums, uint32_t block,
                                         uint32_t thread, const pc_value_sums_shared *shared) {
  int64_t total = 0;
  if (thread >= PC_VALUE_SUMS_PIECES)
    return;
  for (uint32_t t = 0; t < PC_VALUE_SUMS_THREADS; t++)
    total += shared->units[thread][t];
  pc_gpu_add_limbs(pc_value_sums_limbs(sums, block), total, 1074 + 11 - 51 * thread);
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "device/temperature_rows_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "device/temperature_rows_template.h"
#undef NAMED
#undef NUMBER

#endif
