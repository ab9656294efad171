/* Truncated Newton's method for a smooth function of many variables: each step is solved
 * approximately by conjugate gradients, with Hessian-vector products. */
#ifndef PC_TRUNCATED_NEWTON_H
#define PC_TRUNCATED_NEWTON_H

#include "base/memory.h"
#include "optim/optim_limits.h"

typedef struct pc_truncated_newton_problem {
  size_t count;
  void *user;
  pcal_status (*evaluate)(void *user, const double *at, double *value, double *gradient,
                          pcal_error *err);
  /* Sets the point at which the following products use the Hessian. */
  pcal_status (*set_point)(void *user, const double *at, pcal_error *err);
  /* out = H v, H positive semidefinite; may be approximate. */
  pcal_status (*multiply)(void *user, const double *v, double *out, pcal_error *err);
  /* Multiplies v in place by a positive definite approximation of the inverse of H. */
  void (*precondition)(void *user, double *v);
} pc_truncated_newton_problem;

typedef struct pc_truncated_newton_result {
  double value, gradient; /* at the result; gradient: its largest entry */
  unsigned evaluations, products;
  pc_optim_end end;
} pc_truncated_newton_result;

/* Minimises from `at`, which becomes the result.  Fails only if a callback fails or memory runs
 * out. */
PC_CHECKED pcal_status pc_truncated_newton(const pcal_env *env,
                                           const pc_truncated_newton_problem *problem,
                                           const pc_optim_limits *limits, double *at,
                                           pc_truncated_newton_result *out, pcal_error *err);

#endif
