/* Intercept and slope with Wald intervals, against statsmodels; exact 0 and 1. */
#include "event_rows.h"

#define Z95 1.959963984540054

TEST(test_slope_and_intercept) {
  event_rows rows;
  const given_data data = event_rows_given(&rows);
  event_check_interval(&data, "calibration-slope", 1.2817656270868412,
                       1.2817656270868412 - Z95 * 0.42297933281151895,
                       1.2817656270868412 + Z95 * 0.42297933281151895);
  event_check_interval(&data, "calibration-intercept", 0.7634825985987232,
                       0.7634825985987232 - Z95 * 0.39834485229236144,
                       0.7634825985987232 + Z95 * 0.39834485229236144);
  pcal_results *results = given_results(&data, "calibration-slope");
  const pcal_result result = given_result(results, "calibration-slope");
  assert_near(given_part(&result, "intercept"), 0.8761683142588332, 1e-8);
  assert_near(given_part(&result, "certain"), 0, 0);
  pcal_results_free(results);
}

/* Edge case 1: certain rows that came true change nothing but the part. */
TEST(test_certain_rows) {
  event_rows rows;
  const given_data plain = event_rows_given(&rows);
  double scores[EVENT_ROWS + 2];
  int32_t labels[EVENT_ROWS + 2];
  memcpy(scores, rows.scores, sizeof rows.scores);
  memcpy(labels, rows.labels, sizeof rows.labels);
  scores[EVENT_ROWS] = labels[EVENT_ROWS] = 0;
  scores[EVENT_ROWS + 1] = labels[EVENT_ROWS + 1] = 1;
  given_data data = plain;
  data.rows = EVENT_ROWS + 2;
  data.scores = scores;
  data.labels = labels;
  static const char *const specs[] = {"calibration-slope", "calibration-intercept"};
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    pcal_results *results = given_results(&data, specs[s]);
    const pcal_result result = given_result(results, specs[s]);
    assert_near(result.value, given_value(&plain, specs[s]), 1e-12);
    assert_near(given_part(&result, "certain"), 2.0 / (EVENT_ROWS + 2), 1e-15);
    pcal_results_free(results);
  }
  labels[EVENT_ROWS] = 1;
  event_check_undefined(&data, "calibration-slope", "did not come true");
  assert_true(given_value(&data, "calibration-slope:clip=0.001") < 1.2);
}

/* Edge case 2. */
TEST(test_no_fit) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 4,
                     .columns = 1,
                     .scores = (const double[]){0.1, 0.2, 0.7, 0.8},
                     .labels = (const int32_t[]){0, 0, 1, 1}};
  event_check_undefined(&data, "calibration-slope", "separate the outcomes");
  data.labels = (const int32_t[]){1, 1, 1, 1};
  event_check_undefined(&data, "calibration-slope", "no slope can be fitted");
  event_check_undefined(&data, "calibration-intercept", "the intercept is infinite");
  data.scores = (const double[]){0, 1, 1, 1};
  data.labels = (const int32_t[]){0, 1, 1, 1};
  event_check_undefined(&data, "calibration-intercept", "every score is exactly 0 or 1");
}

/* logit p = log 3: three of four events shift it by nothing, two of four by -log 3. */
TEST(test_intercept_by_hand) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 4,
                     .columns = 1,
                     .scores = (const double[]){0.75, 0.75, 0.75, 0.75},
                     .labels = (const int32_t[]){1, 1, 1, 0}};
  assert_near(given_value(&data, "calibration-intercept"), 0, 1e-9);
  data.labels = (const int32_t[]){1, 0, 1, 0};
  assert_near(given_value(&data, "calibration-intercept"), -log(3), 1e-8);
}
