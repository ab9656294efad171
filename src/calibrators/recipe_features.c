/* Features as steps of a recipe, with the limits of features.c. */
#include <math.h>

#include "base/elementary.h"
#include "calibrators/recipe.h"

static void recipe_features_number(pc_recipe *recipe, pc_step_kind kind, double a) {
  pc_recipe_add(recipe, (pc_step){.kind = kind, .a = a});
}

static void recipe_features_store(pc_recipe *recipe, pc_step_kind kind, size_t number) {
  pc_recipe_add(recipe, (pc_step){.kind = kind, .size = number});
}

/* Clips log-probabilities, as features.c does. */
static void recipe_features_clip(pc_recipe *recipe) {
  recipe_features_number(recipe, PC_STEP_AT_LEAST, PC_FEATURE_LOG_CLIP);
  recipe_features_number(recipe, PC_STEP_AT_MOST, 0.0);
}

/* -log(1 - p) from log p. */
static void recipe_features_rest(pc_recipe *recipe) {
  recipe_features_number(recipe, PC_STEP_ONE_MINUS_EXP, 0.0);
  recipe_features_number(recipe, PC_STEP_LOG, pc_exp(PC_FEATURE_LOG_CLIP));
  recipe_features_number(recipe, PC_STEP_SCALE, -1.0);
}

/* Two classes: of_first log p_0 + of_second log p_1, one number. */
static void recipe_features_pair(double of_first, double of_second, pc_recipe *recipe) {
  recipe_features_clip(recipe);
  recipe->own[0] = of_first;
  recipe->own[1] = of_second;
  pc_recipe_add(recipe,
                (pc_step){.kind = PC_STEP_MATRIX, .w = recipe->own, .stride = 1, .size = 1});
}

static void recipe_features_odds(const pcal_calibrator *calibrator, pc_recipe *recipe) {
  if (calibrator->layout.kind == PCAL_LOGIT) {
    if (calibrator->layout.columns == 1)
      recipe_features_number(recipe, PC_STEP_LAST, 0.0);
    return;
  }
  if (calibrator->layout.columns == 1) {
    recipe_features_pair(-1.0, 1.0, recipe);
    return;
  }
  recipe_features_store(recipe, PC_STEP_STORE, 0);
  recipe_features_rest(recipe);
  recipe_features_store(recipe, PC_STEP_STORE, 1);
  recipe_features_store(recipe, PC_STEP_LOAD, 0);
  recipe_features_clip(recipe);
  recipe_features_store(recipe, PC_STEP_ADD, 1);
}

void pc_recipe_add_feature(const pcal_calibrator *calibrator, pc_feature feature,
                           pc_recipe *recipe) {
  const int logits = calibrator->layout.kind == PCAL_LOGIT;
  recipe->wide = 1;
  if (feature == PC_FEATURE_LOG_ODDS)
    recipe_features_odds(calibrator, recipe);
  if (feature == PC_FEATURE_LOG_PROBS && logits)
    recipe_features_number(recipe, PC_STEP_LOG_SOFTMAX, 0.0);
  if (feature == PC_FEATURE_LOG_PROBS || (feature == PC_FEATURE_SCORES && !logits))
    recipe_features_number(recipe, PC_STEP_AT_LEAST, PC_FEATURE_LOG_LEAST);
}

/* slope[0] log p - slope[1] log(1 - p). */
static void recipe_features_beta(const pcal_calibrator *calibrator, double *const slope[2],
                                 pc_recipe *recipe) {
  if (calibrator->layout.kind == PCAL_LOGIT)
    recipe_features_number(recipe, PC_STEP_LOG_SOFTMAX, 0.0);
  if (calibrator->layout.columns == 1) {
    recipe_features_pair(-slope[1][0], slope[0][0], recipe);
    return;
  }
  recipe_features_store(recipe, PC_STEP_STORE, 0);
  recipe_features_rest(recipe);
  pc_recipe_add(recipe, (pc_step){.kind = PC_STEP_VECTOR, .w = slope[1]});
  recipe_features_store(recipe, PC_STEP_STORE, 1);
  recipe_features_store(recipe, PC_STEP_LOAD, 0);
  recipe_features_clip(recipe);
  pc_recipe_add(recipe, (pc_step){.kind = PC_STEP_VECTOR, .w = slope[0]});
  recipe_features_store(recipe, PC_STEP_ADD, 1);
}

void pc_recipe_add_logistic(const pcal_calibrator *calibrator, pc_feature feature,
                            double *const slope[2], const double *shift, pc_recipe *recipe) {
  recipe->wide = 1;
  if (feature == PC_FEATURE_BETA) {
    recipe_features_beta(calibrator, slope, recipe);
  } else {
    pc_recipe_add_feature(calibrator, feature, recipe);
    pc_recipe_add(recipe, (pc_step){.kind = PC_STEP_VECTOR, .w = slope[0]});
  }
  pc_recipe_add(recipe, (pc_step){.kind = PC_STEP_VECTOR, .offsets = shift});
  if (calibrator->layout.columns > 1)
    recipe_features_number(recipe, PC_STEP_RAISE_MAX, PC_FEATURE_MARGIN_LEAST);
  recipe_features_number(recipe, PC_STEP_SIGMOID, 0.0);
  if (calibrator->layout.columns > 1)
    recipe_features_number(recipe, PC_STEP_RESCALE, 0.0);
}
