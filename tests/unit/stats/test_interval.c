#include "../unit.h"

#include <math.h>

#include "stats/interval.h"

TEST(test_normal_and_wilson) {
  const pc_interval plain = pc_interval_normal(1, 0.5, 0.95);
  assert_near(plain.low, 1 - 0.5 * 1.959963984540054, 1e-12);
  assert_near(plain.high, 1 + 0.5 * 1.959963984540054, 1e-14);
  const double z2 = 1.959963984540054 * 1.959963984540054;
  const pc_interval all = pc_interval_wilson(1, 10, 0.95);
  assert_near(all.low, 10 / (10 + z2), 1e-14);
  assert_near(all.high, 1, 1e-15);
  const pc_interval half = pc_interval_wilson(0.5, 4, 0.95);
  assert_near(half.high - 0.5, 0.5 * sqrt(z2 / (4 + z2)), 1e-13);
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

/* Both ends solve (T - t0)^2 = t^2 se^2 t0 / T; for 9 rare events t has 13.5 degrees. */
TEST(test_poisson) {
  const pc_interval found = pc_interval_poisson(9, 3, 0.95),
                    far = pc_interval_poisson(1, 1e-4, 0.95);
  const double t = 2.1523; /* of Student, 13.5 degrees */
  assert_near(pc_interval_event_count(9, 3), 9, 1e-15);
  assert_near((9 - found.low) * (9 - found.low) / found.low, t * t, 5e-3);
  assert_near((9 - found.high) * (9 - found.high) / found.high, t * t, 5e-3);
  assert_true(found.high - 9 > 9 - found.low && found.low > 0);
  assert_near(far.high - 1, 1.96e-4, 1e-3);
  const pc_interval none = pc_interval_poisson(0, 0, 0.95);
  assert_true(none.low == 0 && none.high == 0);
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
