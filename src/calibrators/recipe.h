/* A calibrator as a recipe: a short list of steps on the numbers of one row, from which code
 * for other places can be written (src/export).  Steps borrow what they need from the
 * calibrator. */
#ifndef PC_RECIPE_H
#define PC_RECIPE_H

#include "calibrators/bin_maps.h"
#include "calibrators/calibrator.h"
#include "calibrators/features.h"
#include "calibrators/line_maps.h"

#define PC_RECIPE_STEPS 48
#define PC_RECIPE_STORES 4
#define PC_RECIPE_EXP_LEAST \
  (-708.7427685) /* softmax: terms below exp of it are 0 (lane_math.h) */

/* What becomes of the row x. */
typedef enum pc_step_kind {
  PC_STEP_ONE_LOGIT = 1, /* one number becomes two: 0, x */
  PC_STEP_ONE_PROB,      /* 1 - x, x */
  PC_STEP_LAST,          /* the last number alone */
  PC_STEP_CENTRE,        /* less its largest number */
  PC_STEP_RAISE,         /* shifted up so that its largest number is at least a */
  PC_STEP_SOFTMAX,
  PC_STEP_LOG_SOFTMAX,
  PC_STEP_SIGMOID,
  PC_STEP_EXP,
  PC_STEP_REST,      /* 1 - exp(x) */
  PC_STEP_LOG,       /* of numbers that are at least a */
  PC_STEP_FLOOR,     /* at least a */
  PC_STEP_CEIL,      /* at most a */
  PC_STEP_SCALE,     /* a x + b */
  PC_STEP_VECTOR,    /* w * x + offsets; either may be NULL */
  PC_STEP_MATRIX,    /* `size` numbers: row j of w says what number j adds to them; offsets */
  PC_STEP_STORE,     /* keeps x under a number */
  PC_STEP_LOAD,      /* takes it back */
  PC_STEP_ADD,       /* adds what was kept */
  PC_STEP_TABLES,    /* a table for each number, or one for all */
  PC_STEP_LINES,     /* a broken line for each number, or one for all */
  PC_STEP_RESCALE,   /* divided by the sum; 1/k where that is 0 */
  PC_STEP_TOP_LINE,  /* the rank-th largest by its line, the others share the rest */
  PC_STEP_RANK_LINES /* the r-th largest by the r-th line */
} pc_step_kind;

typedef struct pc_step {
  pc_step_kind kind;
  double a, b;
  const double *w, *offsets;
  size_t stride; /* between rows of w */
  size_t size;   /* numbers that come out of a matrix; rank; number of a store */
  const pc_bin_maps *tables;
  const pc_line_maps *lines;
} pc_step;

typedef struct pc_recipe {
  size_t columns; /* that go in */
  size_t width;   /* of x after the last step */
  int wide;       /* float would lose too much: doubles inside */
  pc_step steps[PC_RECIPE_STEPS];
  size_t count;
  double own[4]; /* weights that steps may point to */
} pc_recipe;

/* Adds a step and keeps the width. */
void pc_recipe_add(pc_recipe *recipe, pc_step step);

/* The recipe of a calibrator; refused where the method has none. */
PC_CHECKED pcal_status pc_recipe_make(const pcal_calibrator *calibrator, pc_recipe *out,
                                      pcal_error *err);

/* From scores to the numbers that parametric methods look at (calibrators/features.h); not for
 * PC_FEATURE_BETA, whose two numbers for a score pc_recipe_add_logistic has. */
void pc_recipe_add_feature(const pcal_calibrator *calibrator, pc_feature feature,
                           pc_recipe *recipe);

/* sigmoid of slopes times features and a shift, for each column by itself, then rescaled. */
void pc_recipe_add_logistic(const pcal_calibrator *calibrator, pc_feature feature,
                            double *const slope[2], const double *shift, pc_recipe *recipe);

/* Steps of one_vs_rest.h around maps of single scores. */
void pc_recipe_add_bin_maps(const pcal_calibrator *calibrator, const pc_bin_maps *tables,
                            pc_recipe *recipe);
void pc_recipe_add_line_maps(const pcal_calibrator *calibrator, const pc_line_maps *lines,
                             pc_recipe *recipe);

#endif
