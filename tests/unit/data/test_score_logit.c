#include "data/score_logit.h"

#include <math.h>

#include "../unit.h"

TEST(score_logit_of_one_column_is_log_odds) {
  assert_true(fabs(pc_score_logit(PCAL_PROBABILITY, 1, 0.75) - log(3.0)) < 1e-15);
  assert_true(pc_score_logit(PCAL_PROBABILITY, 1, 0.5) == 0.0);
}

TEST(score_logit_of_several_columns_is_a_logarithm) {
  assert_true(fabs(pc_score_logit(PCAL_PROBABILITY, 3, 0.25) + log(4.0)) < 1e-15);
  assert_true(pc_score_logit(PCAL_LOGIT, 3, -7.5) == -7.5);
}

/* Edge case 1. */
TEST(score_logit_of_certain_scores_is_finite) {
  assert_true(pc_score_logit(PCAL_PROBABILITY, 3, 0.0) == -1e30);
  assert_true(pc_score_logit(PCAL_PROBABILITY, 1, 0.0) == -1e30);
  assert_true(pc_score_logit(PCAL_PROBABILITY, 1, 1.0) == 1e30);
  assert_true(isnan(pc_score_logit(PCAL_LOGIT, 3, NAN)));
}
