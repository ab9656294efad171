#include "stats/expected_ece.h"

#include "../unit.h"
#include "base/rng.h"

static pc_bin bin_of(double weight, double hits, double score) {
  return (pc_bin){.low = 0,
                  .high = 1,
                  .weight = weight,
                  .hits = hits,
                  .score = weight * score,
                  .score_square = weight * score * score,
                  .score_hit = hits * score};
}

TEST(folded_normal) {
  assert_near(pc_folded_normal_mean(0, 3), 3 * sqrt(2 / acos(-1.0)), 1e-15);
  assert_same(pc_folded_normal_mean(-0.25, 0), 0.25);
  assert_same(pc_folded_normal_mean(0, 0), 0.0);
  /* sqrt(2/pi) exp(-1/2) + erf(1/sqrt 2) */
  assert_near(pc_folded_normal_mean(1, 1), 1.1666309411753726, 1e-15);
  assert_same(pc_folded_normal_mean(-1, 1), pc_folded_normal_mean(1, 1));
  assert_same(pc_folded_normal_mean(1, 0.01), 1.0);
}

/* By Simpson's rule, in steps of a hundredth of the deviation. */
static double integrated(double mean, double deviation) {
  double sum = 0;
  const int steps = 4000;
  for (int i = 0; i <= steps; i++) {
    const double z = -20 + 40.0 * i / steps, x = mean + deviation * z;
    const double factor = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += factor * fabs(x) * exp(-z * z / 2);
  }
  return sum * 40.0 / steps / 3 / sqrt(2 * acos(-1.0));
}

TEST(folded_normal_is_the_integral) {
  const double means[] = {0.01, -0.2, 0.05, 1};
  for (size_t i = 0; i < UNIT_COUNT(means); i++)
    assert_near(pc_folded_normal_mean(means[i], 0.1), integrated(means[i], 0.1), 1e-5);
}

TEST(two_bins) {
  pc_bin bins[3] = {bin_of(100, 20, 0.3), bin_of(0, 0, 0), bin_of(300, 270, 0.9)};
  bins[0].score_square = 100 * (0.3 * 0.3 + 0.01); /* variance 0.01 */
  const pc_expected_ece expected = pc_expected_ece_of(bins, 3, 400);
  const double first = sqrt((0.01 + 0.16) / 100), second = sqrt(0.09 / 300);
  assert_near(expected.mean,
              0.25 * integrated(0.1, first) + 0.75 * second * sqrt(2 / acos(-1.0)), 1e-6);
  assert_near(expected.null_mean, (0.25 * first + 0.75 * second) * sqrt(2 / acos(-1.0)), 1e-13);
}

/* mu decreases with the number of rows towards the ECE, and null towards 0 (Proposition 3.3).
 */
TEST(falls_with_the_number_of_rows) {
  double last_mean = 1, last_null = 1, last_drop = 1;
  for (double n = 10; n < 1e9; n *= 4) {
    const pc_bin bins[2] = {bin_of(n, 0.75 * n, 0.7), bin_of(n, 0.25 * n, 0.25)};
    const pc_expected_ece expected = pc_expected_ece_of(bins, 2, 2 * n);
    assert_true(expected.mean < last_mean && expected.mean >= 0.025);
    assert_true(expected.null_mean < last_null);
    assert_true(expected.null_mean <= expected.mean);
    assert_true(last_mean - expected.mean < last_drop);
    last_drop = last_mean - expected.mean;
    last_mean = expected.mean;
    last_null = expected.null_mean;
  }
  assert_near(last_mean, 0.025, 1e-3);
}

/* One row each: their outcomes do not vary, but those of a calibrated model would. */
TEST(chance_in_bins_of_one_row) {
  const pc_bin bins[2] = {bin_of(1, 1, 0.5), bin_of(1, 0, 0.5)};
  const pc_chance_ece chance = pc_chance_ece_of(bins, 2, 2);
  assert_same(pc_expected_ece_of(bins, 2, 2).null_mean, 0.0);
  assert_near(chance.mean, 0.5, 1e-12); /* each is off by a half, whatever comes true */
  assert_true(chance.deviation < 1e-6);
}

/* The mean of |k - n p| over the binomial law, term by term. */
static double binomial_deviation(size_t n, double p) {
  double term = pow(1 - p, (double)n), sum = 0;
  for (size_t k = 0; k <= n; k++) {
    sum += term * fabs((double)k - (double)n * p);
    term *= (double)(n - k) / (double)(k + 1) * p / (1 - p);
  }
  return sum;
}

TEST(deviation_of_equal_scores_is_exact) {
  static const double scores[] = {1e-4, 0.003, 0.02, 0.2, 0.5};
  static const size_t rows[] = {1, 2, 7, 30, 300, 1000};
  for (size_t s = 0; s < UNIT_COUNT(scores); s++)
    for (size_t r = 0; r < UNIT_COUNT(rows); r++) {
      const double n = (double)rows[r], p = scores[s];
      assert_near(pc_bernoulli_mean_deviation(n * p, n * p * (1 - p)),
                  binomial_deviation(rows[r], p), 1e-9);
    }
  assert_same(pc_bernoulli_mean_deviation(0, 0), 0.0);
  assert_near(pc_bernoulli_mean_deviation(4000, 2000), sqrt(2 * 2000 / acos(-1.0)), 1e-12);
}

#define SAMPLES 2000
#define ROWS 200

/* Mean and deviation of the ECE of calibrated outcomes, drawn 2000 times. */
TEST(chance_is_what_calibrated_samples_show) {
  const pc_rng rng = {5, 1};
  const double scores[3] = {0.2, 0.5, 0.9};
  double sum = 0, square = 0, mean = 0, deviation = 0;
  for (size_t s = 0; s < SAMPLES; s++) {
    pc_bin bins[3];
    double ece = 0;
    for (size_t b = 0; b < 3; b++) {
      double hits = 0;
      for (size_t i = 0; i < ROWS; i++)
        hits += pc_rng_uniform(&rng, (3 * s + b) * ROWS + i) < scores[b];
      bins[b] = bin_of(ROWS, hits, scores[b]);
      ece += fabs(hits / ROWS - scores[b]) / 3;
    }
    const pc_chance_ece chance = pc_chance_ece_of(bins, 3, 3 * ROWS);
    mean += chance.mean / SAMPLES;
    deviation += chance.deviation / SAMPLES;
    sum += ece;
    square += ece * ece;
  }
  sum /= SAMPLES;
  assert_near(mean, sum, 0.03);
  assert_near(deviation, sqrt(square / SAMPLES - sum * sum), 0.06);
}

TEST(spread_of_a_bin) {
  const pc_bin half = bin_of(10, 3, 0.5), certain = bin_of(10, 3, 1);
  assert_same(pc_bin_outcome_variance(&half), 0.25);
  assert_same(pc_bin_outcome_variance(&certain), 0.0);
}
