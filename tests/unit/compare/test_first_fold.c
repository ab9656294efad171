/* Numbers in brackets are the edge cases of first_fold.c. */
#include "../calibrators/calibrator_help.h"
#include "compare/first_fold.h"

enum { ROWS = 60, CLASSES = 3 };

static double logits[ROWS * CLASSES];
static int32_t labels[ROWS];
static double weights[ROWS];

/* Rows of the first fold, scored by hand. */
static void first_fold_check(int weighted) {
  const pcal_env env = pc_env_resolve(NULL);
  help_draw(logits, labels, ROWS, CLASSES, 3.0, 2.0);
  pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, CLASSES);
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = 1.0 + (double)(i % 3);
  batch.weights = weighted ? weights : NULL;
  pcal_calibrator *plain = help_fit(&batch, "identity");
  double probs[ROWS * CLASSES], total = 0.0, weight = 0.0;
  help_apply(plain, &batch, probs);
  pc_held_out held_out = {.env = &env, .folds = {0, 4, 0}};
  assert_int_equal(pc_source_borrow(&batch, NULL, &env, &held_out.source, NULL), PCAL_OK);
  pc_first_fold fold;
  assert_int_equal(pc_first_fold_score(&held_out, plain, &fold, NULL), PCAL_OK);
  size_t at = 0;
  for (size_t i = 0; i < ROWS; i++) {
    if (pc_fold_of(&held_out.folds, i) != 0)
      continue;
    double brier = 0.0;
    for (size_t c = 0; c < CLASSES; c++)
      brier += pow(probs[i * CLASSES + c] - (labels[i] == (int32_t)c), 2);
    assert_near(fold.scores[at++], brier, 1e-14);
    total += (weighted ? weights[i] : 1.0) * brier;
    weight += weighted ? weights[i] : 1.0;
  }
  assert_int_equal(at, fold.count);
  assert_near(fold.mean, total / weight, 1e-14);
  pc_first_fold_free(&env, &fold);
  pcal_source_free(held_out.source);
  pcal_calibrator_free(plain);
}

TEST(scores_of_the_first_fold) {
  first_fold_check(0);
  first_fold_check(1);
}

/* Differences 0.1, 0.3: mean 0.2, standard error sqrt(0.02) / 2. */
TEST(excess_in_standard_errors) {
  double low[2] = {0.2, 0.4}, high[2] = {0.3, 0.7}, even[2] = {0.3, 0.5};
  const pc_first_fold best = {low, NULL, 2, 0.3}, worse = {high, NULL, 2, 0.5};
  const pc_first_fold shifted = {even, NULL, 2, 0.4}, empty = {NULL, NULL, 0, 0.0};
  assert_near(pc_first_fold_excess(&worse, &best), 0.2 / (sqrt(0.02) / 2.0), 1e-12);
  assert_same(pc_first_fold_excess(&best, &worse), 0.0);
  assert_same(pc_first_fold_excess(&best, &best), 0.0);
  assert_true(pc_first_fold_excess(&shifted, &best) > 1e6); /* [1], up to rounding */
  assert_same(pc_first_fold_excess(&worse, &empty), 0.0);
}

/* Two classes in one column: the Brier score of the event alone. */
TEST(one_column) {
  static const double probs[] = {0.25, 0.5, 0.75, 1};
  static const int32_t outcomes[] = {0, 1, 1, 0};
  const pcal_env env = pc_env_resolve(NULL);
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, outcomes, 4, 1);
  pcal_calibrator *plain = help_fit(&batch, "identity");
  pc_held_out held_out = {.env = &env, .folds = {0, 2, 0}};
  pc_first_fold fold;
  assert_int_equal(pc_source_borrow(&batch, NULL, &env, &held_out.source, NULL), PCAL_OK);
  assert_int_equal(pc_first_fold_score(&held_out, plain, &fold, NULL), PCAL_OK);
  for (size_t i = 0, at = 0; i < 4; i++)
    if (pc_fold_of(&held_out.folds, i) == 0)
      assert_near(fold.scores[at++], pow(probs[i] - outcomes[i], 2), 1e-15);
  pc_first_fold_free(&env, &fold);
  pcal_source_free(held_out.source);
  pcal_calibrator_free(plain);
}

/* Differences that are all the same have no standard error [1]; rows of weight 0 have no mean. */
TEST(excess_without_spread) {
  double low[2] = {0.25, 0.5}, high[2] = {0.5, 0.75}, none[2] = {0, 0};
  const pc_first_fold best = {low, NULL, 2, 0.375}, worse = {high, NULL, 2, 0.625};
  const pc_first_fold weightless = {high, none, 2, 0.625};
  assert_same(pc_first_fold_excess(&worse, &best), INFINITY);
  assert_same(pc_first_fold_excess(&weightless, &best), INFINITY);
}

/* What a scenario of failures needs; the calibrator is fitted before. */
typedef struct first_fold_case {
  pcal_batch batch;
  const pcal_calibrator *plain;
} first_fold_case;

static pcal_status first_fold_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const first_fold_case *given = user;
  const pcal_env resolved = pc_env_resolve(env);
  pc_held_out held_out = {.env = &resolved, .folds = {0, 4, 0}};
  pc_first_fold fold = {0};
  pcal_status status = pc_source_borrow(&given->batch, NULL, &resolved, &held_out.source, err);
  if (status == PCAL_OK)
    status = pc_first_fold_score(&held_out, given->plain, &fold, err);
  pc_first_fold_free(&resolved, &fold);
  pcal_source_free(held_out.source);
  return status;
}

TEST(survives_every_failed_allocation) {
  help_draw(logits, labels, ROWS, CLASSES, 3.0, 2.0);
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = 0.0;
  first_fold_case given = {.batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, CLASSES)};
  pcal_calibrator *plain = help_fit(&given.batch, "identity");
  given.plain = plain;
  unit_fail_each_allocation(first_fold_scenario, &given);
  given.batch.weights = weights;
  unit_fail_each_allocation(first_fold_scenario, &given);
  pcal_calibrator_free(plain);
}
