/* Accounts of many groups are packed, and nothing shows it. */
#include "measure/packed_group.h"

#include "../unit.h"
#include "emulated.h"
#include "measure/measure.h"

#define PACKED_ROWS 9000

typedef struct packed_data {
  double probs[PACKED_ROWS];
  int32_t labels[PACKED_ROWS];
  uint32_t groups[PACKED_ROWS];
} packed_data;

static packed_data packed_given;

static void packed_fill(uint32_t groups) {
  for (size_t i = 0; i < PACKED_ROWS; i++) {
    packed_given.probs[i] = (double)(i * 7919 % 1000) / 1000.0;
    packed_given.labels[i] = (int32_t)(i * 31 % 7 < 3);
    packed_given.groups[i] = (uint32_t)(i * 104729 % groups);
  }
}

static pcal_batch packed_batch(size_t first, size_t rows) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.type = PCAL_F64;
  batch.rows = rows;
  batch.columns = 1;
  batch.scores = packed_given.probs + first;
  batch.labels = packed_given.labels + first;
  batch.groups = packed_given.groups + first;
  batch.first_row = first;
  return batch;
}

static pcal_status packed_measure(const pcal_env *env, size_t rows, size_t step,
                                  pcal_measure **out, pcal_error *err) {
  const char *const specs[] = {"ece", "brier", "ks"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.kind = PCAL_PROBABILITY;
  config.columns = 1;
  config.specs = specs;
  config.spec_count = 3;
  *out = NULL;
  pcal_status status = pcal_measure_new(&config, env, out, err);
  for (size_t first = 0; status == PCAL_OK && first < rows; first += step) {
    const pcal_batch batch = packed_batch(first, step < rows - first ? step : rows - first);
    status = pcal_measure_update(*out, &batch, err);
  }
  return status;
}

static sink_bytes packed_saved(const pcal_measure *measure) {
  sink_bytes all = {0};
  pcal_error err;
  assert_int_equal(pcal_measure_save(measure, sink_collect, &all, &err), PCAL_OK);
  return all;
}

/* One update or many, packed or not: the same bytes, and the same results of every group. */
TEST(test_bytes_do_not_show_packing) {
  pcal_env env = PCAL_ENV_INIT;
  pcal_measure *one = NULL, *many = NULL, *loaded = NULL;
  pcal_results *results[2] = {NULL, NULL};
  pcal_error err;
  env.threads = 1;
  packed_fill(7001);
  assert_int_equal(packed_measure(&env, PACKED_ROWS, PACKED_ROWS, &one, &err), PCAL_OK);
  assert_int_equal(packed_measure(&env, PACKED_ROWS, 1000, &many, &err), PCAL_OK);
  assert_true(one->groups.packed_count > 0 && many->groups.packed_count > 0);
  const sink_bytes a = packed_saved(one), b = packed_saved(many);
  assert_int_equal(a.length, b.length);
  assert_memory_equal(a.bytes, b.bytes, a.length);
  assert_int_equal(pcal_measure_load(a.bytes, a.length, "a", &env, &loaded, &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(one, &results[0], &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(loaded, &results[1], &err), PCAL_OK);
  assert_int_equal(pcal_results_count(results[0]), 3 * 7002);
  for (size_t i = 0; i < 3 * 7002; i++) {
    pcal_result left = PCAL_RESULT_INIT, right = PCAL_RESULT_INIT;
    assert_int_equal(pcal_results_get(results[0], i, &left), PCAL_OK);
    assert_int_equal(pcal_results_get(results[1], i, &right), PCAL_OK);
    assert_same(left.value, right.value);
    assert_string_equal(left.spec, right.spec);
    assert_true((left.group == NULL) == (i < 3));
  }
  for (size_t r = 0; r < 2; r++)
    pcal_results_free(results[r]);
  free(a.bytes);
  free(b.bytes);
  pcal_measure_free(one);
  pcal_measure_free(many);
  pcal_measure_free(loaded);
}

/* A packed group has the values of its rows alone. */
TEST(test_values_of_a_group) {
  pcal_env env = PCAL_ENV_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  env.threads = 1;
  packed_fill(PACKED_ROWS);
  assert_int_equal(packed_measure(&env, PACKED_ROWS, PACKED_ROWS, &measure, &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, &err), PCAL_OK);
  for (size_t i = 3; i < pcal_results_count(results); i += emulated() ? 30 : 3) {
    pcal_result found = PCAL_RESULT_INIT;
    size_t row = 0;
    assert_int_equal(pcal_results_get(results, i, &found), PCAL_OK);
    while (packed_given.groups[row] != (uint32_t)atoi(found.group))
      row++;
    assert_near(found.value, fabs(packed_given.probs[row] - packed_given.labels[row]), 1e-12);
  }
  pcal_results_free(results);
  pcal_measure_free(measure);
}

static pcal_status packed_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pcal_env alone = *env;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  (void)user;
  alone.threads = 1;
  pcal_status status = packed_measure(&alone, 80, 80, &measure, err);
  const pcal_batch more = packed_batch(80, 5);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &more, err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, err);
  pcal_results_free(results);
  pcal_measure_free(measure);
  return status;
}

TEST(test_out_of_memory) {
  packed_fill(80);
  unit_fail_each_allocation(packed_scenario, NULL);
}
