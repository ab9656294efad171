/* Sums over the scores of a row in vectors of eight, for temperature_kernels.c only: the sums of
 * temperature_portable.h, bit for bit, with fewer instructions, where the processor has AVX-512.  The
 * formula is in temperature_exp2.h.
 *
 * Processors have units for products and units for sums, and without fused operations there is
 * more work for the latter.  A fused operation with the factor 1 is a sum, with its bits, that
 * the former do: eights_plus_as_product takes a share of them there.
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

#define EIGHTS_INLINE static inline __attribute__((always_inline))
#define EIGHTS_PARTS (PC_LANES / 8)
#define EIGHTS_POWERS (2 * EIGHTS_PARTS) /* for the scale, and for beta = 1 */
#define EIGHTS_DOWN (_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define EIGHTS_MOMENTS 6
#define EIGHTS_MOMENTS_AS_PRODUCTS 4
#define EIGHTS_BELOW_FLOATS (-1e40)

/* r_j, and the factor 1. */
typedef struct eights_constants {
  __m512d low, high; /* j from 0, and from 8 */
  __m512d ones;
} eights_constants;

EIGHTS_INLINE eights_constants eights_prepare(void) {
  static const double roots[16] = {POWER_ROOTS_LOW, POWER_ROOTS_HIGH};
  __m512d ones = _mm512_set1_pd(1.0);
  __asm__("" : "+v"(ones)); /* a compiler that saw the factor would write a plain sum */
  return (eights_constants){_mm512_loadu_pd(roots), _mm512_loadu_pd(roots + 8), ones};
}

EIGHTS_INLINE __m512d eights_plus(__m512d a, double b) {
  return _mm512_add_pd(a, _mm512_set1_pd(b));
}

/* a + b where products are computed. */
EIGHTS_INLINE __m512d eights_plus_as_product(const eights_constants *constants, __m512d a,
                                             __m512d b) {
  return _mm512_fmadd_pd(a, constants->ones, b);
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

/* The next moment of what waits. */
EIGHTS_INLINE void eights_take(const eights_row *row, const eights_constants *constants,
                               size_t moment, eights_state *state) {
  for (size_t h = 0; h < EIGHTS_PARTS; h++) {
    eights_waiting *waiting = &state->waiting[h];
    __m512d *sum = &eights_sums_of(row, state, h)->moment[moment];
    waiting->term = _mm512_mul_pd(waiting->term, waiting->d);
    *sum = moment < EIGHTS_MOMENTS_AS_PRODUCTS
               ? eights_plus_as_product(constants, waiting->term, *sum)
               : _mm512_add_pd(*sum, waiting->term);
  }
}

/* Several 2^y on their way, step by step: processors do not look far enough ahead to work on
 * more than one of them otherwise. */
typedef struct eights_powers {
  __m512d y[EIGHTS_POWERS], w[EIGHTS_POWERS], u[EIGHTS_POWERS], root[EIGHTS_POWERS];
} eights_powers;

EIGHTS_INLINE void eights_reduce(const eights_constants *constants, size_t count,
                                 eights_powers *at) {
  __m512d step[EIGHTS_POWERS];
  for (size_t i = 0; i < count; i++)
    step[i] = _mm512_add_round_pd(at->y[i], _mm512_set1_pd(POWER_SHIFT), EIGHTS_DOWN);
  for (size_t i = 0; i < count; i++)
    at->w[i] = _mm512_sub_pd(at->y[i], eights_plus(step[i], -(POWER_SHIFT + POWER_OFFSET)));
  for (size_t i = 0; i < count; i++)
    at->root[i] =
        _mm512_scalef_pd(/* times 2 to the floor of y */
                         _mm512_permutex2var_pd(constants->low, _mm512_castpd_si512(step[i]),
                                                constants->high),
                         at->y[i]);
}

/* u(w), while the moments of what waits are added. */
EIGHTS_INLINE void eights_polynomial(const eights_row *row, const eights_constants *constants,
                                     size_t count, eights_powers *at, eights_state *state) {
  eights_take(row, constants, 1, state);
  for (size_t i = 0; i < count; i++)
    at->u[i] = _mm512_mul_pd(at->w[i], at->w[i]);
  eights_take(row, constants, 2, state);
  for (size_t i = 0; i < count; i++)
    at->u[i] = _mm512_mul_pd(at->u[i], eights_plus(at->u[i], POWER_A));
  eights_take(row, constants, 3, state);
  for (size_t i = 0; i < count; i++)
    at->u[i] =
        _mm512_mul_pd(eights_plus_as_product(constants, at->w[i], _mm512_set1_pd(POWER_C)),
                      eights_plus(at->u[i], POWER_B));
  eights_take(row, constants, 4, state);
  for (size_t i = 0; i < count; i++)
    at->u[i] = eights_plus(at->u[i], POWER_D);
  eights_take(row, constants, 5, state);
}

EIGHTS_INLINE void eights_add_block(const eights_row *row, const eights_constants *constants,
                                    int with_one, size_t index, int whole, unsigned mask,
                                    eights_state *state) {
  const size_t count = with_one ? EIGHTS_POWERS : EIGHTS_PARTS;
  __m512d d[EIGHTS_PARTS];
  eights_powers at;
  if (row->kind == EIGHTS_FLOATS) /* the next row */
    pc_prefetch((const float *)row->scores + index, 1, row->count * sizeof(float));
  for (size_t h = 0; h < EIGHTS_PARTS; h++)
    d[h] = eights_read(row, index + 8 * h, whole, (__mmask8)(mask >> (8 * h) & 0xff));
  for (size_t i = 0; i < count; i++)
    at.y[i] = _mm512_mul_pd(d[i % EIGHTS_PARTS],
                            i < EIGHTS_PARTS ? row->scale : _mm512_set1_pd(PC_LANE_LOG2_E));
  eights_take(row, constants, 0, state);
  eights_reduce(constants, count, &at);
  eights_polynomial(row, constants, count, &at, state);
  for (size_t i = 0; i < count; i++)
    at.u[i] = _mm512_mul_pd(at.u[i], at.root[i]);
  for (size_t h = 0; h < EIGHTS_PARTS; h++) {
    eights_sums *sums = eights_sums_of(row, state, h);
    state->waiting[h] = (eights_waiting){d[h], at.u[h]};
    sums->rest = _mm512_add_pd(sums->rest, at.u[h]);
    if (with_one)
      sums->one = _mm512_add_pd(sums->one, at.u[h + EIGHTS_PARTS]);
  }
}

/* The block with the largest score, what is left over, and then the other blocks, without a
 * branch that depends on where the largest is. */
EIGHTS_INLINE void eights_add(const eights_row *row, int with_one, eights_state *state) {
  const eights_constants constants = eights_prepare();
  const size_t whole = row->count / PC_LANES * PC_LANES;
  const size_t odd[] = {row->top / PC_LANES * PC_LANES, whole};
  for (size_t i = odd[0] < whole ? 0 : 1; i < 2 && odd[i] < row->count; i++) {
    const size_t left = row->count - odd[i];
    const unsigned there = left < PC_LANES ? (1u << left) - 1u : 0xffffu;
    const unsigned top = odd[0] == odd[i] ? 1u << row->top % PC_LANES : 0u;
    eights_add_block(row, &constants, with_one, odd[i], 0, there & ~top, state);
  }
  const size_t others = odd[0] < whole ? whole - PC_LANES : whole;
  for (size_t j = 0; j < others; j += PC_LANES)
    eights_add_block(row, &constants, with_one, j + (j >= odd[0] ? PC_LANES : 0), 1, 0xffff,
                     state);
  for (size_t k = 0; k < EIGHTS_MOMENTS; k++)
    eights_take(row, &constants, k, state);
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
      kind == EIGHTS_FLOATS ? 0.0 : POWER_LOWEST / fmin(scale, PC_LANE_LOG2_E);
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
