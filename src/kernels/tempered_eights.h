/* Sums over the scores of a row in vectors of eight, for tempered.c only: what its plain loops
 * do, with fewer instructions, where the processor has AVX-512.
 *
 * Formula:  2^y = 2^i 2^(j/16) p(f),  i the whole part of y, j/16 + f the rest, 0 <= f < 1/16;
 *           one instruction looks 2^(j/16) up among sixteen;  p is 2^f of degree 5, exactly 1
 *           for f = 0, fitted for the least relative error, 5e-15.
 *
 * Accuracy: a term to relative 7e-15; those below 2^-1100 are 0.  Multiplications and additions
 * are fused: the last digits are not those of the plain loops.   Cost: half of theirs. */
#ifndef PC_TEMPERED_EIGHTS_H
#define PC_TEMPERED_EIGHTS_H

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "kernels/fetch.h"
#include "kernels/lane_math.h"
#include "kernels/row_kernels.h"

#define EIGHTS_INLINE static inline __attribute__((always_inline))
#define EIGHTS_PARTS (PC_LANES / 8)
#define EIGHTS_LOWEST (-1100.0)
#define EIGHTS_DOWN _MM_FROUND_TO_NEG_INF
#define EIGHTS_SHIFT 0x1.8p48 /* y + this, rounded down, ends with the bits of j */
#define EIGHTS_FRACTION (4 << 4 | EIGHTS_DOWN) /* y less its multiple of 2^-4 below */
#define EIGHTS_MOMENTS 6
#define EIGHTS_BELOW_FLOATS (-1e40)

/* 2^(j/16). */
typedef struct eights_roots {
  __m512d low, high; /* j from 0, and from 8 */
} eights_roots;

EIGHTS_INLINE eights_roots eights_roots_of_two(void) {
  const __m512d low = _mm512_setr_pd(
      1.0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
      0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0);
  const __m512d high = _mm512_setr_pd(
      0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
      0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0);
  return (eights_roots){low, high};
}

EIGHTS_INLINE __m512d eights_fused(__m512d a, __m512d b, double c) {
  return _mm512_fmadd_pd(a, b, _mm512_set1_pd(c));
}

/* 2^(scale d). */
EIGHTS_INLINE __m512d eights_term(const eights_roots *roots, __m512d d, __m512d scale) {
  const __m512d y = _mm512_mul_pd(d, scale), f = _mm512_reduce_pd(y, EIGHTS_FRACTION);
  const __m512d shifted =
      _mm512_add_round_pd(y, _mm512_set1_pd(EIGHTS_SHIFT), EIGHTS_DOWN | _MM_FROUND_NO_EXC);
  const __m512i j = _mm512_castpd_si512(shifted);
  const __m512d root = _mm512_permutex2var_pd(roots->low, j, roots->high);
  __m512d p = eights_fused(f, _mm512_set1_pd(0x1.650babe5237ecp-10), 0x1.3b1a33dc3bc0ep-7);
  p = eights_fused(p, f, 0x1.c6b0ae4cd883ep-5);
  p = eights_fused(p, f, 0x1.ebfbdfdbacbc4p-3);
  p = eights_fused(p, f, 0x1.62e42fefaba29p-1);
  p = eights_fused(p, f, 1.0);
  return _mm512_mul_pd(p, _mm512_scalef_pd(root, y)); /* times 2 to the floor of y */
}

/* A row, and what its scores are turned into: d = score - max, of doubles at least lowest. */
typedef struct eights_row {
  const void *scores;
  size_t count, top; /* the score at `top` is left out */
  __m512d max, scale, lowest;
} eights_row;

/* Eight d; the lowest where the mask has none.  Floats are finite and so are the sixth powers
 * of their differences: what is too low has the term 0 anyway. */
EIGHTS_INLINE __m512d eights_read(const eights_row *row, int floats, size_t index, int whole,
                                  __mmask8 mask) {
  const float *at_floats = (const float *)row->scores + index;
  const double *at_doubles = (const double *)row->scores + index;
  const __m512d nothing = _mm512_set1_pd(floats ? EIGHTS_BELOW_FLOATS : -INFINITY);
  __m512d read;
  if (floats && whole)
    read = _mm512_cvtps_pd(_mm256_loadu_ps(at_floats));
  else if (floats)
    read = _mm512_mask_cvtps_pd(nothing, mask, _mm256_maskz_loadu_ps(mask, at_floats));
  else if (whole)
    read = _mm512_loadu_pd(at_doubles);
  else
    read = _mm512_mask_loadu_pd(nothing, mask, at_doubles);
  const __m512d d = _mm512_sub_pd(read, row->max);
  return floats ? d : _mm512_max_pd(d, row->lowest);
}

/* Sums in PC_LANES lanes: of t, of those for beta = 1, and of t d^k. */
typedef struct eights_sums {
  __m512d rest[EIGHTS_PARTS], one[EIGHTS_PARTS], moment[EIGHTS_MOMENTS][EIGHTS_PARTS];
} eights_sums;

EIGHTS_INLINE void eights_add_moments(eights_sums *sums, size_t h, __m512d t0, __m512d d) {
  const __m512d t1 = _mm512_mul_pd(t0, d), d2 = _mm512_mul_pd(d, d), d4 = _mm512_mul_pd(d2, d2);
  sums->moment[0][h] = _mm512_add_pd(sums->moment[0][h], t1);
  sums->moment[1][h] = _mm512_fmadd_pd(t0, d2, sums->moment[1][h]);
  sums->moment[2][h] = _mm512_fmadd_pd(t1, d2, sums->moment[2][h]);
  sums->moment[3][h] = _mm512_fmadd_pd(t0, d4, sums->moment[3][h]);
  sums->moment[4][h] = _mm512_fmadd_pd(t1, d4, sums->moment[4][h]);
  sums->moment[5][h] = _mm512_fmadd_pd(t0, _mm512_mul_pd(d2, d4), sums->moment[5][h]);
}

EIGHTS_INLINE void eights_add_block(const eights_row *row, const eights_roots *roots,
                                    int floats, int with_one, size_t index, int whole,
                                    unsigned mask, eights_sums *sums) {
  const __m512d log2_e = _mm512_set1_pd(PC_LANE_LOG2_E);
  if (floats) /* the next row */
    pc_fetch((const float *)row->scores + index, 1, row->count * sizeof(float));
  for (size_t h = 0; h < EIGHTS_PARTS; h++) {
    const __mmask8 here = (__mmask8)(mask >> (8 * h) & 0xff);
    const __m512d d = eights_read(row, floats, index + 8 * h, whole, here);
    const __m512d t = eights_term(roots, d, row->scale);
    if (with_one)
      sums->one[h] = _mm512_add_pd(sums->one[h], eights_term(roots, d, log2_e));
    sums->rest[h] = _mm512_add_pd(sums->rest[h], t);
    eights_add_moments(sums, h, t, d);
  }
}

/* Whole blocks but the one with the largest score, that one, and what is left over. */
EIGHTS_INLINE void eights_add(const eights_row *row, int floats, int with_one,
                              eights_sums *sums) {
  const eights_roots roots = eights_roots_of_two();
  const size_t whole = row->count / PC_LANES * PC_LANES;
  const size_t odd[] = {row->top / PC_LANES * PC_LANES, whole};
  for (size_t j = 0; j < whole; j += PC_LANES)
    if (j != odd[0])
      eights_add_block(row, &roots, floats, with_one, j, 1, 0xffff, sums);
  for (size_t i = odd[0] < whole ? 0 : 1; i < 2 && odd[i] < row->count; i++) {
    const size_t left = row->count - odd[i];
    const unsigned there = left < PC_LANES ? (1u << left) - 1u : 0xffffu;
    const unsigned top = odd[0] == odd[i] ? 1u << row->top % PC_LANES : 0u;
    eights_add_block(row, &roots, floats, with_one, odd[i], 0, there & ~top, sums);
  }
}

EIGHTS_INLINE double eights_fold(const __m512d part[EIGHTS_PARTS]) {
  return _mm512_reduce_add_pd(_mm512_add_pd(part[0], part[1]));
}

/* Moments are wanted in units of 1 / scale. */
EIGHTS_INLINE void eights_rescale(eights_sums *sums, __m512d scale) {
  __m512d unit = scale;
  for (size_t k = 0; k < EIGHTS_MOMENTS; k++, unit = _mm512_mul_pd(unit, scale))
    for (size_t h = 0; h < EIGHTS_PARTS; h++)
      sums->moment[k][h] = _mm512_mul_pd(sums->moment[k][h], unit);
}

/* Sums of the terms of a row, of those for beta = 1 unless `one` is NULL, and of their moments,
 * folded into the first lane if there is a top. */
EIGHTS_INLINE void eights_sum(const void *scores, int floats, size_t count, size_t top,
                              double max, double scale, double rest[PC_LANES],
                              double one[PC_LANES], double moment[EIGHTS_MOMENTS][PC_LANES]) {
  const double lowest = floats ? 0.0 : EIGHTS_LOWEST / fmin(scale, PC_LANE_LOG2_E);
  const eights_row row = {
      scores, count, top, _mm512_set1_pd(max), _mm512_set1_pd(scale), _mm512_set1_pd(lowest)};
  eights_sums sums;
  for (size_t h = 0; h < EIGHTS_PARTS; h++) {
    sums.rest[h] = sums.one[h] = _mm512_setzero_pd();
    for (size_t k = 0; k < EIGHTS_MOMENTS; k++)
      sums.moment[k][h] = _mm512_setzero_pd();
  }
  eights_add(&row, floats, one != NULL, &sums);
  if (top < count) {
    double unit = scale;
    rest[0] = eights_fold(sums.rest);
    for (size_t k = 0; k < EIGHTS_MOMENTS; k++, unit *= scale)
      moment[k][0] = eights_fold(sums.moment[k]) * unit;
    if (one != NULL)
      one[0] = eights_fold(sums.one);
    return;
  }
  eights_rescale(&sums, row.scale);
  memcpy(rest, sums.rest, sizeof sums.rest);
  memcpy(moment, sums.moment, sizeof sums.moment);
  if (one != NULL)
    memcpy(one, sums.one, sizeof sums.one);
}

#endif
