/* The largest of a row of floats with AVX-512, for row_kernels.c only: the same as its plain
 * loops, with comparisons that give bit masks. */
#ifndef PC_ROW_MAX_AVX512_H
#define PC_ROW_MAX_AVX512_H

#include <immintrin.h>
#include <math.h>
#include <stddef.h>

#define ROW_AVX512_PARTS 4
#define ROW_AVX512_LAST (ROW_AVX512_PARTS - 1)

/* The largest number of each part of a row; the parts are read in parallel, and the last part
 * includes the remainder.  The sum is finite if all numbers are, unless it overflows. */
typedef struct row_max_avx512_tops {
  size_t part; /* length of each but the last */
  __m512 top[ROW_AVX512_PARTS];
  float best, sum;
} row_max_avx512_tops;

static inline __mmask16 row_max_avx512_own(size_t left) {
  return (__mmask16)(left < 16 ? (1u << left) - 1u : 0xffffu);
}

static inline void row_max_avx512_look(const float *z, size_t count, row_max_avx512_tops *out) {
  __m512 top[ROW_AVX512_PARTS], sum[ROW_AVX512_PARTS];
  const size_t part = count / (16 * ROW_AVX512_PARTS) * 16;
  for (size_t p = 0; p < ROW_AVX512_PARTS; p++) {
    top[p] = _mm512_set1_ps(-INFINITY);
    sum[p] = _mm512_setzero_ps();
  }
  for (size_t j = 0; j < part; j += 16)
    for (size_t p = 0; p < ROW_AVX512_PARTS; p++) {
      __m512 here = _mm512_loadu_ps(z + p * part + j);
      __asm__("" : "+v"(here)); /* keeps gcc from loading it for each use */
      top[p] = _mm512_max_ps(top[p], here);
      sum[p] = _mm512_add_ps(sum[p], here);
    }
  for (size_t j = ROW_AVX512_PARTS * part; j < count; j += 16) {
    const __mmask16 own = row_max_avx512_own(count - j);
    const __m512 here = _mm512_maskz_loadu_ps(own, z + j);
    top[ROW_AVX512_LAST] =
        _mm512_mask_max_ps(top[ROW_AVX512_LAST], own, top[ROW_AVX512_LAST], here);
    sum[ROW_AVX512_LAST] = _mm512_add_ps(sum[ROW_AVX512_LAST], here);
  }
  out->part = part;
  for (size_t p = 0; p < ROW_AVX512_PARTS; p++)
    out->top[p] = top[p];
  out->best = _mm512_reduce_max_ps(
      _mm512_max_ps(_mm512_max_ps(top[0], top[1]), _mm512_max_ps(top[2], top[3])));
  out->sum = _mm512_reduce_add_ps(
      _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3])));
}

/* The lowest index of the largest of finite numbers. */
static inline size_t row_max_avx512_find(const float *z, size_t count,
                                         const row_max_avx512_tops *tops) {
  const __m512 best = _mm512_set1_ps(tops->best);
  size_t first = 0;
  unsigned there = 0;
  for (size_t p = 0; p < ROW_AVX512_LAST; p++) {
    there |= _mm512_cmpeq_ps_mask(best, tops->top[p]);
    first += there == 0 ? tops->part : 0;
  }
  for (size_t j = first; j < count; j += 16) {
    const __mmask16 own = row_max_avx512_own(count - j);
    const __m512 here = _mm512_maskz_loadu_ps(own, z + j);
    const unsigned found = _mm512_mask_cmpeq_ps_mask(own, best, here);
    if (found != 0)
      return j + (size_t)__builtin_ctz(found);
  }
  return 0;
}

#endif
