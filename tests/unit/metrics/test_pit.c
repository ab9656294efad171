#include "base/rng.h"
#include "forecast_help.h"

/* Targets at the quantiles of levels (i + 1/2) / 10 of the standard normal. */
TEST(test_an_even_spread) {
  static const double targets[] = {
      -1.6448536269514729,  -1.0364333894937898, -0.67448975019608171, -0.38532046640756773,
      -0.12566134685507402, 0.12566134685507416, 0.38532046640756773,  0.67448975019608171,
      1.0364333894937898,   1.6448536269514722};
  double pairs[20];
  for (size_t i = 0; i < 10; i++) {
    pairs[2 * i] = 0;
    pairs[2 * i + 1] = 1;
  }
  const forecast_data data = {PCAL_MEAN_VARIANCE, 10, 2, pairs, targets, NULL, NULL};
  assert_near(forecast_value(&data, "pit"), 0.05, 1e-12);
  assert_true(fabs(forecast_part(&data, "pit", "bins")) < 1e-15);
  assert_near(forecast_part(&data, "pit", "mean"), 0.5, 1e-14);
  assert_near(forecast_part(&data, "pit", "variance"), 0.0825, 1e-12);
  assert_near(forecast_part(&data, "coverage:levels=0.8/0.45", "0.8"), 0.8, 1e-14);
  assert_near(forecast_part(&data, "coverage:levels=0.8/0.45", "0.45"), 0.4, 1e-14);
  assert_near(forecast_value(&data, "coverage:levels=0.8/0.45"), 0.025, 1e-13);
  assert_true(fabs(forecast_value(&data, "quantile-ce")) < 1e-15);
}

/* Targets between the last two quantiles, below all, equal to all, above all.  Ten rows whose quantiles
 * are equal are a part of their own, in which the shares are the levels; of the others 1/3, 1/3, 2/3.
 * One such row is not: below its quantiles are 1, 1 and 2 targets of 4, and up to them 2, 2 and 3. */
TEST(test_quantiles) {
  forecast_data ten = forecast_quantile_set;
  ten.weights = (const double[]){10, 10, 10, 10};
  assert_near(forecast_value(&ten, "quantile-ce"),
              (fabs(1.1 / 4 - 0.1) + fabs(1.5 / 4 - 0.5) + fabs(2.9 / 4 - 0.9)) / 3, 1e-14);
  assert_near(forecast_part(&ten, "coverage", "0.8"), 1.8 / 4, 1e-14);
  assert_near(forecast_value(&forecast_quantile_set, "quantile-ce"),
              (fabs(1.0 / 4 - 0.1) + fabs(2.0 / 4 - 0.5) + fabs(3.0 / 4 - 0.9)) / 3, 1e-14);
  assert_near(forecast_part(&forecast_quantile_set, "coverage", "0.8"), 2.0 / 4, 1e-14);
  forecast_refuses(&forecast_quantile_set, "pit", PCAL_USAGE,
                   "pit needs whole distributions, which quantiles do not determine; use "
                   "quantile-ce or coverage");
  forecast_refuses(&forecast_quantile_set, "coverage:levels=0.9", PCAL_USAGE,
                   "coverage: there are no quantiles at both ends of the central interval "
                   "of level 0.9; choose levels whose ends are among levels");
  forecast_data lone = forecast_quantile_set;
  lone.levels = (const double[]){0.2, 0.5, 0.9};
  forecast_refuses(&lone, "coverage", PCAL_USAGE,
                   "coverage needs the quantiles at both ends of an interval, such as 0.05 "
                   "and 0.95, but no two of levels sum to 1; use quantile-ce");
}

/* u = (below + equal/2 + 1/2) / 4: 2.5 -> 2.5/4, 1 -> 3.5/4, -3 -> 0.5/4 */
TEST(test_samples) {
  assert_near(forecast_part(&forecast_sample_set, "pit", "mean"), 6.5 / 12, 1e-14);
  assert_near(forecast_value(&forecast_sample_set, "quantile-ce:levels=0.5"), 0.5 - 1.0 / 3,
              1e-14);
}

#define PIT_ROWS 20000

/* Four members and the target from the same law: none of the three has an error beyond chance,
 * which for so many rows is below 0.01, also where values below 0 become 0. */
TEST(test_small_ensembles_follow_the_law_of_ranks) {
  static double samples[4 * PIT_ROWS], targets[PIT_ROWS];
  const pc_rng rng = {3, 9};
  for (int censored = 0; censored < 2; censored++) {
    uint64_t draw = 0;
    for (size_t i = 0; i < PIT_ROWS; i++) {
      for (size_t j = 0; j < 5; j++) {
        const double z = pc_rng_normal(&rng, draw++);
        *(j < 4 ? &samples[4 * i + j] : &targets[i]) = censored && z < 0 ? 0 : z;
      }
    }
    const forecast_data data = {PCAL_SAMPLES, PIT_ROWS, 4, samples, targets, NULL, NULL};
    assert_true(forecast_value(&data, "quantile-ce") < 0.01);
    assert_true(forecast_value(&data, "coverage") < 0.01);
    assert_true(forecast_value(&data, "pit") < 0.015);
    assert_true(fabs(forecast_part(&data, "pit", "variance") - 1.0 / 12) < 0.002);
  }
}

/* One target equal to both of two samples, one above both: the first has each of three ranks
 * with a third. */
TEST(test_ties_share_the_ranks) {
  const double samples[] = {1, 1, 1, 2}, targets[] = {1, 3};
  const forecast_data data = {PCAL_SAMPLES, 2, 2, samples, targets, NULL, NULL};
  assert_near(forecast_value(&data, "quantile-ce:levels=0.5"), 0.25, 1e-14);
  assert_near(forecast_part(&data, "pit", "mean"), 0.5 * (0.5 + 5.0 / 6), 1e-14);
  assert_near(forecast_part(&data, "coverage:levels=0.5", "0.5"), 0.25 + 0.5 * 0.25, 1e-14);
}
