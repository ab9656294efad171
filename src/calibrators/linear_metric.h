/* An approximate inverse of the Hessian of linear_pass.h for diagonal maps with many classes: a
 * block of 2 x 2 for w and b of each class. */
#ifndef PC_LINEAR_METRIC_H
#define PC_LINEAR_METRIC_H

#include "calibrators/linear_pass.h"

typedef struct pc_linear_metric {
  size_t classes;
  double *blocks; /* for each class bb, wb and ww of the inverse */
} pc_linear_metric;

PC_CHECKED pcal_status pc_linear_metric_new(const pc_linear_pass *pass, pc_linear_metric *out,
                                            pcal_error *err);
void pc_linear_metric_free(const pcal_env *env, pc_linear_metric *metric);

/* Takes what a pass for PC_LINEAR_METRIC found. */
void pc_linear_metric_set(pc_linear_metric *metric, const pc_linear_pass *pass);

/* Multiplies parameters by the approximate inverse, in place; user: a pc_linear_metric. */
void pc_linear_metric_apply(void *user, double *parameters);

#endif
