/* An approximate inverse of the Hessian of vector scaling: a 2 x 2 block for w and b of each
 * class. */
#ifndef PC_VECTOR_PRECONDITIONER_H
#define PC_VECTOR_PRECONDITIONER_H

#include "base/memory.h"

typedef struct pc_vector_preconditioner {
  size_t classes;
  double *blocks; /* for each class: bb, wb and ww of the inverse */
} pc_vector_preconditioner;

PC_CHECKED pcal_status pc_vector_preconditioner_new(const pcal_env *env, size_t classes,
                                                    pc_vector_preconditioner *out,
                                                    pcal_error *err);

/* class_variances: for each class, the means of p (1 - p) times 1, x and x^2. */
void pc_vector_preconditioner_set(pc_vector_preconditioner *preconditioner,
                                  const double *class_variances);

/* Multiplies parameters (w, then b) by the approximate inverse, in place. */
void pc_vector_preconditioner_apply(const pc_vector_preconditioner *preconditioner,
                                    double *parameters);

#endif
