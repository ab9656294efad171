/* Sums over the scores of a row in vectors of eight, for tempered.c only: what the loops of
 * tempered_fused.h do, with fewer instructions, where the processor has AVX-512.
 *
 * Formula:  2^y = 2^i 2^(j/16) p(f),  i the whole part of y, j/16 + f the rest, 0 <= f < 1/16;
 *           one instruction looks 2^(j/16) up among sixteen;  p is 2^f of degree 5, exactly 1
 *           for f = 0, fitted for the least relative error, 5e-15.
 *
 * Accuracy: a term to relative 7e-15; those below 2^-1100 are 0.  The bits are those of
 * tempered_fused.h, where what is fused is written as fma(). */
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
#define EIGHTS_STEPS (4 << 4 | _MM_FROUND_TO_NEG_INF) /* the multiple of 2^-4 below y */
#define EIGHTS_SHIFT 0x1.8p48                         /* that and this end with the bits of j */
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

/* 2^y as a product: 2^(i + j/16) and p(f). */
typedef struct eights_factors {
  __m512d root, near;
} eights_factors;

/* 2^(scale d). */
EIGHTS_INLINE eights_factors eights_power(const eights_roots *roots, __m512d d, __m512d scale) {
  const __m512d y = _mm512_mul_pd(d, scale), step = _mm512_roundscale_pd(y, EIGHTS_STEPS);
  const __m512d f = _mm512_sub_pd(y, step);
  const __m512i j = _mm512_castpd_si512(_mm512_add_pd(step, _mm512_set1_pd(EIGHTS_SHIFT)));
  const __m512d root = _mm512_permutex2var_pd(roots->low, j, roots->high);
  __m512d p = eights_fused(f, _mm512_set1_pd(0x1.650babe5237ecp-10), 0x1.3b1a33dc3bc0ep-7);
  p = eights_fused(p, f, 0x1.c6b0ae4cd883ep-5);
  p = eights_fused(p, f, 0x1.ebfbdfdbacbc4p-3);
  p = eights_fused(p, f, 0x1.62e42fefaba29p-1);
  p = eights_fused(p, f, 1.0);
  return (eights_factors){_mm512_scalef_pd(root, step), p}; /* times 2 to the floor of y */
}

/* What is summed: a row of floats, one of doubles with the same bits, or doubles of which each
 * of PC_LANES lanes is a row of its own. */
typedef enum eights_kind { EIGHTS_FLOATS, EIGHTS_DOUBLES, EIGHTS_ROWS } eights_kind;

/* A row, and what its scores are turned into: d = score - max, of doubles at least lowest. */
typedef struct eights_row {
  eights_kind kind;
  const void *scores;
  size_t count, top; /* the score at `top` is left out */
  __m512d max, scale, lowest;
} eights_row;

/* Eight d; the lowest where the mask has none.  Floats are finite and so are the sixth powers
 * of their differences: what is too low has the term 0 anyway. */
EIGHTS_INLINE __m512d eights_read(const eights_row *row, size_t index, int whole,
                                  __mmask8 mask) {
  const int floats = row->kind == EIGHTS_FLOATS;
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

/* Sums of t, of those for beta = 1, and of t d^k. */
typedef struct eights_sums {
  __m512d rest, one, moment[EIGHTS_MOMENTS];
} eights_sums;

/* Eight terms that are not in the sums yet.  They are added while the next ones are calculated:
 * processors do not look far enough ahead to do both at once otherwise. */
typedef struct eights_waiting {
  __m512d d, term;
} eights_waiting;

/* One row is summed in eight lanes, which leaves registers for what waits. */
typedef struct eights_state {
  eights_sums sums[EIGHTS_PARTS];
  eights_waiting waiting[EIGHTS_PARTS];
} eights_state;

EIGHTS_INLINE eights_sums *eights_sums_of(const eights_row *row, eights_state *state,
                                          size_t h) {
  return &state->sums[row->kind == EIGHTS_ROWS ? h : 0];
}

EIGHTS_INLINE void eights_take(const eights_row *row, eights_state *state, size_t h) {
  const eights_waiting *waiting = &state->waiting[h];
  eights_sums *sums = eights_sums_of(row, state, h);
  const __m512d d = waiting->d, t0 = waiting->term, d2 = _mm512_mul_pd(d, d);
  const __m512d t1 = _mm512_mul_pd(t0, d), t2 = _mm512_mul_pd(t0, d2);
  const __m512d d4 = _mm512_mul_pd(d2, d2);
  sums->moment[0] = _mm512_add_pd(sums->moment[0], t1);
  sums->moment[1] = _mm512_add_pd(sums->moment[1], t2);
  sums->moment[2] = _mm512_fmadd_pd(t1, d2, sums->moment[2]);
  sums->moment[3] = _mm512_fmadd_pd(t0, d4, sums->moment[3]);
  sums->moment[4] = _mm512_fmadd_pd(t1, d4, sums->moment[4]);
  sums->moment[5] = _mm512_fmadd_pd(t2, d4, sums->moment[5]);
}

EIGHTS_INLINE void eights_add_block(const eights_row *row, const eights_roots *roots,
                                    int with_one, size_t index, int whole, unsigned mask,
                                    eights_state *state) {
  if (row->kind == EIGHTS_FLOATS) /* the next row */
    pc_fetch((const float *)row->scores + index, 1, row->count * sizeof(float));
  for (size_t h = 0; h < EIGHTS_PARTS; h++) {
    const __mmask8 here = (__mmask8)(mask >> (8 * h) & 0xff);
    eights_waiting *waiting = &state->waiting[h];
    eights_sums *sums = eights_sums_of(row, state, h);
    const __m512d d = eights_read(row, index + 8 * h, whole, here);
    eights_take(row, state, h);
    const eights_factors power = eights_power(roots, d, row->scale);
    waiting->d = d;
    waiting->term = _mm512_mul_pd(power.near, power.root);
    sums->rest = _mm512_add_pd(sums->rest, waiting->term);
    if (with_one) {
      const eights_factors one = eights_power(roots, d, _mm512_set1_pd(PC_LANE_LOG2_E));
      sums->one = _mm512_fmadd_pd(one.near, one.root, sums->one);
    }
  }
}

/* The block with the largest score, what is left over, and then the other blocks, without a
 * branch that depends on where the largest is. */
EIGHTS_INLINE void eights_add(const eights_row *row, int with_one, eights_state *state) {
  const eights_roots roots = eights_roots_of_two();
  const size_t whole = row->count / PC_LANES * PC_LANES;
  const size_t odd[] = {row->top / PC_LANES * PC_LANES, whole};
  for (size_t i = odd[0] < whole ? 0 : 1; i < 2 && odd[i] < row->count; i++) {
    const size_t left = row->count - odd[i];
    const unsigned there = left < PC_LANES ? (1u << left) - 1u : 0xffffu;
    const unsigned top = odd[0] == odd[i] ? 1u << row->top % PC_LANES : 0u;
    eights_add_block(row, &roots, with_one, odd[i], 0, there & ~top, state);
  }
  const size_t others = odd[0] < whole ? whole - PC_LANES : whole;
  for (size_t j = 0; j < others; j += PC_LANES)
    eights_add_block(row, &roots, with_one, j + (j >= odd[0] ? PC_LANES : 0), 1, 0xffff, state);
  for (size_t h = 0; h < EIGHTS_PARTS; h++)
    eights_take(row, state, h);
}

/* The sum of eight lanes, in the order of the plain loops. */
EIGHTS_INLINE double eights_fold(__m512d lanes) {
  const __m256d four =
      _mm256_add_pd(_mm512_castpd512_pd256(lanes), _mm512_extractf64x4_pd(lanes, 1));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
}

/* All lanes; moments are wanted in units of 1 / scale. */
EIGHTS_INLINE void eights_store(const eights_state *state, double scale, double rest[PC_LANES],
                                double one[PC_LANES], double moment[EIGHTS_MOMENTS][PC_LANES]) {
  for (size_t h = 0; h < EIGHTS_PARTS; h++) {
    const eights_sums *sums = &state->sums[h];
    __m512d unit = _mm512_set1_pd(scale);
    _mm512_storeu_pd(rest + 8 * h, sums->rest);
    for (size_t k = 0; k < EIGHTS_MOMENTS; k++) {
      _mm512_storeu_pd(moment[k] + 8 * h, _mm512_mul_pd(sums->moment[k], unit));
      unit = _mm512_mul_pd(unit, _mm512_set1_pd(scale));
    }
    if (one != NULL)
      _mm512_storeu_pd(one + 8 * h, sums->one);
  }
}

/* Sums of the terms of a row, of those for beta = 1 unless `one` is NULL, and of their moments,
 * folded into the first lane unless lanes are rows: these have no top. */
EIGHTS_INLINE void eights_sum(eights_kind kind, const void *scores, size_t count, size_t top,
                              double max, double scale, double rest[PC_LANES],
                              double one[PC_LANES], double moment[EIGHTS_MOMENTS][PC_LANES]) {
  const double lowest =
      kind == EIGHTS_FLOATS ? 0.0 : EIGHTS_LOWEST / fmin(scale, PC_LANE_LOG2_E);
  const eights_row row = {kind,
                          scores,
                          count,
                          top,
                          _mm512_set1_pd(max),
                          _mm512_set1_pd(scale),
                          _mm512_set1_pd(lowest)};
  eights_state state;
  memset(&state, 0, sizeof state);
  eights_add(&row, one != NULL, &state);
  if (kind == EIGHTS_ROWS) {
    eights_store(&state, scale, rest, one, moment);
    return;
  }
  double unit = scale;
  rest[0] = eights_fold(state.sums[0].rest);
  for (size_t k = 0; k < EIGHTS_MOMENTS; k++, unit *= scale)
    moment[k][0] = eights_fold(state.sums[0].moment[k]) * unit;
  if (one != NULL)
    one[0] = eights_fold(state.sums[0].one);
}

#endif
