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
