/* Ranks with ties, and both correlations by hand. */
#include "../unit.h"

#include "stats/ranks.h"

TEST(test_ties_share_the_mean_of_their_places) {
  static const double values[] = {3, 1, 3, 2, 3}, expected[] = {4, 1, 4, 2, 4};
  static const double odd[] = {NAN, 2, 2, -INFINITY}, odd_ranks[] = {4, 2.5, 2.5, 1};
  double ranks[5];
  pc_ranks(values, 5, ranks);
  for (size_t i = 0; i < 5; i++)
    assert_same(ranks[i], expected[i]);
  pc_ranks(odd, 4, ranks);
  for (size_t i = 0; i < 4; i++)
    assert_same(ranks[i], odd_ranks[i]);
}

TEST(test_equal_and_opposite_rankings) {
  static const double up[] = {1, 2, 3, 4, 5, 6}, down[] = {6, 5, 4, 3, 2, 1};
  assert_same(pc_rank_spearman(up, up, 6), 1);
  assert_same(pc_rank_nixon(up, up, 6), 1);
  assert_same(pc_rank_spearman(up, down, 6), -1);
  /* 6 (5 + 3 + 1 + 1 + 3 + 5) / (6 * 35) = 18/35. */
  assert_near(pc_rank_nixon(up, down, 6), 17.0 / 35.0, 1e-15);
}

TEST(test_by_hand) {
  static const double one[] = {1, 2, 3, 4, 5};
  static const double plain[] = {2, 1, 5, 3, 4};
  /* Differences 1, 1, 2, 1, 1. */
  assert_near(pc_rank_spearman(one, plain, 5), 1 - 6 * 8.0 / 120, 1e-15);
  assert_near(pc_rank_nixon(one, plain, 5), 1 - 6 * 6.0 / 120, 1e-15);
}

TEST(test_ties_by_hand) {
  /* Centred: -1.5 -0.5 0.5 1.5 and -1 -1 0.5 1.5; 4.5 / sqrt(5 * 4.5). */
  static const double one[] = {1, 2, 3, 4}, tied[] = {1.5, 1.5, 3, 4};
  assert_near(pc_rank_spearman(one, tied, 4), 4.5 / sqrt(22.5), 1e-15);
  assert_near(pc_rank_nixon(one, tied, 4), 0.9, 1e-15);
}

TEST(test_nothing_to_compare) {
  static const double flat[] = {2, 2, 2}, up[] = {1, 2, 3};
  assert_true(isnan(pc_rank_spearman(flat, up, 3)));
  assert_true(isnan(pc_rank_spearman(up, up, 1)));
  assert_true(isnan(pc_rank_nixon(up, up, 1)));
}
