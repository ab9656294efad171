#include "../measure/measure_help.h"

TEST(test_1_from_minus_one_to_zero) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 2,
                     .columns = 3,
                     .scores = (const double[]){1, 0, 0, 0, 1, 0},
                     .labels = (const int32_t[]){0, 1}};
  assert_same(given_value(&data, "spherical"), -1.0);
  data.labels = (const int32_t[]){1, 2};
  assert_same(given_value(&data, "spherical"), 0.0);
}

TEST(test_by_hand) {
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

TEST(test_binary) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.75, 0.75},
                           .labels = (const int32_t[]){1, 0}};
  assert_near(given_value(&data, "spherical"), -0.5 / sqrt(0.625), 1e-15);
}

/* A row that sums to 1 + 8e-6 has the direction of the row that sums to 1. */
TEST(test_2_scale_does_not_matter) {
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
TEST(test_distance_from_one_is_exact) {
  const given_data data = {.kind = PCAL_LOGIT,
                           .rows = 1,
                           .columns = 2,
                           .scores = (const double[]){0, -30},
                           .labels = (const int32_t[]){0}};
  assert_near(given_value(&data, "upper-bound:score=spherical"), exp(-60) / 2, 1e-12);
}

TEST(test_confidences_are_not_enough) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 1,
                           .columns = 1,
                           .scores = (const double[]){0.4},
                           .labels = (const int32_t[]){0}};
  given_refused(&data, "spherical", PCAL_USAGE,
                "spherical needs the probabilities of all classes");
}
