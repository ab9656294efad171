/* Intervals and null distributions of whole measurements. */
#include "measure_help.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "measure/results.h"

#define RESAMPLE_ROWS 400

typedef struct resample_case {
  double scores[RESAMPLE_ROWS];
  int32_t labels[RESAMPLE_ROWS];
  double weights[RESAMPLE_ROWS];
  uint32_t groups[RESAMPLE_ROWS];
} resample_case;

/* Scores p, outcomes drawn with probability p^power: calibrated for power 1. */
static given_data resample_data(resample_case *at, double power) {
  const pc_rng rng = {5, 1};
  for (size_t i = 0; i < RESAMPLE_ROWS; i++) {
    at->scores[i] = pc_rng_uniform(&rng, 2 * i);
    at->labels[i] = pc_rng_uniform(&rng, 2 * i + 1) < pow(at->scores[i], power);
    at->weights[i] = 1 + (double)(i % 3);
    at->groups[i] = (uint32_t)(i / 8);
  }
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = RESAMPLE_ROWS,
                      .columns = 1,
                      .scores = at->scores,
                      .labels = at->labels};
}

typedef struct resample_wish {
  double interval;
  size_t replicas;
  pcal_interval_method method;
  int null, by_cluster;
  unsigned threads;
  size_t parts; /* in which the rows come, backwards */
} resample_wish;

static pcal_status resample_try(const given_data *data, const char *const *specs, size_t count,
                                const resample_wish *wish, pcal_results **out,
                                pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_measure *measure = NULL;
  env.threads = wish->threads;
  config.kind = data->kind;
  config.columns = data->columns;
  config.specs = specs;
  config.spec_count = count;
  config.interval = wish->interval;
  config.replicas = wish->replicas;
  config.interval_method = wish->method;
  config.null = wish->null;
  config.by_cluster = wish->by_cluster;
  const size_t parts = wish->parts == 0 ? 1 : wish->parts;
  pcal_status status = pcal_measure_new(&config, &env, &measure, err);
  for (size_t p = parts; p-- > 0 && status == PCAL_OK;) {
    const size_t first = data->rows * p / parts, last = data->rows * (p + 1) / parts;
    pcal_batch batch = given_batch(data);
    batch.rows = last - first;
    batch.first_row = first;
    batch.scores = data->scores + first * data->columns;
    batch.labels += first;
    batch.weights = data->weights == NULL ? NULL : data->weights + first;
    batch.groups = data->groups == NULL ? NULL : data->groups + first;
    status = pcal_measure_update(measure, &batch, err);
  }
  *out = NULL;
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, out, err);
  pcal_measure_free(measure);
  return status;
}

static const char *const resample_specs[] = {
    "accuracy",         "brier",        "rbs", "log", "ece", "ks", "mce", "kuiper",
    "ece:binning=mass", "decomposition"};

static pcal_results *resample_of(const given_data *data, const resample_wish *wish) {
  pcal_results *results;
  pcal_error err;
  if (resample_try(data, resample_specs, UNIT_COUNT(resample_specs), wish, &results, &err) !=
      PCAL_OK)
    fail_msg("%s", err.message);
  return results;
}

/* The textbook: mean and variance of the row values. */
TEST(test_sums_have_their_standard_error) {
  resample_case at;
  const given_data data = resample_data(&at, 1);
  const resample_wish wish = {.interval = 0.9, .method = PCAL_INTERVAL_NORMAL},
                      usual = {.interval = 0.9};
  pcal_results *results = resample_of(&data, &wish);
  double mean = 0, square = 0;
  for (size_t i = 0; i < RESAMPLE_ROWS; i++) {
    const double gap = at.scores[i] - at.labels[i];
    mean += 2 * gap * gap / RESAMPLE_ROWS;
    square += 4 * gap * gap * gap * gap / RESAMPLE_ROWS;
  }
  const double se = sqrt((square - mean * mean) / (RESAMPLE_ROWS - 1));
  const pcal_result brier = given_result(results, "brier"), rbs = given_result(results, "rbs");
  assert_true(brier.has_interval);
  assert_int_equal(brier.interval_method, PCAL_INTERVAL_NORMAL);
  assert_near(brier.se, se, 1e-9);
  assert_near(brier.low, mean - 1.6448536269514722 * se, 1e-9);
  assert_near(brier.high, mean + 1.6448536269514722 * se, 1e-9);
  assert_near(rbs.se, se / (2 * sqrt(mean)), 1e-6);
  assert_int_equal(given_result(results, "accuracy").interval_method, PCAL_INTERVAL_NORMAL);
  pcal_results_free(results);
  results = resample_of(&data, &usual);
  assert_int_equal(given_result(results, "accuracy").interval_method, PCAL_INTERVAL_WILSON);
  assert_int_equal(given_result(results, "brier").interval_method, PCAL_INTERVAL_POISSON);
  const pcal_result b = given_result(results, "brier"), r = given_result(results, "rbs");
  const double unseen = 1.0 / RESAMPLE_ROWS,
               above = mean + unseen; /* half of the largest loss */
  const double h = (se * se + unseen * unseen) / (9 * above * above);
  assert_near(b.high, above * pow(1 - h + 1.6448536269514722 * sqrt(h), 3), 1e-9);
  assert_true(b.high - mean > mean - b.low);
  assert_near(r.low * r.low, b.low, 1e-9);
  assert_near(r.high * r.high, b.high, 1e-9);
  assert_true(b.unsure == NULL);
  pcal_results_free(results);
}

/* Nine rows of class 1 are too few for an interval of an error, ten are not; intervals of shares
 * and of means of losses allow for few rows, unless another method was requested. */
TEST(test_few_rows_of_a_kind) {
  resample_case at;
  const given_data data = resample_data(&at, 1);
  for (size_t ones = 9; ones <= 10; ones++) {
    for (size_t i = 0; i < RESAMPLE_ROWS; i++)
      at.labels[i] = i < ones;
    const resample_wish wish = {.interval = 0.9,
                                .replicas = 50,
                                .method = ones == 9 ? PCAL_INTERVAL_AUTO : PCAL_INTERVAL_BCA};
    pcal_results *results = resample_of(&data, &wish);
    const pcal_result brier = given_result(results, "brier"), ks = given_result(results, "ks");
    assert_int_equal(brier.interval_method,
                     ones == 9 ? PCAL_INTERVAL_POISSON : PCAL_INTERVAL_BCA);
    if (ones == 9) {
      const char *few = "only 9 of 400 rows are of class 1, too few for an interval with the "
                        "stated coverage; use more rows";
      assert_null(brier.few_rows);
      assert_string_equal(ks.few_rows, few);
      assert_null(given_result(results, "accuracy").few_rows);
    } else {
      assert_null(brier.few_rows);
      assert_null(ks.few_rows);
    }
    assert_null(brier.unsure);
    assert_null(ks.unsure);
    pcal_results_free(results);
  }
}

/* No row of class 1, as a calibrated model of rare events often shows: errors may be 0, the largest
 * gap of any bin may be anything, and parts that depend on rows which are not there have a width. */
TEST(test_no_row_of_a_kind) {
  static const char *const specs[] = {"mmce", "mce", "decomposition"};
  resample_case at;
  const given_data data = resample_data(&at, 1);
  const resample_wish wish = {.interval = 0.95, .replicas = 50};
  pcal_results *results;
  for (size_t i = 0; i < RESAMPLE_ROWS; i++) {
    at.labels[i] = 0;
    at.scores[i] *= 0.01;
  }
  assert_int_equal(resample_try(&data, specs, UNIT_COUNT(specs), &wish, &results, NULL),
                   PCAL_OK);
  const pcal_result mmce = given_result(results, "mmce"), mce = given_result(results, "mce");
  const pc_result_record *parts = pc_results_record(results, "decomposition");
  assert_true(mmce.value > 0.0);
  assert_near(mmce.low, 0.0, 0.0);
  assert_near(mce.high, 1.0, 0.0);
  for (size_t p = 0; p < parts->outcome.part_count; p++) {
    const pc_part_interval *of = &parts->part_interval_results[p];
    assert_true(of->high > of->low);
    if (parts->outcome.part_errors[p])
      assert_true(of->low <= 0.0);
  }
  pcal_results_free(results);
}

/* The width of the interval of a part whose rows of class 1 are every `every`-th. */
static double resample_part_width(size_t every, const char *name) {
  static const char *const spec = "decomposition";
  resample_case at;
  const given_data data = resample_data(&at, 1);
  const resample_wish wish = {.interval = 0.95, .replicas = 200};
  pcal_results *results;
  double width = (double)NAN;
  for (size_t i = 0; i < RESAMPLE_ROWS; i++)
    at.labels[i] = i % every == 0;
  assert_int_equal(resample_try(&data, &spec, 1, &wish, &results, NULL), PCAL_OK);
  const pc_result_record *record = pc_results_record(results, spec);
  for (size_t p = 0; p < record->outcome.part_count; p++)
    if (strcmp(record->outcome.parts[p].name, name) == 0)
      width = record->part_interval_results[p].high - record->part_interval_results[p].low;
  pcal_results_free(results);
  return width;
}

/* The variance of scores within bins does not depend on how many rows are of class 1. */
TEST(test_parts_of_scores_alone) {
  const double few = resample_part_width(80, "within_variance");
  const double many = resample_part_width(2, "within_variance");
  assert_true(few > 0.8 * many && few < 1.25 * many);
  assert_true(resample_part_width(80, "entropy") < 0.8 * resample_part_width(4, "entropy"));
}

/* Calibration and sharpness have the intervals of their debiased twins, extended to their own values, unless
 * another method was requested. */
TEST(test_biased_parts_have_the_interval_of_their_twins) {
  static const char *const spec = "decomposition";
  static const size_t twins[][2] = {{0, 5}, {1, 6}};
  resample_case at;
  const given_data data = resample_data(&at, 1.5);
  const resample_wish usual = {.interval = 0.95},
                      basic = {.interval = 0.95, .method = PCAL_INTERVAL_BASIC};
  pcal_results *results, *others;
  assert_int_equal(resample_try(&data, &spec, 1, &usual, &results, NULL), PCAL_OK);
  assert_int_equal(resample_try(&data, &spec, 1, &basic, &others, NULL), PCAL_OK);
  const pc_result_record *record = pc_results_record(results, spec);
  const pc_part_interval *part = record->part_interval_results;
  for (size_t i = 0; i < UNIT_COUNT(twins); i++) {
    const size_t own = twins[i][0], twin = twins[i][1];
    const double value = record->outcome.parts[own].value;
    assert_memory_equal(record->outcome.parts[twin].name, record->outcome.parts[own].name,
                        strlen(record->outcome.parts[own].name));
    assert_true(value > record->outcome.parts[twin].value);
    assert_same(part[own].low, fmax(fmin(part[twin].low, value), 0.0));
    assert_same(part[own].high, fmax(part[twin].high, value));
    assert_true(pc_results_record(others, spec)->part_interval_results[own].low !=
                part[own].low);
  }
  pcal_results_free(results);
  pcal_results_free(others);
}

/* Replicas agree with the closed form about as well as their number allows. */
TEST(test_replicas_agree_with_formulas) {
  resample_case at;
  given_data data = resample_data(&at, 1);
  const resample_wish plain = {.interval = 0.9};
  static uint32_t alone[RESAMPLE_ROWS];
  for (size_t i = 0; i < RESAMPLE_ROWS; i++)
    alone[i] = (uint32_t)i;
  pcal_results *formula = resample_of(&data, &plain);
  data.groups = alone;
  const resample_wish drawn = {.interval = 0.9, .replicas = 4000, .by_cluster = 1};
  pcal_results *replicas = resample_of(&data, &drawn);
  static const char *const specs[] = {"brier", "rbs", "log"};
  static const double unseen[] = {1.0, 0.9,
                                  3.0}; /* loss of one more row that only formulas add */
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    const pcal_result a = given_result(formula, specs[s]), b = given_result(replicas, specs[s]);
    assert_true(fabs(b.se / a.se - 1) < 0.06);
    assert_true(fabs(b.low - a.low) < 0.25 * a.se);
    assert_true(fabs(b.high + unseen[s] / RESAMPLE_ROWS - a.high) < 0.25 * a.se);
  }
  pcal_results_free(formula);
  pcal_results_free(replicas);
}

/* Rows that come in bundles of eight equal ones are worth an eighth. */
TEST(test_clusters_are_wider) {
  resample_case at;
  given_data data = resample_data(&at, 1);
  for (size_t i = 0; i < RESAMPLE_ROWS; i++) {
    at.scores[i] = at.scores[i / 8 * 8];
    at.labels[i] = at.labels[i / 8 * 8];
  }
  const resample_wish plain = {.interval = 0.9, .replicas = 2000};
  pcal_results *rows = resample_of(&data, &plain);
  data.groups = at.groups;
  const resample_wish bundled = {.interval = 0.9, .replicas = 2000, .by_cluster = 1};
  pcal_results *clusters = resample_of(&data, &bundled);
  const double wider = given_result(clusters, "brier").se / given_result(rows, "brier").se;
  assert_true(wider > 2.5 && wider < 3.2); /* sqrt(8) = 2.83 */
  assert_int_equal(pcal_results_count(clusters), UNIT_COUNT(resample_specs));
  pcal_results_free(rows);
  pcal_results_free(clusters);
}

static void resample_same(pcal_results *a, pcal_results *b) {
  char *one = given_written(a, PCAL_JSON), *two = given_written(b, PCAL_JSON);
  assert_string_equal(one, two);
  free(one);
  free(two);
  pcal_results_free(b);
}

TEST(test_threads_and_parts_do_not_show) {
  resample_case at;
  given_data data = resample_data(&at, 2);
  data.weights = at.weights;
  resample_wish wish = {.interval = 0.95, .replicas = 50, .null = 1, .threads = 1};
  pcal_results *first = resample_of(&data, &wish);
  wish.threads = 3;
  resample_same(first, resample_of(&data, &wish));
  wish.parts = 7;
  resample_same(first, resample_of(&data, &wish));
  pcal_results_free(first);
}

/* A calibrated model is like its null; one that is not, is not. */
TEST(test_null) {
  resample_case at;
  const resample_wish wish = {.null = 1, .replicas = 500};
  given_data data = resample_data(&at, 1);
  pcal_results *fine = resample_of(&data, &wish);
  data = resample_data(&at, 3);
  pcal_results *bad = resample_of(&data, &wish);
  static const char *const errors[] = {"ece", "ks", "ece:binning=mass", "kuiper"};
  for (size_t s = 0; s < UNIT_COUNT(errors); s++) {
    const pcal_result a = given_result(fine, errors[s]), b = given_result(bad, errors[s]);
    assert_true(a.has_null && a.null_low < a.null_mean && a.null_mean < a.null_high);
    assert_true(a.null_p_value > 0.01);
    assert_near(b.null_p_value, 1.0 / 501, 1e-12);
  }
  const pcal_result kuiper = given_result(fine, "kuiper");
  assert_true(fabs(kuiper.null_p_value - kuiper.p_value) < 0.1);
  /* the Brier score of a calibrated forecast p is 2 p (1 - p), 1/3 over uniform p */
  assert_true(fabs(given_result(fine, "brier").null_mean - 1.0 / 3) < 0.03);
  assert_false(given_result(fine, "ece").has_interval);
  pcal_results_free(fine);
  pcal_results_free(bad);
}

TEST(test_methods) {
  resample_case at;
  const given_data data = resample_data(&at, 2);
  static const pcal_interval_method methods[] = {PCAL_INTERVAL_PERCENTILE, PCAL_INTERVAL_BASIC,
                                                 PCAL_INTERVAL_BCA, PCAL_INTERVAL_NORMAL,
                                                 PCAL_INTERVAL_JACKKNIFE};
  for (size_t m = 0; m < UNIT_COUNT(methods); m++) {
    const resample_wish wish = {.interval = 0.95, .replicas = 200, .method = methods[m]};
    pcal_results *results = resample_of(&data, &wish);
    const pcal_result ks = given_result(results, "ks");
    assert_true(ks.has_interval && ks.low < ks.high && ks.low >= 0);
    assert_int_equal(ks.interval_method, methods[m]);
    assert_false(given_result(results, "kuiper").has_interval);
    pcal_results_free(results);
  }
}

static void resample_refused(const resample_wish *wish, const char *sentence) {
  resample_case at;
  const given_data data = resample_data(&at, 1);
  pcal_results *results;
  pcal_error err;
  assert_int_equal(resample_try(&data, resample_specs, 1, wish, &results, &err), PCAL_USAGE);
  assert_contains(err.message, sentence);
}

TEST(test_what_is_refused) {
  resample_refused(&(resample_wish){.interval = 1}, "between 0 and 1");
  resample_refused(&(resample_wish){.interval = -1}, "between 0 and 1");
  resample_refused(&(resample_wish){.interval = (double)NAN}, "between 0 and 1");
  resample_refused(&(resample_wish){.interval = 0.9, .replicas = 3}, "between 20 and");
  resample_refused(&(resample_wish){.interval = 0.9, .method = PCAL_INTERVAL_WILSON},
                   "interval method 2 cannot be requested; choose one of auto|normal");
  resample_refused(&(resample_wish){.by_cluster = 1}, "also give level");
  resample_refused(&(resample_wish){.interval = 0.9, .by_cluster = 1}, "have no groups");
}

static pcal_status resample_whole(const pcal_env *env, void *user, pcal_error *err) {
  (void)user;
  static const double scores[] = {0.5, 0.3, 0.2, 0.2, 0.1, 0.7, 0.3, 0.5, 0.2};
  static const int32_t labels[] = {0, 2, 0};
  static const char *const specs[] = {"brier", "ece", "decomposition:view=classwise", "ks"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  config.columns = batch.columns = 3;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  config.interval = 0.9;
  config.replicas = 20;
  config.null = 1;
  batch.type = PCAL_F64;
  batch.rows = 3;
  batch.scores = scores;
  batch.row_stride = 3 * sizeof(double);
  batch.column_stride = sizeof(double);
  batch.labels = labels;
  pcal_status status = pcal_measure_new(&config, env, &measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, err);
  pcal_results_free(results);
  pcal_measure_free(measure);
  return status;
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(resample_whole, NULL);
}
