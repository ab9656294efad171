#include "../measure/measure_help.h"

TEST(test_1_sum_over_all_classes) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 2,
                     .columns = 4,
                     .scores = (const double[]){0.5, 0.25, 0.25, 0, 0, 0, 0, 1},
                     .labels = (const int32_t[]){0, 3}};
  assert_same(given_value(&data, "brier"), (0.25 + 0.0625 + 0.0625) / 2);
  data.labels = (const int32_t[]){3, 0};
  assert_same(given_value(&data, "brier"), (0.25 + 0.0625 + 0.0625 + 1 + 2) / 2);
}

TEST(test_1_binary_score_is_twice_the_square) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 3,
                           .columns = 1,
                           .scores = (const double[]){0.75, 0.5, 0},
                           .labels = (const int32_t[]){1, 0, 1}};
  assert_same(given_value(&data, "brier"), 2 * (0.0625 + 0.25 + 1) / 3);
}

TEST(test_2_half_is_the_mean_squared_error) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 3,
                     .columns = 1,
                     .scores = (const double[]){0.75, 0.5, 0},
                     .labels = (const int32_t[]){1, 0, 1}};
  assert_same(given_value(&data, "brier:half=yes"), 1.3125 / 3);
  data.columns = 2;
  data.scores = (const double[]){0.25, 0.75, 0.5, 0.5, 1, 0};
  assert_same(given_value(&data, "brier:half=yes"), 1.3125 / 3);
  given_refused(&data, "brier:half=maybe", PCAL_USAGE, "half is one of no|yes");
}

/* 0.4 + 0.600001 is used as it stands; rescaled it would be a little less. */
TEST(test_3_probabilities_are_used_as_stored) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 1,
                           .columns = 2,
                           .scores = (const double[]){0.4, 0.600001},
                           .labels = (const int32_t[]){0}};
  assert_near(given_value(&data, "brier"), 0.6 * 0.6 + 0.600001 * 0.600001, 1e-15);
}

TEST(test_root_of_the_mean) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 2,
                           .scores = (const double[]){1, 0, 0.5, 0.5},
                           .labels = (const int32_t[]){1, 0},
                           .weights = (const double[]){3, 1}};
  assert_same(given_value(&data, "rbs"), sqrt((3 * 2 + 0.5) / 4));
}

TEST(test_from_logits) {
  const given_data data = {.kind = PCAL_LOGIT,
                           .rows = 2,
                           .columns = 3,
                           .scores = (const double[]){5, 5, 5, 1000, 0, -1000},
                           .labels = (const int32_t[]){1, 2}};
  assert_near(given_value(&data, "brier"), (2.0 / 3.0 + 2) / 2, 1e-15);
}

TEST(test_confidences_are_not_enough) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 1,
                           .columns = 1,
                           .scores = (const double[]){0.4},
                           .labels = (const int32_t[]){0}};
  given_refused(&data, "brier", PCAL_USAGE, "brier needs the probabilities of all classes");
  given_refused(&data, "rbs", PCAL_USAGE, "rbs needs the probabilities of all classes");
}
