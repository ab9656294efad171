#include "../measure/measure_help.h"

#include "base/rng.h"
#include "emulated.h"

static const given_data skce_two = {
    .kind = PCAL_PROBABILITY,
    .rows = 2,
    .columns = 2,
    .scores = (const double[]){1, 0, 0, 1},
    .labels = (const int32_t[]){1, 0},
};

/* One pair: exp(-sqrt 2) <(-1, 1), (1, -1)>. */
TEST(test_1_may_be_negative) {
  assert_near(given_value(&skce_two, "skce"), -2 * exp(-sqrt(2)), 1e-15);
  given_data right = skce_two;
  right.labels = (const int32_t[]){0, 1};
  assert_same(given_value(&right, "skce"), 0.0);
}

/* Two copies of the first row: 1 pair with itself of |(-1, 1)|^2, and 2 with the other. */
TEST(test_2_weights_make_pairs_with_themselves) {
  given_data data = skce_two;
  data.weights = (const double[]){2, 1};
  assert_near(given_value(&data, "skce"), (2 - 4 * exp(-sqrt(2))) / 3, 1e-15);
  data.weights = (const double[]){1000000, 0};
  assert_near(given_value(&data, "skce"), 2.0, 1e-15);
}

TEST(test_2_weights_must_be_whole) {
  given_data data = skce_two;
  data.weights = (const double[]){2, 1.5};
  given_refused(
      &data, "accuracy skce", PCAL_DATA,
      "weights, row 1: skce counts pairs of copies of a row, so weights must be whole "
      "numbers; use skce:estimator=biased, or leave the metric or the weights out");
  assert_same(given_value(&data, "accuracy"), 0.0);
}

TEST(test_3_fewer_than_two_rows) {
  given_data data = skce_two;
  data.rows = 1;
  pcal_results *results = given_results(&data, "skce");
  const pcal_result result = given_result(results, "skce");
  assert_false(result.defined);
  assert_string_equal(result.why, "at least two rows are needed");
  pcal_results_free(results);
  data.weights = (const double[]){2};
  assert_near(given_value(&data, "skce"), 2.0, 1e-15);
}

/* Binary scores are vectors of two, at distance sqrt(2) |p - q|. */
TEST(test_6_binary_scores) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.75, 0.25},
                           .labels = (const int32_t[]){0, 0}};
  assert_near(given_value(&data, "skce"), exp(-sqrt(0.5)) * 2 * 0.75 * 0.25, 1e-15);
}

/* ---- the estimators written out ---- */

#define SKCE_ROWS 600
#define SKCE_CLASSES 3

static double skce_scores[SKCE_CLASSES * SKCE_ROWS];
static int32_t skce_labels[SKCE_ROWS];

/* Rows in general position, a few of them equal, labels of a badly calibrated model. */
static given_data skce_many(void) {
  const pc_rng rng = {5, 6};
  for (size_t i = 0; i < SKCE_ROWS; i++) {
    const double u = pc_rng_uniform(&rng, 2 * i), v = pc_rng_uniform(&rng, 2 * i + 1);
    skce_scores[3 * i] = u * v;
    skce_scores[3 * i + 1] = u * (1 - v);
    skce_scores[3 * i + 2] = 1 - skce_scores[3 * i] - skce_scores[3 * i + 1];
    skce_labels[i] = (int32_t)(pc_rng_bits(&rng, 10000 + i) % 3);
  }
  memcpy(skce_scores + 30, skce_scores, 9 * sizeof(double));
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = SKCE_ROWS,
                      .columns = SKCE_CLASSES,
                      .scores = skce_scores,
                      .labels = skce_labels};
}

typedef struct skce_form {
  int tv, gaussian;
  double scale;
} skce_form;

static long double skce_h(const skce_form *form, size_t i, size_t j) {
  long double square = 0, variation = 0, inner = 0;
  for (int c = 0; c < SKCE_CLASSES; c++) {
    const long double p = skce_scores[3 * i + (size_t)c], q = skce_scores[3 * j + (size_t)c];
    square += (p - q) * (p - q);
    variation += fabsl(p - q) / 2;
    inner += ((skce_labels[i] == c) - p) * ((skce_labels[j] == c) - q);
  }
  const long double d = (form->tv ? variation : sqrtl(square)) / form->scale;
  return expl(form->gaussian ? -d * d / 2 : -d) * inner;
}

/* Mean of h over the pairs i < j of rows [begin, end). */
static long double skce_mean(const skce_form *form, size_t begin, size_t end) {
  const long double count = (long double)(end - begin);
  long double sum = 0;
  for (size_t i = begin; i < end; i++)
    for (size_t j = i + 1; j < end; j++)
      sum += skce_h(form, i, j);
  return sum / (count * (count - 1) / 2);
}

static double skce_blocks(const skce_form *form, size_t rows) {
  long double sum = 0;
  for (size_t b = 0; b < SKCE_ROWS / rows; b++)
    sum += skce_mean(form, b * rows, (b + 1) * rows);
  return (double)(sum / (long double)(SKCE_ROWS / rows));
}

static double skce_biased(const skce_form *form) {
  long double sum = 0;
  for (size_t i = 0; i < SKCE_ROWS; i++)
    for (size_t j = 0; j < SKCE_ROWS; j++)
      sum += skce_h(form, i, j);
  return (double)(sum / SKCE_ROWS / SKCE_ROWS);
}

TEST(test_many_rows) {
  static const double scales[] = {1, 0.25, 3};
  const given_data data = skce_many();
  for (int kind = 0; kind < 12; kind += emulated() ? 5 : 1) {
    const skce_form form = {kind & 1, kind >> 1 & 1, scales[kind >> 2]};
    char options[64], spec[128];
    snprintf(options, sizeof options, "kernel=%s,distance=%s,scale=%g",
             form.gaussian ? "gaussian" : "exponential", form.tv ? "tv" : "euclidean",
             form.scale);
    snprintf(spec, sizeof spec, "skce:%s", options);
    assert_near(given_value(&data, spec), (double)skce_mean(&form, 0, SKCE_ROWS), 1e-11);
    snprintf(spec, sizeof spec, "skce:estimator=biased,%s", options);
    assert_near(given_value(&data, spec), skce_biased(&form), 1e-11);
    snprintf(spec, sizeof spec, "kce:%s", options);
    assert_near(given_value(&data, spec), sqrt(skce_biased(&form)), 1e-11);
    for (size_t rows = 2; rows <= 77; rows += 25) {
      snprintf(spec, sizeof spec, "skce:estimator=block,block=%zu,%s", rows, options);
      assert_near(given_value(&data, spec), skce_blocks(&form, rows), 1e-11);
    }
  }
}

/* Widmann's anchors: -2/e where both labels are swapped, 0 for any other labels. */
TEST(test_anchors) {
  given_data data = skce_two;
  assert_near(given_value(&data, "skce:kernel=gaussian"), -2 * exp(-1), 1e-15);
  assert_near(given_value(&data, "skce:kernel=gaussian,estimator=block"), -2 * exp(-1), 1e-15);
  assert_near(given_value(&data, "skce:kernel=gaussian,distance=tv"), -2 * exp(-0.5), 1e-15);
  assert_near(given_value(&data, "skce:distance=tv,scale=0.5"), -2 * exp(-2), 1e-15);
  for (int32_t labels = 0; labels < 4; labels++) {
    data.labels = (const int32_t[]){labels & 1, labels >> 1};
    if (labels != 1)
      assert_same(given_value(&data, "skce:kernel=gaussian"), 0.0);
  }
}

TEST(test_1_kce_is_never_negative) {
  assert_same(given_value(&skce_two, "kce:estimator=unbiased"), 0.0);
  assert_near(given_value(&skce_two, "kce"), sqrt((2 - 2 * exp(-sqrt(2))) / 2), 1e-15);
}

TEST(test_2_the_biased_estimator_takes_any_weights) {
  given_data data = skce_two;
  data.weights = (const double[]){2.5, 0.5};
  const double want = (2.5 * 2.5 * 2 + 0.25 * 2 - 4 * 1.25 * exp(-sqrt(2))) / 9;
  assert_near(given_value(&data, "skce:estimator=biased"), want, 1e-15);
  assert_near(given_value(&data, "kce"), sqrt(want), 1e-15);
  given_refused(&data, "skce:estimator=biased,scale=median", PCAL_DATA, "whole numbers");
}

TEST(test_3_one_row_is_enough_for_the_biased_estimator) {
  given_data data = skce_two;
  data.rows = 1;
  assert_near(given_value(&data, "skce:estimator=biased"), 2.0, 1e-15);
  assert_near(given_value(&data, "kce"), sqrt(2), 1e-15);
  pcal_results *results = given_results(&data, "kce:scale=median");
  assert_false(given_result(results, "kce:scale=median").defined);
  pcal_results_free(results);
}

/* Distances 1/4, 1/4, 1/2 in total variation. */
TEST(test_4_median) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 3,
                     .columns = 2,
                     .scores = (const double[]){0.25, 0.75, 0.5, 0.5, 0.75, 0.25},
                     .labels = (const int32_t[]){0, 0, 0}};
  static const char spec[] = "skce:distance=tv,scale=median";
  pcal_results *results = given_results(&data, spec);
  const pcal_result result = given_result(results, spec);
  assert_same(given_part(&result, "scale"), 0.25);
  const double want = 2 * (exp(-1) * (0.375 + 0.125) + exp(-2) * 0.1875) / 3;
  assert_near(result.value, want, 1e-15);
  pcal_results_free(results);
  data.weights = (const double[]){1, 1, 3}; /* 1/4 1/4 1/4 1/4 1/2 1/2 1/2 0 0 0 */
  results = given_results(&data, spec);
  pcal_result weighted = given_result(results, spec);
  assert_same(given_part(&weighted, "scale"), 0.25);
  pcal_results_free(results);
}

TEST(test_4_no_median) {
  given_data data = skce_two;
  data.weights = (const double[]){9, 1};
  pcal_results *results = given_results(&data, "skce:scale=median kce:scale=median");
  const pcal_result result = given_result(results, "skce:scale=median");
  assert_false(result.defined);
  assert_string_equal(result.why, "the median distance between rows is 0; give a number "
                                  "for scale");
  assert_false(given_result(results, "kce:scale=median").defined);
  pcal_results_free(results);
}

TEST(test_5_blocks) {
  given_data data = skce_many();
  data.rows = 9; /* of four blocks, one row is left */
  pcal_results *results = given_results(&data, "skce:estimator=block");
  const pcal_result result = given_result(results, "skce:estimator=block");
  assert_same(given_part(&result, "blocks"), 4.0);
  pcal_results_free(results);
  const skce_form form = {0, 0, 1};
  double want = 0.0;
  for (size_t b = 0; b < 4; b++)
    want += (double)skce_h(&form, 2 * b, 2 * b + 1) / 4;
  assert_near(given_value(&data, "skce:estimator=block"), want, 1e-13);
  results = given_results(&data, "skce:estimator=block,block=10");
  const pcal_result none = given_result(results, "skce:estimator=block,block=10");
  assert_false(none.defined);
  assert_string_equal(none.why, "no block of 10 rows is complete; blocks begin at "
                                "multiples of that row index");
  pcal_results_free(results);
}

/* A row that is skipped takes its block along, and no other row moves. */
TEST(test_5_a_missing_row) {
  const skce_form form = {0, 0, 1};
  given_data data = skce_many();
  data.rows = 8;
  data.skip_missing = 1;
  skce_scores[3 * 3 + 1] = (double)NAN;
  const double found = given_value(&data, "skce:estimator=block");
  const double want =
      (double)(skce_h(&form, 0, 1) + skce_h(&form, 4, 5) + skce_h(&form, 6, 7)) / 3;
  assert_near(found, want, 1e-13);
}

TEST(test_5_what_does_not_go_with_blocks) {
  given_data data = skce_two;
  given_refused(&data, "skce:block=3", PCAL_USAGE,
                "skce: the option block needs estimator=block; add it");
  given_refused(&data, "kce:estimator=block,scale=median", PCAL_USAGE,
                "kce: scale=median needs all pairs of rows, which estimator=block avoids; "
                "give a number for scale or use another estimator");
  given_refused(&data, "skce:estimator=block,block=1", PCAL_USAGE,
                "skce: option block must be between 2 and 65536, not 1");
  given_refused(&data, "skce:scale=0", PCAL_USAGE, "skce: option scale must be between");
  given_refused(&data, "skce:scale=mean", PCAL_USAGE, "it takes a number or median");
  data.weights = (const double[]){1, 1};
  given_refused(&data, "accuracy skce:estimator=block", PCAL_USAGE,
                "weights: skce:estimator=block forms blocks of rows by position, and copies of "
                "a row have no position of their own; leave the weights out, or use "
                "estimator=unbiased");
}

/* Batches that all count from 0 would make nonsense of blocks. */
TEST(test_5_an_index_that_comes_twice) {
  pcal_measure *measure = NULL, *other = NULL;
  pcal_batch batch = given_batch(&skce_two);
  pcal_error err;
  assert_int_equal(given_new(&skce_two, "skce:estimator=block", NULL, &measure, &err), PCAL_OK);
  assert_int_equal(given_new(&skce_two, "skce:estimator=block", NULL, &other, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(other, &batch, &err), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "rows 0 to 1 occur twice, and skce forms blocks by row index; "
                  "set first_row of every batch to the index of its first row");
  assert_int_equal(pcal_measure_merge(measure, other, &err), PCAL_DATA);
  assert_non_null(strstr(err.message, "are in another part too"));
  batch.first_row = 2;
  assert_int_equal(pcal_measure_update(measure, &batch, &err), PCAL_OK);
  pcal_measure_free(measure);
  pcal_measure_free(other);
}

/* Without a positive definite kernel all pairs may come to less than nothing; with one they do
 * not. */
TEST(test_7_gaussian_of_total_variation) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 7,
                           .columns = 3,
                           .scores = (const double[]){0.5, 0.25, 0.25, 0.25, 0.5,  0.25, 0.25,
                                                      0.5, 0.25, 0.25, 0.25, 0.5,  0.5,  0,
                                                      0.5, 1,    0,    0,    0.25, 0.5,  0.25},
                           .labels = (const int32_t[]){0, 1, 2, 0, 2, 0, 1}};
  assert_near(given_value(&data, "skce:estimator=biased,kernel=gaussian,distance=tv"),
              -0.00012190964065616, 1e-12);
  assert_true(given_value(&data, "skce:estimator=biased,kernel=gaussian") > 0);
  assert_true(given_value(&data, "skce:estimator=biased,distance=tv") > 0);
  assert_same(given_value(&data, "kce:kernel=gaussian,distance=tv"), 0.0);
}

/* Proposition 3.2 (Gruber & Buettner, D.3): predictions (a, b, ..., b) and their rotations; the
 * label is the top one with probability a, else its predecessor.  The sum over the n^2 pairs of
 * predictions, each pair with its mean residuals. */
TEST(test_a_model_that_only_the_whole_vector_betrays) {
  enum { N = 4 };
  double scores[2 * N * N], weights[2 * N];
  int32_t labels[2 * N];
  for (size_t i = 0; i < 2 * N; i++) {
    for (size_t c = 0; c < N; c++)
      scores[i * N + c] = c == i / 2 ? 0.51 : 0.49 / (N - 1);
    labels[i] = (int32_t)(i % 2 == 0 ? i / 2 : (i / 2 + N - 1) % N);
    weights[i] = i % 2 == 0 ? 51e6 : 49e6;
  }
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2 * N,
                           .columns = N,
                           .scores = scores,
                           .labels = labels,
                           .weights = weights};
  assert_true(fabs(given_value(&data, "ece")) < 1e-15);
  assert_true(fabs(given_value(&data, "ks")) < 1e-15);
  /* The residual is 0.49 (1 - 1/3) at the predecessor and -0.49/3 at two others. */
  const double high = 0.49 * 2 / 3, low = -0.49 / 3, far = exp(-sqrt(2) * (0.51 - 0.49 / 3));
  const double same = high * high + 2 * low * low;
  const double next = low * low + high * low, across = 2 * high * low;
  const double want = (same + far * (2 * next + across)) / N;
  assert_near(given_value(&data, "skce:estimator=biased"), want, 1e-12);
  assert_near(given_value(&data, "skce"), want, 1e-6);
  assert_true(want > 0.01);
}

TEST(test_confidences_are_not_enough) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 1,
                           .columns = 1,
                           .scores = (const double[]){0.5},
                           .labels = (const int32_t[]){0}};
  given_refused(&data, "skce", PCAL_USAGE, "skce needs the probabilities of all classes");
}
