#include "../measure/measure_help.h"

#include "core/rng.h"

static const given_data skce_two = {
    .kind = PCAL_PROBABILITY,
    .rows = 2,
    .columns = 2,
    .scores = (const double[]){1, 0, 0, 1},
    .labels = (const int32_t[]){1, 0},
};

/* One pair: exp(-sqrt 2) <(-1, 1), (1, -1)>. */
static void test_1_may_be_negative(void **state) {
  (void)state;
  assert_near(given_value(&skce_two, "skce"), -2 * exp(-sqrt(2)), 1e-15);
  given_data right = skce_two;
  right.labels = (const int32_t[]){0, 1};
  assert_same(given_value(&right, "skce"), 0.0);
}

/* Two copies of the first row: 1 pair with itself of |(-1, 1)|^2, and 2 with the other. */
static void test_2_weights_make_pairs_with_themselves(void **state) {
  (void)state;
  given_data data = skce_two;
  data.weights = (const double[]){2, 1};
  assert_near(given_value(&data, "skce"), (2 - 4 * exp(-sqrt(2))) / 3, 1e-15);
  data.weights = (const double[]){1000000, 0};
  assert_near(given_value(&data, "skce"), 2.0, 1e-15);
}

static void test_2_weights_must_be_whole(void **state) {
  (void)state;
  given_data data = skce_two;
  data.weights = (const double[]){2, 1.5};
  given_refused(
      &data, "accuracy skce", PCAL_DATA,
      "weights, row 1: skce counts pairs of copies of a row, so weights must be whole "
      "numbers; leave the metric or the weights out");
  assert_same(given_value(&data, "accuracy"), 0.0);
}

static void test_3_fewer_than_two_rows(void **state) {
  (void)state;
  given_data data = skce_two;
  data.rows = 1;
  pcal_results *results = given_results(&data, "skce");
  const pcal_result result = given_result(results, "skce");
  assert_false(result.defined);
  assert_string_equal(result.why, "a pair needs at least two rows");
  pcal_results_free(results);
  data.weights = (const double[]){2};
  assert_near(given_value(&data, "skce"), 2.0, 1e-15);
}

/* Binary scores are vectors of two, at distance sqrt(2) |p - q|. */
static void test_binary_scores(void **state) {
  (void)state;
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.75, 0.25},
                           .labels = (const int32_t[]){0, 0}};
  assert_near(given_value(&data, "skce"), exp(-sqrt(0.5)) * 2 * 0.75 * 0.25, 1e-15);
}

#define SKCE_ROWS 600

/* Against a plain double loop, over several tiles. */
static void test_many_rows(void **state) {
  (void)state;
  static double scores[3 * SKCE_ROWS];
  static int32_t labels[SKCE_ROWS];
  const pc_rng rng = {5, 6};
  for (size_t i = 0; i < SKCE_ROWS; i++) {
    const double u = pc_rng_uniform(&rng, 2 * i), v = pc_rng_uniform(&rng, 2 * i + 1);
    scores[3 * i] = u * v;
    scores[3 * i + 1] = u * (1 - v);
    scores[3 * i + 2] = 1 - scores[3 * i] - scores[3 * i + 1];
    labels[i] = (int32_t)(pc_rng_bits(&rng, 10000 + i) % 3);
  }
  long double sum = 0;
  for (size_t i = 0; i < SKCE_ROWS; i++)
    for (size_t j = 0; j < i; j++) {
      double square = 0, inner = 0;
      for (int c = 0; c < 3; c++) {
        const double p = scores[3 * i + (size_t)c], q = scores[3 * j + (size_t)c];
        square += (p - q) * (p - q);
        inner += ((labels[i] == c) - p) * ((labels[j] == c) - q);
      }
      sum += exp(-sqrt(square)) * inner;
    }
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = SKCE_ROWS,
                           .columns = 3,
                           .scores = scores,
                           .labels = labels};
  assert_near(given_value(&data, "skce"), (double)(2 * sum) / SKCE_ROWS / (SKCE_ROWS - 1),
              1e-12);
}

static void test_confidences_are_not_enough(void **state) {
  (void)state;
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 1,
                           .columns = 1,
                           .scores = (const double[]){0.5},
                           .labels = (const int32_t[]){0}};
  given_refused(&data, "skce", PCAL_USAGE, "skce needs the probabilities of all classes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_1_may_be_negative),
      cmocka_unit_test(test_2_weights_make_pairs_with_themselves),
      cmocka_unit_test(test_2_weights_must_be_whole),
      cmocka_unit_test(test_3_fewer_than_two_rows),
      cmocka_unit_test(test_binary_scores),
      cmocka_unit_test(test_many_rows),
      cmocka_unit_test(test_confidences_are_not_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
