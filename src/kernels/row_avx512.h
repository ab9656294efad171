/* The largest of a row of floats in vectors of sixteen, for row_kernels.c only: what its plain
 * loops do, where the processor has AVX-512, which compares and tells where in one step. */
#ifndef PC_ROW_AVX512_H
#define PC_ROW_AVX512_H

#include <immintrin.h>
#include <math.h>
#include <stddef.h>

#define SIXTEENS_PARTS 4
#define SIXTEENS_LAST (SIXTEENS_PARTS - 1)

/* The largest of each part of a row, which are looked at side by side; the last part has what
 * is left over.  The sum is finite where all numbers are, unless it overflows. */
typedef struct sixteens_tops {
  size_t part; /* length of each but the last */
  __m512 top[SIXTEENS_PARTS];
  float best, sum;
} sixteens_tops;

static inline __mmask16 sixteens_own(size_t left) {
  return (__mmask16)(left < 16 ? (1u << left) - 1u : 0xffffu);
}

static inline void sixteens_look(const float *z, size_t count, sixteens_tops *out) {
  __m512 top[SIXTEENS_PARTS], sum[SIXTEENS_PARTS];
  const size_t part = count / (16 * SIXTEENS_PARTS) * 16;
  for (size_t p = 0; p < SIXTEENS_PARTS; p++) {
    top[p] = _mm512_set1_ps(-INFINITY);
    sum[p] = _mm512_setzero_ps();
  }
  for (size_t j = 0; j < part; j += 16)
    for (size_t p = 0; p < SIXTEENS_PARTS; p++) {
      __m512 here = _mm512_loadu_ps(z + p * part + j);
      __asm__("" : "+v"(here)); /* gcc would load it for each use */
      top[p] = _mm512_max_ps(top[p], here);
      sum[p] = _mm512_add_ps(sum[p], here);
    }
  for (size_t j = SIXTEENS_PARTS * part; j < count; j += 16) {
    const __mmask16 own = sixteens_own(count - j);
    const __m512 here = _mm512_maskz_loadu_ps(own, z + j);
    top[SIXTEENS_LAST] = _mm512_mask_max_ps(top[SIXTEENS_LAST], own, top[SIXTEENS_LAST], here);
    sum[SIXTEENS_LAST] = _mm512_add_ps(sum[SIXTEENS_LAST], here);
  }
  out->part = part;
  for (size_t p = 0; p < SIXTEENS_PARTS; p++)
    out->top[p] = top[p];
  out->best = _mm512_reduce_max_ps(
      _mm512_max_ps(_mm512_max_ps(top[0], top[1]), _mm512_max_ps(top[2], top[3])));
  out->sum = _mm512_reduce_add_ps(
      _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3])));
}

/* The lowest index of the largest of finite numbers. */
static inline size_t sixteens_find(const float *z, size_t count, const sixteens_tops *tops) {
  const __m512 best = _mm512_set1_ps(tops->best);
  size_t first = 0;
  unsigned there = 0;
  for (size_t p = 0; p < SIXTEENS_LAST; p++) {
    there |= _mm512_cmpeq_ps_mask(best, tops->top[p]);
    first += there == 0 ? tops->part : 0;
  }
  for (size_t j = first; j < count; j += 16) {
    const __mmask16 own = sixteens_own(count - j);
    const __m512 here = _mm512_maskz_loadu_ps(own, z + j);
    const unsigned found = _mm512_mask_cmpeq_ps_mask(own, best, here);
    if (found != 0)
      return j + (size_t)__builtin_ctz(found);
  }
  return 0;
}

#endif
