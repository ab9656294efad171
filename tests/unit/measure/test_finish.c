#include "measure_help.h"

static const given_data finish_groups = {
    .kind = PCAL_CONFIDENCE,
    .rows = 5,
    .columns = 1,
    .scores = (const double[]){0.5, 0.75, 0.25, 1, 0},
    .labels = (const int32_t[]){1, 0, 1, 1, 0},
    .weights = (const double[]){1, 2, 3, 4, 0},
    .groups = (const uint32_t[]){0, 2, 0, 2, 0},
};

static pcal_result finish_get(const pcal_results *results, size_t index) {
  pcal_result result = {.size = sizeof result};
  pcal_results_get(results, index, &result);
  return result;
}

/* Group 1 has no rows, and says so. */
TEST(test_groups_up_to_the_last) {
  static const double accuracy[] = {0.8, 1.0, 0.0, 4.0 / 6};
  pcal_results *results = given_results(&finish_groups, "accuracy");
  assert_int_equal(pcal_results_count(results), 4);
  for (size_t i = 0; i < 4; i++) {
    const pcal_result result = finish_get(results, i);
    assert_int_equal(result.defined, i != 2);
    if (i == 2)
      assert_string_equal(result.why, "no rows");
    else
      assert_same(result.value, accuracy[i]);
  }
  char *json = given_written(results, PCAL_JSON);
  assert_contains(json, "\"1\": {\n          \"weight\": 0,\n          \"value\": null,\n"
                        "          \"why\": \"no rows\",\n");
  assert_contains(json, "\"2\": {\n          \"weight\": 6,\n");
  free(json);
  pcal_results_free(results);
}

TEST(test_groups_without_a_name_have_their_number) {
  given_data data = finish_groups;
  data.groups = (const uint32_t[]){0, 1, 0, 1, 0};
  data.group_names = (const char *const[]){"first"};
  data.group_count = 1;
  pcal_results *results = given_results(&data, "accuracy");
  assert_int_equal(pcal_results_count(results), 3);
  assert_null(finish_get(results, 0).group);
  assert_string_equal(finish_get(results, 1).group, "1");
  assert_string_equal(finish_get(results, 2).group, "first");
  pcal_results_free(results);
}

/* Every metric of a shared state reads the same evidence. */
TEST(test_shared_states_are_finished_for_all) {
  pcal_results *results =
      given_results(&finish_groups, "ece:bins=2 mce:bins=2 ece:bins=2,norm=l2");
  /* bins: 0.25 x 3 and 0.5, all true; 0.75 x 2 wrong and 1 x 4 right */
  const double low = 1 - 1.25 / 4, high = 5.5 / 6 - 4.0 / 6;
  assert_near(given_result(results, "ece:bins=2").value, 0.4 * low + 0.6 * high, 1e-14);
  assert_near(given_result(results, "mce:bins=2").value, low, 1e-14);
  assert_near(given_result(results, "ece:bins=2,norm=l2").value,
              sqrt(0.4 * low * low + 0.6 * high * high), 1e-14);
  assert_near(finish_get(results, 3).value, low, 1e-14);
  pcal_results_free(results);
}

/* One class over all rows, whatever single groups have. */
TEST(test_one_class_is_noticed) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 3,
                     .columns = 2,
                     .scores = (const double[]){0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
                     .labels = (const int32_t[]){1, 1, 0},
                     .weights = (const double[]){1, 1, 0},
                     .groups = (const uint32_t[]){0, 1, 1}};
  pcal_results *results = given_results(&data, "accuracy");
  assert_contains(pcal_results_verdict_text(results), "every label is class 1");
  pcal_results_free(results);
  data.weights = NULL;
  results = given_results(&data, "accuracy");
  assert_lacks(pcal_results_verdict_text(results), "every label");
  pcal_results_free(results);
}
