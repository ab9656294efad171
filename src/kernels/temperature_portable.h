/* Sums over the scores of a row for the log score under a temperature, for temperature_kernels.c only: the
 * plain loops whose bits temperature_avx512.h gives in vectors of eight.  The formula is in
 * temperature_exp2.h.
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

#define PLAIN_MOMENTS 6
#define PLAIN_HALF 8         /* lanes that the sums of one row have */
#define PLAIN_TILE 512       /* scores */
#define PLAIN_DEEP (-1000.0) /* powers of two from here on need no care */

/* d = score - max of some scores, and their 2^y as two factors: 2^i r_j and u(w). */
typedef struct plain_tile {
  double d[PLAIN_TILE], step[PLAIN_TILE], root[PLAIN_TILE], near[PLAIN_TILE];
  double least[PC_LANES]; /* d of a score that counts so far */
} plain_tile;

/* Sums of t, of those for beta = 1, and of t d^k. */
typedef struct plain_sums {
  double rest[PC_LANES], one[PC_LANES], moment[PLAIN_MOMENTS][PC_LANES];
} plain_sums;

/* u(w), and the multiple of 1/16 below y, shifted. */
static void plain_near(plain_tile *restrict tile, size_t count, double scale, double lowest) {
  for (size_t i = 0; i < count; i++) {
    const double all = tile->d[i] * scale, y = all < lowest ? lowest : all;
    const double nearest = y + POWER_SHIFT;
    const double step = nearest - POWER_SHIFT > y ? nearest - 0.0625 : nearest;
    const double w = y - (step - (POWER_SHIFT + POWER_OFFSET)), square = w * w;
    tile->step[i] = step;
    tile->near[i] = (square * (square + POWER_A) + POWER_B) * (w + POWER_C) + POWER_D;
  }
}

/* 2 to a whole number from -1022 on. */
static inline double plain_two_to(double whole) {
  return pc_double_from_bits(pc_double_bits(whole + (0x1.8p52 + 1023.0)) << 52);
}

/* The whole part may be below -1022: two factors, of which only the second rounds. */
static double plain_deep_root(double root, uint64_t j, double step) {
  const double whole = (step - POWER_SHIFT) - (double)j * 0.0625;
  const double first = whole < PLAIN_DEEP ? PLAIN_DEEP : whole;
  return root * plain_two_to(first) * plain_two_to(whole - first);
}

/* 2^(scale d).  Loops of their own for looking up and for the rest, which compilers turn into
 * vectors. */
static void plain_powers(plain_tile *restrict tile, size_t count, double scale) {
  static const double roots[16] = {POWER_ROOTS_LOW, POWER_ROOTS_HIGH};
  const int deep = tile->least[0] * scale < PLAIN_DEEP;
  plain_near(tile, count, scale, deep ? POWER_LOWEST : PLAIN_DEEP);
  for (size_t i = 0; i < count; i++)
    tile->root[i] = roots[pc_double_bits(tile->step[i]) & 15];
  if (deep)
    for (size_t i = 0; i < count; i++)
      tile->root[i] =
          plain_deep_root(tile->root[i], pc_double_bits(tile->step[i]) & 15, tile->step[i]);
  else
    for (size_t i = 0; i < count; i++)
      tile->root[i] = tile->d[i] * scale < PLAIN_DEEP
                          ? 0.0
                          : pc_double_from_bits(pc_double_bits(tile->root[i]) +
                                                (pc_double_bits(tile->step[i]) >> 4 << 52));
}

/* Adds the terms, PC_LANES at a time, to `lanes` sums. */
static inline void plain_add(const plain_tile *restrict tile, size_t count, size_t lanes,
                             plain_sums *restrict sums) {
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

static inline void plain_add_one(const plain_tile *restrict tile, size_t count, size_t lanes,
                                 plain_sums *restrict sums) {
  for (size_t j = 0; j < count; j += lanes)
    for (size_t l = 0; l < lanes; l++)
      sums->one[l] += tile->near[j + l] * tile->root[j + l];
}

/* The number of lanes is a constant in each call, which loops are unrolled by. */
static void plain_take(plain_tile *tile, size_t count, size_t lanes, double scale, int with_one,
                       plain_sums *sums) {
  if (with_one) {
    plain_powers(tile, count, PC_LANE_LOG2_E);
    if (lanes == PLAIN_HALF)
      plain_add_one(tile, count, PLAIN_HALF, sums);
    else
      plain_add_one(tile, count, PC_LANES, sums);
  }
  plain_powers(tile, count, scale);
  if (lanes == PLAIN_HALF)
    plain_add(tile, count, PLAIN_HALF, sums);
  else
    plain_add(tile, count, PC_LANES, sums);
}

static double plain_fold(const double lanes[PLAIN_HALF]) {
  double four[4];
  for (size_t l = 0; l < 4; l++)
    four[l] = lanes[l] + lanes[l + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/* Where block number i of PC_LANES scores comes: the block with the largest score first, then
 * what is left over, then the others. */
static size_t plain_block(size_t i, size_t count, size_t top) {
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

/* The scores of one block; the one at `top`, and those that are not there, have d = -inf.
 * Only these are left out of `least`, and what is -inf itself. */
#define PLAIN_READ(name, type)                                                             \
  static void name(const type *scores, size_t count, size_t top, size_t block, double max, \
                   double *restrict out, double *restrict least) {                         \
    const size_t begin = block * PC_LANES;                                                 \
    type copy[PC_LANES];                                                                   \
    const type *from = scores + begin;                                                     \
    if (begin + PC_LANES > count || block == top / PC_LANES) {                             \
      for (size_t l = 0; l < PC_LANES; l++)                                                \
        copy[l] = begin + l < count && begin + l != top ? from[l] : (type)-INFINITY;       \
      from = copy;                                                                         \
    }                                                                                      \
    for (size_t l = 0; l < PC_LANES; l++) {                                                \
      const double d = (double)from[l] - max, low = d == -INFINITY ? 0.0 : d;              \
      least[l] = low < least[l] ? low : least[l];                                          \
      out[l] = d;                                                                          \
    }                                                                                      \
  }

PLAIN_READ(plain_read_f32, float)
PLAIN_READ(plain_read_f64, double)

/* Finite numbers whose terms are 0 in place of -inf. */
static void plain_begin(plain_tile *tile, size_t count, double lowest) {
  for (size_t i = 0; i < count; i++)
    tile->d[i] = tile->d[i] < lowest ? lowest : tile->d[i];
  for (size_t l = 1; l < PC_LANES; l++)
    tile->least[0] = tile->least[l] < tile->least[0] ? tile->least[l] : tile->least[0];
}

/* Sums of the terms of a row, of those for beta = 1 where asked for, and of their moments, into
 * the first lane; without a top, each lane is a row of its own. */
#define PLAIN_SUM(name, read, type)                                                           \
  static void name(const type *scores, size_t count, size_t top, double max, double scale,    \
                   int with_one, plain_sums *sums) {                                          \
    const size_t blocks = (count + PC_LANES - 1) / PC_LANES;                                  \
    const size_t lanes = top < count ? PLAIN_HALF : PC_LANES;                                 \
    const double lowest = POWER_LOWEST / fmin(scale, PC_LANE_LOG2_E);                         \
    plain_tile tile;                                                                          \
    size_t filled = 0;                                                                        \
    memset(sums, 0, sizeof *sums);                                                            \
    memset(tile.least, 0, sizeof tile.least);                                                 \
    for (size_t i = 0; i < blocks; i++) {                                                     \
      read(scores, count, top, plain_block(i, count, top), max, tile.d + filled, tile.least); \
      filled += PC_LANES;                                                                     \
      if (filled == PLAIN_TILE || i + 1 == blocks) {                                          \
        plain_begin(&tile, filled, lowest);                                                   \
        plain_take(&tile, filled, lanes, scale, with_one, sums);                              \
        filled = 0;                                                                           \
      }                                                                                       \
    }                                                                                         \
    plain_finish(sums, lanes, scale);                                                         \
  }

/* Moments are wanted in units of 1 / scale. */
static void plain_finish(plain_sums *sums, size_t lanes, double scale) {
  double unit = scale;
  if (lanes == PLAIN_HALF) {
    sums->rest[0] = plain_fold(sums->rest);
    sums->one[0] = plain_fold(sums->one);
  }
  for (size_t k = 0; k < PLAIN_MOMENTS; k++, unit *= scale) {
    if (lanes == PLAIN_HALF)
      sums->moment[k][0] = plain_fold(sums->moment[k]);
    for (size_t l = 0; l < (lanes == PLAIN_HALF ? 1 : PC_LANES); l++)
      sums->moment[k][l] *= unit;
  }
}

PLAIN_SUM(plain_sum_f32, plain_read_f32, float)
PLAIN_SUM(plain_sum_f64, plain_read_f64, double)

#endif
