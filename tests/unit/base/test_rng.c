#include "testing.h"

#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "emulated.h"

#define DRAWS fewer_if_emulated(400000, 20000)

static void check_block(pc_rng rng, uint64_t index, const uint32_t expected[4]) {
  uint32_t block[4];
  pc_rng_block(&rng, index, block);
  assert_memory_equal(block, expected, sizeof block);
}

/* kat_vectors of Random123 (Salmon et al. 2011): zeros, ones, digits of pi. */
TEST(test_known_answers) {
  check_block((pc_rng){0, 0}, 0,
              (const uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check_block((pc_rng){UINT64_MAX, UINT64_MAX}, UINT64_MAX,
              (const uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check_block((pc_rng){UINT64_C(0x299f31d0a4093822), UINT64_C(0x0370734413198a2e)},
              UINT64_C(0x85a308d3243f6a88),
              (const uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(test_bits_are_halves_of_blocks) {
  const pc_rng rng = {0, 0};
  assert_true(pc_rng_bits(&rng, 0) == UINT64_C(0xe169c58d6627e8d5));
  assert_true(pc_rng_bits(&rng, 1) == UINT64_C(0x9b00dbd8bc57ac4c));
  uint32_t block[4];
  pc_rng_block(&rng, 500, block);
  assert_true(pc_rng_bits(&rng, 1001) == ((uint64_t)block[3] << 32 | block[2]));
}

TEST(test_uniform_is_an_odd_multiple) {
  const pc_rng rng = {0, 0};
  const uint64_t odd = (UINT64_C(0xe169c58d6627e8d5) >> 12) * 2 + 1;
  assert_true(pc_rng_uniform(&rng, 0) == (double)odd * 0x1p-53);
  for (uint64_t i = 0; i < DRAWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    assert_true(u > 0 && u < 1);
    assert_true(fmod(u * 0x1p53, 2.0) == 1.0);
  }
}

/* Chi-square of 100 cells: mean 99, standard deviation 14; the bound is 5 of them. */
TEST(test_uniform_is_uniform) {
  for (uint64_t stream = 0; stream < 5; stream++) {
    const pc_rng rng = {12345, stream};
    double cell[100] = {0};
    for (uint64_t i = 0; i < DRAWS; i++)
      cell[(int)(pc_rng_uniform(&rng, i) * 100)]++;
    double chi = 0;
    for (int c = 0; c < 100; c++)
      chi += (cell[c] - DRAWS / 100.0) * (cell[c] - DRAWS / 100.0) / (DRAWS / 100.0);
    assert_true(chi > 99 - 70 && chi < 99 + 70);
  }
}

TEST(test_streams_and_seeds_differ) {
  const pc_rng rng = {1, 1}, stream = {1, 2}, seed = {2, 1};
  double with_stream = 0, with_seed = 0, with_next = 0;
  for (uint64_t i = 0; i < fewer_if_emulated(100000, 10000); i++) {
    const double z = pc_rng_normal(&rng, i);
    with_stream += z * pc_rng_normal(&stream, i);
    with_seed += z * pc_rng_normal(&seed, i);
    with_next += z * pc_rng_normal(&rng, i + 1);
  }
  const double bound = 5 * sqrt((double)fewer_if_emulated(100000, 10000));
  assert_true(fabs(with_stream) < bound && fabs(with_seed) < bound && fabs(with_next) < bound);
}

TEST(test_draws_in_bulk_are_the_same) {
  const pc_rng rng = {9, 8};
  for (uint64_t first = 0; first < 4; first++) {
    for (size_t count = 0; count < 7; count++) {
      double uniforms[8] = {0}, normals[8] = {0};
      pc_rng_uniforms(&rng, first, count, uniforms);
      pc_rng_normals(&rng, first, count, normals);
      for (size_t i = 0; i < count; i++) {
        assert_true(uniforms[i] == pc_rng_uniform(&rng, first + i));
        assert_true(normals[i] == pc_rng_normal(&rng, first + i));
      }
      assert_true(uniforms[count] == 0 && normals[count] == 0);
    }
  }
}

/* Means of z, z^2, z^3, z^4: 0, 1, 0, 3 with variances 1, 2, 15, 96 over n. */
TEST(test_normal_moments) {
  const pc_rng rng = {77, 3};
  double moment[4] = {0};
  for (uint64_t i = 0; i < DRAWS; i++) {
    const double z = pc_rng_normal(&rng, i);
    moment[0] += z;
    moment[1] += z * z;
    moment[2] += z * z * z;
    moment[3] += z * z * z * z;
  }
  const double mean[4] = {0, 1, 0, 3}, variance[4] = {1, 2, 15, 96};
  for (int k = 0; k < 4; k++)
    assert_true(fabs(moment[k] / DRAWS - mean[k]) < 5 * sqrt(variance[k] / DRAWS));
}

static double poisson_probability(double mean, int k) {
  double p = exp(-mean);
  for (int i = 1; i <= k; i++)
    p *= mean / i;
  return p;
}

/* Cells with an expected count below 20 are joined with the next; the bound is 5 standard
 * deviations of chi-square. */
static void check_poisson(double mean) {
  enum { CELLS = 200 };
  static double seen[CELLS];
  memset(seen, 0, sizeof seen);
  const pc_rng rng = {2024, (uint64_t)(mean * 1000)};
  for (uint64_t i = 0; i < DRAWS; i++) {
    const uint32_t k = pc_rng_poisson(&rng, i, mean);
    assert_true(k < CELLS);
    seen[k]++;
  }
  double chi = 0, degrees = -1, expected = 0, count = 0, left = DRAWS;
  for (int k = 0; k < CELLS; k++) {
    const double here = DRAWS * poisson_probability(mean, k);
    expected += here;
    left -= here;
    count += seen[k];
    if (expected >= 20 && left >= 20) {
      chi += (count - expected) * (count - expected) / expected;
      degrees++;
      expected = count = 0;
    }
  }
  chi += (count - expected) * (count - expected) / (expected + left);
  degrees++;
  assert_true(fabs(chi - degrees) < 5 * sqrt(2 * degrees) + 5);
}

TEST(test_poisson_distribution) {
  const double means[] = {0.1, 1, 3.7, 9.99, 10, 11.5, 20, 40, 100};
  for (size_t i = 0; i < sizeof means / sizeof means[0]; i++)
    check_poisson(means[i]);
}

TEST(test_poisson_large_means) {
  const double means[] = {1e3, 1e4, 1e6};
  for (size_t m = 0; m < 3; m++) {
    const pc_rng rng = {55, m};
    double sum = 0, square = 0;
    const int draws = (int)fewer_if_emulated(100000, 10000);
    for (uint64_t i = 0; i < (uint64_t)draws; i++) {
      const double z = (pc_rng_poisson(&rng, i, means[m]) - means[m]) / sqrt(means[m]);
      sum += z;
      square += z * z;
    }
    assert_true(fabs(sum / draws) < 5 / sqrt(draws));
    assert_true(fabs(square / draws - 1) < 5 * sqrt(2.0 / draws));
  }
}

TEST(test_poisson_edges) {
  const pc_rng rng = {1, 1};
  for (uint64_t i = 0; i < 100; i++) {
    assert_int_equal(pc_rng_poisson(&rng, i, 0), 0);
    assert_int_equal(pc_rng_poisson(&rng, i, -1), 0);
    assert_int_equal(pc_rng_poisson(&rng, i, NAN), 0);
    assert_int_equal(pc_rng_poisson(&rng, i, 30), pc_rng_poisson(&rng, i, 30));
  }
}

/* By inversion: one uniform draw against the distribution function. */
TEST(test_poisson_inverts) {
  const pc_rng rng = {3, 9};
  for (uint64_t i = 0; i < 2000; i++) {
    const double u = pc_rng_uniform(&rng, i);
    const int k = (int)pc_rng_poisson(&rng, i, 2.5);
    double below = 0;
    for (int j = 0; j < k; j++)
      below += poisson_probability(2.5, j);
    assert_true(below < u && u <= below + poisson_probability(2.5, k) + 1e-15);
  }
}

static double binomial_probability(int n, double p, int k) {
  return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
             (n - k) * log1p(-p));
}

/* Cells and bound as for Poisson draws. */
static void check_binomial(int n, double p) {
  enum { CELLS = 1001 };
  static double seen[CELLS];
  memset(seen, 0, sizeof seen);
  const pc_rng rng = {77, (uint64_t)(n * 1000 + p * 1000)};
  for (uint64_t i = 0; i < DRAWS; i++) {
    const double k = pc_rng_binomial(&rng, i, n, p);
    assert_true(k >= 0 && k <= n && k == floor(k));
    seen[(int)k]++;
  }
  double chi = 0, degrees = -1, expected = 0, count = 0, left = DRAWS;
  for (int k = 0; k <= n; k++) {
    const double here = DRAWS * binomial_probability(n, p, k);
    expected += here;
    left -= here;
    count += seen[k];
    if (expected >= 20 && left >= 20) {
      chi += (count - expected) * (count - expected) / expected;
      degrees++;
      expected = count = 0;
    }
  }
  chi += (count - expected) * (count - expected) / (expected + fmax(left, 0));
  degrees++;
  assert_true(fabs(chi - degrees) < 5 * sqrt(2 * degrees) + 5);
}

TEST(test_binomial_distribution) {
  check_binomial(1, 0.3);
  check_binomial(7, 0.5);
  check_binomial(30, 0.02);
  check_binomial(40, 0.26);
  check_binomial(100, 0.9);
  check_binomial(1000, 0.5);
  check_binomial(1000, 0.011);
}

/* Mean and variance, beyond what logarithms of factorials can do too. */
TEST(test_binomial_large_numbers) {
  const double trials[] = {1e5, 1e8, 1e10, 1e13}, shares[] = {1e-9, 1e-5, 0.2, 0.5, 0.97};
  const int draws = (int)fewer_if_emulated(40000, 10000);
  for (size_t c = 0; c < 20; c++) {
    const double n = trials[c % 4], p = shares[c / 4], sd = sqrt(n * p * (1 - p));
    const pc_rng rng = {56, c};
    double sum = 0, square = 0;
    if (n * p < 5)
      continue;
    for (uint64_t i = 0; i < (uint64_t)draws; i++) {
      const double z = (pc_rng_binomial(&rng, i, n, p) - n * p) / sd;
      sum += z;
      square += z * z;
    }
    assert_true(fabs(sum / draws) < 5 / sqrt(draws));
    assert_true(fabs(square / draws - 1) < 5 * sqrt(2.0 / draws) + 0.01);
  }
}

TEST(test_binomial_edges) {
  const pc_rng rng = {1, 1};
  for (uint64_t i = 0; i < 100; i++) {
    assert_true(pc_rng_binomial(&rng, i, 0, 0.5) == 0);
    assert_true(pc_rng_binomial(&rng, i, 9, 0) == 0);
    assert_true(pc_rng_binomial(&rng, i, 9, 1) == 9);
    assert_true(pc_rng_binomial(&rng, i, 9, NAN) == 0);
  }
}

/* Steps are 2^32 times the distribution function, to half a unit, and go on until the rest is below
 * that; those of mean 1 are the ones that pc_poisson_one has. */
TEST(test_poisson_steps) {
  static const uint32_t one[] = PC_POISSON_ONE_STEPS;
  uint32_t steps[PC_POISSON_STEPS];
  assert_int_equal(pc_poisson_steps(1, steps), sizeof one / sizeof *one);
  assert_memory_equal(steps, one, sizeof one);
  for (unsigned mean = 1; mean <= PC_POISSON_FEW; mean++) {
    const size_t count = pc_poisson_steps(mean, steps);
    double below = 0.0;
    for (size_t k = 0; k < count; k++) {
      below += poisson_probability(mean, (int)k);
      assert_true(fabs(0x1p32 * below - (double)steps[k]) < 0.5001);
    }
    assert_true(count < PC_POISSON_STEPS);
    below += poisson_probability(mean, (int)count);
    assert_true(0x1p32 * (1.0 - below) < 0.5001);
  }
}
