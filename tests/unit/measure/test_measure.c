#include "measure_help.h"

#include "base/rng.h"
#include "measure/measure.h"

#define MEASURE_ROWS 10000

/* More rows than a chunk holds, against sums taken by hand. */
TEST(test_rows_in_many_chunks) {
  static double scores[MEASURE_ROWS];
  static int32_t labels[MEASURE_ROWS];
  double squares = 0, right = 0;
  for (size_t i = 0; i < MEASURE_ROWS; i++) {
    scores[i] = (double)(i % 257) / 256;
    labels[i] = i % 3 == 0;
    squares += 2 * (scores[i] - labels[i]) * (scores[i] - labels[i]);
    right += (scores[i] > 0.5) == labels[i];
  }
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = MEASURE_ROWS,
                           .columns = 1,
                           .scores = scores,
                           .labels = labels};
  pcal_results *results = given_results(&data, "brier accuracy");
  assert_same(given_result(results, "brier").value, squares / MEASURE_ROWS);
  assert_same(given_result(results, "accuracy").value, right / MEASURE_ROWS);
  pcal_results_free(results);
}

#define MEASURE_WIDE_ROWS 2000
#define MEASURE_WIDE_COLUMNS 200

/* Of several bad rows the first is reported, whichever thread finds one first. */
TEST(test_the_first_bad_row_is_reported) {
  const pc_rng rng = {9, 9};
  const size_t count = (size_t)MEASURE_WIDE_ROWS * MEASURE_WIDE_COLUMNS;
  double *scores = malloc(count * sizeof *scores);
  int32_t *labels = calloc(MEASURE_WIDE_ROWS, sizeof *labels);
  pc_rng_normals(&rng, 0, count, scores);
  labels[1999] = labels[1500] = labels[700] = 200;
  const given_data data = {.kind = PCAL_LOGIT,
                           .rows = MEASURE_WIDE_ROWS,
                           .columns = MEASURE_WIDE_COLUMNS,
                           .scores = scores,
                           .labels = labels};
  const pcal_batch batch = given_batch(&data);
  for (unsigned threads = 1; threads <= 5; threads++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_measure *measure = NULL;
    pcal_error err;
    env.threads = threads;
    assert_int_equal(given_new(&data, "accuracy", &env, &measure, &err), PCAL_OK);
    assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_DATA);
    assert_int_equal(err.row, 700);
    assert_contains(err.message, "labels, row 700: label 200 is outside 0 to 199");
    pcal_measure_free(measure);
  }
  free(scores);
  free(labels);
}

static const given_data measure_mixed = {
    .kind = PCAL_PROBABILITY,
    .rows = 6,
    .columns = 2,
    .scores =
        (const double[]){0.5, 0.5, (double)NAN, 0, 0.2, 0.801, 1, 0, 0.25, 0.75, 0.5, 0.5},
    .labels = (const int32_t[]){0, 1, 1, PCAL_MISSING_LABEL, 1, 0},
    .weights = (const double[]){1, 1, 1, 1, (double)NAN, 0},
    .normalize = 1,
    .skip_missing = 1,
};

/* Row 0 counts, 1, 3 and 4 are missing something, 2 is rescaled, 5 has weight 0. */
TEST(test_rows_are_skipped_and_rescaled) {
  pcal_results *results = given_results(&measure_mixed, "accuracy brier");
  char *text = given_written(results, PCAL_TEXT);
  assert_contains(text, "2 rows (weight 2, frequency weights), 2 classes, probabilities, 1 "
                        "rescaled to sum to 1, 3 "
                        "skipped as missing\n");
  const double p = 0.2 / 1.001, q = 0.801 / 1.001;
  assert_near(given_result(results, "brier").value, (0.5 + p * p + (1 - q) * (1 - q)) / 2,
              1e-14);
  free(text);
  pcal_results_free(results);
}

TEST(test_rows_are_refused_unless_asked_for) {
  given_data data = measure_mixed;
  data.skip_missing = 0;
  given_refused(&data, "accuracy", PCAL_DATA, "row 1");
  data.skip_missing = 1;
  data.normalize = 0;
  given_refused(&data, "accuracy", PCAL_DATA,
                "scores, row 2: the probabilities sum to 1.001000, not 1; pass normalize");
}

/* Counts survive a merge. */
TEST(test_merge_adds_counts) {
  const pcal_batch batch = given_batch(&measure_mixed);
  pcal_measure *measure = NULL, *other = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  assert_int_equal(given_new(&measure_mixed, "accuracy", NULL, &measure, &err), PCAL_OK);
  assert_int_equal(given_new(&measure_mixed, "accuracy", NULL, &other, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(other, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(other, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_merge(measure, other, &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, &err), PCAL_OK);
  char *text = given_written(results, PCAL_TEXT);
  assert_contains(text, "6 rows (weight 6, frequency weights), 2 classes, probabilities, 3 "
                        "rescaled to sum to 1, 9 "
                        "skipped as missing\n");
  free(text);
  pcal_results_free(results);
  pcal_measure_free(measure);
  pcal_measure_free(other);
}

/* A pool may be gone when results are read. */
TEST(test_results_outlive_measure_and_pool) {
  pcal_env env = PCAL_ENV_INIT;
  const pcal_batch batch = given_batch(&measure_mixed);
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_error err;
  assert_int_equal(pcal_pool_new(2, NULL, &env.pool, &err), PCAL_OK);
  assert_int_equal(given_new(&measure_mixed, "", &env, &measure, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, &err), PCAL_OK);
  pcal_measure_free(measure);
  pcal_pool_free(env.pool);
  char *json = given_written(results, PCAL_JSON);
  assert_contains(json, "\"verdict\"");
  free(json);
  pcal_results_free(results);
}

/* Rows that wait with the workers, by kinds of states that can wait and by those that cannot,
 * and threads. */
TEST(test_settled_rows_are_the_same) {
  static const char *const specs[] = {"brier ece", "brier ks", "skce"};
  const pc_lazy_labels none = {NULL, NULL, NULL};
  static double scores[MEASURE_ROWS];
  static int32_t labels[MEASURE_ROWS];
  for (size_t i = 0; i < MEASURE_ROWS; i++) {
    scores[i] = (double)(i % 257) / 256;
    labels[i] = i % 3 == 0;
  }
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = MEASURE_ROWS / 5,
                           .columns = 1,
                           .scores = scores,
                           .labels = labels};
  for (size_t i = 0; i < 2 * UNIT_COUNT(specs); i++) {
    pcal_env env = PCAL_ENV_INIT;
    pcal_measure *updated = NULL, *settled = NULL;
    pcal_results *results[2];
    char *text[2];
    env.threads = i % 2 == 0 ? 1 : 3;
    assert_int_equal(given_new(&data, specs[i / 2], &env, &updated, NULL), PCAL_OK);
    assert_int_equal(given_new(&data, specs[i / 2], &env, &settled, NULL), PCAL_OK);
    pcal_batch batch = given_batch(&data);
    for (size_t part = 0; part < 5; part++) {
      batch.scores = scores + part * batch.rows;
      batch.labels = labels + part * batch.rows;
      batch.first_row = part * batch.rows;
      assert_int_equal(pc_measure_update(updated, &batch, NULL), PCAL_OK);
      assert_int_equal(pc_measure_add_window(settled, &batch, &none, NULL), PCAL_OK);
      if (part == 2)
        assert_int_equal(pc_measure_settle(settled, NULL), PCAL_OK);
    }
    assert_int_equal(pc_measure_settle(settled, NULL), PCAL_OK);
    assert_int_equal(pcal_measure_finish(updated, &results[0], NULL), PCAL_OK);
    assert_int_equal(pcal_measure_finish(settled, &results[1], NULL), PCAL_OK);
    for (size_t r = 0; r < 2; r++)
      text[r] = given_written(results[r], PCAL_JSON);
    assert_string_equal(text[0], text[1]);
    for (size_t r = 0; r < 2; r++) {
      free(text[r]);
      pcal_results_free(results[r]);
    }
    pcal_measure_free(updated);
    pcal_measure_free(settled);
  }
}

/* ---- strides ---- */

/* A batch that leaves its strides at 0 has scores without gaps. */
TEST(test_strides_may_be_left_out) {
  static const double scores[] = {0.5, 0.25, 0.25, 0, 0.25, 0.75, 1, 0, 0, 0.25, 0.5, 0.25};
  static const int32_t labels[] = {0, 1, 0, 1};
  const given_data data = {
      .kind = PCAL_PROBABILITY, .rows = 4, .columns = 3, .scores = scores, .labels = labels};
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_batch batch = given_batch(&data);
  batch.row_stride = batch.column_stride = 0;
  assert_int_equal(given_new(&data, "brier ece log:clip=0.01", NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  pcal_results *whole = given_results(&data, "brier ece log:clip=0.01");
  char *expected = given_written(whole, PCAL_JSON), *found = given_written(results, PCAL_JSON);
  assert_string_equal(found, expected);
  free(expected);
  free(found);
  pcal_results_free(results);
  pcal_results_free(whole);
  pcal_measure_free(measure);
}

/* ---- fast precision ---- */

#define MEASURE_FAST_ROWS 40
#define MEASURE_FAST_COLUMNS 40 /* beyond PC_NARROW_CLASSES */

static float measure_floats[MEASURE_FAST_ROWS * MEASURE_FAST_COLUMNS];
static double measure_doubles[MEASURE_FAST_ROWS * MEASURE_FAST_COLUMNS];
static int32_t measure_labels[MEASURE_FAST_ROWS];

static pcal_measure *measure_fast(size_t columns) {
  static const char *const specs[] = {"accuracy", "log"};
  const pc_rng rng = {5, 5};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  config.kind = PCAL_LOGIT;
  config.columns = columns;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  config.fast = 1;
  pc_rng_normals(&rng, 0, UNIT_COUNT(measure_doubles), measure_doubles);
  for (size_t i = 0; i < UNIT_COUNT(measure_doubles); i++)
    measure_floats[i] = (float)measure_doubles[i];
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  return measure;
}

static pcal_batch measure_fast_batch(size_t columns, int single) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.type = single ? PCAL_F32 : PCAL_F64;
  batch.rows = MEASURE_FAST_ROWS;
  batch.columns = columns;
  batch.scores = single ? (const void *)measure_floats : (const void *)measure_doubles;
  batch.labels = measure_labels;
  return batch;
}

static void measure_check_fast(const pcal_measure *measure, int fast) {
  pcal_results *results = NULL;
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  assert_int_equal(results->fast, fast);
  pcal_results_free(results);
}

/* What was measured in fast precision stays so, whatever is added or refused afterwards. */
TEST(test_fast_rows_stay_fast) {
  pcal_measure *measure = measure_fast(3);
  pcal_batch batch = measure_fast_batch(3, 1);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  measure_check_fast(measure, 1);
  batch = measure_fast_batch(3, 0);
  batch.scores = NULL; /* refused */
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_USAGE);
  measure_check_fast(measure, 1);
  batch = measure_fast_batch(3, 0);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  measure_check_fast(measure, 1);
  pcal_measure_free(measure);
}

/* Doubles, two columns, and wide rows with gaps are measured exactly, and results say so. */
TEST(test_rows_that_cannot_be_fast) {
  pcal_measure *doubles = measure_fast(3), *two = measure_fast(2), *wide = measure_fast(33);
  pcal_measure *later = measure_fast(3), *dense = measure_fast(33);
  pcal_batch batch = measure_fast_batch(3, 0);
  assert_int_equal(pcal_measure_update(doubles, &batch, NULL), PCAL_OK);
  measure_check_fast(doubles, 0);
  assert_int_equal(pcal_measure_update(later, &batch, NULL), PCAL_OK);
  batch = measure_fast_batch(3, 1); /* doubles before do not keep floats from being fast */
  assert_int_equal(pcal_measure_update(later, &batch, NULL), PCAL_OK);
  measure_check_fast(later, 1);
  batch = measure_fast_batch(2, 1);
  assert_int_equal(pcal_measure_update(two, &batch, NULL), PCAL_OK);
  measure_check_fast(two, 0);
  batch = measure_fast_batch(33, 1);
  assert_int_equal(pcal_measure_update(dense, &batch, NULL), PCAL_OK);
  measure_check_fast(dense, 1);
  batch.rows = 33;
  batch.row_stride = sizeof(float);
  batch.column_stride = 40 * sizeof(float);
  assert_int_equal(pcal_measure_update(wide, &batch, NULL), PCAL_OK);
  measure_check_fast(wide, 0);
  pcal_measure_free(doubles);
  pcal_measure_free(two);
  pcal_measure_free(wide);
  pcal_measure_free(later);
  pcal_measure_free(dense);
}
