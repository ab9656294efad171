/* Laws for every calibrator of predictions of a number, with every choice of its options, on
 * every form of prediction: seeds, threads, the order of rows, weights, missing values, files,
 * traits. */
#include "sinks.h"
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/normal.h"
#include "base/rng.h"
#include "calibrators/calibrator.h"
#include "io/source.h"

#define FORECAST_LAW_ROWS 90
#define FORECAST_LAW_COLUMNS 7
#define FORECAST_LAW_REPEATS 4

typedef struct forecast_law_set {
  const char *name;
  pcal_kind kind;
  size_t columns;
  double scores[FORECAST_LAW_ROWS * FORECAST_LAW_COLUMNS], targets[FORECAST_LAW_ROWS];
  double whole[FORECAST_LAW_ROWS]; /* weights */
} forecast_law_set;

static const double forecast_law_levels[FORECAST_LAW_COLUMNS] = {0.05, 0.2, 0.35, 0.5,
                                                                 0.65, 0.8, 0.95};
static forecast_law_set forecast_law_sets[] = {
    {"means and variances", PCAL_MEAN_VARIANCE, 2, {0}, {0}, {0}},
    {"means and deviations", PCAL_MEAN_STD, 2, {0}, {0}, {0}},
    {"quantiles", PCAL_QUANTILES, FORECAST_LAW_COLUMNS, {0}, {0}, {0}},
    {"samples", PCAL_SAMPLES, FORECAST_LAW_COLUMNS, {0}, {0}, {0}},
};

static int forecast_law_set_up(void **state) {
  const pc_rng rng = {17, 4};
  (void)state;
  for (size_t s = 0; s < sizeof forecast_law_sets / sizeof *forecast_law_sets; s++) {
    forecast_law_set *set = &forecast_law_sets[s];
    for (size_t i = 0; i < FORECAST_LAW_ROWS; i++) {
      double *row = set->scores + i * set->columns;
      const double mean = 3 * pc_rng_normal(&rng, 4 * i);
      const double std = 0.2 + pc_rng_uniform(&rng, 4 * i + 1);
      row[0] = mean;
      row[1] = set->kind == PCAL_MEAN_STD ? std : std * std;
      for (size_t j = 0; j < set->columns && set->columns > 2; j++)
        row[j] = mean + std * pc_normal_quantile(forecast_law_levels[j]);
      set->targets[i] = mean + 0.3 + 2 * std * pc_rng_normal(&rng, 4 * i + 2);
      set->whole[i] = (double)(i % FORECAST_LAW_REPEATS);
    }
  }
  return 0;
}

static pcal_batch forecast_law_batch(const forecast_law_set *set) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = set->kind;
  batch.type = PCAL_F64;
  batch.rows = FORECAST_LAW_ROWS;
  batch.columns = set->columns;
  batch.scores = set->scores;
  batch.row_stride = (ptrdiff_t)(set->columns * sizeof(double));
  batch.column_stride = sizeof(double);
  batch.targets = set->targets;
  batch.levels = set->kind == PCAL_QUANTILES ? forecast_law_levels : NULL;
  return batch;
}

static pcal_status forecast_law_try(const char *spec, const pcal_batch *batch, unsigned threads,
                                    int skip_missing, pcal_calibrator **out, pcal_error *err) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_source *source = NULL;
  env.threads = threads;
  config.method = spec;
  config.skip_missing = skip_missing;
  pcal_status status = pc_source_borrow(batch, NULL, &env, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, &env, out, err);
  pcal_source_free(source);
  return status;
}

static pcal_calibrator *forecast_law_fit(const char *spec, const pcal_batch *batch,
                                         unsigned threads, int skip_missing) {
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  if (forecast_law_try(spec, batch, threads, skip_missing, &calibrator, &err) != PCAL_OK)
    fail_msg("%s: %s", spec, err.message);
  return calibrator;
}

/* The file up to the member "fit", which has counts of rows and weights. */
static void forecast_law_save(const pcal_calibrator *calibrator, sink_bytes *out) {
  out->length = 0;
  assert_int_equal(pcal_calibrator_save(calibrator, sink_collect, out, NULL), PCAL_OK);
}

static void forecast_law_same(const char *spec, const forecast_law_set *set,
                              pcal_calibrator *one, pcal_calibrator *other, const char *what) {
  static sink_bytes a, b;
  forecast_law_save(one, &a);
  forecast_law_save(other, &b);
  char *end[2] = {strstr(a.bytes, "\"fit\""), strstr(b.bytes, "\"fit\"")};
  assert_true(end[0] != NULL && end[1] != NULL);
  *end[0] = *end[1] = '\0';
  if (strcmp(a.bytes, b.bytes) != 0)
    fail_msg("%s on %s shows %s", spec, set->name, what);
  pcal_calibrator_free(one);
  pcal_calibrator_free(other);
}

typedef void (*forecast_law_body)(const char *spec, const forecast_law_set *set);

static void forecast_law_on_sets(const char *spec, forecast_law_body body) {
  for (size_t s = 0; s < sizeof forecast_law_sets / sizeof *forecast_law_sets; s++) {
    const forecast_law_set *set = &forecast_law_sets[s];
    const pcal_batch batch = forecast_law_batch(set);
    pcal_calibrator *calibrator = NULL;
    const pcal_status status = forecast_law_try(spec, &batch, 1, 0, &calibrator, NULL);
    pcal_calibrator_free(calibrator);
    if (status == PCAL_OK)
      body(spec, set);
    else
      assert_int_equal(status, PCAL_USAGE);
  }
}

/* Every method, with each value of each choice. */
static void forecast_law_for_all(forecast_law_body body) {
  for (size_t i = 0; i < pc_calibrator_method_count(); i++) {
    const pc_calibrator_method *row = pc_calibrator_method_at(i);
    if (row->row.task == PCAL_CLASSIFICATION && (row->traits & PC_ANY_TASK) == 0)
      continue;
    forecast_law_on_sets(row->row.name, body);
    for (size_t o = 0; o < row->row.option_count; o++) {
      const pcal_option *option = &row->row.options[o];
      const char *word = option->choices;
      while (word != NULL) {
        char spec[256];
        const size_t length = strcspn(word, "|");
        snprintf(spec, sizeof spec, "%s:%s=%.*s", row->row.name, option->name, (int)length,
                 word);
        forecast_law_on_sets(spec, body);
        word = word[length] == '|' ? word + length + 1 : NULL;
      }
    }
  }
}

/* ---- Laws ---- */

static void law_threads(const char *spec, const forecast_law_set *set) {
  const pcal_batch batch = forecast_law_batch(set);
  forecast_law_same(spec, set, forecast_law_fit(spec, &batch, 1, 0),
                    forecast_law_fit(spec, &batch, 3, 0), "threads");
}

static void law_order(const char *spec, const forecast_law_set *set) {
  static forecast_law_set mixed;
  const pcal_batch batch = forecast_law_batch(set);
  mixed = *set;
  for (size_t i = 0; i < FORECAST_LAW_ROWS; i++) {
    const size_t from = (i * 37 + 11) % FORECAST_LAW_ROWS;
    memcpy(mixed.scores + i * set->columns, set->scores + from * set->columns,
           set->columns * sizeof(double));
    mixed.targets[i] = set->targets[from];
  }
  const pcal_batch other = forecast_law_batch(&mixed);
  forecast_law_same(spec, set, forecast_law_fit(spec, &batch, 1, 0),
                    forecast_law_fit(spec, &other, 1, 0), "the order of rows");
}

/* The largest relative difference between outputs of two fits. */
static double forecast_law_apart(const forecast_law_set *set, const pcal_calibrator *one,
                                 const pcal_calibrator *other) {
  static double a[FORECAST_LAW_ROWS * FORECAST_LAW_COLUMNS],
      b[FORECAST_LAW_ROWS * FORECAST_LAW_COLUMNS];
  const pcal_batch batch = forecast_law_batch(set);
  double apart = 0;
  assert_int_equal(pcal_calibrator_apply(one, &batch, NULL, a, NULL), PCAL_OK);
  assert_int_equal(pcal_calibrator_apply(other, &batch, NULL, b, NULL), PCAL_OK);
  for (size_t i = 0; i < FORECAST_LAW_ROWS * set->columns; i++)
    apart = fmax(apart, fabs(a[i] - b[i]) / fmax(fabs(a[i]), 1));
  return apart;
}

/* A row of weight w equals w rows. */
static void law_repeats(const char *spec, const forecast_law_set *set) {
  static double scores[FORECAST_LAW_REPEATS * FORECAST_LAW_ROWS * FORECAST_LAW_COLUMNS],
      targets[FORECAST_LAW_REPEATS * FORECAST_LAW_ROWS];
  pcal_batch weighted = forecast_law_batch(set), repeated = weighted;
  repeated.rows = 0;
  for (size_t i = 0; i < FORECAST_LAW_ROWS; i++)
    for (double w = 0; w < set->whole[i]; w++) {
      memcpy(scores + repeated.rows * set->columns, set->scores + i * set->columns,
             set->columns * sizeof(double));
      targets[repeated.rows++] = set->targets[i];
    }
  weighted.weights = set->whole;
  repeated.scores = scores;
  repeated.targets = targets;
  pcal_calibrator *one = forecast_law_fit(spec, &weighted, 1, 0);
  pcal_calibrator *other = forecast_law_fit(spec, &repeated, 1, 0);
  if (!(forecast_law_apart(set, one, other) <= 1e-7))
    fail_msg("%s on %s: weights are not repeats", spec, set->name);
  pcal_calibrator_free(one);
  pcal_calibrator_free(other);
}

/* Equal weights of any size are no weights, and importance weights are their halves: the same
 * parameters, bit for bit. */
static void law_importance(const char *spec, const forecast_law_set *set) {
  static double equal[FORECAST_LAW_ROWS], half[FORECAST_LAW_ROWS];
  pcal_batch batches[4] = {forecast_law_batch(set), forecast_law_batch(set),
                           forecast_law_batch(set), forecast_law_batch(set)};
  for (size_t i = 0; i < FORECAST_LAW_ROWS; i++) {
    equal[i] = 1.0 / FORECAST_LAW_ROWS;
    half[i] = 0.5 * set->whole[i];
  }
  batches[1].weights = equal;
  batches[2].weights = set->whole;
  batches[3].weights = half;
  batches[2].weights_are = batches[3].weights_are = PCAL_WEIGHTS_IMPORTANCE;
  for (size_t pair = 0; pair < 4; pair += 2) {
    pcal_calibrator *one = forecast_law_fit(spec, &batches[pair], 1, 0);
    pcal_calibrator *other = forecast_law_fit(spec, &batches[pair + 1], 1, 0);
    if (forecast_law_apart(set, one, other) != 0.0)
      fail_msg("%s on %s: the unit of weights shows", spec, set->name);
    pcal_calibrator_free(one);
    pcal_calibrator_free(other);
  }
}

/* Rows with a missing number are refused, or skipped without any effect. */
static void law_missing(const char *spec, const forecast_law_set *set) {
  static forecast_law_set gap, without;
  gap = *set;
  without = *set;
  gap.scores[5 * set->columns + 1] = (double)NAN;
  memmove(without.scores + 5 * set->columns, without.scores + 6 * set->columns,
          (FORECAST_LAW_ROWS - 6) * set->columns * sizeof(double));
  memmove(without.targets + 5, without.targets + 6, (FORECAST_LAW_ROWS - 6) * sizeof(double));
  const pcal_batch batch = forecast_law_batch(&gap);
  pcal_batch rest = forecast_law_batch(&without);
  pcal_calibrator *calibrator = NULL;
  rest.rows--;
  assert_int_equal(forecast_law_try(spec, &batch, 1, 0, &calibrator, NULL), PCAL_DATA);
  assert_null(calibrator);
  forecast_law_same(spec, set, forecast_law_fit(spec, &batch, 1, 1),
                    forecast_law_fit(spec, &rest, 1, 0), "a row that was left out");
}

static void law_save(const char *spec, const forecast_law_set *set) {
  static sink_bytes text, again;
  const pcal_batch batch = forecast_law_batch(set);
  pcal_calibrator *calibrator = forecast_law_fit(spec, &batch, 1, 0), *loaded = NULL;
  forecast_law_save(calibrator, &text);
  assert_int_equal(
      pcal_calibrator_load(text.bytes, text.length, "cal.json", NULL, &loaded, NULL), PCAL_OK);
  forecast_law_save(loaded, &again);
  assert_string_equal(text.bytes, again.bytes);
  assert_true(forecast_law_apart(set, calibrator, loaded) <= 0);
  pcal_calibrator_free(calibrator);
  pcal_calibrator_free(loaded);
}

/* ---- Results ---- */

static double forecast_law_dss(const forecast_law_set *set, const double *pairs) {
  double sum = 0;
  for (size_t i = 0; i < FORECAST_LAW_ROWS; i++)
    sum += pow(pairs[2 * i] - set->targets[i], 2) / pairs[2 * i + 1] + log(pairs[2 * i + 1]);
  return sum / FORECAST_LAW_ROWS;
}

/* Different variances stay different; a guarded method that minimises dss is not worse in
 * it. */
static void forecast_law_traits(const char *spec, const forecast_law_set *set,
                                const pcal_calibrator *calibrator, const double *out) {
  const unsigned traits = pc_calibrator_traits(calibrator);
  double before[2 * FORECAST_LAW_ROWS];
  for (size_t i = 0; i < FORECAST_LAW_ROWS; i++) {
    const double spread = set->scores[2 * i + 1];
    before[2 * i] = set->scores[2 * i];
    before[2 * i + 1] = set->kind == PCAL_MEAN_STD ? spread * spread : spread;
  }
  for (size_t i = 0; i < FORECAST_LAW_ROWS && (traits & PC_INJECTIVE); i++)
    for (size_t j = 0; j < i; j++)
      if ((before[2 * i + 1] > before[2 * j + 1]) != (out[2 * i + 1] > out[2 * j + 1]) ||
          fabs(out[2 * i] - before[2 * i]) > 0)
        fail_msg("%s on %s is not injective", spec, set->name);
  for (size_t i = 0; i < 2 * FORECAST_LAW_ROWS && strcmp(spec, "identity") == 0; i++)
    assert_true(fabs(out[i] - before[i]) <= 1e-15 * fabs(before[i]));
  if ((traits & PC_GUARDED) && strstr(spec, "crps") == NULL)
    assert_true(forecast_law_dss(set, out) <= forecast_law_dss(set, before) + 1e-12);
}

/* Intervals: two finite ends in order. */
static void forecast_law_intervals(const double *out) {
  for (size_t i = 0; i < FORECAST_LAW_ROWS; i++) {
    assert_true(isfinite(out[2 * i]) && isfinite(out[2 * i + 1]));
    assert_true(out[2 * i] <= out[2 * i + 1]);
  }
}

static void law_output(const char *spec, const forecast_law_set *set) {
  static double out[FORECAST_LAW_ROWS * FORECAST_LAW_COLUMNS];
  pcal_batch batch = forecast_law_batch(set);
  pcal_calibrator *calibrator = forecast_law_fit(spec, &batch, 1, 0);
  batch.targets = NULL; /* not needed */
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, out, NULL), PCAL_OK);
  if (calibrator->method->output_names != NULL) {
    forecast_law_intervals(out);
    pcal_calibrator_free(calibrator);
    return;
  }
  for (size_t i = 0; i < FORECAST_LAW_ROWS; i++) {
    const double *row = out + i * set->columns;
    for (size_t j = 0; j < set->columns; j++) {
      assert_true(isfinite(row[j]));
      if (j > 0 && set->columns > 2 && row[j] < row[j - 1])
        fail_msg("%s on %s: row %zu descends", spec, set->name, i);
    }
    if (set->columns == 2)
      assert_true(row[1] > 0);
  }
  if (set->columns == 2)
    forecast_law_traits(spec, set, calibrator, out);
  pcal_calibrator_free(calibrator);
}

/* ---- All methods ---- */

TEST(test_threads_do_not_matter) {
  forecast_law_for_all(law_threads);
}

TEST(test_row_order_does_not_matter) {
  forecast_law_for_all(law_order);
}

TEST(test_whole_weights_equal_repeats) {
  forecast_law_for_all(law_repeats);
}

TEST(test_importance_weights_have_no_unit) {
  forecast_law_for_all(law_importance);
}

TEST(test_missing_rows) {
  forecast_law_for_all(law_missing);
}

TEST(test_save_and_load_change_nothing) {
  forecast_law_for_all(law_save);
}

TEST(test_results) {
  forecast_law_for_all(law_output);
}

TEST_GROUP(forecast_law_set_up, NULL)
