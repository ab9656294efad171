/* Damped Newton's method for a smooth function of a few variables with lower bounds.
 *
 * The caller evaluates the function: while `end` is PC_OPTIM_RUNNING, evaluate at `at` and
 * update.
 *
 *     pc_newton_new(env, count, start, NULL, &limits, &newton, err);
 *     while (newton.end == PC_OPTIM_RUNNING) {
 *       evaluate(newton.at, &value, gradient, newton.wants_hessian ? hessian : NULL);
 *       pc_newton_update(&newton, value, gradient, newton.wants_hessian ? hessian : NULL);
 *     }
 *
 * Several searches can therefore share one pass over the data. */
#ifndef PC_NEWTON_H
#define PC_NEWTON_H

#include "base/memory.h"
#include "optim/optim_limits.h"

typedef struct pc_newton {
  const pcal_env *env;
  size_t count;
  pc_optim_limits limits;
  int frugal;          /* reuse an old Hessian as long as the gradient falls fast enough
                          (newton.c); set before the first update */
  const double *lower; /* lower bounds, -INFINITY for none; or NULL */

  pc_optim_end end;
  int wants_hessian;    /* for the evaluation at `at` */
  double *at;           /* where to evaluate next */
  double *best;         /* the best point so far; the result at the end */
  double value;         /* at best */
  double gradient;      /* largest entry at best, over the free coordinates */
  unsigned evaluations; /* updates so far */

  double *slope, *step, *hessian, *factor; /* at best; the full step */
  double *scale;                           /* of the free coordinates */
  size_t *free;                            /* coordinates not held by a bound */
  size_t free_count;
  double length;           /* fraction of the step that `at` takes */
  double predicted_change; /* predicted change of the value for the full step: slope^T step */
  double smallest;         /* smallest gradient so far */
  int known;               /* there is a best point */
  int stalled;             /* consecutive evaluations at which the gradient did not halve */
} pc_newton;

/* start must satisfy the bounds; lower must outlive the search. */
PC_CHECKED pcal_status pc_newton_new(const pcal_env *env, size_t count, const double *start,
                                     const double *lower, const pc_optim_limits *limits,
                                     pc_newton *out, pcal_error *err);
void pc_newton_free(pc_newton *newton); /* a zeroed struct is allowed */

/* Gives the search the value at `at` (infinite or NaN: outside the domain), the gradient, and
 * the Hessian (count x count, upper triangle; NULL: not evaluated). */
void pc_newton_update(pc_newton *newton, double value, const double *gradient,
                      const double *hessian);

/* Restarts from the best point and keeps the Hessian: for a function that has changed a
 * little. */
void pc_newton_restart(pc_newton *newton);

#endif
