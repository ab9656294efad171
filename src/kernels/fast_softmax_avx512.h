/* The sums over a row of floats with AVX-512, for fast_kernels.c only: the same sums as its
 * plain loops.  The polynomials of a block are evaluated after the next block has begun, so
 * that the processor has more independent work.  A logit without a term gets p(0) = 1 and an
 * exponent that makes the term 0. */
#ifndef PC_FAST_SOFTMAX_AVX512_H
#define PC_FAST_SOFTMAX_AVX512_H

#include <immintrin.h>

/* Sixteen terms before their polynomials: the fractional part of the exponent, and the whole
 * part at the exponent bits of a float. */
typedef struct fast_vector {
  __m512 f;
  __m512i whole;
} fast_vector;

FAST_INLINE fast_vector fast_vector_begin(const float *z, __m512 max, __mmask16 own,
                                          __m512i mark, __m512i *marked) {
  const __m512 log2_e = _mm512_set1_ps(PC_LANE_EXPF_LOG2_E);
  const __m512 shift = _mm512_set1_ps(PC_LANE_EXPF_SHIFT);
  const uint32_t lowest = pc_float_bits(pc_lane_expf_lowest());
  const __m512i first = _mm512_set1_epi32(INT32_MIN + 1); /* as in fast_common */
  const __m512i last = _mm512_set1_epi32((int)(lowest - UINT32_C(0x80000001)));
  const __m512i one = _mm512_castps_si512(_mm512_set1_ps(1.0f));
  const __m512 gap = _mm512_sub_ps(_mm512_loadu_ps(z), max);
  const __mmask16 common = _mm512_mask_cmple_epu32_mask(
      own, _mm512_sub_epi32(_mm512_castps_si512(gap), first), last);
  const __m512 shifted = _mm512_fmadd_ps(gap, log2_e, shift);
  const __m512 whole = _mm512_sub_ps(shifted, shift);
  *marked = _mm512_mask_sub_epi32(*marked, common, *marked, mark);
  return (fast_vector){_mm512_maskz_fmsub_ps(common, gap, log2_e, whole),
                       _mm512_mask_slli_epi32(_mm512_sub_epi32(_mm512_setzero_si512(), one),
                                              common, _mm512_castps_si512(shifted), 23)};
}

FAST_INLINE void fast_vector_finish(fast_vector from, __m512 *term, __m512 *square) {
  const __m512 f = from.f;
  __m512 p = _mm512_set1_ps(PC_LANE_EXPF_5);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(PC_LANE_EXPF_4));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(PC_LANE_EXPF_3));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(PC_LANE_EXPF_2));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(PC_LANE_EXPF_1));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
  const __m512 here = _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), from.whole));
  *term = _mm512_add_ps(*term, here);
  *square = _mm512_fmadd_ps(here, here, *square);
}

/* A block of two vectors; `own` has a bit for each element that counts. */
typedef struct fast_block {
  __m512 term[2], square[2];
  __m512i marked[2];
  fast_vector open[2];
} fast_block;

FAST_INLINE void fast_block_begin(const float *z, __m512 max, uint32_t own, __m512i mark,
                                  fast_vector *open, fast_block *sums) {
  open[0] = fast_vector_begin(z, max, (__mmask16)own, mark, &sums->marked[0]);
  open[1] = fast_vector_begin(z + 16, max, (__mmask16)(own >> 16), mark, &sums->marked[1]);
}

FAST_INLINE void fast_block_finish(fast_block *sums) {
  fast_vector_finish(sums->open[0], &sums->term[0], &sums->square[0]);
  fast_vector_finish(sums->open[1], &sums->term[1], &sums->square[1]);
}

FAST_INLINE __m512i fast_block_marks(uint32_t own, size_t count) {
  return _mm512_mask_blend_epi32((__mmask16)own, _mm512_set1_epi32((int)fast_marks(count)),
                                 _mm512_set1_epi32((int)fast_marks(count + 1)));
}

static void fast_sum(const float *z, size_t count, const float *last, float largest,
                     fast_sums *out) {
  const size_t blocks = count / FAST_BLOCK;
  const uint32_t own = (uint32_t) ~(UINT64_MAX >> count % FAST_BLOCK >> 32);
  const __m512 max = _mm512_set1_ps(largest), none = _mm512_setzero_ps();
  const __m512i step = _mm512_set1_epi32(1);
  __m512i mark = _mm512_set1_epi32((int)FAST_ONE);
  fast_block sums = {
      .term = {none, none},
      .square = {none, none},
      .marked = {fast_block_marks(own, blocks), fast_block_marks(own >> 16, blocks)}};
  fast_block_begin(last, max, own, _mm512_set1_epi32((int)(FAST_ONE + blocks)), sums.open,
                   &sums);
  for (size_t j = 0; j < blocks * FAST_BLOCK; j += FAST_BLOCK) {
    fast_vector open[2];
    pc_prefetch(z + j, FAST_BLOCK * sizeof *z, count * sizeof *z + FAST_AHEAD);
    fast_block_begin(z + j, max, UINT32_MAX, mark, open, &sums);
    fast_block_finish(&sums);
    sums.open[0] = open[0];
    sums.open[1] = open[1];
    mark = _mm512_add_epi32(mark, step);
  }
  fast_block_finish(&sums);
  for (size_t h = 0; h < 2; h++) {
    _mm512_storeu_ps(out->term + 16 * h, sums.term[h]);
    _mm512_storeu_ps(out->square + 16 * h, sums.square[h]);
    _mm512_storeu_si512(out->marked + 16 * h, sums.marked[h]);
  }
}

#endif
