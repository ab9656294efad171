#include "../unit.h"

#include <math.h>

#include "stats/interval.h"

TEST(test_normal_and_wilson) {
  const pc_interval plain = pc_interval_normal(1, 0.5, 0.95);
  assert_near(plain.low, 1 - 0.5 * 1.959963984540054, 1e-12);
  assert_near(plain.high, 1 + 0.5 * 1.959963984540054, 1e-14);
  const double z2 = 1.959963984540054 * 1.959963984540054;
  const pc_interval all = pc_interval_wilson(1, 10, 0.95);
  const double p = all.low; /* |19 / 20 - p| = z sqrt(p (1 - p) / 10) */
  assert_near((0.95 - p) * (0.95 - p), z2 * p * (1 - p) / 10, 1e-14);
  assert_true(all.high == 1 && pc_interval_wilson(0, 10, 0.95).low == 0);
  const pc_interval half = pc_interval_wilson(0.5, 4, 0.95);
  const double q = half.high;
  assert_near((0.625 - q) * (0.625 - q), z2 * q * (1 - q) / 4, 1e-14);
}

/* The probability that the interval of a binomial count of n rows contains p. */
static double wilson_coverage(size_t n, double p) {
  double mass = exp((double)n * log1p(-p)), sum = 0;
  for (size_t x = 0; x <= n; x++) {
    const pc_interval found = pc_interval_wilson((double)x / (double)n, (double)n, 0.95);
    sum += found.low <= p && p <= found.high ? mass : 0;
    mass *= (double)(n - x) / (double)(x + 1) * p / (1 - p);
  }
  return sum;
}

/* Coverage is lowest just outside an end: exact, over all p up to 1/2. */
TEST(test_wilson_coverage) {
  static const size_t rows[] = {1, 2, 7, 24, 25, 26, 40, 100, 101, 137, 200, 317, 500};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double least = 1;
    for (size_t x = 0; x <= rows[i]; x++) {
      const double share = (double)x / (double)rows[i];
      const pc_interval found = pc_interval_wilson(share, (double)rows[i], 0.95);
      if (found.low > 0 && found.low <= 0.5)
        least = fmin(least, wilson_coverage(rows[i], found.low * (1 - 1e-9)));
      if (found.high <= 0.5)
        least = fmin(least, wilson_coverage(rows[i], found.high * (1 + 1e-9)));
    }
    assert_true(least > (rows[i] < 25 ? 0.945 : 0.949));
  }
}

TEST(test_quantiles) {
  static const double values[] = {1, 2, 4, 8};
  assert_near(pc_interval_quantile(values, 4, 0), 1, 0);
  assert_near(pc_interval_quantile(values, 4, 1), 8, 0);
  assert_near(pc_interval_quantile(values, 4, 0.5), 3, 1e-15);
  assert_near(pc_interval_quantile(values, 1, 0.5), 1, 0);
  assert_near(pc_interval_deviation(values, 4), sqrt(115.0 / 12), 1e-14);
  assert_near(pc_interval_deviation(values, 1) + 1, 1, 0);
}

/* The values 0 .. 100 around 50: percentile [5, 95], basic the same by symmetry. */
TEST(test_from_replicas) {
  double values[101];
  for (size_t i = 0; i < 101; i++)
    values[i] = (double)i;
  pc_replica_set set = {50, values, 101, 0};
  pc_interval found = pc_interval_from_replicas(&set, PCAL_INTERVAL_PERCENTILE, 0.9);
  assert_near(found.low, 5, 1e-12);
  assert_near(found.high, 95, 1e-12);
  found = pc_interval_from_replicas(&set, PCAL_INTERVAL_BCA, 0.9);
  assert_near(found.low, 5, 1e-9);
  assert_near(found.high, 95, 1e-9);
  set.estimate = 40;
  found = pc_interval_from_replicas(&set, PCAL_INTERVAL_BASIC, 0.9);
  assert_near(found.low, -15, 1e-12);
  assert_near(found.high, 75, 1e-12);
  found = pc_interval_from_replicas(&set, PCAL_INTERVAL_BCA, 0.9);
  assert_true(found.low < 5 && found.high < 95);
  set.estimate = -1;
  found = pc_interval_from_replicas(&set, PCAL_INTERVAL_BCA, 0.9);
  assert_true(isfinite(found.low) && isfinite(found.high));
}

/* d = 2, -1, -1: sum of cubes 6, of squares 6. */
TEST(test_acceleration) {
  static const double left_out[] = {0, 3, 3}, same[] = {1, 1};
  assert_near(pc_interval_acceleration(left_out, 3), 6 / (6 * 6 * sqrt(6)), 1e-14);
  assert_near(pc_interval_acceleration(same, 2) + 1, 1, 0);
}

/* The mean of three blocks: leaving one out moves it by half its distance. */
TEST(test_jackknife) {
  static const double left_out[] = {2.5, 2, 1.5}; /* of 1, 2, 3 */
  assert_near(pc_interval_jackknife_se(left_out, 3), 1 / sqrt(3), 1e-14);
  const pc_interval found = pc_interval_jackknife(2, 1, 50, 0.95);
  assert_near(found.high - 2, 2.0096, 2e-4); /* Student's t with 49 degrees */
  assert_near(2 - found.low, 2.0096, 2e-4);
}

/* Nine events of weight 1: the exact interval of a Poisson count (Garwood 1936).  No event: 0 to
 * -log(0.025).  Many events: the normal interval. */
TEST(test_poisson) {
  const pc_interval nine = pc_interval_poisson(9, 3, 1, 0.95),
                    none = pc_interval_poisson(0, 0, 1, 0.95),
                    far = pc_interval_poisson(1, 1e-4, 1e-8, 0.95),
                    below = pc_interval_poisson(-1e-7, 0, 0, 0.95);
  assert_near(nine.low, 4.1154, 5e-3);
  assert_near(nine.high, 17.0848, 1e-3);
  assert_true(none.low == 0);
  assert_near(none.high, 3.6889, 1e-2);
  assert_near(far.high - 1, 1.96e-4, 1e-3);
  assert_near(1 - far.low, 1.96e-4, 1e-3);
  assert_true(below.low == -1e-7 && below.high == 0);
}

/* An error between 0 and 1: the ends stay there and enclose the estimate. */
TEST(test_error_with_noise) {
  const pc_interval_noise quiet = {0, 0, 0}, low_bias = {-0.5, 0, 0}, loud = {0, 0.2, 0.1};
  const pc_interval top = pc_interval_of_error(0.9, 0.2, &quiet, 0.95),
                    biased = pc_interval_of_error(0.4, 0.1, &low_bias, 0.95),
                    chance = pc_interval_of_error(0.3, 0.05, &loud, 0.95);
  assert_near(0.9 - top.low, 0.391993, 1e-5);
  assert_true(top.high == 1);
  assert_true(biased.low == 0.4);
  assert_true(chance.low == 0);
  assert_near(chance.high - 0.3, 0.0979982, 1e-5);
}

/* Both ends solve (T - t0)^2 = t^2 (slope t0 + noise). */
TEST(test_quadratic) {
  const pc_variance_model law = {.noise = 1e-6, .slope = 1e-3, .most = 1};
  for (int i = -1; i <= 3; i++) {
    const double estimate = 2e-3 * i;
    const pc_interval found = pc_interval_quadratic(estimate, 1.0, &law, 1000000, 0.95);
    const double ends[] = {found.low, found.high}, z = 1.959964;
    for (size_t e = 0; e < 2 && estimate >= 0; e++) {
      const double off = estimate - ends[e];
      assert_true(fabs(off * off - z * z * (1e-3 * ends[e] + 1e-6)) < 1e-9);
    }
    assert_true(found.low < estimate && estimate < found.high);
  }
  /* no slope: the usual interval of the noise */
  const pc_variance_model flat = {.noise = 4.0, .slope = 0, .most = 1};
  assert_near(pc_interval_quadratic(1, 9, &flat, 1000000, 0.95).high, 1 + 2 * 1.959964, 1e-4);
}

/* Squares of both ends solve (T - t0)^2 = z^2 (slope t0 + noise), the lower one with 1.5^2 of the
 * noise. */
TEST(test_of_square) {
  const pc_variance_model law = {.noise = 1e-6, .slope = 1e-3, .most = 1};
  const double z = 1.959963984540054;
  for (int i = 3; i <= 9; i++) {
    const double estimate = 2e-3 * i;
    const pc_interval found = pc_interval_of_square(estimate, &law, 0.95);
    const double low = found.low * found.low, high = found.high * found.high;
    const double above = high - estimate, below = estimate - low;
    assert_near(above * above, z * z * (1e-3 * high + 1e-6), 1e-12);
    assert_near(below * below, z * z * (1e-3 * low + 2.25e-6), 1e-12);
  }
  /* an estimate below 0 counts as 0 */
  assert_near(pc_interval_of_square(-1.0, &law, 0.95).high,
              pc_interval_of_square(0.0, &law, 0.95).high, 0.0);
  assert_near(pc_interval_of_square(0.0, &law, 0.95).low, 0.0, 0.0);
}

/* 0, 1 and 99 events of 100 rows that expect 10: the ends are those of Fay and Feuer. */
TEST(test_few_events_are_allowed_for) {
  const pc_interval_count ratio = {0.0, 10.0, 0.1, 0.0};
  pc_interval none = {0.0, 0.0}, one = {0.05, 0.2}, rest = {9.85, 9.95};
  pc_interval_allow_count(0.0, 0.0, &ratio, 0.95, &none);
  assert_near(none.low, 0.0, 0.0);
  assert_near(none.high, pc_interval_poisson(0.0, 0.0, 0.1, 0.95).high, 1e-15);
  assert_true(none.high > 0.36 && none.high < 0.38);
  pc_interval_allow_count(0.1, 0.1, &ratio, 0.95, &one);
  assert_true(one.low < 0.005 && one.high > 0.5);
  pc_interval_allow_count(9.9, 0.1, &ratio, 0.95, &rest);
  assert_near(rest.low, 10.0 - one.high, 1e-12);
  assert_near(rest.high, 10.0 - one.low, 1e-12);
}

/* Two rows cannot be more than two events, and no row is none. */
TEST(test_no_more_events_than_rows_are_allowed_for) {
  const pc_interval_count two = {-0.2, 0.2, 0.2, 0.0}, empty = {0.0, 0.0, 0.2, 0.0};
  pc_interval ends = {-0.2, -0.2}, still = {0.0, 0.0};
  pc_interval_allow_count(-0.2, 0.0, &two, 0.95, &ends);
  assert_near(ends.high, 0.2, 0.0);
  pc_interval_allow_count(0.0, 0.0, &empty, 0.95, &still);
  assert_near(still.low, 0.0, 0.0);
  assert_near(still.high, 0.0, 0.0);
}
