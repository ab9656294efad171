/* Every metric after every method on every model, on rows that the methods were not fitted to. */
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
  double *values; /* model by model, method by method, metric by metric; NaN: undefined */
} pc_method_grid;

/* own: methods of the study, used where the user gives none.  as_is: adds `identity` as the last
 * method.  A method of the study that does not suit the data is left out, with a sentence in the
 * summary.  The grid is freed with the study. */
PC_CHECKED pcal_status pc_method_grid_run(const pc_study_job *job, const char *const *own,
                                          size_t own_count, int as_is, const char *const *specs,
                                          size_t spec_count, pc_method_grid *out,
                                          pc_findings *findings, pcal_error *err);

double pc_method_grid_value(const pc_method_grid *grid, size_t model, size_t method,
                            size_t spec);

/* Ranks of the first `methods` methods by one metric. */
void pc_method_grid_ranks(const pc_method_grid *grid, size_t model, size_t methods, size_t spec,
                          double ranks[PC_METHOD_GRID_METHODS]);

/* "fitted to the second set" or "in 5-fold cross-validation". */
const char *pc_method_grid_fitted(const pc_method_grid *grid);

/* The eight methods of Nixon et al., Table 5. */
#define PC_NIXON_METHODS 8
extern const char *const pc_nixon_methods[PC_NIXON_METHODS];

#endif
