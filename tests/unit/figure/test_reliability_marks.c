#include "figure_help.h"

#include <math.h>

TEST(test_wilson) {
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

TEST(test_levels) {
  check_near(pc_level_quantile(0.95), 1.959963984540054, 1e-12);
  check_near(pc_level_quantile(0.9), 1.6448536269514722, 1e-12);
}

TEST(test_bins_of_one_class) {
  const pcal_env env = pc_env_resolve(NULL);
  double values[6][3] = {{0, 0.5, 0},     {0.5, 1, 1},  {3, 4, 5},
                         {0.1, 0.6, 0.2}, {0, 1, 0.25}, {0, 0, 1}};
  const pc_plot_table graph = {
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

TEST(test_hint) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_text_init(&text, &env);
  pc_reliability_hint(&check_bins[0], pc_reliability_texts_of(0), &text);
  assert_string_equal(text.bytes,
                      "0.000 to 0.250: mean confidence 0.2000, accuracy 0.1000, 100 rows");
  const pcal_bin one = {0, 1, 1, 0.5, 1};
  pc_reliability_hint(&one, pc_reliability_texts_of(1), &text);
  assert_string_equal(
      text.bytes, "0.000 to 1.000: mean prediction 0.5000, observed frequency 1.0000, 1 row");
  pc_text_free(&text);
}
