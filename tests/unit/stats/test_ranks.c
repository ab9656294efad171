/* Ranks with ties, and both correlations by hand. */
#include "../unit.h"

#include "stats/ranks.h"

static void test_ties_share_the_mean_of_their_places(void **state) {
  static const double values[] = {3, 1, 3, 2, 3}, expected[] = {4, 1, 4, 2, 4};
  static const double odd[] = {NAN, 2, 2, -INFINITY}, odd_ranks[] = {4, 2.5, 2.5, 1};
  double ranks[5];
  (void)state;
  pc_ranks(values, 5, ranks);
  for (size_t i = 0; i < 5; i++)
    assert_same(ranks[i], expected[i]);
  pc_ranks(odd, 4, ranks);
  for (size_t i = 0; i < 4; i++)
    assert_same(ranks[i], odd_ranks[i]);
}

static void test_equal_and_opposite_rankings(void **state) {
  static const double up[] = {1, 2, 3, 4, 5, 6}, down[] = {6, 5, 4, 3, 2, 1};
  (void)state;
  assert_same(pc_rank_spearman(up, up, 6), 1);
  assert_same(pc_rank_nixon(up, up, 6), 1);
  assert_same(pc_rank_spearman(up, down, 6), -1);
  /* 6 (5 + 3 + 1 + 1 + 3 + 5) / (6 * 35) = 18/35. */
  assert_near(pc_rank_nixon(up, down, 6), 17.0 / 35.0, 1e-15);
}

static void test_by_hand(void **state) {
  static const double one[] = {1, 2, 3, 4, 5};
  static const double plain[] = {2, 1, 5, 3, 4};
  (void)state;
  /* Differences 1, 1, 2, 1, 1. */
  assert_near(pc_rank_spearman(one, plain, 5), 1 - 6 * 8.0 / 120, 1e-15);
  assert_near(pc_rank_nixon(one, plain, 5), 1 - 6 * 6.0 / 120, 1e-15);
}

static void test_ties_by_hand(void **state) {
  /* Centred: -1.5 -0.5 0.5 1.5 and -1 -1 0.5 1.5; 4.5 / sqrt(5 * 4.5). */
  static const double one[] = {1, 2, 3, 4}, tied[] = {1.5, 1.5, 3, 4};
  (void)state;
  assert_near(pc_rank_spearman(one, tied, 4), 4.5 / sqrt(22.5), 1e-15);
  assert_near(pc_rank_nixon(one, tied, 4), 0.9, 1e-15);
}

static void test_nothing_to_compare(void **state) {
  static const double flat[] = {2, 2, 2}, up[] = {1, 2, 3};
  (void)state;
  assert_true(isnan(pc_rank_spearman(flat, up, 3)));
  assert_true(isnan(pc_rank_spearman(up, up, 1)));
  assert_true(isnan(pc_rank_nixon(up, up, 1)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ties_share_the_mean_of_their_places),
      cmocka_unit_test(test_equal_and_opposite_rankings),
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_ties_by_hand),
      cmocka_unit_test(test_nothing_to_compare),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
