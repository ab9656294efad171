#include "forecast_fit_help.h"

static forecast_fit_set quantile_set;

/* Normal predictions become as wide as the targets: pit falls, coverage is right. */
TEST(test_corrects_normals) {
  static double out[2 * FORECAST_FIT_ROWS];
  pcal_calibrator *calibrator = forecast_fit(&quantile_set.data, "quantile-isotonic");
  forecast_data after = quantile_set.data;
  forecast_apply(calibrator, &after, out);
  after.scores = out;
  assert_true(forecast_value(&quantile_set.data, "variance-ratio") > 3);
  assert_true(fabs(forecast_value(&after, "variance-ratio") - 1) < 0.1);
  assert_true(forecast_value(&after, "crps") < forecast_value(&quantile_set.data, "crps"));
  pcal_calibrator_free(calibrator);
}

/* u of 1/8, 3/8, 5/8, 7/8 have just these frequencies: the map is the identity. */
TEST(test_a_calibrated_set_stays) {
  const double targets[] = {-1.1503493803760083, -0.3186393639643752, 0.3186393639643752,
                            1.1503493803760083};
  const double pairs[] = {0, 1, 0, 1, 0, 1, 0, 1}, probe[] = {3, 4};
  const forecast_data data = {PCAL_MEAN_VARIANCE, 4, 2, pairs, targets, NULL, NULL};
  const forecast_data one = {PCAL_MEAN_VARIANCE, 1, 2, probe, targets, NULL, NULL};
  double out[2];
  pcal_calibrator *calibrator = forecast_fit(&data, "quantile-isotonic");
  forecast_apply(calibrator, &one, out);
  assert_near(out[0], 3.0, 1e-12);
  assert_near(out[1], 4.0, 1e-12);
  pcal_calibrator_free(calibrator);
}

/* Every target midway between the samples of levels 3/5 and 4/5: R(0.7) is 1/2. */
TEST(test_moves_samples) {
  const double samples[] = {0, 1, 2, 3, 0, 1, 2, 3}, targets[] = {2.5, 2.5};
  const forecast_data data = {PCAL_SAMPLES, 2, 4, samples, targets, NULL, NULL};
  double out[8];
  pcal_calibrator *calibrator = forecast_fit(&data, "quantile-isotonic");
  forecast_apply(calibrator, &data, out);
  /* levels 1/5 to 4/5 come from 0.28, 0.56, 0.76, 0.88 */
  assert_near(out[0], 0.4, 1e-12);
  assert_near(out[1], 1.8, 1e-12);
  assert_near(out[2], 2.8, 1e-12);
  assert_near(out[3], 3.0, 1e-12);
  pcal_calibrator_free(calibrator);
}

/* All targets equal to the lowest quantile: its level may be anything up to 1, so 0.1 stays,
 * and the others follow from no target above it. */
TEST(test_moves_quantiles) {
  const double quantiles[] = {1, 2, 4, 1, 2, 4}, targets[] = {1, 1};
  const forecast_data data = {PCAL_QUANTILES, 2, 3, quantiles, targets, forecast_levels, NULL};
  double out[6];
  pcal_calibrator *calibrator = forecast_fit(&data, "quantile-isotonic");
  forecast_apply(calibrator, &data, out);
  assert_near(out[0], 1.0, 1e-12);
  assert_near(out[1], 2.0, 1e-12);
  assert_near(out[2], 4.0, 1e-12);
  pcal_calibrator_free(calibrator);
}

TEST(test_files_keep_every_bit) {
  static double one[2 * FORECAST_FIT_ROWS], other[2 * FORECAST_FIT_ROWS];
  const forecast_data *const sets[] = {&quantile_set.data, &forecast_quantile_set,
                                       &forecast_sample_set};
  for (size_t s = 0; s < UNIT_COUNT(sets); s++) {
    pcal_calibrator *calibrator = forecast_fit(sets[s], "quantile-isotonic");
    forecast_fit_round_trip(calibrator, sets[s], one, other);
    pcal_calibrator_free(calibrator);
  }
}

static int make_set(void **state) {
  (void)state;
  forecast_fit_make(&quantile_set);
  return 0;
}

TEST_GROUP(make_set, NULL)
