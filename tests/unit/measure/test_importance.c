/* Weights that are not frequencies: rows stay the units. */
#include "base/rng.h"
#include "emulated.h"
#include "measure_help.h"

#define IMPORTANCE_ROWS 400
#define IMPORTANCE_SPECS                                                                  \
  {                                                                                       \
    "accuracy", "brier", "log", "ece", "ece:norm=l2,debias=yes",                          \
        "tce:binning=mass,debias=yes", "ks", "smece", "spiegelhalter", "hosmer-lemeshow", \
        "cox", "ks-test", "ece-expected"                                                  \
  }

typedef struct importance_data {
  double scores[IMPORTANCE_ROWS], weights[IMPORTANCE_ROWS];
  int32_t labels[IMPORTANCE_ROWS];
} importance_data;

/* Over-confident predictions; weights between 1/2 and 2. */
static importance_data importance_make(void) {
  importance_data data;
  const pc_rng rng = {11, 1};
  for (size_t i = 0; i < IMPORTANCE_ROWS; i++) {
    const double z = 2 * pc_rng_normal(&rng, 4 * i);
    data.scores[i] = 1 / (1 + exp(-2 * z));
    data.labels[i] = pc_rng_uniform(&rng, 4 * i + 1) < 1 / (1 + exp(-z));
    data.weights[i] = exp2(2 * pc_rng_uniform(&rng, 4 * i + 2) - 1);
  }
  return data;
}

static pcal_batch importance_batch(const importance_data *data, const double *weights) {
  const given_data given = {.kind = PCAL_PROBABILITY,
                            .rows = IMPORTANCE_ROWS,
                            .columns = 1,
                            .scores = data->scores,
                            .labels = data->labels,
                            .weights = weights};
  return given_batch(&given);
}

static pcal_measure *importance_new(void) {
  static const char *const specs[] = IMPORTANCE_SPECS;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_measure *measure = NULL;
  config.kind = PCAL_PROBABILITY;
  config.columns = 1;
  config.specs = specs;
  config.spec_count = sizeof specs / sizeof *specs;
  config.interval = 0.95;
  config.null = 1;
  config.replicas = fewer_if_emulated(200, 40);
  env.threads = 1;
  assert_int_equal(pcal_measure_new(&config, &env, &measure, NULL), PCAL_OK);
  return measure;
}

static pcal_results *importance_measure(const importance_data *data, const double *weights,
                                        int weights_are) {
  pcal_measure *measure = importance_new();
  pcal_results *results = NULL;
  pcal_batch batch = importance_batch(data, weights);
  batch.weights_are = weights_are;
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  pcal_measure_free(measure);
  return results;
}

static int importance_close(double a, double b) {
  return (isnan(a) && isnan(b)) || fabs(a - b) <= 2e-6 * fmax(1e-3, fabs(b));
}

/* Values, p-values, intervals and null, and the verdict. */
static void importance_same(const pcal_results *a, const pcal_results *b) {
  assert_int_equal(pcal_results_count(a), pcal_results_count(b));
  for (size_t i = 0; i < pcal_results_count(a); i++) {
    pcal_result x = {.size = sizeof x}, y = {.size = sizeof y};
    pcal_results_get(a, i, &x);
    pcal_results_get(b, i, &y);
    const double mine[] = {
        x.value,     x.low,      x.high,        x.se, x.tested ? x.p_value : 0,
        x.null_mean, x.null_low, x.null_p_value};
    const double other[] = {
        y.value,     y.low,      y.high,        y.se, y.tested ? y.p_value : 0,
        y.null_mean, y.null_low, y.null_p_value};
    assert_int_equal(x.has_interval, y.has_interval);
    for (size_t k = 0; k < sizeof mine / sizeof *mine; k++)
      if (!importance_close(mine[k], other[k]))
        fail_msg("%s, number %zu: %.12g and %.12g", x.spec, k, mine[k], other[k]);
  }
  assert_string_equal(pcal_results_verdict_text(a), pcal_results_verdict_text(b));
}

TEST(test_equal_weights_are_no_weights) {
  const importance_data data = importance_make();
  double equal[IMPORTANCE_ROWS], effective;
  for (size_t i = 0; i < IMPORTANCE_ROWS; i++)
    equal[i] = 1.0 / IMPORTANCE_ROWS;
  pcal_results *plain = importance_measure(&data, NULL, 0);
  pcal_results *shares = importance_measure(&data, equal, 0);
  importance_same(shares, plain);
  effective = pcal_results_effective_rows(shares);
  assert_int_equal(pcal_results_weights_are(shares), PCAL_WEIGHTS_IMPORTANCE);
  assert_true(fabs(effective - IMPORTANCE_ROWS) < 1e-9);
  effective = pcal_results_effective_rows(plain);
  assert_int_equal(pcal_results_weights_are(plain), PCAL_WEIGHTS_AUTO);
  assert_true(effective == IMPORTANCE_ROWS);
  pcal_results_free(plain);
  pcal_results_free(shares);
}

TEST(test_a_factor_changes_nothing) {
  const importance_data data = importance_make();
  double scaled[IMPORTANCE_ROWS], sum = 0, square = 0, effective;
  for (size_t i = 0; i < IMPORTANCE_ROWS; i++) {
    scaled[i] = 1000 * data.weights[i];
    sum += data.weights[i];
    square += data.weights[i] * data.weights[i];
  }
  pcal_results *one = importance_measure(&data, data.weights, 0);
  pcal_results *thousand = importance_measure(&data, scaled, 0);
  importance_same(one, thousand);
  effective = pcal_results_effective_rows(one);
  assert_int_equal(pcal_results_weights_are(one), PCAL_WEIGHTS_IMPORTANCE);
  assert_true(fabs(effective - sum * sum / square) < 1e-9 * effective);
  pcal_results_free(one);
  pcal_results_free(thousand);
}

/* Whole numbers are frequencies unless the caller says otherwise. */
TEST(test_the_caller_decides) {
  const importance_data data = importance_make();
  double sevens[IMPORTANCE_ROWS], effective;
  for (size_t i = 0; i < IMPORTANCE_ROWS; i++)
    sevens[i] = 7;
  pcal_results *plain = importance_measure(&data, NULL, 0);
  pcal_results *counted = importance_measure(&data, sevens, 0);
  pcal_results *weighed = importance_measure(&data, sevens, PCAL_WEIGHTS_IMPORTANCE);
  importance_same(weighed, plain);
  effective = pcal_results_effective_rows(counted);
  assert_int_equal(pcal_results_weights_are(counted), PCAL_WEIGHTS_FREQUENCY);
  assert_true(effective == 7 * IMPORTANCE_ROWS);
  pcal_result narrow = {.size = sizeof narrow}, wide = {.size = sizeof wide};
  pcal_results_get(counted, 1, &narrow);
  pcal_results_get(weighed, 1, &wide);
  assert_true(fabs(wide.se / narrow.se - sqrt(7)) < 0.01);
  pcal_results_free(plain);
  pcal_results_free(counted);
  pcal_results_free(weighed);
}

/* The standard error of a mean: sum w^2 (x - m)^2 / (sum w)^2, N / (N - 1). */
TEST(test_sandwich) {
  const importance_data data = importance_make();
  pcal_results *results = importance_measure(&data, data.weights, 0);
  double w = 0, wx = 0, ww = 0, wwx = 0;
  double x[IMPORTANCE_ROWS];
  for (size_t i = 0; i < IMPORTANCE_ROWS; i++) {
    const double gap = data.scores[i] - data.labels[i];
    x[i] = 2 * gap * gap;
    w += data.weights[i];
    wx += data.weights[i] * x[i];
    ww += data.weights[i] * data.weights[i];
  }
  for (size_t i = 0; i < IMPORTANCE_ROWS; i++)
    wwx += pow(data.weights[i] * (x[i] - wx / w), 2);
  const double n = w * w / ww, expected = sqrt(wwx / (w * w) * n / (n - 1));
  pcal_result brier = {.size = sizeof brier};
  pcal_results_get(results, 1, &brier);
  assert_true(fabs(brier.value - wx / w) < 1e-12);
  assert_true(fabs(brier.se / expected - 1) < 1e-9);
  pcal_results_free(results);
}

/* One fractional weight in the last part makes all of them importance weights. */
TEST(test_decided_after_merging) {
  const importance_data data = importance_make();
  double whole[IMPORTANCE_ROWS];
  for (size_t i = 0; i < IMPORTANCE_ROWS; i++)
    whole[i] = 1 + (double)(i % 3);
  whole[IMPORTANCE_ROWS - 1] = 0.5;
  pcal_results *at_once = importance_measure(&data, whole, 0), *merged = NULL;
  pcal_measure *first = importance_new(), *second = importance_new();
  pcal_batch front = importance_batch(&data, whole), back = front;
  front.rows = back.first_row = IMPORTANCE_ROWS / 2;
  back.rows = IMPORTANCE_ROWS - front.rows;
  back.scores = data.scores + front.rows;
  back.labels = data.labels + front.rows;
  back.weights = whole + front.rows;
  assert_int_equal(pcal_measure_update(first, &front, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(second, &back, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_merge(first, second, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(first, &merged, NULL), PCAL_OK);
  assert_int_equal(pcal_results_weights_are(merged), PCAL_WEIGHTS_IMPORTANCE);
  importance_same(at_once, merged);
  pcal_results_free(at_once);
  pcal_results_free(merged);
  pcal_measure_free(first);
  pcal_measure_free(second);
}

TEST(test_refusals) {
  const importance_data data = importance_make();
  pcal_measure *measure = importance_new(), *pairs = NULL;
  pcal_batch batch = importance_batch(&data, data.weights);
  pcal_error err;
  batch.weights_are = PCAL_WEIGHTS_FREQUENCY;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_DATA);
  assert_sentence(
      err, PCAL_DATA,
      "weights, row 0: frequencies are whole numbers, and this weight is not; leave "
      "weights_are out, or declare importance weights");
  batch.weights_are = PCAL_WEIGHTS_IMPORTANCE;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  batch.weights_are = PCAL_WEIGHTS_FREQUENCY;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "weights: some weights are frequencies and others importance weights; declare "
      "the same for all");
  pcal_measure_free(measure);
  const given_data given = {.kind = PCAL_PROBABILITY, .columns = 1};
  double ones[IMPORTANCE_ROWS];
  for (size_t i = 0; i < IMPORTANCE_ROWS; i++)
    ones[i] = 1;
  batch = importance_batch(&data, ones);
  batch.weights_are = PCAL_WEIGHTS_IMPORTANCE;
  assert_int_equal(given_new(&given, "skce", NULL, &pairs, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(pairs, &batch, &err), PCAL_USAGE);
  assert_sentence(
      err, PCAL_USAGE,
      "weights: skce counts pairs of copies of a row, so its weights must be "
      "frequencies; use skce:estimator=biased, or leave the metric or the weights out");
  pcal_measure_free(pairs);
}
