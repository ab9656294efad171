/* The energy score against its definition, over all pairs of samples. */
#include "forecast_help.h"

#define ENERGY_ROWS 60
#define ENERGY_SAMPLES 7
#define ENERGY_TARGETS 3
#define ENERGY_COLUMNS (ENERGY_SAMPLES * ENERGY_TARGETS)

typedef struct energy_data {
  double scores[ENERGY_ROWS * ENERGY_COLUMNS], targets[ENERGY_ROWS * ENERGY_TARGETS];
  double weights[ENERGY_ROWS];
} energy_data;

static void energy_fill(energy_data *data) {
  for (size_t i = 0; i < ENERGY_ROWS * ENERGY_COLUMNS; i++)
    data->scores[i] = (double)((i * 7919) % 1013) / 97 - 5;
  for (size_t i = 0; i < ENERGY_ROWS * ENERGY_TARGETS; i++)
    data->targets[i] = (double)((i * 104729) % 1009) / 83 - 6;
  for (size_t i = 0; i < ENERGY_ROWS; i++)
    data->weights[i] = (double)(i % 3) + 1;
}

static pcal_batch energy_batch(const energy_data *data, size_t first, size_t rows) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_SAMPLE_VECTORS;
  batch.type = PCAL_F64;
  batch.rows = rows;
  batch.columns = ENERGY_COLUMNS;
  batch.dimensions = ENERGY_TARGETS;
  batch.scores = data->scores + first * ENERGY_COLUMNS;
  batch.targets = data->targets + first * ENERGY_TARGETS;
  batch.weights = data->weights + first;
  batch.first_row = first;
  return batch;
}

static pcal_measure *energy_measure(const char *spec, const pcal_env *env) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  config.kind = PCAL_SAMPLE_VECTORS;
  config.columns = ENERGY_COLUMNS;
  config.specs = &spec;
  config.spec_count = 1;
  config.interval = 0.95;
  if (pcal_measure_new(&config, env, &measure, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return measure;
}

static void energy_add(pcal_measure *measure, const pcal_batch *batch) {
  pcal_error err;
  if (pcal_measure_update(measure, batch, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

static pcal_result energy_result(pcal_measure *measure, pcal_results **results) {
  pcal_result found = PCAL_RESULT_INIT;
  pcal_error err;
  if (pcal_measure_finish(measure, results, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  pcal_results_get(*results, 0, &found);
  return found;
}

static double energy_distance(const double *a, const double *b) {
  double sum = 0;
  for (size_t k = 0; k < ENERGY_TARGETS; k++)
    sum += pow(a[k] - b[k], 2);
  return sqrt(sum);
}

/* The score of one row; pairs: the divisor of the sum over pairs of samples. */
static double energy_row(const energy_data *data, size_t row, double pairs) {
  const double *x = data->scores + row * ENERGY_COLUMNS;
  double away = 0, apart = 0;
  for (size_t i = 0; i < ENERGY_SAMPLES; i++) {
    away += energy_distance(x + i * ENERGY_TARGETS, data->targets + row * ENERGY_TARGETS);
    for (size_t j = 0; j < ENERGY_SAMPLES; j++)
      apart += energy_distance(x + i * ENERGY_TARGETS, x + j * ENERGY_TARGETS);
  }
  return away / ENERGY_SAMPLES - apart / (2 * pairs);
}

static double energy_expected(const energy_data *data, double pairs) {
  double sum = 0, total = 0;
  for (size_t i = 0; i < ENERGY_ROWS; i++) {
    sum += data->weights[i] * energy_row(data, i, pairs);
    total += data->weights[i];
  }
  return sum / total;
}

static pcal_result energy_of(const energy_data *data, const char *spec,
                             pcal_results **results) {
  pcal_measure *measure = energy_measure(spec, NULL);
  const pcal_batch batch = energy_batch(data, 0, ENERGY_ROWS);
  energy_add(measure, &batch);
  const pcal_result found = energy_result(measure, results);
  pcal_measure_free(measure);
  return found;
}

TEST(test_fair_and_empirical) {
  static energy_data data;
  pcal_results *results = NULL;
  const double m = ENERGY_SAMPLES;
  energy_fill(&data);
  pcal_result found = energy_of(&data, "energy-score", &results);
  assert_near(found.value, energy_expected(&data, m * (m - 1)), 1e-13);
  assert_near(found.parts[0].value - found.parts[1].value, found.value, 1e-13);
  assert_true(found.has_interval && found.low < found.value && found.value < found.high);
  pcal_results_free(results);
  found = energy_of(&data, "energy-score:estimator=empirical", &results);
  assert_near(found.value, energy_expected(&data, m * m), 1e-13);
  assert_null(pcal_results_verdict_text(results));
  pcal_verdict verdict = PCAL_VERDICT_INIT;
  assert_int_equal(pcal_results_get_verdict(results, &verdict), PCAL_USAGE);
  pcal_results_free(results);
}

/* Edge case 3 of convert_vectors.c: the same bits for any order of the samples, and for any division of
 * the rows into batches. */
TEST(test_order_of_samples_and_parts) {
  static energy_data data, turned;
  pcal_results *one = NULL, *two = NULL;
  energy_fill(&data);
  turned = data;
  for (size_t i = 0; i < ENERGY_ROWS; i++)
    for (size_t s = 0; s < ENERGY_SAMPLES; s++)
      memcpy(turned.scores + i * ENERGY_COLUMNS + s * ENERGY_TARGETS,
             data.scores + i * ENERGY_COLUMNS + (s * 3 + i) % ENERGY_SAMPLES * ENERGY_TARGETS,
             ENERGY_TARGETS * sizeof(double));
  pcal_measure *parts[2] = {energy_measure("energy-score", NULL),
                            energy_measure("energy-score", NULL)};
  const pcal_batch first = energy_batch(&turned, 0, 17),
                   rest = energy_batch(&turned, 17, ENERGY_ROWS - 17);
  energy_add(parts[0], &rest);
  energy_add(parts[1], &first);
  assert_int_equal(pcal_measure_merge(parts[0], parts[1], NULL), PCAL_OK);
  const double merged = energy_result(parts[0], &two).value;
  assert_same(merged, energy_of(&data, "energy-score", &one).value);
  pcal_results_free(one);
  pcal_results_free(two);
  pcal_measure_free(parts[0]);
  pcal_measure_free(parts[1]);
}

/* Samples and targets all equal: 0. */
TEST(test_certain_and_right) {
  static energy_data data;
  pcal_results *results = NULL;
  energy_fill(&data);
  for (size_t i = 0; i < ENERGY_ROWS * ENERGY_COLUMNS; i++)
    data.scores[i] = 2;
  for (size_t i = 0; i < ENERGY_ROWS * ENERGY_TARGETS; i++)
    data.targets[i] = 2;
  assert_same(energy_of(&data, "energy-score", &results).value, 0.0);
  pcal_results_free(results);
}

/* Edge cases 1 and 2 of convert_vectors.c, and batches of a wrong shape. */
TEST(test_refused) {
  static energy_data data;
  pcal_measure *measure = energy_measure("energy-score", NULL);
  pcal_error err;
  energy_fill(&data);
  data.targets[5 * ENERGY_TARGETS + 1] = (double)NAN;
  pcal_batch batch = energy_batch(&data, 0, ENERGY_ROWS);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "target, row 5: the target is missing; remove the row or pass skip_missing");
  data.targets[5 * ENERGY_TARGETS + 1] = 1e200;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_DATA);
  batch.dimensions = 4;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "scores: 21 columns are not two or more samples of 4 numbers; set dimensions to "
      "the numbers of a sample");
  pcal_measure_free(measure);
}

/* 21 columns are 7 samples of 3 numbers or 3 samples of 7: one measure has one of them. */
TEST(test_batches_of_other_dimensions_are_refused) {
  static energy_data data;
  static double seven[ENERGY_ROWS * 7];
  pcal_measure *measure = energy_measure("energy-score", NULL);
  pcal_measure *turned = energy_measure("energy-score", NULL);
  pcal_error err;
  energy_fill(&data);
  pcal_batch first = energy_batch(&data, 0, 10), other = energy_batch(&data, 10, 10);
  energy_add(measure, &first);
  other.dimensions = 7;
  other.targets = seven;
  assert_int_equal(pcal_measure_update(measure, &other, &err), PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "samples of some rows have 3 numbers and those of others 7; give all rows the "
      "same dimensions");
  energy_add(turned, &other);
  assert_int_equal(pcal_measure_merge(measure, turned, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "samples of the other measure have 7 numbers and those of this one 3; only "
                  "parts of one data set can be merged");
  other = energy_batch(&data, 10, 10);
  energy_add(measure, &other);
  pcal_measure_free(measure);
  pcal_measure_free(turned);
}

/* Each metric is for one target or for several. */
TEST(test_one_target_or_several) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  const char *spec = "crps";
  config.kind = PCAL_SAMPLE_VECTORS;
  config.columns = 6;
  config.specs = &spec;
  config.spec_count = 1;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "crps is for one target in each row, and target has several columns; use "
                  "energy-score, or measure each target by itself");
  spec = "energy-score";
  config.kind = PCAL_SAMPLES;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, &err), PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "energy-score is for several targets in each row; for one target use crps, or "
      "give target with several columns beside samples");
}
