/* Random numbers from a counter-based generator, Philox4x32-10.  A draw is a pure function of
 * seed, stream and index, so results do not depend on the order of draws or on threads. */
#ifndef PC_RNG_H
#define PC_RNG_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_key.h"

#define PC_PHILOX_ROUNDS 10
#define PC_PHILOX_MULTIPLY0 0xd2511f53u
#define PC_PHILOX_MULTIPLY1 0xcd9e8d57u
#define PC_PHILOX_WEYL0 0x9e3779b9u
#define PC_PHILOX_WEYL1 0xbb67ae85u

/* 2^32 P(X <= k) for X ~ Poisson(1), k = 0 to 11. */
#define PC_POISSON_ONE_STEPS                                                                   \
  {                                                                                            \
    1580030169u, 3160060337u, 3950075422u, 4213413783u, 4279248374u, 4292415292u, 4294609778u, \
        4294923276u, 4294962463u, 4294966817u, 4294967253u, 4294967292u                        \
  }

typedef struct pc_rng {
  uint64_t seed;   /* key */
  uint64_t stream; /* high half of the counter: one for each purpose */
} pc_rng;

/* Hash of bytes. */
uint64_t pc_hash_bytes(const void *bytes, size_t count);

/* 128 random bits for an index. */
void pc_rng_block(const pc_rng *rng, uint64_t index, uint32_t out[4]);

/* A uniform number in (0, 1) from 64 random bits. */
static inline double pc_rng_unit(uint64_t bits) {
  return (double)(int64_t)((bits >> 12) * 2 + 1) * 0x1p-53;
}

uint64_t pc_rng_bits(const pc_rng *rng, uint64_t index);  /* 64 bits */
double pc_rng_uniform(const pc_rng *rng, uint64_t index); /* odd multiples of 2^-53 in (0, 1) */
double pc_rng_normal(const pc_rng *rng,
                     uint64_t index);   /* normal quantile of the uniform draw */
uint32_t pc_poisson_one(uint32_t bits); /* Poisson(1) from 32 uniform bits */
uint32_t pc_rng_poisson(const pc_rng *rng, uint64_t index, double mean); /* mean in [0, 1e6] */

/* 2^32 P(X <= k) for X ~ Poisson(mean), mean = 1 to PC_POISSON_FEW, as long as that is below 2^32;
 * returns how many.  The number of steps that are not above 32 uniform bits is a Poisson draw. */
#define PC_POISSON_FEW 9
#define PC_POISSON_STEPS 40
size_t pc_poisson_steps(unsigned mean, uint32_t steps[PC_POISSON_STEPS]);

/* Binomial(n, p), n whole; the cost does not depend on n. */
double pc_rng_binomial(const pc_rng *rng, uint64_t index, double n, double p);

/* Draws with indices first to first + count - 1; equal to single draws, in half the time. */
void pc_rng_uniforms(const pc_rng *rng, uint64_t first, size_t count, double *out);
void pc_rng_normals(const pc_rng *rng, uint64_t first, size_t count, double *out);

#endif
