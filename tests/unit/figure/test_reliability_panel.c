#include "figure_check.h"

#include <math.h>

static void test_wilson(void **state) {
  (void)state;
  const double z = pc_level_quantile(0), z2 = z * z;
  double low, high;
  pc_wilson_interval(0.5, 10, z, &low, &high);
  check_near(low, 0.2365930905, 1e-10);
  check_near(high, 0.7634069095, 1e-10);
  pc_wilson_interval(0, 7, z, &low, &high);
  check_near(low, 0, 1e-15);
  check_near(high, z2 / (7 + z2), 1e-15);
  pc_wilson_interval(1, 7, z, &low, &high);
  check_near(low, 7 / (7 + z2), 1e-15);
  check_near(high, 1, 1e-15);
  pc_wilson_interval(0.25, 1e18, z, &low, &high);
  check_near(low, 0.25, 1e-8);
}

static void test_levels(void **state) {
  (void)state;
  check_near(pc_level_quantile(0.95), 1.959963984540054, 1e-12);
  check_near(pc_level_quantile(0.9), 1.6448536269514722, 1e-12);
}

static void test_bins_of_one_class(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  double values[6][3] = {{0, 0.5, 0},     {0.5, 1, 1},  {3, 4, 5},
                         {0.1, 0.6, 0.2}, {0, 1, 0.25}, {0, 0, 1}};
  const pc_graph graph = {
      .count = 3,
      .column_count = 6,
      .names = {"low", "high", "weight", "confidence", "accuracy", "class"},
      .columns = {values[0], values[1], values[2], values[3], values[4], values[5]}};
  pc_bin_list bins;
  assert_int_equal(pc_bin_list_read(&env, &graph, 0, &bins, NULL), PCAL_OK);
  assert_int_equal(bins.count, 2);
  assert_true(bins.bins[1].weight == 4 && bins.bins[1].frequency == 1);
  pc_bin_list_free(&env, &bins);
  assert_int_equal(pc_bin_list_read(&env, &graph, SIZE_MAX, &bins, NULL), PCAL_OK);
  assert_int_equal(bins.count, 3);
  assert_true(bins.bins[2].confidence == 0.2 && bins.bins[2].low == 0);
  pc_bin_list_free(&env, &bins);
}

static void test_hint(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_text_init(&text, &env);
  pc_reliability_hint(&check_bins[0], pc_reliability_words_of("top"), &text);
  assert_string_equal(text.bytes,
                      "0.000 to 0.250: mean confidence 0.2000, accuracy 0.1000, 100 rows");
  const pcal_bin one = {0, 1, 1, 0.5, 1};
  pc_reliability_hint(&one, pc_reliability_words_of("positive"), &text);
  assert_string_equal(
      text.bytes, "0.000 to 1.000: mean prediction 0.5000, observed frequency 1.0000, 1 row");
  pc_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wilson),
      cmocka_unit_test(test_levels),
      cmocka_unit_test(test_bins_of_one_class),
      cmocka_unit_test(test_hint),
  };
  return cmocka_run_group_tests_name("figure/reliability_panel", tests, NULL, NULL);
}
