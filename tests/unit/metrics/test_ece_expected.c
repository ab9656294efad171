#include "../measure/measure_help.h"

static double half_normal(double deviation) {
  return deviation * sqrt(2 / acos(-1.0));
}

/* 40 rows at 0.25, of which 10 come true, and 60 at 0.75, of which 30 do. */
static const given_data expected_data = {
    .kind = PCAL_CONFIDENCE,
    .rows = 4,
    .columns = 1,
    .scores = (const double[]){0.25, 0.25, 0.75, 0.75},
    .labels = (const int32_t[]){1, 0, 1, 0},
    .weights = (const double[]){10, 30, 30, 30},
};

TEST(test_by_hand) {
  pcal_results *results = given_results(&expected_data, "ece-expected ece");
  const pcal_result result = given_result(results, "ece-expected");
  const double first = sqrt(0.25 * 0.75 / 40), second = sqrt(0.25 / 60);
  const double z = 0.25 / second;
  const double mu = 0.4 * half_normal(first) +
                    0.6 * (half_normal(second) * exp(-z * z / 2) + 0.25 * erf(z / sqrt(2.0)));
  assert_near(result.value, mu, 1e-14);
  assert_same(given_part(&result, "mu"), result.value);
  assert_near(given_part(&result, "null"), half_normal(0.4 * first + 0.6 * second), 1e-14);
  assert_true(result.value > given_result(results, "ece").value);
  assert_string_equal(result.spec, "ece-expected:bins=15,view=top");
  assert_int_equal(result.notion, PCAL_NOTION_TOP_LABEL);
  assert_int_equal(result.bound, PCAL_BOUND_NONE);
  pcal_results_free(results);
}

/* One bin: scores vary, and with them the mean score of a sample. */
TEST(test_variance_of_scores_counts) {
  pcal_results *results = given_results(&expected_data, "ece-expected:bins=1");
  const pcal_result result = given_result(results, "ece-expected:bins=1");
  const double deviation = sqrt((0.24 * 0.25 + 0.24) / 100); /* 0.5^2 * 0.4 * 0.6 */
  assert_near(given_part(&result, "null"), half_normal(deviation), 1e-14);
  pcal_results_free(results);
}

TEST(test_3_outcomes_that_do_not_vary) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.25, 0.75},
                           .labels = (const int32_t[]){1, 1}};
  pcal_results *results = given_results(&data, "ece-expected ece");
  const pcal_result result = given_result(results, "ece-expected");
  assert_same(result.value, given_result(results, "ece").value);
  assert_same(given_part(&result, "null"), 0.0);
  pcal_results_free(results);
}

TEST(test_views) {
  given_data data = expected_data;
  data.kind = PCAL_PROBABILITY;
  pcal_results *results = given_results(&data, "ece-expected ece-expected:view=top");
  assert_int_equal(given_result(results, "ece-expected:view=positive").notion,
                   PCAL_NOTION_CANONICAL);
  assert_int_equal(given_result(results, "ece-expected:view=top").notion,
                   PCAL_NOTION_TOP_LABEL);
  pcal_results_free(results);
}
