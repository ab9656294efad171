#include "../measure/measure_help.h"
#include "base/rng.h"

/* The verdict on confidences; the weights say how often each row occurred. */
/* Of more than two classes each is judged if a metric has their bins. */
static char *verdict_of(const given_data *data) {
  pcal_results *results = given_results(data, data->columns > 2 ? "cwce" : "accuracy");
  char *copy = malloc(strlen(pcal_results_verdict_text(results)) + 1);
  strcpy(copy, pcal_results_verdict_text(results));
  pcal_results_free(results);
  return copy;
}

static void verdict_check(const given_data *data, const char *expected) {
  char *verdict = verdict_of(data);
  assert_string_equal(verdict, expected);
  free(verdict);
}

static given_data verdict_confidence(const double *scores, const double *weights, size_t rows) {
  static const int32_t labels[] = {1, 0, 1, 0};
  return (given_data){.kind = PCAL_CONFIDENCE,
                      .rows = rows,
                      .columns = 1,
                      .scores = scores,
                      .labels = labels,
                      .weights = weights};
}

TEST(test_over_confident) {
  const given_data data =
      verdict_confidence((const double[]){0.9, 0.9}, (const double[]){700, 300}, 2);
  verdict_check(
      &data, "Over-confident. The model claims 90.0 % on average and is right in 70.0 % of "
             "the rows: 20.0 points too much (chance alone: up to 1.9 points).\n"
             "Where: the largest part of the error, 100.0 %, lies at scores from 0.87 to 0.93 "
             "(100.0 % of the rows): claimed 90.0 %, true 70.0 %.\n"
             "How much of it is chance: the ECE is 0.200; a calibrated model with these "
             "scores would show 0.00756 on average, 3.8 % of it.\n"
             "What to try: spline (method \"spline\" of pcal_fit_run) or isotonic on held-out "
             "rows: it "
             "changes the confidences and keeps every predicted class.");
}

TEST(test_under_confident) {
  const given_data data =
      verdict_confidence((const double[]){0.6, 0.6}, (const double[]){900, 100}, 2);
  verdict_check(
      &data, "Under-confident. The model claims 60.0 % on average and is right in 90.0 % of "
             "the rows: 30.0 points too little (chance alone: up to 3.1 points).\n"
             "Where: the largest part of the error, 100.0 %, lies at scores from 0.53 to 0.60 "
             "(100.0 % of the rows): claimed 60.0 %, true 90.0 %.\n"
             "How much of it is chance: the ECE is 0.300; a calibrated model with these "
             "scores would show 0.0124 on average, 4.1 % of it.\n"
             "What to try: spline (method \"spline\" of pcal_fit_run) or isotonic on held-out "
             "rows: it "
             "changes the confidences and keeps every predicted class.");
}

TEST(test_calibrated) {
  const given_data data =
      verdict_confidence((const double[]){0.75, 0.75}, (const double[]){750, 250}, 2);
  verdict_check(&data,
                "Well calibrated, as far as these rows show. The model claims 75.0 % on "
                "average and is right in 75.0 % of the rows (chance alone: up to 2.7 points).\n"
                "How much of it is chance: the ECE is 0.00; a calibrated model with these "
                "scores would show 0.0109 on average.\n"
                "What to try: leave it alone.");
}

TEST(test_few_rows) {
  const given_data data =
      verdict_confidence((const double[]){0.75, 0.75}, (const double[]){75, 25}, 2);
  char *verdict = verdict_of(&data);
  assert_contains(verdict, "Well calibrated, as far as these rows show.");
  assert_contains(verdict, "up to 9.0 points");
  assert_contains(verdict, "leave it alone; with so few rows small errors cannot be detected, "
                           "so gather more before you rely on it.");
  free(verdict);
}

#define VERDICT_ROWS 20
#define VERDICT_SETS 200

/* Twenty calibrated rows, most of them alone in their bin: hardly ever a reason to worry. */
TEST(test_few_rows_in_many_bins) {
  const pc_rng scores = {1, 2}, outcomes = {1, 3};
  size_t fine = 0;
  for (size_t s = 0; s < VERDICT_SETS; s++) {
    double p[VERDICT_ROWS];
    int32_t hit[VERDICT_ROWS];
    for (size_t i = 0; i < VERDICT_ROWS; i++) {
      p[i] = pc_rng_uniform(&scores, s * VERDICT_ROWS + i);
      hit[i] = pc_rng_uniform(&outcomes, s * VERDICT_ROWS + i) < p[i];
    }
    given_data data = verdict_confidence(p, NULL, VERDICT_ROWS);
    data.labels = hit;
    char *verdict = verdict_of(&data);
    fine += strncmp(verdict, "Well calibrated", 15) == 0;
    free(verdict);
  }
  assert_true(fine >= 190);
  assert_true(fine < VERDICT_SETS);
}

#define VERDICT_MANY 1000

/* A thousand calibrated rows: of 400 sets about one in twenty looks wrong. */
TEST(test_calibrated_sets_pass) {
  const pc_rng scores = {2, 2}, outcomes = {2, 3};
  double p[VERDICT_MANY];
  int32_t hit[VERDICT_MANY];
  size_t fine = 0;
  for (size_t s = 0; s < 2 * VERDICT_SETS; s++) {
    for (size_t i = 0; i < VERDICT_MANY; i++) {
      p[i] = pc_rng_uniform(&scores, s * VERDICT_MANY + i);
      hit[i] = pc_rng_uniform(&outcomes, s * VERDICT_MANY + i) < p[i];
    }
    given_data data = verdict_confidence(p, NULL, VERDICT_MANY);
    data.labels = hit;
    char *verdict = verdict_of(&data);
    fine += strncmp(verdict, "Well calibrated", 15) == 0;
    free(verdict);
  }
  assert_in_range(fine, 370, 2 * VERDICT_SETS - 1);
}

/* In the middle of each of 15 bins 1000 rows that are off by 0.018, up and down in turn: less
 * than twice what chance shows, but far beyond how much that varies over so many bins. */
TEST(test_small_errors_in_all_bins) {
  double p[30], weights[30];
  int32_t hit[30];
  for (size_t b = 0; b < 15; b++) {
    p[2 * b] = p[2 * b + 1] = ((double)b + 0.5) / 15;
    hit[2 * b] = 1;
    hit[2 * b + 1] = 0;
    weights[2 * b] = floor(1000 * (p[2 * b] + (b % 2 == 0 ? 0.018 : -0.018)) + 0.5);
    weights[2 * b + 1] = 1000 - weights[2 * b];
  }
  given_data data = verdict_confidence(p, weights, 30);
  data.labels = hit;
  char *verdict = verdict_of(&data);
  assert_contains(verdict, "Right on average, but wrong in places.");
  assert_contains(verdict, "the ECE is 0.0180; a calibrated model with these scores would "
                           "show 0.00996 on average, 55.3 % of it.");
  free(verdict);
}

/* All right at 99 %: ten rows cannot distinguish that from 100 %, ten thousand can. */
TEST(test_all_right) {
  given_data data = verdict_confidence((const double[]){0.99}, (const double[]){10}, 1);
  char *verdict = verdict_of(&data);
  assert_contains(verdict, "Well calibrated");
  assert_contains(verdict, "up to 11.2 points");
  free(verdict);
  data.weights = (const double[]){10000};
  verdict = verdict_of(&data);
  assert_contains(verdict, "Under-confident.");
  assert_contains(verdict, "1.0 points too little (chance alone: up to 0.2 points)");
  free(verdict);
}

TEST(test_certain_and_right) {
  const given_data data = verdict_confidence((const double[]){1.0}, (const double[]){5000}, 1);
  verdict_check(&data,
                "Well calibrated, as far as these rows show. The model claims 100.0 % on "
                "average and is right in 100.0 % of the rows (chance alone: up to 0.0 "
                "points).\n"
                "How much of it is chance: the ECE is 0.00; a calibrated model with these "
                "scores would show 0.00 on average.\n"
                "What to try: leave it alone.");
}

/* 1000 rows at 0.9 with 70 % and 1000 at 0.55 with 75 %: both off by 0.2. */
TEST(test_errors_that_cancel) {
  const given_data data = verdict_confidence((const double[]){0.9, 0.9, 0.55, 0.55},
                                             (const double[]){700, 300, 750, 250}, 4);
  char *verdict = verdict_of(&data);
  assert_contains(verdict, "Right on average, but wrong in places. The model claims 72.5 % on "
                           "average and is right in 72.5 % of the rows (chance");
  assert_contains(verdict, "(50.0 % of the rows): claimed ");
  assert_contains(verdict, "the ECE is 0.200;");
  assert_contains(verdict, "the largest part of the error, 50.0 %, lies at");
  assert_contains(verdict,
                  "What to try: spline (method \"spline\" of pcal_fit_run) or isotonic");
  assert_lacks(verdict, "confident");
  free(verdict);
}

/* Far too sure at 0.9, a little unsure at 0.55: the larger error is named. */
TEST(test_the_largest_share_is_named) {
  const given_data data = verdict_confidence((const double[]){0.9, 0.9, 0.55, 0.55},
                                             (const double[]){500, 500, 570, 430}, 4);
  char *verdict = verdict_of(&data);
  assert_contains(verdict, "Over-confident.");
  assert_contains(verdict,
                  "from 0.87 to 0.93 (50.0 % of the rows): claimed 90.0 %, true 50.0 %");
  assert_contains(verdict, "What to try: spline");
  free(verdict);
}

static given_data verdict_binary(const double *scores, const double *weights) {
  given_data data = verdict_confidence(scores, weights, 2);
  data.kind = PCAL_PROBABILITY;
  return data;
}

TEST(test_binary_too_high) {
  const given_data data =
      verdict_binary((const double[]){0.6, 0.6}, (const double[]){300, 700});
  verdict_check(
      &data,
      "Probabilities too high. Class 1 is predicted with 60.0 % on average and "
      "occurs in 30.0 % of the rows: 30.0 points too much (chance alone: up to 3.1 "
      "points).\n"
      "Where: the largest part of the error, 100.0 %, lies at scores from 0.53 to "
      "0.60 (100.0 % of the rows): claimed 60.0 %, true 30.0 %.\n"
      "How much of it is chance: the ECE is 0.300; a calibrated model with these "
      "scores would show 0.0124 on average, 4.1 % of it.\n"
      "What to try: platt (method \"platt\" of pcal_fit_run) or beta on held-out rows: all "
      "scores are off in the same direction, which an intercept repairs and a "
      "temperature cannot.");
}

TEST(test_binary_too_low) {
  const given_data data =
      verdict_binary((const double[]){0.1, 0.1}, (const double[]){300, 700});
  char *verdict = verdict_of(&data);
  assert_contains(verdict, "Probabilities too low. Class 1 is predicted with 10.0 % on average "
                           "and occurs in 30.0 % of the rows: 20.0 points too little");
  free(verdict);
}

/* 1000 rows at 0.1 and 1000 at 0.9 with 30 % and 70 %: too extreme on both sides, which is what
 * a temperature repairs; at 0.4 and 0.6 the same outcomes are not extreme enough. */
TEST(test_binary_too_extreme) {
  given_data data = verdict_confidence((const double[]){0.1, 0.1, 0.9, 0.9},
                                       (const double[]){300, 700, 700, 300}, 4);
  data.kind = PCAL_PROBABILITY;
  char *verdict = verdict_of(&data);
  assert_contains(verdict,
                  "Over-confident: probabilities lie too close to 0 and 1. Class 1 is");
  assert_contains(
      verdict, "What to try: temperature (method \"temperature\" of pcal_fit_run) or platt on "
               "held-out rows: scores are too extreme or too flat everywhere");
  free(verdict);
  data.scores = (const double[]){0.4, 0.4, 0.6, 0.6};
  verdict = verdict_of(&data);
  assert_contains(verdict, "Under-confident: probabilities lie too close to one half.");
  free(verdict);
}

TEST(test_nothing_to_scale) {
  const given_data data =
      verdict_binary((const double[]){1.0, 1.0}, (const double[]){600, 400});
  char *verdict = verdict_of(&data);
  assert_contains(verdict, "every score is 0 or 1, so there is nothing to scale");
  free(verdict);
}

TEST(test_one_class) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 2,
                     .columns = 2,
                     .scores = (const double[]){0.3, 0.7, 0.2, 0.8},
                     .labels = (const int32_t[]){1, 1}};
  char *verdict = verdict_of(&data);
  assert_memory_equal(verdict,
                      "Careful: every label is class 1; calibration cannot be judged "
                      "from one class, so check the labels.\n",
                      91);
  free(verdict);
  data.class_names = (const char *const[]){"cat", "dog"};
  data.class_count = 2;
  verdict = verdict_of(&data);
  assert_contains(verdict, "Careful: every label is \"dog\";");
  free(verdict);
  data.labels = (const int32_t[]){1, 0};
  verdict = verdict_of(&data);
  assert_lacks(verdict, "Careful");
  free(verdict);
}

/* All predictions right is not one class. */
TEST(test_confidences_have_no_classes) {
  given_data data = verdict_confidence((const double[]){0.9}, NULL, 1);
  char *verdict = verdict_of(&data);
  assert_lacks(verdict, "Careful");
  free(verdict);
}

#define VERDICT_SHIFTED 2000

typedef enum verdict_columns { VERDICT_ONE, VERDICT_TWO, VERDICT_TWO_LOGITS } verdict_columns;

/* Outcomes of sigmoid(stretch z + shift), predicted with sigmoid(z). */
static pcal_results *verdict_line(double shift, double stretch, double bend,
                                  verdict_columns columns) {
  static double p[2 * VERDICT_SHIFTED];
  static int32_t hit[VERDICT_SHIFTED];
  const pc_rng scores = {8, 1}, outcomes = {8, 2};
  for (size_t i = 0; i < VERDICT_SHIFTED; i++) {
    const double z = 1.5 * pc_rng_normal(&scores, i), q = 1 / (1 + exp(-z));
    if (columns == VERDICT_ONE) {
      p[i] = q;
    } else {
      p[2 * i] = columns == VERDICT_TWO ? 1 - q : 3.0;
      p[2 * i + 1] = columns == VERDICT_TWO ? q : 3.0 + z;
    }
    const double true_z = shift + stretch * z + bend * cos(2 * z);
    hit[i] = pc_rng_uniform(&outcomes, i) < 1 / (1 + exp(-true_z));
  }
  given_data data = verdict_confidence(p, NULL, VERDICT_SHIFTED);
  data.kind = columns == VERDICT_TWO_LOGITS ? PCAL_LOGIT : PCAL_PROBABILITY;
  data.columns = columns == VERDICT_ONE ? 1 : 2;
  data.labels = hit;
  return given_results(&data, "cwce");
}

static pcal_verdict verdict_fields(const pcal_results *results) {
  pcal_verdict verdict = PCAL_VERDICT_INIT;
  assert_int_equal(pcal_results_get_verdict(results, &verdict), PCAL_OK);
  return verdict;
}

/* Two columns are judged as class 1 alone, so that shape of predict_proba and one column agree. */
static void verdict_advises(double shift, double stretch, double bend, const char *advice) {
  pcal_results *one = verdict_line(shift, stretch, bend, VERDICT_ONE);
  const pcal_verdict expected = verdict_fields(one);
  assert_contains(pcal_results_verdict_text(one), advice);
  for (verdict_columns columns = VERDICT_TWO; columns <= VERDICT_TWO_LOGITS; columns++) {
    pcal_results *two = verdict_line(shift, stretch, bend, columns);
    const pcal_verdict found = verdict_fields(two);
    assert_contains(pcal_results_verdict_text(two), advice);
    assert_int_equal(found.kind, expected.kind);
    assert_int_equal(found.advice, expected.advice);
    assert_string_equal(found.method, expected.method);
    assert_string_equal(found.alternative, expected.alternative);
    assert_near(found.claimed, expected.claimed, 1e-12);
    assert_near(found.observed, expected.observed, 1e-12);
    assert_near(found.margin, expected.margin, 1e-12);
    assert_near(found.error, expected.error, 1e-12);
    assert_near(found.chance, expected.chance, 1e-10);
    assert_near(found.where.share, expected.where.share, 1e-12);
    assert_true(found.binary);
    pcal_results_free(two);
  }
  pcal_results_free(one);
}

/* The kind of error decides: an intercept, a slope, both, or neither. */
TEST(test_advice_follows_the_error) {
  verdict_advises(0.7, 1, 0, "What to try: platt (method \"platt\" of pcal_fit_run) or beta");
  verdict_advises(-0.7, 1, 0, "What to try: platt");
  verdict_advises(0, 0.5, 0,
                  "What to try: temperature (method \"temperature\" of pcal_fit_run) or");
  verdict_advises(0, 2, 0, "What to try: temperature");
  verdict_advises(0.8, 0.5, 0, "What to try: platt");
  verdict_advises(0, 1, 2.5,
                  "What to try: isotonic (method \"isotonic\" of pcal_fit_run) or spline");
}

/* 600 of 1000 rows at 0.3 for class 1 are of class 1. */
TEST(test_two_columns_name_class_1) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 2,
                     .columns = 2,
                     .scores = (const double[]){0.7, 0.3, 0.7, 0.3},
                     .labels = (const int32_t[]){1, 0},
                     .weights = (const double[]){600, 400}};
  static const char *const rest =
      " is predicted with 30.0 % on average and occurs in 60.0 % of the rows: 30.0 points "
      "too little (chance alone: up to 2.9 points).\n"
      "Where: the largest part of the error, 100.0 %, lies at scores of class 1 from 0.27 "
      "to 0.33 (100.0 % of the rows): claimed 30.0 %, true 60.0 %.\n"
      "How much of it is chance: the ECE of class 1 is 0.300; a calibrated model with these "
      "scores would show 0.0116 on average, 3.9 % of it.\n"
      "What to try: platt (method \"platt\" of pcal_fit_run) or beta on held-out rows: all "
      "scores are off in the same direction, which an intercept repairs and a "
      "temperature cannot.";
  char expected[1024];
  snprintf(expected, sizeof expected, "Probabilities too low. Class 1%s", rest);
  verdict_check(&data, expected);
  data.class_names = (const char *const[]){"cat", "dog"};
  data.class_count = 2;
  snprintf(expected, sizeof expected, "Probabilities too low. \"dog\" (class 1)%s", rest);
  verdict_check(&data, expected);
}

/* ---- several classes ---- */

#define VERDICT_CLASSES_MAX 10
#define VERDICT_CLASS_ROWS 1000

/* Logits z with scale 2, labels drawn from softmax(z + shift k) for class k. */
static pcal_results *verdict_of_classes(size_t classes, double shift, double stretch,
                                        uint64_t seed) {
  static double z[VERDICT_CLASS_ROWS * VERDICT_CLASSES_MAX];
  static int32_t labels[VERDICT_CLASS_ROWS];
  const pc_rng scores = {seed, 1}, outcomes = {seed, 2};
  for (size_t i = 0; i < VERDICT_CLASS_ROWS; i++) {
    double total = 0.0, upto = 0.0, *row = z + i * classes;
    for (size_t k = 0; k < classes; k++) {
      row[k] = 2 * pc_rng_normal(&scores, i * classes + k);
      total += exp(stretch * row[k] + shift * (double)k);
    }
    const double u = total * pc_rng_uniform(&outcomes, i);
    labels[i] = (int32_t)classes - 1;
    for (size_t k = classes; k-- > 0;) {
      upto += exp(stretch * row[k] + shift * (double)k);
      if (u >= total - upto) {
        labels[i] = (int32_t)k;
        break;
      }
    }
  }
  const given_data data = {.kind = PCAL_LOGIT,
                           .rows = VERDICT_CLASS_ROWS,
                           .columns = classes,
                           .scores = z,
                           .labels = labels};
  return given_results(&data, "cwce");
}

/* Intercepts of classes change which class is rare, and a temperature does not repair that. */
TEST(test_classes_that_are_shifted) {
  pcal_results *results = verdict_of_classes(4, -0.5, 1, 3);
  pcal_verdict verdict = verdict_fields(results);
  const char *text = pcal_results_verdict_text(results);
  assert_int_equal(verdict.advice, PCAL_ADVICE_CLASSES);
  assert_true(verdict.classes_off >= 2);
  assert_int_equal(verdict.worst_class, 0);
  assert_true(verdict.class_claimed + 2 * verdict.class_margin < verdict.class_observed);
  assert_contains(text,
                  " are predicted too often or too rarely, above all class 0: predicted with ");
  assert_contains(text,
                  "What to try: vector (method \"vector\" of pcal_fit_run) or dirichlet-odir");
  pcal_results_free(results);
  results = verdict_of_classes(4, 0, 0.5, 3);
  verdict = verdict_fields(results);
  assert_int_equal(verdict.kind, PCAL_VERDICT_OVER_CONFIDENT);
  assert_int_equal(verdict.classes_off, 0);
  assert_string_equal(verdict.method, "temperature");
  pcal_results_free(results);
}

/* 500 rows each of top class 0 and 1, whose confidence is right on average over both. */
TEST(test_classes_off_behind_right_confidences) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 6,
                     .columns = 3,
                     .scores = (const double[]){0.6, 0.2, 0.2, 0.6, 0.2, 0.2, 0.6, 0.2, 0.2,
                                                0.2, 0.6, 0.2, 0.2, 0.6, 0.2, 0.2, 0.6, 0.2},
                     .labels = (const int32_t[]){0, 1, 2, 0, 1, 2},
                     .weights = (const double[]){300, 0, 200, 0, 300, 200}};
  verdict_check(
      &data,
      "Right on average, but not class by class. The model claims 60.0 % on average and is "
      "right "
      "in 60.0 % of the rows (chance alone: up to 3.1 points). Of 3 classes 3 are predicted "
      "too "
      "often or too rarely, above all class 2: predicted with 20.0 % on average and true in "
      "40.0 "
      "% of the rows: 20.0 points too little (chance alone: up to 2.5 points).\n"
      "How much of it is chance: the ECE is 0.00; a calibrated model with these scores would "
      "show "
      "0.0124 on average.\n"
      "What to try: vector (method \"vector\" of pcal_fit_run) or dirichlet-odir on held-out "
      "rows: "
      "some classes are predicted too often and others too rarely, which an intercept for each "
      "class repairs and a temperature cannot.");
  data.class_names = (const char *const[]){"cat", "dog", "cow"};
  data.class_count = 3;
  char *verdict = verdict_of(&data);
  assert_contains(verdict, "above all \"cow\": predicted with");
  free(verdict);
}

/* Calibrated classes: confidences fail one set in twenty, and classes one in a hundred. */
TEST(test_calibrated_classes_pass) {
  static const size_t classes[] = {2, 3, 10};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    size_t fine = 0, off = 0;
    for (uint64_t s = 0; s < VERDICT_SETS; s++) {
      pcal_results *results = verdict_of_classes(classes[c], 0, 1, 100 + s);
      const pcal_verdict verdict = verdict_fields(results);
      fine += verdict.kind == PCAL_VERDICT_CALIBRATED;
      off += verdict.classes_off > 0;
      pcal_results_free(results);
    }
    assert_in_range(fine, 178, VERDICT_SETS - 1);
    assert_in_range(off, 0, 6);
  }
}

static void verdict_in_environment(const pcal_env *env, const char *expected) {
  given_data data =
      verdict_confidence((const double[]){0.6, 0.6}, (const double[]){300, 700}, 2);
  data.kind = PCAL_PROBABILITY;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  const pcal_batch batch = given_batch(&data);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_error err;
  config.kind = data.kind;
  config.columns = 1;
  assert_int_equal(pcal_measure_new(&config, env, &measure, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, &err), PCAL_OK);
  assert_contains(pcal_results_verdict_text(results), expected);
  pcal_results_free(results);
  pcal_measure_free(measure);
}

/* Names are those of the caller's language. */
TEST(test_advice_in_each_language) {
  pcal_env env = PCAL_ENV_INIT;
  env.caller = PCAL_INTERFACE_PYTHON;
  verdict_in_environment(&env,
                         "What to try: platt (propercal.Platt) or beta (propercal.Beta) on");
  env.caller = PCAL_INTERFACE_PROGRAM;
  verdict_in_environment(&env, "What to try: platt (propercal fit --method platt) or beta on");
}

/* Who calls the C interface and says nothing else reads C names. */
TEST(test_advice_is_for_c_unless_the_caller_says_otherwise) {
  static const char expected[] =
      "What to try: platt (method \"platt\" of pcal_fit_run) or beta on";
  const pcal_env initial = PCAL_ENV_INIT, zeroed = {.size = sizeof zeroed};
  pcal_env filled;
  pcal_env_init(&filled, sizeof filled);
  verdict_in_environment(NULL, expected);
  verdict_in_environment(&initial, expected);
  verdict_in_environment(&zeroed, expected);
  verdict_in_environment(&filled, expected);
}
