#include "../unit.h"

#include "studies/unclipped_scores.h"

static const double raw_scores_score[] = {1.2, -0.1, 0.5, 0.5};
static const int32_t raw_scores_hit[] = {1, 0, 1, 0};

/* In the order of scores the sums are -0.1, then 0.9 - 1 behind both of 0.5, then 0.1. */
TEST(test_ks) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_unclipped_scores raw = {raw_scores_score, raw_scores_hit, 4};
  double value = 0;
  assert_int_equal(pc_unclipped_ks(&raw, &env, &value, NULL), PCAL_OK);
  assert_near(value, 0.1 / 4, 1e-12);
  const int32_t none[] = {0, 0, 0, 0};
  const pc_unclipped_scores misses = {raw_scores_score, none, 4};
  assert_int_equal(pc_unclipped_ks(&misses, &env, &value, NULL), PCAL_OK);
  assert_near(value, 2.1 / 4, 1e-12);
}

/* Bins are closed above; what lies outside (0, 1] adds nothing but its row. */
TEST(test_ece) {
  static const double scores[] = {0.5, 0.4, 1.0, 1.2, 0.0, -0.3};
  static const int32_t hits[] = {1, 0, 0, 0, 1, 1};
  const pc_unclipped_scores raw = {scores, hits, 6};
  assert_near(pc_unclipped_ece(&raw, 2), (0.1 + 1.0) / 6, 1e-12);
  assert_near(pc_unclipped_ece(&raw, 1), 0.9 / 6, 1e-12);
}

static pcal_status raw_scores_try(const pcal_env *env, void *user, pcal_error *err) {
  const pc_unclipped_scores raw = {raw_scores_score, raw_scores_hit, 4};
  double value;
  (void)user;
  return pc_unclipped_ks(&raw, env, &value, err);
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(raw_scores_try, NULL);
}
