/* Sums over the scores of a row with AVX-512, for temperature_kernels.c only: the sums of
 * temperature_portable.h, bit for bit, with fewer instructions.  Formula: temperature_exp2.h.
 *
 * Without fused operations there are more additions than multiplications, so the execution
 * ports for additions are the bottleneck.  A fused multiply-add by 1 is an addition that runs
 * on the multiplication ports: avx512_plus_as_product moves some additions there.
 *
 * Accuracy: a term to relative 8e-15; those below 2^-1075 are 0. */
#ifndef PC_TEMPERATURE_AVX512_H
#define PC_TEMPERATURE_AVX512_H

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/prefetch.h"
#include "kernels/row_kernels.h"
#include "kernels/temperature_exp2.h"

#define AVX512_INLINE static inline __attribute__((always_inline))
#define AVX512_PARTS (PC_LANES / 8)
#define AVX512_POWERS (2 * AVX512_PARTS) /* for the scale, and for beta = 1 */
#define AVX512_DOWN (_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define AVX512_MOMENTS 6
#define AVX512_MOMENTS_AS_PRODUCTS 4
#define AVX512_BELOW_FLOATS (-1e40)

/* r_j, and the factor 1. */
typedef struct avx512_constants {
  __m512d low, high; /* j from 0, and from 8 */
  __m512d ones;
} avx512_constants;

AVX512_INLINE avx512_constants avx512_prepare(void) {
  static const double roots[16] = {EXP2_ROOTS_LOW, EXP2_ROOTS_HIGH};
  __m512d ones = _mm512_set1_pd(1.0);
  __asm__("" : "+v"(ones)); /* hides the constant: a compiler would generate an addition */
  return (avx512_constants){_mm512_loadu_pd(roots), _mm512_loadu_pd(roots + 8), ones};
}

AVX512_INLINE __m512d avx512_plus(__m512d a, double b) {
  return _mm512_add_pd(a, _mm512_set1_pd(b));
}

/* a + b on a multiplication port. */
AVX512_INLINE __m512d avx512_plus_as_product(const avx512_constants *constants, __m512d a,
                                             __m512d b) {
  return _mm512_fmadd_pd(a, constants->ones, b);
}

/* The input: a row of floats, a row of doubles, or doubles with one row in each of PC_LANES
 * lanes. */
typedef enum avx512_kind { AVX512_FLOATS, AVX512_DOUBLES, AVX512_ROWS } avx512_kind;

/* A row of scores; they become d = score - max, for doubles at least `lowest`. */
typedef struct avx512_row {
  avx512_kind kind;
  const void *scores;
  size_t count, top; /* the score at `top` is left out */
  __m512d max, scale, lowest;
} avx512_row;

/* Reads eight d; lanes whose mask bit is 0 get `lowest`.  Floats and the sixth powers of their
 * differences are finite, so they need no lower bound: a d that is too low has the term 0. */
AVX512_INLINE __m512d avx512_read(const avx512_row *row, size_t index, int whole,
                                  __mmask8 mask) {
  const int floats = row->kind == AVX512_FLOATS;
  const float *at_floats = (const float *)row->scores + index;
  const double *at_doubles = (const double *)row->scores + index;
  const __m512d nothing = _mm512_set1_pd(floats ? AVX512_BELOW_FLOATS : -INFINITY);
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

/* Sums of the terms t, of the terms at beta = 1, and of t d^k. */
typedef struct avx512_sums {
  __m512d rest, one, moment[AVX512_MOMENTS];
} avx512_sums;

/* Eight terms that are not added yet: they are added while the next ones are computed, because
 * processors do not look far enough ahead to overlap the two by themselves. */
typedef struct avx512_waiting {
  __m512d d, term;
} avx512_waiting;

/* One row uses eight lanes, which leaves registers for the pending terms. */
typedef struct avx512_state {
  avx512_sums sums[AVX512_PARTS];
  avx512_waiting waiting[AVX512_PARTS];
} avx512_state;

AVX512_INLINE avx512_sums *avx512_sums_of(const avx512_row *row, avx512_state *state,
                                          size_t h) {
  return &state->sums[row->kind == AVX512_ROWS ? h : 0];
}

/* Adds the next moment of the pending terms. */
AVX512_INLINE void avx512_take(const avx512_row *row, const avx512_constants *constants,
                               size_t moment, avx512_state *state) {
  for (size_t h = 0; h < AVX512_PARTS; h++) {
    avx512_waiting *waiting = &state->waiting[h];
    __m512d *sum = &avx512_sums_of(row, state, h)->moment[moment];
    waiting->term = _mm512_mul_pd(waiting->term, waiting->d);
    *sum = moment < AVX512_MOMENTS_AS_PRODUCTS
               ? avx512_plus_as_product(constants, waiting->term, *sum)
               : _mm512_add_pd(*sum, waiting->term);
  }
}

/* Several 2^y, computed step by step together: processors do not look far enough ahead to
 * overlap them by themselves. */
typedef struct avx512_powers {
  __m512d y[AVX512_POWERS], w[AVX512_POWERS], u[AVX512_POWERS], root[AVX512_POWERS];
} avx512_powers;

AVX512_INLINE void avx512_reduce(const avx512_constants *constants, size_t count,
                                 avx512_powers *at) {
  __m512d step[AVX512_POWERS];
  for (size_t i = 0; i < count; i++)
    step[i] = _mm512_add_round_pd(at->y[i], _mm512_set1_pd(EXP2_SHIFT), AVX512_DOWN);
  for (size_t i = 0; i < count; i++)
    at->w[i] = _mm512_sub_pd(at->y[i], avx512_plus(step[i], -(EXP2_SHIFT + EXP2_OFFSET)));
  for (size_t i = 0; i < count; i++)
    at->root[i] =
        _mm512_scalef_pd(/* times 2 to the floor of y */
                         _mm512_permutex2var_pd(constants->low, _mm512_castpd_si512(step[i]),
                                                constants->high),
                         at->y[i]);
}

/* u(w), while the moments of the pending terms are added. */
AVX512_INLINE void avx512_polynomial(const avx512_row *row, const avx512_constants *constants,
                                     size_t count, avx512_powers *at, avx512_state *state) {
  avx512_take(row, constants, 1, state);
  for (size_t i = 0; i < count; i++)
    at->u[i] = _mm512_mul_pd(at->w[i], at->w[i]);
  avx512_take(row, constants, 2, state);
  for (size_t i = 0; i < count; i++)
    at->u[i] = _mm512_mul_pd(at->u[i], avx512_plus(at->u[i], EXP2_A));
  avx512_take(row, constants, 3, state);
  for (size_t i = 0; i < count; i++)
    at->u[i] =
        _mm512_mul_pd(avx512_plus_as_product(constants, at->w[i], _mm512_set1_pd(EXP2_C)),
                      avx512_plus(at->u[i], EXP2_B));
  avx512_take(row, constants, 4, state);
  for (size_t i = 0; i < count; i++)
    at->u[i] = avx512_plus(at->u[i], EXP2_D);
  avx512_take(row, constants, 5, state);
}

AVX512_INLINE void avx512_add_block(const avx512_row *row, const avx512_constants *constants,
                                    int with_one, size_t index, int whole, unsigned mask,
                                    avx512_state *state) {
  const size_t count = with_one ? AVX512_POWERS : AVX512_PARTS;
  __m512d d[AVX512_PARTS];
  avx512_powers at;
  if (row->kind == AVX512_FLOATS) /* the next row */
    pc_prefetch((const float *)row->scores + index, 1, row->count * sizeof(float));
  for (size_t h = 0; h < AVX512_PARTS; h++)
    d[h] = avx512_read(row, index + 8 * h, whole, (__mmask8)(mask >> (8 * h) & 0xff));
  for (size_t i = 0; i < count; i++)
    at.y[i] = _mm512_mul_pd(d[i % AVX512_PARTS],
                            i < AVX512_PARTS ? row->scale : _mm512_set1_pd(PC_LANE_LOG2_E));
  avx512_take(row, constants, 0, state);
  avx512_reduce(constants, count, &at);
  avx512_polynomial(row, constants, count, &at, state);
  for (size_t i = 0; i < count; i++)
    at.u[i] = _mm512_mul_pd(at.u[i], at.root[i]);
  for (size_t h = 0; h < AVX512_PARTS; h++) {
    avx512_sums *sums = avx512_sums_of(row, state, h);
    state->waiting[h] = (avx512_waiting){d[h], at.u[h]};
    sums->rest = _mm512_add_pd(sums->rest, at.u[h]);
    if (with_one)
      sums->one = _mm512_add_pd(sums->one, at.u[h + AVX512_PARTS]);
  }
}

/* The block with the largest score, the incomplete block, then the other blocks, without a
 * branch that depends on the position of the largest. */
AVX512_INLINE void avx512_add(const avx512_row *row, int with_one, avx512_state *state) {
  const avx512_constants constants = avx512_prepare();
  const size_t whole = row->count / PC_LANES * PC_LANES;
  const size_t odd[] = {row->top / PC_LANES * PC_LANES, whole};
  for (size_t i = odd[0] < whole ? 0 : 1; i < 2 && odd[i] < row->count; i++) {
    const size_t left = row->count - odd[i];
    const unsigned there = left < PC_LANES ? (1u << left) - 1u : 0xffffu;
    const unsigned top = odd[0] == odd[i] ? 1u << row->top % PC_LANES : 0u;
    avx512_add_block(row, &constants, with_one, odd[i], 0, there & ~top, state);
  }
  const size_t others = odd[0] < whole ? whole - PC_LANES : whole;
  for (size_t j = 0; j < others; j += PC_LANES)
    avx512_add_block(row, &constants, with_one, j + (j >= odd[0] ? PC_LANES : 0), 1, 0xffff,
                     state);
  for (size_t k = 0; k < AVX512_MOMENTS; k++)
    avx512_take(row, &constants, k, state);
}

/* The sum of eight lanes, in the order of the plain loops. */
AVX512_INLINE double avx512_fold(__m512d lanes) {
  const __m256d four =
      _mm256_add_pd(_mm512_castpd512_pd256(lanes), _mm512_extractf64x4_pd(lanes, 1));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
}

/* Stores all lanes; moment k is multiplied by scale^(k + 1). */
AVX512_INLINE void avx512_store(const avx512_state *state, double scale, double rest[PC_LANES],
                                double one[PC_LANES], double moment[AVX512_MOMENTS][PC_LANES]) {
  for (size_t h = 0; h < AVX512_PARTS; h++) {
    const avx512_sums *sums = &state->sums[h];
    __m512d unit = _mm512_set1_pd(scale);
    _mm512_storeu_pd(rest + 8 * h, sums->rest);
    for (size_t k = 0; k < AVX512_MOMENTS; k++) {
      _mm512_storeu_pd(moment[k] + 8 * h, _mm512_mul_pd(sums->moment[k], unit));
      unit = _mm512_mul_pd(unit, _mm512_set1_pd(scale));
    }
    if (one != NULL)
      _mm512_storeu_pd(one + 8 * h, sums->one);
  }
}

/* Sums of the terms of a row, of those for beta = 1 unless `one` is NULL, and of their moments,
 * folded into the first lane; for AVX512_ROWS, where no score is left out, each lane keeps its
 * row. */
AVX512_INLINE void avx512_sum(avx512_kind kind, const void *scores, size_t count, size_t top,
                              double max, double scale, double rest[PC_LANES],
                              double one[PC_LANES], double moment[AVX512_MOMENTS][PC_LANES]) {
  const double lowest = kind == AVX512_FLOATS ? 0.0 : EXP2_LOWEST / fmin(scale, PC_LANE_LOG2_E);
  const avx512_row row = {kind,
                          scores,
                          count,
                          top,
                          _mm512_set1_pd(max),
                          _mm512_set1_pd(scale),
                          _mm512_set1_pd(lowest)};
  avx512_state state;
  memset(&state, 0, sizeof state);
  avx512_add(&row, one != NULL, &state);
  if (kind == AVX512_ROWS) {
    avx512_store(&state, scale, rest, one, moment);
    return;
  }
  double unit = scale;
  rest[0] = avx512_fold(state.sums[0].rest);
  for (size_t k = 0; k < AVX512_MOMENTS; k++, unit *= scale)
    moment[k][0] = avx512_fold(state.sums[0].moment[k]) * unit;
  if (one != NULL)
    one[0] = avx512_fold(state.sums[0].one);
}

#endif
