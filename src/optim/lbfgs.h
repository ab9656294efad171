/* L-BFGS for a smooth function of many variables, with an optional preconditioner.
 * Called like newton.h:
 *
 *     pc_lbfgs_new(env, count, start, &limits, &lbfgs, err);
 *     while (lbfgs.end == PC_OPTIM_RUNNING) {
 *       evaluate(lbfgs.at, &value, gradient);
 *       pc_lbfgs_update(&lbfgs, value, gradient);
 *     } */
#ifndef PC_LBFGS_H
#define PC_LBFGS_H

#include "base/memory.h"
#include "optim/optim_limits.h"

#define PC_LBFGS_PAIRS 12

typedef struct pc_lbfgs {
  const pcal_env *env;
  size_t count;
  pc_optim_limits limits;
  /* Multiplies a vector in place by a positive definite approximation of the inverse Hessian;
   * NULL: the identity. */
  void (*precondition)(void *user, double *vector);
  void *user;

  pc_optim_end end;
  double *at, *best;    /* where to evaluate next; the best point so far */
  double value;         /* at best */
  double gradient;      /* largest entry at best */
  unsigned evaluations; /* updates so far */
  unsigned steps;       /* accepted steps */

  double *slope, *step;
  double *point_differences;    /* between successive points, PC_LBFGS_PAIRS */
  double *gradient_differences; /* between their gradients, as many */
  double inner[PC_LBFGS_PAIRS];
  size_t pairs, newest;
  double length, low, high; /* line search: current step length; largest length known to be too
                               short; smallest known to be too long */
  double predicted_change, smallest;
  int known, stalled;
} pc_lbfgs;

PC_CHECKED pcal_status pc_lbfgs_new(const pcal_env *env, size_t count, const double *start,
                                    const pc_optim_limits *limits, pc_lbfgs *out,
                                    pcal_error *err);
void pc_lbfgs_free(pc_lbfgs *lbfgs); /* a zeroed struct is allowed */

void pc_lbfgs_update(pc_lbfgs *lbfgs, double value, const double *gradient);

/* Restarts from the best point: for a preconditioner or function that has changed. */
void pc_lbfgs_restart(pc_lbfgs *lbfgs);

#endif
