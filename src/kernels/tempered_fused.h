/* Sums over the scores of a row for the log score under a temperature, for tempered.c only: the
 * plain loops whose bits tempered_eights.h gives in vectors of eight.  What is fused is written
 * as fma(), so that every processor gives the same bits.  Cost: twice that of the vectors with
 * AVX2; a processor without the instruction does it in software, in about 1.5 microseconds for
 * each score.
 *
 * Formula:  2^y = 2^i 2^(j/16) p(f),  i the whole part of y, j/16 + f the rest, 0 <= f < 1/16;
 *           p is 2^f of degree 5, exactly 1 for f = 0, fitted for the least relative error,
 *           5e-15.
 *
 * Accuracy: a term to relative 7e-15; those below 2^-1075 are 0. */
#ifndef PC_TEMPERED_FUSED_H
#define PC_TEMPERED_FUSED_H

#include <math.h>
#include <string.h>

#include "core/binary.h"
#include "kernels/lane_math.h"
#include "kernels/row_kernels.h"

#define FUSED_LOWEST (-1100.0)
#define FUSED_BELOW_FLOATS (-1e40)
#define FUSED_MOMENTS 6
#define FUSED_HALF 8   /* lanes that the sums of one row have */
#define FUSED_TILE 512 /* scores */

/* 2^(j/16), and p from the highest degree down. */
#define FUSED_ROOTS                                                                            \
  1.0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, \
      0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0,  \
      0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0, 0x1.ae89f995ad3adp+0,  \
      0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0
#define FUSED_P5 0x1.650babe5237ecp-10
#define FUSED_P4 0x1.3b1a33dc3bc0ep-7
#define FUSED_P3 0x1.c6b0ae4cd883ep-5
#define FUSED_P2 0x1.ebfbdfdbacbc4p-3
#define FUSED_P1 0x1.62e42fefaba29p-1

/* d = score - max of some scores, and their 2^y as two factors: 2^(i + j/16) and p(f). */
typedef struct fused_tile {
  double d[FUSED_TILE], root[FUSED_TILE], last[FUSED_TILE], near[FUSED_TILE];
} fused_tile;

/* Sums of t, of those for beta = 1, and of t d^k. */
typedef struct fused_sums {
  double rest[PC_LANES], one[PC_LANES], moment[FUSED_MOMENTS][PC_LANES];
} fused_sums;

/* The whole number below x, for |x| < 2^50; 2 to a whole number from -1022 on. */
static inline double fused_floor(double x) {
  const double shift = 0x1.8p52, nearest = (x + shift) - shift;
  return nearest > x ? nearest - 1.0 : nearest;
}

static inline double fused_two_to(double whole) {
  return pc_double_of(pc_bits_of(whole + (0x1.8p52 + 1023.0)) << 52);
}

/* 2^(scale d).  The whole part of y may be below -1022: two factors, of which only the second
 * rounds.  Loops of their own for looking up and for the polynomial: compilers turn these into
 * vectors. */
static void fused_powers(fused_tile *restrict tile, size_t count, double scale) {
  static const double roots[16] = {FUSED_ROOTS};
  int32_t place[FUSED_TILE];
  for (size_t i = 0; i < count; i++) {
    const double all = tile->d[i] * scale, y = all < FUSED_LOWEST ? FUSED_LOWEST : all;
    const double steps = fused_floor(y * 16.0), whole = fused_floor(steps * 0.0625);
    const double first = whole < -1000.0 ? -1000.0 : whole, f = y - steps * 0.0625;
    place[i] = (int32_t)(steps - 16.0 * whole);
    tile->root[i] = fused_two_to(first);
    tile->last[i] = fused_two_to(whole - first);
    tile->near[i] = f;
  }
  for (size_t i = 0; i < count; i++)
    tile->root[i] = roots[place[i]] * tile->root[i] * tile->last[i];
  for (size_t i = 0; i < count; i++) {
    const double f = tile->near[i];
    double p = fma(f, FUSED_P5, FUSED_P4);
    p = fma(p, f, FUSED_P3);
    p = fma(p, f, FUSED_P2);
    p = fma(p, f, FUSED_P1);
    tile->near[i] = fma(p, f, 1.0);
  }
}

/* Adds the terms, PC_LANES at a time, to `lanes` sums. */
static inline void fused_add(const fused_tile *restrict tile, size_t count, size_t lanes,
                             fused_sums *restrict sums) {
  for (size_t j = 0; j < count; j += lanes)
    for (size_t l = 0; l < lanes; l++) {
      const double d = tile->d[j + l], t0 = tile->near[j + l] * tile->root[j + l], d2 = d * d;
      const double t1 = t0 * d, t2 = t0 * d2, d4 = d2 * d2;
      sums->rest[l] += t0;
      sums->moment[0][l] += t1;
      sums->moment[1][l] += t2;
      sums->moment[2][l] = fma(t1, d2, sums->moment[2][l]);
      sums->moment[3][l] = fma(t0, d4, sums->moment[3][l]);
      sums->moment[4][l] = fma(t1, d4, sums->moment[4][l]);
      sums->moment[5][l] = fma(t2, d4, sums->moment[5][l]);
    }
}

static inline void fused_add_one(const fused_tile *restrict tile, size_t count, size_t lanes,
                                 fused_sums *restrict sums) {
  for (size_t j = 0; j < count; j += lanes)
    for (size_t l = 0; l < lanes; l++)
      sums->one[l] = fma(tile->near[j + l], tile->root[j + l], sums->one[l]);
}

/* The number of lanes is a constant in each call, which loops are unrolled by. */
static void fused_take(fused_tile *tile, size_t count, size_t lanes, double scale, int with_one,
                       fused_sums *sums) {
  if (with_one) {
    fused_powers(tile, count, PC_LANE_LOG2_E);
    if (lanes == FUSED_HALF)
      fused_add_one(tile, count, FUSED_HALF, sums);
    else
      fused_add_one(tile, count, PC_LANES, sums);
  }
  fused_powers(tile, count, scale);
  if (lanes == FUSED_HALF)
    fused_add(tile, count, FUSED_HALF, sums);
  else
    fused_add(tile, count, PC_LANES, sums);
}

static double fused_fold(const double lanes[FUSED_HALF]) {
  double four[4];
  for (size_t l = 0; l < 4; l++)
    four[l] = lanes[l] + lanes[l + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/* Where block number i of PC_LANES scores comes: the block with the largest score first, then
 * what is left over, then the others. */
static size_t fused_block(size_t i, size_t count, size_t top) {
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

/* The scores of one block; the one at `top`, and those that are not there, count nothing. */
#define FUSED_READ(name, type, floats)                                                     \
  static void name(const type *scores, size_t count, size_t top, size_t block, double max, \
                   double lowest, double *restrict out) {                                  \
    const size_t begin = block * PC_LANES;                                                 \
    type copy[PC_LANES];                                                                   \
    const type *from = scores + begin;                                                     \
    if (begin + PC_LANES > count || block == top / PC_LANES) {                             \
      for (size_t l = 0; l < PC_LANES; l++)                                                \
        copy[l] = begin + l < count ? from[l] : scores[0];                                 \
      from = copy;                                                                         \
    }                                                                                      \
    for (size_t l = 0; l < PC_LANES; l++) {                                                \
      const double d = (double)from[l] - max;                                              \
      out[l] = floats || d > lowest ? d : lowest;                                          \
    }                                                                                      \
    for (size_t l = 0; from == copy && l < PC_LANES; l++)                                  \
      if (begin + l >= count || begin + l == top)                                          \
        out[l] = floats ? FUSED_BELOW_FLOATS - max : lowest;                               \
  }

FUSED_READ(fused_read_f32, float, 1)
FUSED_READ(fused_read_f64, double, 0)

/* Sums of the terms of a row, of those for beta = 1 where asked for, and of their moments, into
 * the first lane; without a top, each lane is a row of its own. */
#define FUSED_SUM(name, read, type, floats)                                                \
  static void name(const type *scores, size_t count, size_t top, double max, double scale, \
                   int with_one, fused_sums *sums) {                                       \
    const size_t blocks = (count + PC_LANES - 1) / PC_LANES;                               \
    const size_t lanes = top < count ? FUSED_HALF : PC_LANES;                              \
    const double lowest = FUSED_LOWEST / fmin(scale, PC_LANE_LOG2_E);                      \
    fused_tile tile;                                                                       \
    size_t filled = 0;                                                                     \
    memset(sums, 0, sizeof *sums);                                                         \
    for (size_t i = 0; i < blocks; i++) {                                                  \
      read(scores, count, top, fused_block(i, count, top), max, lowest, tile.d + filled);  \
      filled += PC_LANES;                                                                  \
      if (filled == FUSED_TILE || i + 1 == blocks) {                                       \
        fused_take(&tile, filled, lanes, scale, with_one, sums);                           \
        filled = 0;                                                                        \
      }                                                                                    \
    }                                                                                      \
    fused_finish(sums, lanes, scale);                                                      \
  }

/* Moments are wanted in units of 1 / scale. */
static void fused_finish(fused_sums *sums, size_t lanes, double scale) {
  double unit = scale;
  if (lanes == FUSED_HALF) {
    sums->rest[0] = fused_fold(sums->rest);
    sums->one[0] = fused_fold(sums->one);
  }
  for (size_t k = 0; k < FUSED_MOMENTS; k++, unit *= scale) {
    if (lanes == FUSED_HALF)
      sums->moment[k][0] = fused_fold(sums->moment[k]);
    for (size_t l = 0; l < (lanes == FUSED_HALF ? 1 : PC_LANES); l++)
      sums->moment[k][l] *= unit;
  }
}

FUSED_SUM(fused_sum_f32, fused_read_f32, float, 1)
FUSED_SUM(fused_sum_f64, fused_read_f64, double, 0)

#endif
