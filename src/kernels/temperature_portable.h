/* Sums over the scores of a row for the log score at a temperature, for temperature_kernels.c
 * only. temperature_avx512.h gives the same bits.  Formula: temperature_exp2.h.
 *
 * Accuracy: a term to relative 8e-15; those below 2^-1075 are 0. */
#ifndef PC_TEMPERATURE_PORTABLE_H
#define PC_TEMPERATURE_PORTABLE_H

#include <math.h>
#include <string.h>

#include "base/float_bits.h"
#include "kernels/lane_math.h"
#include "kernels/row_kernels.h"
#include "kernels/temperature_exp2.h"

#define PORTABLE_MOMENTS 6
#define PORTABLE_HALF 8         /* partial sums of one row */
#define PORTABLE_TILE 512       /* scores */
#define PORTABLE_DEEP (-1000.0) /* no power of 2 with an exponent above this underflows */

/* d = score - max of some scores, and their 2^y as two factors: 2^i r_j and u(w). */
typedef struct portable_tile {
  double d[PORTABLE_TILE], step[PORTABLE_TILE], root[PORTABLE_TILE], near[PORTABLE_TILE];
  double least[PC_LANES]; /* smallest d so far */
} portable_tile;

/* Sums of the terms t, of the terms at beta = 1, and of t d^k. */
typedef struct portable_sums {
  double rest[PC_LANES], one[PC_LANES], moment[PORTABLE_MOMENTS][PC_LANES];
} portable_sums;

/* Fills u(w) and `step`, the multiple of 1/16 below y plus EXP2_SHIFT. */
static void portable_near(portable_tile *restrict tile, size_t count, double scale,
                          double lowest) {
  for (size_t i = 0; i < count; i++) {
    const double all = tile->d[i] * scale, y = all < lowest ? lowest : all;
    const double nearest = y + EXP2_SHIFT;
    const double step = nearest - EXP2_SHIFT > y ? nearest - 0.0625 : nearest;
    const double w = y - (step - (EXP2_SHIFT + EXP2_OFFSET)), square = w * w;
    tile->step[i] = step;
    tile->near[i] = (square * (square + EXP2_A) + EXP2_B) * (w + EXP2_C) + EXP2_D;
  }
}

/* 2^whole for whole >= -1022. */
static inline double portable_two_to(double whole) {
  return pc_double_from_bits(pc_double_bits(whole + (0x1.8p52 + 1023.0)) << 52);
}

/* For integer parts below -1022: multiplies by two powers of 2, so that rounding occurs only
 * once. */
static double portable_deep_root(double root, uint64_t j, double step) {
  const double whole = (step - EXP2_SHIFT) - (double)j * 0.0625;
  const double first = whole < PORTABLE_DEEP ? PORTABLE_DEEP : whole;
  return root * portable_two_to(first) * portable_two_to(whole - first);
}

/* 2^(scale d).  Table look-ups have a loop of their own, so that compilers vectorise the
 * rest. */
static void portable_powers(portable_tile *restrict tile, size_t count, double scale) {
  static const double roots[16] = {EXP2_ROOTS_LOW, EXP2_ROOTS_HIGH};
  const int deep = tile->least[0] * scale < PORTABLE_DEEP;
  portable_near(tile, count, scale, deep ? EXP2_LOWEST : PORTABLE_DEEP);
  for (size_t i = 0; i < count; i++)
    tile->root[i] = roots[pc_double_bits(tile->step[i]) & 15];
  if (deep)
    for (size_t i = 0; i < count; i++)
      tile->root[i] =
          portable_deep_root(tile->root[i], pc_double_bits(tile->step[i]) & 15, tile->step[i]);
  else
    for (size_t i = 0; i < count; i++)
      tile->root[i] = tile->d[i] * scale < PORTABLE_DEEP
                          ? 0.0
                          : pc_double_from_bits(pc_double_bits(tile->root[i]) +
                                                (pc_double_bits(tile->step[i]) >> 4 << 52));
}

/* Adds the terms, PC_LANES at a time, to `lanes` sums. */
static inline void portable_add(const portable_tile *restrict tile, size_t count, size_t lanes,
                                portable_sums *restrict sums) {
  for (size_t j = 0; j < count; j += lanes)
    for (size_t l = 0; l < lanes; l++) {
      const double d = tile->d[j + l], t0 = tile->near[j + l] * tile->root[j + l];
      const double t1 = t0 * d, t2 = t1 * d, t3 = t2 * d, t4 = t3 * d, t5 = t4 * d;
      sums->rest[l] += t0;
      sums->moment[0][l] += t1;
      sums->moment[1][l] += t2;
      sums->moment[2][l] += t3;
      sums->moment[3][l] += t4;
      sums->moment[4][l] += t5;
      sums->moment[5][l] += t5 * d;
    }
}

static inline void portable_add_one(const portable_tile *restrict tile, size_t count,
                                    size_t lanes, portable_sums *restrict sums) {
  for (size_t j = 0; j < count; j += lanes)
    for (size_t l = 0; l < lanes; l++)
      sums->one[l] += tile->near[j + l] * tile->root[j + l];
}

/* The number of lanes is a constant in each call, so that loops are unrolled. */
static void portable_take(portable_tile *tile, size_t count, size_t lanes, double scale,
                          int with_one, portable_sums *sums) {
  if (with_one) {
    portable_powers(tile, count, PC_LANE_LOG2_E);
    if (lanes == PORTABLE_HALF)
      portable_add_one(tile, count, PORTABLE_HALF, sums);
    else
      portable_add_one(tile, count, PC_LANES, sums);
  }
  portable_powers(tile, count, scale);
  if (lanes == PORTABLE_HALF)
    portable_add(tile, count, PORTABLE_HALF, sums);
  else
    portable_add(tile, count, PC_LANES, sums);
}

static double portable_fold(const double lanes[PORTABLE_HALF]) {
  double four[4];
  for (size_t l = 0; l < 4; l++)
    four[l] = lanes[l] + lanes[l + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/* The block of PC_LANES scores to process at step i: first the one with the largest score, then
 * the incomplete block, then the others. */
static size_t portable_block(size_t i, size_t count, size_t top) {
  const size_t whole = count / PC_LANES, odd = top / PC_LANES;
  const size_t left = count % PC_LANES != 0;
  if (odd < whole) {
    if (i == 0)
      return odd;
    if (left && i == 1)
      return whole;
    const size_t other = i - 1 - left;
    return other + (other >= odd);
  }
  return left && i == 0 ? whole : i - left;
}

/* Replaces -inf by finite numbers whose terms are 0. */
static void portable_begin(portable_tile *tile, size_t count, double lowest) {
  for (size_t i = 0; i < count; i++)
    tile->d[i] = tile->d[i] < lowest ? lowest : tile->d[i];
  for (size_t l = 1; l < PC_LANES; l++)
    tile->least[0] = tile->least[l] < tile->least[0] ? tile->least[l] : tile->least[0];
}

/* Scales the moments to units of 1 / scale, and folds the lanes of a single row. */
static void portable_finish(portable_sums *sums, size_t lanes, double scale) {
  double unit = scale;
  if (lanes == PORTABLE_HALF) {
    sums->rest[0] = portable_fold(sums->rest);
    sums->one[0] = portable_fold(sums->one);
  }
  for (size_t k = 0; k < PORTABLE_MOMENTS; k++, unit *= scale) {
    if (lanes == PORTABLE_HALF)
      sums->moment[k][0] = portable_fold(sums->moment[k]);
    for (size_t l = 0; l < (lanes == PORTABLE_HALF ? 1 : PC_LANES); l++)
      sums->moment[k][l] *= unit;
  }
}

#define NUMBER float
#define NAMED(name) name##_f32
#include "kernels/temperature_portable_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "kernels/temperature_portable_template.h"
#undef NAMED
#undef NUMBER

#endif
