#include "../measure/measure_help.h"

static const given_data accuracy_ties = {
    .kind = PCAL_PROBABILITY,
    .rows = 4,
    .columns = 3,
    .scores = (const double[]){0.4, 0.4, 0.2, 0.4, 0.4, 0.2, 0.2, 0.4, 0.4, 0.1, 0.1, 0.8},
    .labels = (const int32_t[]){0, 1, 1, 2},
};

TEST(test_1_ties_go_to_the_lower_class) {
  assert_same(given_value(&accuracy_ties, "accuracy"), 0.75);
}

TEST(test_2_a_half_predicts_class_0) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 4,
                           .columns = 1,
                           .scores = (const double[]){0.5, 0.5, 0.50001, 0.2},
                           .labels = (const int32_t[]){0, 1, 1, 1}};
  assert_same(given_value(&data, "accuracy"), 0.5);
  given_data logits = data;
  logits.kind = PCAL_LOGIT;
  logits.scores = (const double[]){0, 0, 1e-9, -3};
  assert_same(given_value(&logits, "accuracy"), 0.5);
}

TEST(test_3_confidences_say_it_themselves) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 4,
                           .columns = 1,
                           .scores = (const double[]){0.1, 0.9, 0.5, 0.3},
                           .labels = (const int32_t[]){1, 1, 0, 1}};
  assert_same(given_value(&data, "accuracy"), 0.75);
}

TEST(test_weights_are_frequencies) {
  given_data data = accuracy_ties;
  data.weights = (const double[]){0.5, 1, 2, 0.5};
  assert_same(given_value(&data, "accuracy"), 3.0 / 4.0);
  data.weights = (const double[]){0, 1, 0, 3};
  assert_same(given_value(&data, "accuracy"), 3.0 / 4.0);
}

TEST(test_no_options_and_what_is_said) {
  given_refused(&accuracy_ties, "accuracy:top=5", PCAL_USAGE, "accuracy takes no options");
  pcal_results *results = given_results(&accuracy_ties, "accuracy");
  const pcal_result result = given_result(results, "accuracy");
  assert_string_equal(result.spec, "accuracy");
  assert_int_equal(result.bound, PCAL_BOUND_NONE);
  assert_null(result.why);
  assert_int_equal(result.part_count, 0);
  pcal_results_free(results);
}
