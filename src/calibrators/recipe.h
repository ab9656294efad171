/* Recipes: a calibrator as a short list of steps on the numbers of one row, which export writes
 * as C or ONNX.  Steps point into the calibrator, which must outlive them. */
#ifndef PC_RECIPE_H
#define PC_RECIPE_H

#include "calibrators/bin_maps.h"
#include "calibrators/calibrator.h"
#include "calibrators/features.h"
#include "calibrators/line_maps.h"

#define PC_RECIPE_STEPS 48
#define PC_RECIPE_STORES 4
/* exp of numbers below this is 0 in a softmax (kernels/lane_math.h). */
#define PC_RECIPE_EXP_LEAST (-708.7427685)

/* Operations on the row x of `width` numbers. */
typedef enum pc_step_kind {
  PC_STEP_ONE_LOGIT = 1, /* one number becomes two: 0, x */
  PC_STEP_ONE_PROB,      /* one number becomes two: 1 - x, x */
  PC_STEP_LAST,          /* the last number alone */
  PC_STEP_SUBTRACT_MAX,  /* x - max x */
  PC_STEP_RAISE_MAX,     /* x + max(0, a - max x) */
  PC_STEP_SOFTMAX,
  PC_STEP_LOG_SOFTMAX,
  PC_STEP_SIGMOID,
  PC_STEP_EXP,
  PC_STEP_ONE_MINUS_EXP, /* 1 - exp(x) */
  PC_STEP_LOG,           /* log(max(x, a)) */
  PC_STEP_AT_LEAST,      /* max(x, a) */
  PC_STEP_AT_MOST,       /* min(x, a) */
  PC_STEP_SCALE,         /* a x + b */
  PC_STEP_VECTOR,        /* w * x + offsets; w or offsets may be NULL */
  PC_STEP_MATRIX,        /* w^T x + offsets: `size` numbers; w has a row for each number of x */
  PC_STEP_STORE,         /* copies x to store `size` */
  PC_STEP_LOAD,          /* copies store `size` to x */
  PC_STEP_ADD,           /* x + store `size` */
  PC_STEP_BIN_MAPS,      /* a map of bins for each number, or one for all */
  PC_STEP_LINE_MAPS,     /* a piecewise linear map for each number, or one for all */
  PC_STEP_RESCALE,       /* x / sum x; uniform if the sum is 0 */
  PC_STEP_RANK_MAP,      /* maps the `size`-th largest number; the others share the rest */
  PC_STEP_ALL_RANKS_MAP  /* maps the r-th largest number by the r-th map */
} pc_step_kind;

typedef struct pc_step {
  pc_step_kind kind;
  double a, b;
  const double *w, *offsets;
  size_t stride; /* between rows of w */
  size_t size;   /* outputs of a matrix; rank; index of a store */
  const pc_bin_maps *bin_maps;
  const pc_line_maps *line_maps;
} pc_step;

typedef struct pc_recipe {
  size_t columns; /* input columns */
  size_t width;   /* of x after the last step */
  int wide;       /* compute in double: float would lose too much */
  pc_step steps[PC_RECIPE_STEPS];
  size_t count;
  double own[4]; /* weights that steps may point to */
} pc_recipe;

/* Adds a step and updates the width. */
void pc_recipe_add(pc_recipe *recipe, pc_step step);

/* The recipe of a calibrator; fails if the method has none. */
PC_CHECKED pcal_status pc_recipe_make(const pcal_calibrator *calibrator, pc_recipe *out,
                                      pcal_error *err);

/* Adds the steps from scores to features (calibrators/features.h).  For PC_FEATURE_BETA use
 * pc_recipe_add_logistic. */
void pc_recipe_add_feature(const pcal_calibrator *calibrator, pc_feature feature,
                           pc_recipe *recipe);

/* Adds the steps of sigmoid(slopes * features + shift) for each column, rescaled to sum to
 * one. */
void pc_recipe_add_logistic(const pcal_calibrator *calibrator, pc_feature feature,
                            double *const slope[2], const double *shift, pc_recipe *recipe);

/* Add the steps of pc_one_vs_rest_apply with a map for each class. */
void pc_recipe_add_bin_maps(const pcal_calibrator *calibrator, const pc_bin_maps *tables,
                            pc_recipe *recipe);
void pc_recipe_add_line_maps(const pcal_calibrator *calibrator, const pc_line_maps *lines,
                             pc_recipe *recipe);

#endif
