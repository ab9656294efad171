#include "forecast_fit_help.h"

static forecast_fit_set variance_set;

/* w and b from the map: v = 1 and v = 2 become w + b and 2 w + b. */
static void variance_read_off(const pcal_calibrator *calibrator, double *w, double *b) {
  const double pairs[] = {0, 1, 0, 2}, none[] = {0, 0};
  const forecast_data two = {PCAL_MEAN_VARIANCE, 2, 2, pairs, none, NULL, NULL};
  double out[4];
  forecast_apply(calibrator, &two, out);
  *w = out[3] - out[1];
  *b = 2 * out[1] - out[3];
}

static double variance_objective(const char *spec, double w, double b) {
  static double pairs[2 * FORECAST_FIT_ROWS];
  forecast_data data = variance_set.data;
  for (size_t i = 0; i < FORECAST_FIT_ROWS; i++) {
    pairs[2 * i] = variance_set.pairs[2 * i];
    pairs[2 * i + 1] = w * variance_set.pairs[2 * i + 1] + b;
  }
  data.scores = pairs;
  return forecast_value(&data, spec);
}

/* No neighbour is better, on its own objective as the metric measures it. */
static void variance_is_minimum(const char *method, const char *spec) {
  pcal_calibrator *calibrator = forecast_fit(&variance_set.data, method);
  double w, b;
  variance_read_off(calibrator, &w, &b);
  const double here = variance_objective(spec, w, b);
  assert_true(w > 1.5 && w < 5 && b > 0.1 && b < 1.2);
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      assert_true(variance_objective(spec, w * (1 + 1e-3 * i), b * (1 + 1e-3 * j)) >=
                  here - 1e-13);
  assert_true(here < variance_objective(spec, 1, 0));
  pcal_calibrator_free(calibrator);
}

TEST(test_finds_the_minimum) {
  variance_is_minimum("variance-platt", "dss");
  variance_is_minimum("variance-platt:objective=crps", "crps");
}

TEST(test_scale_makes_the_ratio_one) {
  static double out[2 * FORECAST_FIT_ROWS];
  pcal_calibrator *calibrator = forecast_fit(&variance_set.data, "variance-scale");
  forecast_data after = variance_set.data;
  forecast_apply(calibrator, &after, out);
  after.scores = out;
  assert_near(forecast_value(&after, "variance-ratio"), 1.0, 1e-12);
  assert_same(forecast_value(&after, "mse"), forecast_value(&variance_set.data, "mse"));
  pcal_calibrator_free(calibrator);
}

TEST(test_files_keep_every_bit) {
  static double one[2 * FORECAST_FIT_ROWS], other[2 * FORECAST_FIT_ROWS];
  static const char *const methods[] = {"variance-platt", "variance-platt:objective=crps",
                                        "variance-scale"};
  for (size_t m = 0; m < UNIT_COUNT(methods); m++) {
    pcal_calibrator *calibrator = forecast_fit(&variance_set.data, methods[m]);
    forecast_fit_round_trip(calibrator, &variance_set.data, one, other);
    pcal_calibrator_free(calibrator);
  }
}

TEST(test_threads_give_the_same_bits) {
  pcal_env many = PCAL_ENV_INIT, single = PCAL_ENV_INIT;
  static double one[2 * FORECAST_FIT_ROWS], other[2 * FORECAST_FIT_ROWS];
  pcal_calibrator *a = NULL, *b = NULL;
  many.threads = 5;
  single.threads = 1;
  assert_int_equal(forecast_fit_try(&variance_set.data, "variance-platt", &many, &a, NULL),
                   PCAL_OK);
  assert_int_equal(forecast_fit_try(&variance_set.data, "variance-platt", &single, &b, NULL),
                   PCAL_OK);
  forecast_apply(a, &variance_set.data, one);
  forecast_apply(b, &variance_set.data, other);
  assert_memory_equal(one, other, sizeof one);
  pcal_calibrator_free(a);
  pcal_calibrator_free(b);
}

TEST(test_other_forms_are_refused) {
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  assert_int_equal(
      forecast_fit_try(&forecast_sample_set, "variance-platt", NULL, &calibrator, &err),
      PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "variance-platt changes variances, which samples do not have; use quantile-isotonic");
}

static int make_set(void **state) {
  (void)state;
  forecast_fit_make(&variance_set);
  return 0;
}

TEST_GROUP(make_set, NULL)
