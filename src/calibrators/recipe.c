#include "calibrators/recipe.h"

#include "calibrators/group_calibrators.h"

void pc_recipe_add(pc_recipe *recipe, pc_step step) {
  if (recipe->count == PC_RECIPE_STEPS)
    return;
  recipe->steps[recipe->count++] = step;
  if (step.kind == PC_STEP_ONE_LOGIT || step.kind == PC_STEP_ONE_PROB)
    recipe->width = 2;
  if (step.kind == PC_STEP_LAST)
    recipe->width = 1;
  if (step.kind == PC_STEP_MATRIX)
    recipe->width = step.size;
}

static void recipe_plain(pc_recipe *recipe, pc_step_kind kind) {
  pc_recipe_add(recipe, (pc_step){.kind = kind});
}

/* Adds the steps from the input to the argument of the method's `apply`: a number for each
 * class. */
static void recipe_begin(const pcal_calibrator *calibrator, pc_recipe *recipe) {
  const pcal_kind kind = calibrator->layout.kind;
  const int one = calibrator->layout.columns == 1, scores = calibrator->method->needs_scores;
  recipe->columns = recipe->width = calibrator->layout.columns;
  if (kind == PCAL_CONFIDENCE)
    return;
  if (one)
    recipe_plain(recipe, kind == PCAL_LOGIT ? PC_STEP_ONE_LOGIT : PC_STEP_ONE_PROB);
  if (kind == PCAL_PROBABILITY && scores)
    recipe_plain(recipe, PC_STEP_LOG);
  if (kind == PCAL_LOGIT && !scores)
    recipe_plain(recipe, PC_STEP_SOFTMAX);
  if (kind == PCAL_LOG_PROBABILITY && !scores)
    recipe_plain(recipe, PC_STEP_EXP);
}

static void recipe_rescale(const pcal_calibrator *calibrator, pc_recipe *recipe) {
  if (calibrator->layout.columns > 1)
    recipe_plain(recipe, PC_STEP_RESCALE);
}

/* One column of scores: keeps the second class only. */
static void recipe_single(const pcal_calibrator *calibrator, pc_recipe *recipe) {
  recipe->wide = 1;
  if (calibrator->layout.columns == 1 && recipe->width > 1)
    recipe_plain(recipe, PC_STEP_LAST);
}

void pc_recipe_add_bin_maps(const pcal_calibrator *calibrator, const pc_bin_maps *tables,
                            pc_recipe *recipe) {
  recipe_single(calibrator, recipe);
  pc_recipe_add(recipe, (pc_step){.kind = PC_STEP_BIN_MAPS, .bin_maps = tables});
  recipe_rescale(calibrator, recipe);
}

void pc_recipe_add_line_maps(const pcal_calibrator *calibrator, const pc_line_maps *lines,
                             pc_recipe *recipe) {
  recipe_single(calibrator, recipe);
  pc_recipe_add(recipe, (pc_step){.kind = PC_STEP_LINE_MAPS, .line_maps = lines});
  recipe_rescale(calibrator, recipe);
}

pcal_status pc_recipe_make(const pcal_calibrator *calibrator, pc_recipe *out, pcal_error *err) {
  const char *name = calibrator->method->row.name;
  *out = (pc_recipe){0};
  if (calibrator->groups != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "a calibrator with groups cannot be exported; fit one for each group and "
                   "export those");
  if (calibrator->method->recipe == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "%s cannot be exported; use propercal apply, or a method such as "
                   "temperature, spline or histogram",
                   name);
  recipe_begin(calibrator, out);
  const char *why = calibrator->method->recipe(calibrator, out);
  if (why != NULL)
    return pc_fail(err, PCAL_USAGE, "%s cannot be exported: %-s", name, why);
  if (calibrator->layout.columns == 1 && out->width > 1)
    recipe_plain(out, PC_STEP_LAST);
  return PCAL_OK;
}
