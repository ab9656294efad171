/* Every metric after every method on every model: methods are fitted to rows that they are not
 * judged on. */
#ifndef PC_METHOD_GRID_H
#define PC_METHOD_GRID_H

#include "studies/study.h"

#define PC_METHOD_GRID_METHODS 32
#define PC_METHOD_GRID_FOLDS 5

typedef struct pc_method_grid {
  const pcal_env *env;
  const pcal_model *models;
  size_t model_count, method_count, spec_count;
  const char *methods[PC_METHOD_GRID_METHODS];
  size_t rows;    /* of the first model */
  double *values; /* model by model, method by method, metric by metric; NaN: there is none */
} pc_method_grid;

/* own: the study's methods, in place of which the user's are taken where there are some.  as_is
 * adds `identity` behind them.  A method of the study's own that does not suit the data is left
 * out, which the summary says.  Free it in any case; a zeroed one is fine. */
PC_CHECKED pcal_status pc_method_grid_run(const pc_study_job *job, const char *const *own,
                                          size_t own_count, int as_is, const char *const *specs,
                                          size_t spec_count, pc_method_grid *out,
                                          pc_findings *findings, pcal_error *err);
void pc_method_grid_free(pc_method_grid *grid);

double pc_method_grid_value(const pc_method_grid *grid, size_t model, size_t method,
                            size_t spec);

/* Values of the first `methods` methods under one metric, and their ranks. */
void pc_method_grid_ranks(const pc_method_grid *grid, size_t model, size_t methods, size_t spec,
                          double ranks[PC_METHOD_GRID_METHODS]);

/* "fitted to a second set", "in 5-fold cross-validation". */
const char *pc_method_grid_fitted(const pc_method_grid *grid);

/* The eight methods of Nixon et al., Table 5. */
#define PC_NIXON_METHODS 8
extern const char *const pc_nixon_methods[PC_NIXON_METHODS];

#endif
