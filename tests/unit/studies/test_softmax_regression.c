/* Fits with a closed form, a gradient by differences, memory. */
#include "../unit.h"

#include "base/rng.h"
#include "studies/softmax_regression.h"

#define REGRESSION_ROWS 120
#define REGRESSION_FEATURES 3
#define REGRESSION_CLASSES 4
#define REGRESSION_SIZE (REGRESSION_CLASSES * (REGRESSION_FEATURES + 1))

static double regression_features[REGRESSION_ROWS * REGRESSION_FEATURES];
static int32_t regression_labels[REGRESSION_ROWS];

static pc_labelled_rows regression_rows(void) {
  const pc_rng rng = {7, 1};
  for (size_t i = 0; i < REGRESSION_ROWS * REGRESSION_FEATURES; i++)
    regression_features[i] = pc_rng_normal(&rng, i);
  for (size_t i = 0; i < REGRESSION_ROWS; i++)
    regression_labels[i] = (int32_t)((regression_features[3 * i] > 0) +
                                     2 * (regression_features[3 * i + 1] > 0.3));
  return (pc_labelled_rows){regression_features, regression_labels, REGRESSION_ROWS,
                            REGRESSION_FEATURES, REGRESSION_CLASSES};
}

static double regression_loss(const pc_labelled_rows *rows, double l2, const double *model) {
  double probs[REGRESSION_ROWS * REGRESSION_CLASSES], loss = 0;
  pc_softmax_regression_apply(rows, model, probs);
  for (size_t i = 0; i < rows->rows; i++)
    loss -= log(probs[i * rows->classes + (size_t)rows->labels[i]]) / (double)rows->rows;
  for (size_t i = 0; i < pc_softmax_regression_size(rows); i++)
    loss += i % (rows->feature_count + 1) < rows->feature_count ? l2 * model[i] * model[i] : 0;
  return loss;
}

/* Features that say nothing: probabilities are frequencies, shifts their centred logarithms. */
TEST(test_frequencies) {
  static const double nothing[8] = {0};
  static const int32_t labels[8] = {0, 1, 1, 2, 2, 2, 2, 2};
  const pc_labelled_rows rows = {nothing, labels, 8, 1, 3};
  double model[6] = {0}, probs[24];
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(pc_softmax_regression_size(&rows), 6);
  assert_int_equal(pc_softmax_regression_fit(&rows, 0.01, &env, model, NULL), PCAL_OK);
  pc_softmax_regression_apply(&rows, model, probs);
  assert_near(probs[0], 1.0 / 8, 1e-5);
  assert_near(probs[1], 2.0 / 8, 1e-5);
  assert_near(probs[2], 5.0 / 8, 1e-5);
  assert_near(model[5] - model[1], log(5), 1e-5);
  assert_true(fabs(model[1] + model[3] + model[5]) < 1e-12);
  assert_same(model[0], 0);
}

/* Two classes with feature 1 or -1, a share of 3/4 right, no penalty to speak of. */
TEST(test_log_odds) {
  static const double features[8] = {1, 1, 1, 1, -1, -1, -1, -1};
  static const int32_t labels[8] = {1, 1, 1, 0, 0, 0, 0, 1};
  const pc_labelled_rows rows = {features, labels, 8, 1, 2};
  double model[4] = {0};
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(pc_softmax_regression_fit(&rows, 1e-9, &env, model, NULL), PCAL_OK);
  assert_near(model[2] - model[0], log(3), 1e-5);
  assert_true(fabs(model[3] - model[1]) < 1e-5);
}

/* At the minimum no step in any direction helps. */
TEST(test_minimum) {
  const pc_labelled_rows rows = regression_rows();
  const double l2 = 0.01, step = 1e-4;
  double model[REGRESSION_SIZE] = {0};
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(pc_softmax_regression_fit(&rows, l2, &env, model, NULL), PCAL_OK);
  for (size_t i = 0; i < REGRESSION_SIZE; i++) {
    const double at = model[i];
    model[i] = at + step;
    const double above = regression_loss(&rows, l2, model);
    model[i] = at - step;
    const double below = regression_loss(&rows, l2, model);
    model[i] = at;
    assert_true(fabs(above - below) / (2 * step) < 1e-6);
  }
}

TEST(test_a_warm_start_ends_there) {
  const pc_labelled_rows rows = regression_rows();
  double cold[REGRESSION_SIZE] = {0}, warm[REGRESSION_SIZE];
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t i = 0; i < REGRESSION_SIZE; i++)
    warm[i] = i % 2 == 0 ? 0.5 : -0.5;
  assert_int_equal(pc_softmax_regression_fit(&rows, 0.01, &env, cold, NULL), PCAL_OK);
  assert_int_equal(pc_softmax_regression_fit(&rows, 0.01, &env, warm, NULL), PCAL_OK);
  assert_near(regression_loss(&rows, 0.01, warm), regression_loss(&rows, 0.01, cold), 1e-10);
}

static pcal_status regression_once(const pcal_env *env, void *user, pcal_error *err) {
  const pc_labelled_rows rows = regression_rows();
  double model[REGRESSION_SIZE] = {0};
  (void)user;
  return pc_softmax_regression_fit(&rows, 1, env, model, err);
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(regression_once, NULL);
}
