/* Changes from an earlier run, against the formula. */
#include "../unit.h"

#include <math.h>
#include <stdio.h>

#include "base/normal.h"
#include "propercal.h"

#define BASELINE_ROWS 200

/* Probabilities of class 1; one row in five is of class 1. */
static pcal_results *baseline_measure(double prob, double level) {
  static const char *const specs[] = {"brier", "accuracy", "oe-ratio", "log"};
  double probs[BASELINE_ROWS];
  int32_t labels[BASELINE_ROWS];
  for (size_t i = 0; i < BASELINE_ROWS; i++) {
    labels[i] = i % 5 == 0;
    probs[i] = prob;
  }
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  config.kind = batch.kind = PCAL_PROBABILITY;
  config.columns = batch.columns = 1;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  config.interval = level;
  batch.type = PCAL_F64;
  batch.rows = BASELINE_ROWS;
  batch.scores = probs;
  batch.labels = labels;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  pcal_measure_free(measure);
  return results;
}

static pcal_status baseline_add(pcal_results *results, const char *json, pcal_error *err) {
  return pcal_results_add_baseline(results, json, strlen(json), "main.json", err);
}

static pcal_change baseline_change(const pcal_results *results, size_t index) {
  pcal_change change = PCAL_CHANGE_INIT;
  assert_int_equal(pcal_results_get_change(results, index, &change), PCAL_OK);
  return change;
}

/* Two comparisons, intervals of two levels; edge cases 2 and 3: oe-ratio has no better direction, and
 * the earlier run has no log. */
TEST(test_interval_of_a_change) {
  pcal_results *results = baseline_measure(0.4, 0.9);
  pcal_result now = PCAL_RESULT_INIT;
  assert_int_equal(
      baseline_add(
          results,
          "{\"results\": [{\"spec\": \"brier:half=no\", \"value\": 0.3, \"interval\": "
          "{\"level\": 0.95, \"low\": 0.29, \"high\": 0.32}}, {\"spec\": \"accuracy\", "
          "\"value\": 0.9, \"interval\": {\"level\": 0.95, \"low\": 0.89, \"high\": 0.91}}, "
          "{\"spec\": \"oe-ratio:view=auto\", \"value\": 1, \"interval\": {\"level\": 0.95, "
          "\"low\": 0.9, \"high\": 1.1}}]}",
          NULL),
      PCAL_OK);
  const pcal_change brier = baseline_change(results, 0), accuracy = baseline_change(results, 1);
  assert_int_equal(pcal_results_get(results, 0, &now), PCAL_OK);
  const double z = pc_normal_quantile(1 - 0.0125);
  const double f = z / pc_normal_quantile(0.95), f0 = z / pc_normal_quantile(0.975);
  assert_true(brier.compared && brier.before == 0.3);
  assert_near(brier.low, now.value - 0.3 - hypot(f * (now.value - now.low), f0 * 0.02), 1e-12);
  assert_near(brier.high, now.value - 0.3 + hypot(f * (now.high - now.value), f0 * 0.01),
              1e-12);
  assert_int_equal(brier.worse, brier.low > 0);
  assert_true(accuracy.compared && accuracy.high < 0 && accuracy.worse);
  assert_false(baseline_change(results, 2).compared);
  assert_false(baseline_change(results, 3).compared);
  pcal_results_free(results);
}

/* A result is not worse than itself, and better is not worse. */
TEST(test_better_is_not_worse) {
  pcal_results *results = baseline_measure(0.2, 0.95);
  assert_int_equal(
      baseline_add(
          results,
          "{\"results\": [{\"spec\": \"brier:half=no\", \"value\": 0.9, \"interval\": "
          "{\"level\": 0.95, \"low\": 0.89, \"high\": 0.91}}, {\"spec\": \"accuracy\", "
          "\"value\": 0.8, \"interval\": {\"level\": 0.95, \"low\": 0.8, \"high\": 0.8}}]}",
          NULL),
      PCAL_OK);
  assert_true(baseline_change(results, 0).high < 0 && !baseline_change(results, 0).worse);
  assert_false(baseline_change(results, 1).worse);
  pcal_results_free(results);
}

/* Edge case 4. */
TEST(test_a_value_that_is_lost_is_worse) {
  pcal_results *results = baseline_measure(0.0, 0.95);
  assert_int_equal(baseline_add(results,
                                "{\"results\": [{\"spec\": \"log:clip=0\", \"value\": 0.5}]}",
                                NULL),
                   PCAL_OK);
  const pcal_change change = baseline_change(results, 3);
  assert_true(change.compared && change.worse && isnan(change.low) && change.before == 0.5);
  pcal_results_free(results);
}

TEST(test_texts_without_results) {
  static const char *const texts[] = {
      "{}",
      "[]",
      "{\"results\": 1}",
      "{\"results\": [1, {\"spec\": 2}, {}]}",
      "{\"results\": [{\"spec\": \"brier:half=no\", \"value\": 0.3}]}",
      "{\"results\": [{\"spec\": \"brier:half=no\", \"value\": null, \"interval\": null}]}",
      "{\"results\": [{\"spec\": \"brier:half=no\", \"value\": 0.3, \"interval\": {\"level\": "
      "1, "
      "\"low\": 0.2, \"high\": 0.4}}]}"};
  pcal_results *results = baseline_measure(0.2, 0.95);
  pcal_change change = PCAL_CHANGE_INIT;
  pcal_error err = PCAL_ERROR_INIT;
  assert_int_equal(pcal_results_get_change(results, 0, &change), PCAL_USAGE);
  for (size_t i = 0; i < UNIT_COUNT(texts); i++) {
    assert_int_equal(baseline_add(results, texts[i], &err), PCAL_DATA);
    assert_string_equal(
        err.message, "main.json has no result with an interval that can be compared; measure "
                     "the same metrics in both runs, with level and JSON output");
  }
  assert_int_equal(baseline_add(results, "{", &err), PCAL_DATA);
  assert_int_equal(pcal_results_add_baseline(NULL, "{}", 2, NULL, &err), PCAL_USAGE);
  assert_int_equal(pcal_results_get_change(results, 99, &change), PCAL_USAGE);
  assert_int_equal(pcal_results_get_change(results, 0, NULL), PCAL_USAGE);
  pcal_results_free(results);
}
