#include "forecast_help.h"

static const double decomposition_samples[] = {2, 0, 1, 3};
static const double decomposition_targets[] = {1, 4};
static const forecast_data decomposition_data = {
    PCAL_SAMPLES, 2, 2, decomposition_samples, decomposition_targets, NULL, NULL};

/* Between the samples g = 2, o = 1/4, p = 1/2; above them g = 1, o = 1/2, p = 1. */
TEST(test_two_rows_by_hand) {
  const forecast_data *data = &decomposition_data;
  assert_near(forecast_part(data, "crps-decomposition", NULL), 1, 1e-15);
  assert_near(forecast_part(data, "crps-decomposition", "reliability"), 0.375, 1e-15);
  assert_near(forecast_part(data, "crps-decomposition", "potential"), 0.625, 1e-15);
  assert_near(forecast_part(data, "crps-decomposition", "uncertainty"), 0.75, 1e-15);
  assert_near(forecast_part(data, "crps-decomposition", "resolution"), 0.125, 1e-15);
}

/* Edge case 2: no outliers, equal samples, and a target at the lowest sample. */
TEST(test_no_outliers) {
  const double samples[] = {1, 1, 1, 3}, targets[] = {1, 1};
  const forecast_data data = {PCAL_SAMPLES, 2, 2, samples, targets, NULL, NULL};
  /* the mean interval has width 1, all of it above the targets: o = 1, p = 1/2 */
  assert_near(forecast_part(&data, "crps-decomposition", "reliability"), 0.25, 1e-15);
  assert_true(forecast_part(&data, "crps-decomposition", "potential") == 0);
  assert_true(forecast_part(&data, "crps-decomposition", "uncertainty") == 0);
  assert_true(forecast_part(&data, "crps-decomposition", "resolution") == 0);
}

#define DECOMPOSITION_ROWS 40
#define DECOMPOSITION_MEMBERS 7

/* Edge case 1: the value from its definition, over pairs; weights as rows repeated. */
TEST(test_value_is_the_score_of_the_step_function) {
  double samples[DECOMPOSITION_ROWS * DECOMPOSITION_MEMBERS], targets[DECOMPOSITION_ROWS];
  double weights[DECOMPOSITION_ROWS], score = 0, total = 0, spread = 0;
  for (size_t i = 0; i < DECOMPOSITION_ROWS; i++) {
    targets[i] = (double)(i * 37 % 41) / 4;
    weights[i] = 1 + (double)(i % 3);
    total += weights[i];
    for (size_t j = 0; j < DECOMPOSITION_MEMBERS; j++)
      samples[i * DECOMPOSITION_MEMBERS + j] = (double)((i * 29 + j * 17) % 43) / 4;
  }
  for (size_t i = 0; i < DECOMPOSITION_ROWS; i++) {
    const double *x = samples + i * DECOMPOSITION_MEMBERS, n = DECOMPOSITION_MEMBERS;
    for (size_t j = 0; j < DECOMPOSITION_MEMBERS; j++) {
      score += weights[i] / total * fabs(x[j] - targets[i]) / n;
      for (size_t k = 0; k < DECOMPOSITION_MEMBERS; k++)
        score -= weights[i] / total * fabs(x[j] - x[k]) / (2 * n * n);
    }
    for (size_t k = 0; k < DECOMPOSITION_ROWS; k++)
      spread += weights[i] * weights[k] / (total * total) * fabs(targets[i] - targets[k]) / 2;
  }
  const forecast_data data = {
      PCAL_SAMPLES, DECOMPOSITION_ROWS, DECOMPOSITION_MEMBERS, samples, targets, NULL, weights};
  const char *const spec = "crps-decomposition";
  assert_near(forecast_part(&data, spec, NULL), score, 1e-13);
  assert_near(forecast_part(&data, spec, "uncertainty"), spread, 1e-13);
  assert_near(forecast_part(&data, spec, "reliability") -
                  forecast_part(&data, spec, "resolution") +
                  forecast_part(&data, spec, "uncertainty"),
              score, 1e-13);
}

/* Edge case 5. */
TEST(test_other_forms_are_refused) {
  const double rows[] = {1, 2}, targets[] = {1}, levels[] = {0.1, 0.9};
  const forecast_data all[] = {{PCAL_MEAN_STD, 1, 2, rows, targets, NULL, NULL},
                               {PCAL_QUANTILES, 1, 2, rows, targets, levels, NULL}};
  for (size_t i = 0; i < UNIT_COUNT(all); i++) {
    pcal_results *results = NULL;
    pcal_error err = PCAL_ERROR_INIT;
    assert_int_equal(forecast_try(&all[i], "crps-decomposition", NULL, &results, &err),
                     PCAL_USAGE);
    assert_string_equal(err.message, "crps-decomposition needs samples, the members of an "
                                     "ensemble; give samples, or use crps");
  }
}
