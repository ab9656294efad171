#include "watch/calibration_bets.h"

#include <math.h>

#include "base/normal.h"
#include "base/rng.h"
#include "emulated.h"
#include "testing.h"

/* Under the null the mean of the e-value over all outcomes is 1 after every row. */
TEST(is_a_martingale) {
  static const double scores[] = {0.5, 0.03, 0.97, 0.61, 0.3, 0.999, 0.15, 0.5, 0.8, 0.42};
  const size_t rows = sizeof scores / sizeof *scores;
  for (size_t length = 1; length <= fewer_if_emulated(rows, 7); length++) {
    double mean = 0;
    for (size_t outcomes = 0; outcomes < (size_t)1 << length; outcomes++) {
      pc_calibration_bets bets;
      double probability = 1;
      pc_bets_init(&bets);
      for (size_t t = 0; t < length; t++) {
        const int y = outcomes >> t & 1;
        pc_bets_add_event(&bets, scores[t], y);
        probability *= y ? scores[t] : 1 - scores[t];
      }
      mean += probability * exp(pc_wide_log(bets.now));
    }
    assert_true(fabs(mean - 1) < 1e-12);
  }
}

/* The same for the PIT: the integral over [0, 1] by the midpoint rule in normal scores. */
TEST(is_a_martingale_of_pit) {
  double mean = 0;
  const double step = 1e-3;
  for (double z = -8; z < 8; z += step) {
    pc_calibration_bets bets;
    pc_bets_init(&bets);
    pc_bets_add_pit(&bets, 0.2);
    pc_bets_add_pit(&bets, pc_normal_cdf(z + step / 2));
    mean += (pc_normal_cdf(z + step) - pc_normal_cdf(z)) * exp(pc_wide_log(bets.now));
  }
  pc_calibration_bets before;
  pc_bets_init(&before);
  pc_bets_add_pit(&before, 0.2);
  const double ratio = mean / exp(pc_wide_log(before.now)); /* bins cut the steps */
  assert_true(ratio < 1 + 1e-4 &&
              ratio > 0.999); /* wide alternatives lie beyond 8, edge case 4 */
}

/* One row, from the formula: w_0 = 1/2, and every bet once. */
TEST(first_row_by_hand) {
  static const double shifts[] = {0, -0.1, 0.1, -0.2, 0.2, -0.4, 0.4, -0.8, 0.8, -1.6, 1.6};
  static const double slopes[] = {1, 1.0 / 3, 0.5, 0.7, 0.85, 1.2, 1.5, 2, 3};
  const double p = 0.8, logit = log(p / (1 - p));
  double maps = 0, in_bin = 0;
  for (size_t a = 0; a < 11; a++)
    for (size_t b = 0; b < 9; b++)
      if (a > 0 || b > 0)
        maps += (1 - 1 / (1 + exp(-shifts[a] - slopes[b] * logit))) / (1 - p);
  for (size_t a = 1; a < 11; a++)
    in_bin += (1 - 1 / (1 + exp(-shifts[a] - logit))) / (1 - p);
  pc_calibration_bets bets;
  pc_bets_init(&bets);
  pc_bets_add_event(&bets, p, 0);
  const double expected = 0.5 + 0.5 * (0.5 * maps / 98 + 0.5 * (in_bin + 90) / 100);
  assert_true(fabs(exp(pc_wide_log(bets.now)) - expected) < 1e-13);
}

/* A late error is found by the bets that start late: the capital grows with the likelihood ratio. */
TEST(grows_beyond_doubles) {
  pc_calibration_bets bets;
  pc_bets_init(&bets);
  for (int t = 0; t < 20000; t++)
    pc_bets_add_event(&bets, 0.9, t % 2);
  const double log_e = pc_wide_log(bets.now);
  const double rate = 0.5 * log(0.5 / 0.9) + 0.5 * log(0.5 / 0.1); /* of the best q = 1/2 */
  assert_true(log_e > 0.95 * 20000 * rate && log_e < 20000 * rate);
  const pc_leading_bet lead = pc_bets_leading(&bets);
  assert_true(lead.slope < 1 || lead.shift < 0);
}

TEST(certain_and_wrong_is_infinite) {
  pc_calibration_bets bets;
  pc_bets_init(&bets);
  pc_bets_add_event(&bets, 1, 1);
  pc_bets_add_event(&bets, 0, 0);
  assert_true(fabs(pc_wide_log(bets.now)) < 1e-13);
  pc_bets_add_event(&bets, 1, 0);
  assert_int_equal(bets.contradictions, 1);
  assert_true(isinf(pc_wide_log(bets.now)) && isinf(pc_wide_log(bets.highest)));
  pc_bets_add_event(&bets, 0.5, 0);
  assert_true(isinf(pc_wide_log(bets.now)));
}

/* 400 calibrated streams of 1000 rows (40 under an emulator): a share of at most 0.05 + 3 standard errors alarms. */
TEST(false_alarms_are_rare) {
  const size_t streams = fewer_if_emulated(400, 40);
  size_t alarms = 0;
  for (uint64_t stream = 0; stream < streams; stream++) {
    const pc_rng scores = {7, stream}, outcomes = {8, stream};
    pc_calibration_bets bets;
    pc_bets_init(&bets);
    for (uint64_t t = 0; t < 1000; t++) {
      const double p = pc_rng_uniform(&scores, t);
      pc_bets_add_event(&bets, p, pc_rng_uniform(&outcomes, t) < p);
    }
    alarms += pc_wide_log(bets.highest) >= log(20);
  }
  assert_true((double)alarms <=
              0.05 * (double)streams + 3 * sqrt(0.05 * 0.95 * (double)streams));
}
