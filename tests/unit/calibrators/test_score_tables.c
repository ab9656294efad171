#include "calibrators/score_tables.h"

#include "calibrator_help.h"

static void check(const char *spec, int columns, const char *parameters, const char *sentence) {
  char text[2048];
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  snprintf(text, sizeof text,
           "{\"format\": \"propercal-calibrator\", \"version\": 1, \"spec\": \"%s\",\n"
           "\"method\": \"histogram\", \"classes\": %d, \"columns\": %d,\n"
           "\"input\": \"probability\", \"normalize\": false, \"parameters\": %s,\n"
           "\"fit\": {\"status\": \"closed-form\", \"iterations\": 0, \"gradient\": null,\n"
           "\"objective\": null, \"rows\": 1, \"weighted\": false, \"weight\": 1,\n"
           "\"normalized_rows\": 0, \"skipped_rows\": 0, \"warnings\": []}}",
           spec, columns == 1 ? 2 : columns, columns, parameters);
  const pcal_status status =
      pcal_calibrator_load(text, strlen(text), "h.json", &env, &calibrator, &err);
  if (sentence == NULL) {
    if (status != PCAL_OK)
      fail_msg("%s: %s", parameters, err.message);
  } else {
    assert_int_equal(status, PCAL_DATA);
    assert_sentence(err, PCAL_DATA, sentence);
  }
  pcal_calibrator_free(calibrator);
  assert_int_equal(atomic_load(&memory.live), 0);
}

static void equal_width(void **state) {
  (void)state;
  const char *spec = "histogram:bins=2";
  check(spec, 1, "{\"values\": [[0, 1]]}", NULL);
  check(spec, 2, "{\"values\": [[0, 1], [0.5, 0.25]]}", NULL);
  check(spec, 2, "{\"values\": [[0, 1]]}",
        "h.json, line 3: \"values\" must hold 2 lists of numbers");
  check(spec, 1, "{\"values\": [0, 1]}",
        "h.json, line 3: \"values\" must hold 1 list of numbers");
  check(spec, 1, "{\"values\": [[0]]}",
        "h.json, line 3: a table of values must hold 2 numbers");
  check(spec, 1, "{\"values\": [[0, 1, 1]]}",
        "h.json, line 3: a table of values must hold 2 numbers");
  check(spec, 1, "{\"values\": [[0,\n1.5]]}",
        "h.json, line 4: a value of a bin must be a number from 0 to 1");
  check(spec, 1, "{\"values\": [[0, -0.1]]}",
        "h.json, line 3: a value of a bin must be a number from 0 to 1");
  check(spec, 1, "{\"values\": [[0, null]]}",
        "h.json, line 3: a value of a bin must be a number from 0 to 1");
  check(spec, 1, "{\"values\": [[0, 1]], \"edges\": [[0.5]]}",
        "h.json, line 3: there are 2 parameters where 1 belong; fit again");
  check(spec, 1, "{}", "h.json, line 3: the parameter \"values\" is missing; fit again");
  check("histogram:bins=2,classwise=no", 3, "{\"values\": [[0, 1]]}", NULL);
  check("histogram:bins=2,classwise=no", 3, "{\"values\": [[0, 1], [0, 1]]}",
        "h.json, line 3: \"values\" must hold 1 list of numbers");
}

static void equal_mass(void **state) {
  (void)state;
  const char *spec = "histogram:bins=3,binning=mass";
  const char *order = "h.json, line 3: edges must be ascending numbers from 0 to below 1";
  check(spec, 1, "{\"edges\": [[0.2, 0.4]], \"values\": [[0, 1, 1]]}", NULL);
  check(spec, 1, "{\"edges\": [[]], \"values\": [[0.5]]}", NULL);
  check(spec, 1, "{\"edges\": [[0]], \"values\": [[0.5, 1]]}", NULL);
  check(spec, 1, "{\"edges\": [[-0.000001]], \"values\": [[0.5, 1]]}", NULL);
  check(spec, 1, "{\"edges\": [[-0.1]], \"values\": [[0.5, 1]]}", order);
  check(spec, 1, "{\"edges\": [[1]], \"values\": [[0.5, 1]]}", order);
  check(spec, 1, "{\"edges\": [[0.4, 0.4]], \"values\": [[0, 1, 1]]}", order);
  check(spec, 1, "{\"edges\": [[0.4, 0.3]], \"values\": [[0, 1, 1]]}", order);
  check(spec, 1, "{\"edges\": [[\"0.4\"]], \"values\": [[0, 1]]}", order);
  check(spec, 1, "{\"edges\": [[0.4]], \"values\": [[0, 1, 1]]}",
        "h.json, line 3: a table must have one edge fewer than it has values");
  check(spec, 1, "{\"edges\": [0.4], \"values\": [[0, 1]]}",
        "h.json, line 3: \"edges\" must hold 1 list of numbers");
  check(spec, 1, "{\"edges\": [[], []], \"values\": [[0]]}",
        "h.json, line 3: \"edges\" must hold 1 list of numbers");
  check(spec, 1, "{\"edges\": [[]], \"values\": [[]]}",
        "h.json, line 3: a table of values must hold 1 to 3 numbers");
  check(spec, 1, "{\"edges\": [[0.1, 0.2, 0.3]], \"values\": [[0, 0, 0, 0]]}",
        "h.json, line 3: a table of values must hold 1 to 3 numbers");
  check(spec, 1, "{\"values\": [[0, 1, 1]]}",
        "h.json, line 3: the parameter \"edges\" is missing; fit again");
}

/* A file cannot make the loader reserve more than it holds. */
static void sizes_come_from_the_file(void **state) {
  (void)state;
  check("histogram:bins=10000", 1000000, "{\"values\": [[0]]}",
        "h.json, line 3: \"values\" must hold 1000000 lists of numbers");
}

/* Mixtures have the mean of the parts at every score. */
static void mixes(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  double v0[] = {0.5}, v1[] = {0.0, 1.0}, v2[] = {0.25, 0.5, 0.75};
  double e1[] = {0.5}, e2[] = {0.25, 0.5};
  const pc_score_table parts[] = {{1, v0, NULL}, {2, v1, e1}, {3, v2, e2}};
  const double weights[] = {1.0, 2.0, 5.0};
  pc_score_table mixed;
  assert_int_equal(pc_score_table_mix(&env, parts, weights, 3, &mixed, NULL), PCAL_OK);
  assert_int_equal(mixed.count, 3);
  for (int i = 0; i <= 100; i++) {
    const double at = i / 100.0;
    double mean = 0;
    for (size_t p = 0; p < 3; p++)
      mean += weights[p] / 8 * parts[p].values[pc_score_table_find(&parts[p], at)];
    assert_near(mixed.values[pc_score_table_find(&mixed, at)], mean, 1e-15);
  }
  pc_score_table_free(&env, &mixed);
  assert_int_equal(pc_score_table_mix(&env, parts, weights, 1, &mixed, NULL), PCAL_OK);
  assert_int_equal(mixed.count, 1);
  assert_same(mixed.values[0], 0.5);
  pc_score_table_free(&env, &mixed);
}

/* A resampled table of equal mass may have as many bins as its resamples have together. */
static void resampled_files(void **state) {
  (void)state;
  const char *spec = "histogram:bins=2,binning=mass,bootstrap=2";
  check(spec, 1, "{\"edges\": [[0.2, 0.4]], \"values\": [[0, 1, 1]]}", NULL);
  check(spec, 1, "{\"edges\": [[0.2, 0.4, 0.6]], \"values\": [[0, 1, 1, 1]]}",
        "h.json, line 3: a table of values must hold 1 to 3 numbers");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_width),
      cmocka_unit_test(equal_mass),
      cmocka_unit_test(sizes_come_from_the_file),
      cmocka_unit_test(mixes),
      cmocka_unit_test(resampled_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
