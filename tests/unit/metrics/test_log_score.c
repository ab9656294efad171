#include "../measure/measure_help.h"

/* The probability e^-1000 is below every double. */
TEST(test_1_logits_keep_tiny_probabilities) {
  given_data data = {.kind = PCAL_LOGIT,
                     .rows = 1,
                     .columns = 2,
                     .scores = (const double[]){1000, 0},
                     .labels = (const int32_t[]){1}};
  assert_same(given_value(&data, "log"), 1000.0);
  data.columns = 1;
  data.scores = (const double[]){-1000};
  assert_same(given_value(&data, "log"), 1000.0);
  data.scores = (const double[]){-30};
  assert_near(given_value(&data, "log"), 30.00000000000009357623,
              1e-15); /* 30 + log(1 + e^-30) */
}

TEST(test_1_log_probabilities_are_taken_as_they_are) {
  const given_data data = {.kind = PCAL_LOG_PROBABILITY,
                           .rows = 2,
                           .columns = 2,
                           .scores = (const double[]){-900, 0, 0, -(double)INFINITY},
                           .labels = (const int32_t[]){0, 0}};
  assert_same(given_value(&data, "log"), 450.0);
}

static const given_data log_impossible = {
    .kind = PCAL_PROBABILITY,
    .rows = 4,
    .columns = 2,
    .scores = (const double[]){0.5, 0.5, 1, 0, 1, 0, 0, 1},
    .labels = (const int32_t[]){0, 0, 1, 0},
};

TEST(test_2_probability_0_is_infinite_and_names_the_row) {
  pcal_results *results = given_results(&log_impossible, "log brier");
  const pcal_result result = given_result(results, "log");
  assert_true(result.defined);
  assert_true(result.value == (double)INFINITY);
  assert_string_equal(result.why,
                      "row 2 gives its true class probability 0, so the score is infinite; "
                      "log:clip=1e-15 keeps it finite");
  assert_null(given_result(results, "brier").why);
  pcal_results_free(results);
}

/* A weight of 0 takes the row out, and with it the infinity. */
TEST(test_2_rows_of_weight_0_do_not_count) {
  given_data data = log_impossible;
  data.weights = (const double[]){2, 1, 0, 0};
  assert_near(given_value(&data, "log"), 2 * log(2) / 3, 1e-15);
}

TEST(test_3_clip_raises_the_true_probability) {
  assert_near(given_value(&log_impossible, "log:clip=0.25"), (log(2) + 2 * log(4)) / 4, 1e-15);
  assert_near(given_value(&log_impossible, "log:clip=0.5"), 3 * log(2) / 4, 1e-15);
  assert_near(given_value(&log_impossible, "log:clip=1e-300"), (log(2) + 600 * log(10)) / 4,
              1e-15);
  given_refused(&log_impossible, "log:clip=0.6", PCAL_USAGE, "clip must be between 0 and 0.5");
  given_refused(&log_impossible, "log:clip=-1", PCAL_USAGE, "clip must be between 0 and 0.5");
}

TEST(test_3_clip_and_no_clip_in_one_pass) {
  pcal_results *results = given_results(&log_impossible, "log log:clip=0.5 log:clip=0");
  assert_int_equal(pcal_results_count(results), 2);
  assert_true(given_result(results, "log").value == (double)INFINITY);
  assert_near(given_result(results, "log:clip=0.5").value, 3 * log(2) / 4, 1e-15);
  assert_string_equal(given_result(results, "log").spec, "log:clip=0");
  assert_string_equal(given_result(results, "log:clip=0.5").label, "log:clip=0.5");
  assert_string_equal(given_result(results, "log").label, "log");
  pcal_results_free(results);
}

TEST(test_4_slightly_more_than_one_is_used_as_stored) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 1,
                           .columns = 2,
                           .scores = (const double[]){1.000001, 0},
                           .labels = (const int32_t[]){0}};
  assert_near(given_value(&data, "log"), -9.999995000003333e-07, 1e-9);
}
