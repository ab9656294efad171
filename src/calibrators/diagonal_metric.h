/* An approximate inverse of the Hessian of diagonal_pass.h: a block of 2 x 2 for w and b of
 * each class. */
#ifndef PC_DIAGONAL_METRIC_H
#define PC_DIAGONAL_METRIC_H

#include "core/memory.h"

typedef struct pc_diagonal_metric {
  size_t classes;
  double *blocks; /* for each class bb, wb and ww of the inverse */
} pc_diagonal_metric;

PC_CHECKED pcal_status pc_diagonal_metric_new(const pcal_env *env, size_t classes,
                                              pc_diagonal_metric *out, pcal_error *err);
void pc_diagonal_metric_free(const pcal_env *env, pc_diagonal_metric *metric);

/* spread: for each class the means of p (1 - p) times 1, x and x^2. */
void pc_diagonal_metric_set(pc_diagonal_metric *metric, const double *spread);

/* Multiplies parameters, w and then b, by the approximate inverse, in place. */
void pc_diagonal_metric_apply(const pc_diagonal_metric *metric, double *parameters);

#endif
