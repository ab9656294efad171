/* Philox4x32-10 (Salmon, Moraes, Dror & Shaw, SC 2011) and draws from it.
 *
 * Key: seed, low word first.  Counter: index, then stream, low words first.  Draws number 2 k
 * and 2 k + 1 of 64 bits are the halves of block k.
 *
 * Poisson:
 *   mean < 10   inversion of one uniform draw.
 *   otherwise   transformed rejection (Hoermann 1993, PTRS); its pairs of uniforms come from a
 *               second generator, seeded with the 64 bits of the draw.
 *
 * Binomial, for p <= 1/2:
 *   n p < 10    inversion.
 *   n <= 1e9    transformed rejection (Hoermann 1993, BTRS).
 *   n > 1e9     rejection is not used, since logarithms of factorials are not accurate enough.
 *               Up to n p = 1e6 (p < 1e-3, which bounds the total variation distance) a Poisson
 *               draw; otherwise a rounded normal draw, whose distribution function is off by
 *               less than 1e-3.
 *
 * Edge cases:
 *  1. uniforms are odd multiples of 2^-53: never 0, 1 or 1/2, and symmetric about 1/2.
 *  2. a Poisson mean of 0, below 0, or NaN gives 0. */
#include "base/rng.h"
#include "base/normal.h"

#include <math.h>

#include "base/elementary.h"

#define RNG_POISSON_TERMS 200
#define RNG_SMALL_MEAN 10.0 /* inversion below, rejection from there on */
#define RNG_POISSON_MAX 1e6
#define RNG_BINOMIAL_MAX 1e9

uint64_t pc_hash_bytes(const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  uint64_t hash = pc_hash_u64(count + 1);
  for (size_t i = 0; i < count; i++)
    hash = pc_hash_u64(hash ^ at[i]) + UINT64_C(0x9e3779b97f4a7c15);
  return hash;
}

static uint32_t rng_high(uint32_t a, uint32_t b) {
  return (uint32_t)(((uint64_t)a * b) >> 32);
}

void pc_rng_block(const pc_rng *rng, uint64_t index, uint32_t out[4]) {
  uint32_t key0 = (uint32_t)rng->seed, key1 = (uint32_t)(rng->seed >> 32);
  uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32);
  uint32_t c2 = (uint32_t)rng->stream, c3 = (uint32_t)(rng->stream >> 32);
  for (int round = 0; round < PC_PHILOX_ROUNDS; round++) {
    const uint32_t next0 = rng_high(PC_PHILOX_MULTIPLY1, c2) ^ c1 ^ key0;
    const uint32_t next2 = rng_high(PC_PHILOX_MULTIPLY0, c0) ^ c3 ^ key1;
    c1 = PC_PHILOX_MULTIPLY1 * c2;
    c3 = PC_PHILOX_MULTIPLY0 * c0;
    c0 = next0;
    c2 = next2;
    key0 += PC_PHILOX_WEYL0;
    key1 += PC_PHILOX_WEYL1;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

static uint64_t rng_half(const uint32_t block[4], unsigned half) {
  return (uint64_t)block[2 * half + 1] << 32 | block[2 * half];
}

uint64_t pc_rng_bits(const pc_rng *rng, uint64_t index) {
  uint32_t block[4];
  pc_rng_block(rng, index / 2, block);
  return rng_half(block, index % 2);
}

double pc_rng_uniform(const pc_rng *rng, uint64_t index) {
  return pc_rng_unit(pc_rng_bits(rng, index));
}

double pc_rng_normal(const pc_rng *rng, uint64_t index) {
  return pc_normal_quantile(pc_rng_uniform(rng, index));
}

void pc_rng_uniforms(const pc_rng *rng, uint64_t first, size_t count, double *out) {
  size_t i = 0;
  if (count > 0 && first % 2 == 1)
    out[i++] = pc_rng_uniform(rng, first);
  for (; i + 1 < count; i += 2) {
    uint32_t block[4];
    pc_rng_block(rng, (first + i) / 2, block);
    out[i] = pc_rng_unit(rng_half(block, 0));
    out[i + 1] = pc_rng_unit(rng_half(block, 1));
  }
  if (i < count)
    out[i] = pc_rng_uniform(rng, first + i);
}

void pc_rng_normals(const pc_rng *rng, uint64_t first, size_t count, double *out) {
  pc_rng_uniforms(rng, first, count, out);
  for (size_t i = 0; i < count; i++)
    out[i] = pc_normal_quantile(out[i]);
}

/* ---- Poisson -------------------------------------------------------------- */

/* The smallest k with P(X <= k) >= u.  k is bounded because rounding may keep the sum of all
 * terms below u. */
static uint32_t rng_poisson_invert(double u, double mean) {
  double term = pc_exp(-mean);
  uint32_t k = 0;
  while (u > term && k < RNG_POISSON_TERMS) {
    u -= term;
    k++;
    term *= mean / k;
  }
  return k;
}

size_t pc_poisson_steps(unsigned mean, uint32_t steps[PC_POISSON_STEPS]) {
  double term = pc_exp(-(double)mean), sum = term;
  size_t count = 0;
  for (; count < PC_POISSON_STEPS && floor(0x1p32 * sum + 0.5) < 0x1p32; count++) {
    steps[count] = (uint32_t)floor(0x1p32 * sum + 0.5);
    term *= (double)mean / (double)(count + 1);
    sum += term;
  }
  return count;
}

/* log k!: exact product up to 20, from there Stirling's series, error below 1e-14. */
static double rng_log_factorial(double k) {
  if (k <= 20) {
    double product = 1.0;
    for (double i = 2; i <= k; i++)
      product *= i;
    return pc_log(product);
  }
  const double half_log_two_pi = 0.91893853320467274178;
  const double inverse = 1.0 / k, square = inverse * inverse;
  const double series =
      inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  return (k + 0.5) * pc_log(k) - k + half_log_two_pi + series;
}

/* Hoermann, The transformed rejection method for generating Poisson random variables, 1993. */
static uint32_t rng_poisson_reject(const pc_rng *draws, double mean) {
  const double b = 0.931 + 2.53 * sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_sure = 0.9277 - 3.6224 / (b - 2.0);
  const double log_mean = pc_log(mean);
  for (uint64_t pair = 0;; pair++) {
    const double u = pc_rng_uniform(draws, 2 * pair) - 0.5;
    const double v = pc_rng_uniform(draws, 2 * pair + 1);
    const double edge = 0.5 - fabs(u);
    const double k = floor((2.0 * a / edge + b) * u + mean + 0.43);
    if (edge >= 0.07 && v <= v_sure)
      return (uint32_t)k;
    if (k < 0 || k > UINT32_MAX || (edge < 0.013 && v > edge))
      continue;
    const double accept = pc_log(v * inverse_alpha / (a / (edge * edge) + b));
    if (accept <= k * log_mean - mean - rng_log_factorial(k))
      return (uint32_t)k;
  }
}

uint32_t pc_poisson_one(uint32_t bits) {
  static const uint32_t below[] = PC_POISSON_ONE_STEPS;
  uint32_t k =
      (bits >= below[0]) + (bits >= below[1]) + (bits >= below[2]) + (bits >= below[3]);
  for (size_t i = 4; k == i && i < sizeof below / sizeof *below; i++)
    k += bits >= below[i];
  return k;
}

uint32_t pc_rng_poisson(const pc_rng *rng, uint64_t index, double mean) {
  if (!(mean > 0))
    return 0;
  if (mean < RNG_SMALL_MEAN)
    return rng_poisson_invert(pc_rng_uniform(rng, index), mean);
  const pc_rng draws = {pc_rng_bits(rng, index), rng->stream};
  return rng_poisson_reject(&draws, mean);
}

/* ---- Binomial ------------------------------------------------------------- */

static double rng_binomial_invert(double u, double n, double p) {
  const double odds = p / (1.0 - p);
  double term = pc_exp(n * pc_log1p(-p)), k = 0.0;
  while (u > term && k < n && k < 200) {
    u -= term;
    term *= odds * (n - k) / (k + 1.0);
    k++;
  }
  return k;
}

/* Hoermann, The generation of binomial random variates, 1993. */
static double rng_binomial_reject(const pc_rng *draws, double n, double p) {
  const double spread = sqrt(n * p * (1.0 - p));
  const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double v_sure = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
  const double log_odds = pc_log(p / (1.0 - p)), mode = floor((n + 1.0) * p);
  const double top = rng_log_factorial(mode) + rng_log_factorial(n - mode);
  for (uint64_t pair = 0;; pair++) {
    const double u = pc_rng_uniform(draws, 2 * pair) - 0.5;
    const double v = pc_rng_uniform(draws, 2 * pair + 1);
    const double edge = 0.5 - fabs(u);
    const double k = floor((2.0 * a / edge + b) * u + n * p + 0.5);
    if (edge >= 0.07 && v <= v_sure)
      return k;
    if (k < 0 || k > n)
      continue;
    const double accept = pc_log(v * alpha / (a / (edge * edge) + b));
    if (accept <= top - rng_log_factorial(k) - rng_log_factorial(n - k) + (k - mode) * log_odds)
      return k;
  }
}

double pc_rng_binomial(const pc_rng *rng, uint64_t index, double n, double p) {
  if (!(n > 0) || !(p > 0))
    return 0.0;
  if (p >= 1)
    return n;
  if (p > 0.5)
    return n - pc_rng_binomial(rng, index, n, 1.0 - p);
  const double mean = n * p;
  if (mean < RNG_SMALL_MEAN)
    return rng_binomial_invert(pc_rng_uniform(rng, index), n, p);
  if (n > RNG_BINOMIAL_MAX && mean <= RNG_POISSON_MAX)
    return (double)pc_rng_poisson(rng, index, mean);
  if (n > RNG_BINOMIAL_MAX)
    return fmin(n, floor(mean + sqrt(mean * (1.0 - p)) * pc_rng_normal(rng, index) + 0.5));
  const pc_rng draws = {pc_rng_bits(rng, index), rng->stream};
  return rng_binomial_reject(&draws, n, p);
}
