#include "../measure/measure_help.h"

static void test_1_from_minus_one_to_zero(void **state) {
  (void)state;
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 2,
                     .columns = 3,
                     .scores = (const double[]){1, 0, 0, 0, 1, 0},
                     .labels = (const int32_t[]){0, 1}};
  assert_same(given_value(&data, "spherical"), -1.0);
  data.labels = (const int32_t[]){1, 2};
  assert_same(given_value(&data, "spherical"), 0.0);
}

static void test_by_hand(void **state) {
  (void)state;
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 2,
                     .columns = 3,
                     .scores = (const double[]){0.5, 0.25, 0.25, 0.2, 0.3, 0.5},
                     .labels = (const int32_t[]){0, 0},
                     .weights = (const double[]){1, 3}};
  assert_near(given_value(&data, "spherical"),
              -(0.5 / sqrt(0.375) + 3 * 0.2 / sqrt(0.04 + 0.09 + 0.25)) / 4, 1e-15);
  data.kind = PCAL_LOGIT;
  data.scores = (const double[]){0, 0, 0, 1000, 0, 0};
  assert_near(given_value(&data, "spherical"), -(sqrt(1.0 / 3) + 3) / 4, 1e-15);
}

static void test_binary(void **state) {
  (void)state;
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.75, 0.75},
                           .labels = (const int32_t[]){1, 0}};
  assert_near(given_value(&data, "spherical"), -0.5 / sqrt(0.625), 1e-15);
}

/* A row that sums to 1 + 8e-6 has the direction of the row that sums to 1. */
static void test_2_scale_does_not_matter(void **state) {
  (void)state;
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 1,
                     .columns = 2,
                     .scores = (const double[]){0.25, 0.75},
                     .labels = (const int32_t[]){1}};
  const double expected = given_value(&data, "spherical");
  data.scores = (const double[]){0.250002, 0.750006};
  assert_near(given_value(&data, "spherical"), expected, 1e-15);
}

/* Close to -1 the distance from it keeps its digits: logits 0 and -30 give e^-60 / 2. */
static void test_distance_from_one_is_exact(void **state) {
  (void)state;
  const given_data data = {.kind = PCAL_LOGIT,
                           .rows = 1,
                           .columns = 2,
                           .scores = (const double[]){0, -30},
                           .labels = (const int32_t[]){0}};
  assert_near(given_value(&data, "upper-bound:score=spherical"), exp(-60) / 2, 1e-12);
}

static void test_confidences_are_not_enough(void **state) {
  (void)state;
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 1,
                           .columns = 1,
                           .scores = (const double[]){0.4},
                           .labels = (const int32_t[]){0}};
  given_refused(&data, "spherical", PCAL_USAGE,
                "spherical needs the probabilities of all classes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_1_from_minus_one_to_zero),
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_binary),
      cmocka_unit_test(test_2_scale_does_not_matter),
      cmocka_unit_test(test_distance_from_one_is_exact),
      cmocka_unit_test(test_confidences_are_not_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
