/* Vectors for pair_kernels.c only.  All instruction sets give the same bits. */
#ifndef PC_PAIR_VECTOR_H
#define PC_PAIR_VECTOR_H

#include <math.h>
#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "kernels/lane_math.h"
#include "kernels/row_kernels.h"

#define PAIR_INLINE static inline __attribute__((always_inline))

/* Explicit vectors as wide as the registers, because compilers would vectorise the wrong one of
 * the nested loops over lanes and classes. */
#if defined(__AVX512F__)
#define PAIR_WIDTH 8
#elif defined(__AVX__)
#define PAIR_WIDTH 4
#else
#define PAIR_WIDTH 2
#endif
#define PAIR_PARTS (PC_LANES / PAIR_WIDTH)
#define PAIR_NOTHING (-60.0) /* for exponents up to this, exp counts as 0 */
#define PAIR_ROWS 4          /* rows of a group; PC_LANES is an even multiple */

typedef double pair_vector
    __attribute__((vector_size(PAIR_WIDTH * sizeof(double)), aligned(8), may_alias));
typedef int64_t pair_bits
    __attribute__((vector_size(PAIR_WIDTH * sizeof(double)), aligned(8), may_alias));
typedef uint64_t pair_words __attribute__((vector_size(PAIR_WIDTH * sizeof(double)), aligned(8),
                                           may_alias)); /* wraps around */

/* Vector `part` of PC_LANES doubles. */
PAIR_INLINE const pair_vector *pair_part(const double *lanes, size_t part) {
  return (const pair_vector *)(const void *)lanes + part;
}

/* `yes` in lanes whose sign bit of `choose` is set, else `no`. */
PAIR_INLINE pair_vector pair_choose(pair_bits choose, pair_vector yes, pair_vector no) {
  const pair_bits mask = choose >> 63;
  return (pair_vector)(((pair_bits)yes & mask) | ((pair_bits)no & ~mask));
}

#define PAIR_EACH(name, function)                    \
  PAIR_INLINE pair_vector name(pair_vector vector) { \
    double lane[PAIR_WIDTH];                         \
    memcpy(lane, &vector, sizeof lane);              \
    for (size_t l = 0; l < PAIR_WIDTH; l++)          \
      lane[l] = function(lane[l]);                   \
    memcpy(&vector, lane, sizeof lane);              \
    return vector;                                   \
  }
PAIR_EACH(pair_exp, pc_lane_exp)
PAIR_EACH(pair_log_gamma, pc_lane_log_gamma)
PC_LANE_EXP_NEAR(pair_vector, pair_exp_near)

/* Square roots are correctly rounded on every instruction set; no lane is NaN.
 * pair_negative: true if the sign bit of some lane is set.  pair_above: true if some lane is
 * above the limit. */
#if PAIR_WIDTH == 8
PAIR_INLINE pair_vector pair_root(pair_vector x) {
  return (pair_vector)_mm512_sqrt_pd((__m512d)x);
}
PAIR_INLINE pair_vector pair_max(pair_vector x, pair_vector y) {
  return (pair_vector)_mm512_max_pd((__m512d)x, (__m512d)y);
}
PAIR_INLINE int pair_negative(pair_bits bits) {
  return _mm512_movepi64_mask((__m512i)bits) != 0;
}
PAIR_INLINE int pair_above(pair_vector x, double limit) {
  return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(limit), _CMP_GT_OQ) != 0;
}
#elif PAIR_WIDTH == 4
PAIR_INLINE pair_vector pair_root(pair_vector x) {
  return (pair_vector)_mm256_sqrt_pd((__m256d)x);
}
PAIR_INLINE pair_vector pair_max(pair_vector x, pair_vector y) {
  return (pair_vector)_mm256_max_pd((__m256d)x, (__m256d)y);
}
PAIR_INLINE int pair_negative(pair_bits bits) {
  return _mm256_movemask_pd((__m256d)bits) != 0;
}
PAIR_INLINE int pair_above(pair_vector x, double limit) {
  return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)x, _mm256_set1_pd(limit), _CMP_GT_OQ)) != 0;
}
#else
PAIR_EACH(pair_root, sqrt)
PAIR_INLINE pair_vector pair_max(pair_vector x, pair_vector y) {
  return pair_choose((pair_bits)(x < y), y, x);
}
PAIR_INLINE int pair_negative(pair_bits bits) {
  int64_t lane[PAIR_WIDTH], any = 0;
  memcpy(lane, &bits, sizeof lane);
  for (size_t l = 0; l < PAIR_WIDTH; l++)
    any |= lane[l];
  return any < 0;
}
PAIR_INLINE int pair_above(pair_vector x, double limit) {
  return pair_negative((pair_bits)(x > limit));
}
#endif

/* exp(x) for sums that tolerate errors in small terms: 2^k exp(r / 8)^8, r = x - k ln 2, where
 * exp(r / 8) is a polynomial of degree 6 fitted at Chebyshev points.
 * Relative error 2e-14 + 2e-16 |x|; 0 for x <= -60. */
PAIR_INLINE pair_vector pair_exp_rough(pair_vector x) {
  const pair_bits some = x > PAIR_NOTHING;
  const pair_vector shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52;
  const pair_vector r = x - (shifted - 0x1.8p52) * 0x1.62e42fefa39efp-1, r2 = r * r;
  const pair_vector even = r2 * 0x1.6c1c38ee699b2p-28 + 0x1.5555554ad39e9p-17;
  const pair_vector odd = r2 * 0x1.11168895b9a13p-22 + 0x1.5555554051dc2p-12;
  const pair_vector eighth =
      (r2 * (r2 * even + 0x1.00000000000a2p-7) + 1.0) + r * (r2 * odd + 0x1.0000000000286p-3);
  const pair_vector quarter = eighth * eighth, half = quarter * quarter;
  const pair_vector scale = (pair_vector)(((pair_words)shifted + 1023) << 52);
  return (pair_vector)((pair_bits)((half * half) * scale) & some);
}

#endif
