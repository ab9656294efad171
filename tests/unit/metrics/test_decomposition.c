#include "../measure/measure_help.h"
#include "base/rng.h"

#define ROWS 500
#define CLASSES 4

typedef struct sample {
  double probs[ROWS * CLASSES];
  int32_t labels[ROWS];
  given_data data;
} sample;

/* Labels are drawn from a flattened prediction; some rows repeat the first. */
static void sample_make(sample *s, uint64_t seed) {
  const pc_rng rng = {seed, 1};
  for (size_t i = 0; i < ROWS; i++) {
    double sum = 0, *p = s->probs + i * CLASSES;
    for (size_t j = 0; j < CLASSES; j++)
      sum += p[j] = exp(2.5 * pc_rng_normal(&rng, i % 7 == 3 ? j : i * CLASSES + j));
    double draw = pc_rng_uniform(&rng, 100000 + i);
    s->labels[i] = CLASSES - 1;
    for (size_t j = 0; j < CLASSES; j++) {
      p[j] /= sum;
      draw -= 0.6 * p[j] + 0.4 / CLASSES;
      if (draw < 0 && s->labels[i] == CLASSES - 1)
        s->labels[i] = (int32_t)j;
    }
  }
  s->data = (given_data){.kind = PCAL_PROBABILITY,
                         .rows = ROWS,
                         .columns = CLASSES,
                         .scores = s->probs,
                         .labels = s->labels};
}

static double sum_of(const pcal_result *result) {
  double sum = given_part(result, "calibration") - given_part(result, "sharpness") +
               given_part(result, "entropy");
  if (result->part_count > 3)
    sum += given_part(result, "within_variance") - given_part(result, "within_covariance");
  return sum;
}

TEST(test_parts_add_up_to_the_score) {
  static const char *const specs[] = {
      "decomposition",
      "decomposition:bins=1",
      "decomposition:bins=1000",
      "decomposition:view=classwise",
      "decomposition:score=log",
      "decomposition:score=log,bins=1",
      "decomposition:score=log,view=classwise,bins=7",
      "decomposition:by=corp",
      "decomposition:by=corp,view=classwise",
      "decomposition:by=corp,score=log",
      "decomposition:by=corp,score=log,view=classwise",
  };
  for (uint64_t seed = 0; seed < 5; seed++)
    for (size_t i = 0; i < UNIT_COUNT(specs); i++) {
      sample s;
      sample_make(&s, seed);
      pcal_results *results = given_results(&s.data, specs[i]);
      const pcal_result result = given_result(results, specs[i]);
      assert_near(sum_of(&result), result.value, 1e-13);
      assert_true(given_part(&result, "calibration") > 0);
      assert_true(given_part(&result, "calibration") <= result.value);
      assert_true(given_part(&result, "sharpness") >= 0);
      pcal_results_free(results);
    }
}

/* (1) What is decomposed is a score that can be had without it. */
TEST(test_1_the_score_of_the_view) {
  sample s;
  sample_make(&s, 1);
  double top = 0, rest = 0;
  for (size_t i = 0; i < ROWS; i++) {
    const double *p = s.probs + i * CLASSES;
    size_t best = 0;
    for (size_t j = 0; j < CLASSES; j++) {
      best = p[j] > p[best] ? j : best;
      rest -= log((size_t)s.labels[i] == j ? p[j] : 1 - p[j]) / ROWS;
    }
    const double miss = (double)(best != (size_t)s.labels[i]) - (1 - p[best]);
    top += miss * miss / ROWS;
  }
  const double brier = given_value(&s.data, "brier");
  assert_near(given_value(&s.data, "decomposition:view=classwise"), brier, 1e-13);
  assert_near(given_value(&s.data, "decomposition:view=classwise,by=corp"), brier, 1e-14);
  assert_near(given_value(&s.data, "decomposition"), top, 1e-13);
  assert_near(given_value(&s.data, "decomposition:by=corp"), top, 1e-13);
  assert_near(given_value(&s.data, "decomposition:score=log,view=classwise"), rest, 1e-13);
  assert_near(given_value(&s.data, "decomposition:score=log,view=classwise,by=corp"), rest,
              1e-13);
}

TEST(test_1_one_column_is_class_1) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 4,
                           .columns = 1,
                           .scores = (const double[]){0.25, 0.5, 0.75, 0.125},
                           .labels = (const int32_t[]){0, 1, 1, 1}};
  pcal_results *results =
      given_results(&data, "decomposition decomposition:view=classwise decomposition:score=log "
                           "decomposition:score=log,view=classwise brier log");
  const pcal_result positive = given_result(results, "decomposition:view=positive");
  assert_string_equal(positive.spec, "decomposition:score=brier,by=bins,view=positive,bins=15");
  assert_same(positive.value, given_result(results, "brier").value / 2);
  assert_same(given_result(results, "decomposition:view=classwise").value, 2 * positive.value);
  assert_near(given_result(results, "decomposition:score=log,view=positive").value,
              given_result(results, "log").value, 1e-14);
  assert_near(given_result(results, "decomposition:score=log,view=classwise").value,
              2 * given_result(results, "log").value, 1e-14);
  pcal_results_free(results);
}

/* Rows at 0.25 with rate 1/4 and at 0.75 with rate 3/4: nothing to repair. */
static const given_data calibrated = {.kind = PCAL_CONFIDENCE,
                                      .rows = 4,
                                      .columns = 1,
                                      .scores = (const double[]){0.25, 0.25, 0.75, 0.75},
                                      .labels = (const int32_t[]){1, 0, 1, 0},
                                      .weights = (const double[]){1, 3, 3, 1}};

TEST(test_calibrated_by_hand) {
  static const char *const specs[] = {"decomposition", "decomposition:by=corp",
                                      "decomposition:score=log",
                                      "decomposition:score=log,by=corp"};
  for (size_t i = 0; i < UNIT_COUNT(specs); i++) {
    pcal_results *results = given_results(&calibrated, specs[i]);
    const pcal_result result = given_result(results, specs[i]);
    const double score = i < 2 ? 3.0 / 16 : log(4.0) - 0.75 * log(3.0);
    const double entropy = i < 2 ? 0.25 : log(2.0);
    assert_near(result.value, score, 1e-15);
    assert_same(given_part(&result, "calibration"), 0.0);
    assert_near(given_part(&result, "entropy"), entropy, 1e-15);
    assert_near(given_part(&result, "sharpness"), entropy - score, 1e-14);
    pcal_results_free(results);
  }
}

TEST(test_3_which_parts) {
  pcal_results *results =
      given_results(&calibrated, "decomposition decomposition:score=log decomposition:by=corp");
  assert_int_equal(given_result(results, "decomposition").part_count, 8);
  assert_int_equal(given_result(results, "decomposition:score=log").part_count, 5);
  const pcal_result corp = given_result(results, "decomposition:by=corp");
  assert_int_equal(corp.part_count, 3);
  assert_string_equal(corp.spec, "decomposition:score=brier,by=corp,view=top");
  assert_int_equal(corp.notion, PCAL_NOTION_PROPER);
  pcal_results_free(results);
}

/* (4) The debiased calibration is the square that ece takes the root of. */
TEST(test_4_debiased_as_ece) {
  sample s;
  sample_make(&s, 2);
  pcal_results *results =
      given_results(&s.data, "decomposition ece:norm=l2 ece:norm=l2,debias=yes");
  const pcal_result result = given_result(results, "decomposition");
  const double plain = given_result(results, "ece:norm=l2").value;
  const double debiased = given_result(results, "ece:norm=l2,debias=yes").value;
  assert_near(given_part(&result, "calibration"), plain * plain, 1e-13);
  assert_near(given_part(&result, "calibration_debiased"), debiased * debiased, 1e-13);
  pcal_results_free(results);
}

/* Isotonic regression is at least as close to the outcomes as one rate for all. */
TEST(test_corp_part_of_a_constant) {
  given_data data = calibrated;
  data.scores = (const double[]){0.5, 0.5, 0.5, 0.5};
  pcal_results *results = given_results(&data, "decomposition:by=corp");
  const pcal_result result = given_result(results, "decomposition:by=corp");
  assert_same(given_part(&result, "sharpness"), 0.0);
  assert_same(given_part(&result, "calibration"), 0.0);
  assert_same(result.value, 0.25);
  pcal_results_free(results);
}

static void check_null(const given_data *data, const char *spec, const char *why) {
  pcal_results *results = given_results(data, spec);
  const pcal_result result = given_result(results, spec);
  assert_true(!result.defined || isinf(result.value));
  assert_contains(result.why, why);
  assert_int_equal(result.part_count, 0);
  char *json = given_written(results, PCAL_JSON);
  assert_contains(json, "\"value\": null,");
  free(json);
  pcal_results_free(results);
}

/* Parts by bins that are finite and add up to a known log score. */
static void check_log_adds_up(const given_data *data, double score) {
  static const char *const names[] = {"calibration", "entropy", "within_variance", "sharpness",
                                      "within_covariance"};
  pcal_results *results = given_results(data, "decomposition:score=log");
  const pcal_result result = given_result(results, "decomposition:score=log");
  double sum = 0.0;
  for (size_t i = 0; i < UNIT_COUNT(names); i++)
    sum += (i < 3 ? 1 : -1) * given_part(&result, names[i]);
  assert_true(result.defined);
  assert_near(result.value, score, 1e-14);
  assert_near(sum, score, 1e-13);
  pcal_results_free(results);
}

/* Scores that are tiny, or exactly 0 or 1 beside outcomes of both kinds. */
TEST(test_5_finite_scores_have_finite_parts) {
  static const double scores[] = {1e-30, 0, 0, 1e-300, 1, 1, 1 - 0x1p-53, 0.99, 0.5};
  static const int32_t hits[] = {1, 0, 0, 0, 1, 1, 0, 1, 0};
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = UNIT_COUNT(scores),
                           .columns = 1,
                           .scores = scores,
                           .labels = hits};
  check_log_adds_up(&data, -(log(1e-30) + log(0x1p-53) + log(0.99) + log(0.5)) / 9);
}

TEST(test_5_infinite_scores) {
  given_data data = {.kind = PCAL_CONFIDENCE,
                     .rows = 3,
                     .columns = 1,
                     .scores = (const double[]){0, 0.5, 1},
                     .labels = (const int32_t[]){1, 1, 1}};
  check_null(&data, "decomposition:score=log", "a score of exactly 0 came true");
  check_null(&data, "decomposition:score=log,by=corp", "a score of exactly 0 came true");
  data.labels = (const int32_t[]){0, 1, 0};
  check_null(&data, "decomposition:score=log", "one of exactly 1 did not");
  check_null(&data, "decomposition:score=log,by=corp", "so the log score is infinite");
  assert_near(given_value(&data, "decomposition"), 1.25 / 3, 1e-15);
  data.labels = (const int32_t[]){0, 1, 1};
  assert_near(given_value(&data, "decomposition:score=log"), log(2.0) / 3, 1e-15);
  data.scores = (const double[]){0, 0.01, 1};
  check_log_adds_up(&data, -log(0.01) / 3);
  assert_near(given_value(&data, "decomposition:score=log,by=corp"), -log(0.01) / 3, 1e-15);
}

#define SPREAD_SPECS "decomposition:score=log,view=classwise decomposition:view=classwise"

/* Halves measured apart, one of them with weights, give the bytes of the whole. */
TEST(test_halves_merge_to_the_whole) {
  sample s;
  sample_make(&s, 4);
  double weights[ROWS];
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = i < ROWS / 2 ? 1.0 : 1.5 + (double)(i % 3);
  given_data halves[2] = {s.data, s.data};
  halves[0].rows = halves[1].rows = ROWS / 2;
  halves[1].scores = s.probs + ROWS / 2 * CLASSES;
  halves[1].labels = s.labels + ROWS / 2;
  halves[1].weights = weights + ROWS / 2;
  s.data.weights = weights;
  pcal_measure *parts[2] = {NULL, NULL};
  pcal_results *merged = NULL, *whole = given_results(&s.data, SPREAD_SPECS);
  for (size_t h = 0; h < 2; h++) {
    pcal_batch batch = given_batch(&halves[h]);
    batch.first_row = h * ROWS / 2;
    assert_int_equal(given_new(&halves[h], SPREAD_SPECS, NULL, &parts[h], NULL), PCAL_OK);
    assert_int_equal(pcal_measure_update(parts[h], &batch, NULL), PCAL_OK);
  }
  assert_int_equal(pcal_measure_merge(parts[1], parts[0], NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(parts[1], &merged, NULL), PCAL_OK);
  char *a = given_written(whole, PCAL_JSON), *b = given_written(merged, PCAL_JSON);
  assert_string_equal(a, b);
  free(a);
  free(b);
  pcal_results_free(whole);
  pcal_results_free(merged);
  pcal_measure_free(parts[0]);
  pcal_measure_free(parts[1]);
}

TEST(test_options_that_exclude_each_other) {
  sample s;
  sample_make(&s, 1);
  given_refused(&s.data, "decomposition:by=corp,bins=10", PCAL_USAGE,
                "decomposition: by=corp uses no bins; remove bins= or by=corp");
  given_refused(&s.data, "decomposition:view=positive", PCAL_USAGE,
                "decomposition: view=positive needs two classes");
  given_refused(&calibrated, "decomposition:view=classwise", PCAL_USAGE,
                "decomposition: view=classwise needs the probabilities of all classes");
}
