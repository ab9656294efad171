#include "event_rows.h"

/* Expected numbers were computed in Python with statistics.NormalDist, row by row. */

static const char *const multicalibration_names[] = {"a=0 & b=0", "a=1 & b=1", "a=2 & b=0",
                                                     "a=0 & b=1", "a=1 & b=0", "a=2 & b=1"};

/* Rows are in the groups i mod 3 and i mod 2. */
static pcal_results *multicalibration_results(const char *spec) {
  event_rows rows;
  given_data data = event_rows_given(&rows);
  uint32_t groups[EVENT_ROWS];
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  for (uint32_t i = 0; i < EVENT_ROWS; i++)
    groups[i] = i % 6;
  data.groups = groups;
  const pcal_batch batch = given_batch(&data);
  config.kind = data.kind;
  config.columns = 1;
  config.specs = &spec;
  config.spec_count = 1;
  config.interval = 0.95;
  if (pcal_measure_new(&config, NULL, &measure, &err) != PCAL_OK ||
      pcal_measure_update(measure, &batch, &err) != PCAL_OK ||
      pcal_measure_set_names(measure, NULL, 0, multicalibration_names, 6, &err) != PCAL_OK ||
      pcal_measure_finish(measure, &results, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  pcal_measure_free(measure);
  return results;
}

static void multicalibration_check(const pcal_results *results, const char *group, double value,
                                   double high) {
  for (size_t i = 0; i < pcal_results_count(results); i++) {
    pcal_result result = PCAL_RESULT_INIT;
    assert_int_equal(pcal_results_get(results, i, &result), PCAL_OK);
    if ((group == NULL) != (result.group == NULL) ||
        (group != NULL && strcmp(group, result.group) != 0))
      continue;
    assert_near(result.value, value, 1e-12);
    assert_true(result.has_interval);
    assert_same(result.low, 0.0);
    assert_near(result.high, high, 1e-9);
    return;
  }
  fail_msg("there is no group %s", group);
}

TEST(test_1_without_groups) {
  event_rows rows;
  const given_data data = event_rows_given(&rows);
  event_check_interval(&data, "multicalibration:bins=5", 0.25, 0.0, 0.5277364656470217);
}

/* The labels are exchanged, so that the error is certain. */
TEST(test_1_certain_error) {
  event_rows rows;
  const given_data data = event_rows_given(&rows);
  for (int i = 0; i < EVENT_ROWS; i++)
    rows.labels[i] = !rows.labels[i];
  event_check_interval(&data, "multicalibration:bins=2", 0.7, 0.44404491787635136,
                       0.7479067251163365);
}

TEST(test_2_3_overlapping_groups) {
  pcal_results *results = multicalibration_results("multicalibration:bins=5,share=0.05");
  multicalibration_check(results, NULL, 0.525, 0.9146081594647494);
  multicalibration_check(results, "a=1", 0.3, 0.6970115282);
  multicalibration_check(results, "b=0", 0.275, 0.8175025708);
  multicalibration_check(results, "a=0 & b=0", 0.425, 0.9146081595);
  multicalibration_check(results, "a=2 & b=1", 0.125, 0.838651956);
  assert_int_equal(pcal_results_count(results), 12);
  pcal_results_free(results);
}

TEST(test_2_bins_with_too_few_rows) {
  pcal_results *results = multicalibration_results("multicalibration:bins=5,share=0.1");
  pcal_result result = PCAL_RESULT_INIT;
  multicalibration_check(results, NULL, 0.3, 0.8175025708421895);
  assert_int_equal(pcal_results_get(results, 11, &result), PCAL_OK);
  assert_string_equal(result.group, "a=2 & b=1");
  assert_false(result.defined);
  assert_string_equal(result.why, "no bin has the least share of all rows");
  pcal_results_free(results);
}

TEST(test_4_multiaccuracy) {
  pcal_results *results = multicalibration_results("multicalibration:bins=1");
  multicalibration_check(results, NULL, 0.325, 0.5423444829206945);
  multicalibration_check(results, "a=2", 0.0519230769230769, 0.3694211876);
  pcal_results_free(results);
}
