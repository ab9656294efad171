#include "forecast_help.h"

TEST(test_values_by_hand) {
  const forecast_data *data = &forecast_gaussian;
  double mse = 0, dss = 0, variance = 0, ratio = 0, square = 0;
  for (size_t i = 0; i < data->rows; i++) {
    const double v = forecast_pairs[2 * i + 1];
    const double e = forecast_pairs[2 * i] - forecast_targets[i], r = e * e / v;
    mse += e * e / 6;
    dss += (r + log(v)) / 6;
    variance += v / 6;
    ratio += r / 6;
    square += r * r;
  }
  assert_near(forecast_value(data, "mse"), mse, 1e-14);
  assert_near(forecast_value(data, "dss"), dss, 1e-13);
  assert_near(forecast_value(data, "mean-variance"), variance, 1e-14);
  assert_near(forecast_value(data, "sharpness"), sqrt(variance), 1e-14);
  assert_near(forecast_value(data, "variance-ratio"), ratio, 1e-14);
  assert_near(forecast_part(data, "variance-ratio", "mean"), ratio, 1e-14);
  assert_near(forecast_part(data, "variance-ratio", "sd"),
              sqrt((square - 6 * ratio * ratio) / 5), 1e-12);
  assert_near(forecast_value(data, "log"), (dss + log(2 * acos(-1.0))) / 2, 1e-13);
}

/* A standard deviation is the root of a variance. */
TEST(test_deviations_equal_variances) {
  double pairs[12];
  for (size_t i = 0; i < 12; i++)
    pairs[i] = i % 2 == 0 ? forecast_pairs[i] : sqrt(forecast_pairs[i]);
  forecast_data data = forecast_gaussian;
  data.kind = PCAL_MEAN_STD;
  data.scores = pairs;
  assert_same(forecast_value(&data, "dss"), forecast_value(&forecast_gaussian, "dss"));
  assert_same(forecast_value(&data, "crps"), forecast_value(&forecast_gaussian, "crps"));
}

TEST(test_samples_have_moments) {
  /* means 2, 0, 5/3; variances 1, 0, 19/3 */
  assert_near(forecast_value(&forecast_sample_set, "mse"),
              (0.25 + 1 + (14.0 / 3) * (14.0 / 3)) / 3, 1e-14);
  assert_near(forecast_value(&forecast_sample_set, "mean-variance"), (1 + 19.0 / 3) / 3, 1e-14);
  pcal_results *results = NULL;
  pcal_result found = PCAL_RESULT_INIT;
  assert_int_equal(forecast_try(&forecast_sample_set, "dss", NULL, &results, NULL), PCAL_OK);
  pcal_results_get(results, 0, &found);
  assert_true(isinf(found.value));
  assert_string_equal(found.why, "row 1 has samples that are all equal, or nearly, and "
                                 "differ from the target, so the value is infinite");
  pcal_results_free(results);
}

TEST(test_quantiles_are_refused) {
  forecast_refuses(&forecast_quantile_set, "mse", PCAL_USAGE,
                   "mse needs the mean and variance of predictions, which quantiles do not "
                   "determine; give mean with variance, or samples");
  forecast_refuses(&forecast_quantile_set, "log", PCAL_USAGE,
                   "log needs a density, which quantiles do not have; give mean with "
                   "variance or std");
}

TEST(test_tasks_do_not_mix) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  const char *spec = "crps";
  config.columns = 1;
  config.specs = &spec;
  config.spec_count = 1;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, &err), PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "crps is a metric of predictions of a number, but these data are scores of classes; "
      "give mean with variance, quantiles or samples");
  forecast_refuses(&forecast_gaussian, "ece", PCAL_USAGE,
                   "ece is a metric of class probabilities, but these data are predictions "
                   "of a number; give probs or logits, or use a metric such as crps");
  forecast_refuses(&forecast_gaussian, "crpss", PCAL_USAGE,
                   "unknown metric \"crpss\" (did you mean \"crps\"?); pcal_registry_at "
                   "shows all metrics");
}
