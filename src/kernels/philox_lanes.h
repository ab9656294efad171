/* Sixteen blocks of the generator of base/rng.h at once, with its bits.
 *
 * A word of the state is the low half of a 64-bit lane, so that a product of two words is one
 * instruction where there is one; the high halves hold remains of products, which the next product
 * ignores. */
#ifndef PC_PHILOX_LANES_H
#define PC_PHILOX_LANES_H

#include <string.h>

#include "base/rng.h"

#if defined __AVX512F__ || defined __AVX2__
#include <immintrin.h>
#endif

#define PC_PHILOX_LANES 16 /* blocks in one call */

#if defined __AVX512F__
#define PHILOX_VECTOR 8
#elif defined __AVX2__
#define PHILOX_VECTOR 4
#else
#define PHILOX_VECTOR 2
#endif
#define PHILOX_VECTORS (PC_PHILOX_LANES / PHILOX_VECTOR)

typedef uint64_t philox_vector __attribute__((vector_size(PHILOX_VECTOR * sizeof(uint64_t))));

/* The products of the low halves. */
#if defined __AVX512F__
#define PHILOX_PRODUCT(a, b) ((philox_vector)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#elif defined __AVX2__
#define PHILOX_PRODUCT(a, b) ((philox_vector)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#else
#define PHILOX_PRODUCT(a, b) (((a)&UINT64_C(0xffffffff)) * (b))
#endif

/* words[k][i] is word k of the block at index[i] of stream[i]. */
static inline void pc_philox_lanes(uint64_t seed, const uint64_t stream[PC_PHILOX_LANES],
                                   const uint64_t index[PC_PHILOX_LANES],
                                   uint32_t words[4][PC_PHILOX_LANES]) {
  uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
  const philox_vector zero = {0};
  const philox_vector multiply0 = zero + PC_PHILOX_MULTIPLY0,
                      multiply1 = zero + PC_PHILOX_MULTIPLY1;
  philox_vector state[4][PHILOX_VECTORS];
  memcpy(state[0], index, sizeof state[0]);
  memcpy(state[2], stream, sizeof state[2]);
  for (size_t v = 0; v < PHILOX_VECTORS; v++) {
    state[1][v] = state[0][v] >> 32;
    state[3][v] = state[2][v] >> 32;
  }
  for (int round = 0; round < PC_PHILOX_ROUNDS; round++) {
    const philox_vector add0 = zero + key0, add1 = zero + key1;
    for (size_t v = 0; v < PHILOX_VECTORS; v++) {
      const philox_vector one = PHILOX_PRODUCT(state[2][v], multiply1);
      const philox_vector none = PHILOX_PRODUCT(state[0][v], multiply0);
      state[0][v] = (one >> 32) ^ state[1][v] ^ add0;
      state[1][v] = one;
      state[2][v] = (none >> 32) ^ state[3][v] ^ add1;
      state[3][v] = none;
    }
    key0 += PC_PHILOX_WEYL0;
    key1 += PC_PHILOX_WEYL1;
  }
  for (size_t k = 0; k < 4; k++)
    for (size_t v = 0; v < PHILOX_VECTORS; v++)
      for (size_t i = 0; i < PHILOX_VECTOR; i++)
        words[k][v * PHILOX_VECTOR + i] = (uint32_t)state[k][v][i];
}

#endif
