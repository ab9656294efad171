#include "../unit.h"

#include "stats/expected_ece.h"
#include "studies/ece_mean.h"

/* One trial, two trials by hand, certain outcomes, and De Moivre's mean distance of a binomial
 * from its mean: 2 m C(k, m) a^m (1 - a)^(k - m + 1), m = floor(k a) + 1. */
TEST(test_gap) {
  assert_near(pc_ece_mean_gap(1, 0.9, 0.7), 0.7 * 0.1 + 0.3 * 0.9, 1e-15);
  assert_near(pc_ece_mean_gap(2, 0.6, 0.5), 0.25 * 1.2 + 0.5 * 0.2 + 0.25 * 0.8, 1e-15);
  assert_near(pc_ece_mean_gap(3, 0.6, 1), 1.2, 1e-14);
  assert_near(pc_ece_mean_gap(3, 0.6, 0), 1.8, 1e-14);
  assert_true(pc_ece_mean_gap(0, 0.6, 0.5) == 0);
  double choose = 1; /* C(50, 39) */
  for (int i = 1; i <= 11; i++)
    choose = choose * (50 - 11 + i) / i;
  assert_near(pc_ece_mean_gap(50, 0.77, 0.77), 2 * 39 * choose * pow(0.77, 39) * pow(0.23, 12),
              1e-12);
}

/* The normal approximation continues the binomial sum without a jump. */
TEST(test_normal) {
  const double below = pc_ece_mean_gap(255, 0.5, 0.5), above = pc_ece_mean_gap(257, 0.5, 0.5);
  assert_near(above / below, sqrt(257.0 / 255.0), 2e-3);
}

/* All samples of three rows from two bins, one by one. */
TEST(test_enumeration) {
  const double share[2] = {0.3, 0.7}, conf[2] = {0.4, 0.9}, acc[2] = {0.5, 0.8};
  pc_bin bins[3] = {{0}};
  double mean = 0;
  for (size_t b = 0; b < 2; b++)
    bins[b] = (pc_bin){.weight = 10 * share[b],
                       .hits = 10 * share[b] * acc[b],
                       .score = 10 * share[b] * conf[b]};
  for (unsigned all = 0; all < 64; all++) {
    double p = 1, gap[2] = {0, 0};
    for (unsigned row = 0; row < 3; row++) {
      const unsigned b = all >> (2 * row) & 1, hit = all >> (2 * row + 1) & 1;
      p *= share[b] * (hit ? acc[b] : 1 - acc[b]);
      gap[b] += conf[b] - hit;
    }
    mean += p * (fabs(gap[0]) + fabs(gap[1])) / 3;
  }
  assert_near(pc_ece_mean(bins, 3, 10, 3), mean, 1e-14);
}

/* mu(n) of Proposition 3.3 is above the mean where bins have few rows or none, and meets it
 * where they have many. */
TEST(test_proposition) {
  pc_bin bins[10];
  for (size_t n = 5; n <= 500000; n *= 10) {
    for (size_t b = 0; b < 10; b++)
      bins[b] = (pc_bin){.weight = 0.1 * (double)n,
                         .hits = 0.06 * (double)n,
                         .score = 0.06 * (double)n,
                         .score_square = 0.06 * 0.6 * (double)n};
    const double mean = pc_ece_mean(bins, 10, (double)n, n);
    const double mu = pc_expected_ece_of(bins, 10, (double)n).mean;
    assert_true(mu > mean * (n == 5 ? 1.3 : n == 50 ? 1.005 : 1));
    assert_true(mu < mean * (n == 5 ? 1.4 : 1 + 1.5 / (double)n + 2e-4));
  }
}
