/* Damped Newton steps for a smooth function of a few numbers, with lower bounds.
 *
 * The search asks and the caller tells: while `end` is 0, evaluate at `at` and tell.
 *
 *     pc_newton_new(env, count, start, NULL, &limits, &newton, err);
 *     while (newton.end == PC_OPTIM_RUNNING) {
 *       evaluate(newton.at, &value, gradient, newton.wants_hessian ? hessian : NULL);
 *       pc_newton_update(&newton, value, gradient, newton.wants_hessian ? hessian : NULL);
 *     }
 *
 * So several searches can share one pass over the data. */
#ifndef PC_NEWTON_H
#define PC_NEWTON_H

#include "base/memory.h"
#include "optim/optim_limits.h"

typedef struct pc_newton {
  const pcal_env *env;
  size_t count;
  pc_optim_limits limits;
  int frugal; /* old Hessians are used as long as they serve; set it before the first tell */
  const double *lower; /* bounds, -INFINITY where there is none; or NULL */

  pc_optim_end end;
  int wants_hessian;    /* for the evaluation at `at` */
  double *at;           /* where to evaluate next */
  double *best;         /* the best place so far, the result at the end */
  double value;         /* there */
  double gradient;      /* largest entry there, of what the bounds leave free */
  unsigned evaluations; /* told */

  double *slope, *step, *hessian, *factor; /* at best; step before it was shortened */
  double *scale;                           /* of the free coordinates */
  size_t *free;                            /* coordinates that a bound does not hold */
  size_t free_count;
  double length;   /* share of the step that `at` takes */
  double promise;  /* slope times step */
  double smallest; /* gradient so far */
  int known;       /* there is a best place; a Hessian */
  int steady;      /* evaluations at which the gradient did not fall by half */
} pc_newton;

/* start must respect the bounds; lower must live as long as the search. */
PC_CHECKED pcal_status pc_newton_new(const pcal_env *env, size_t count, const double *start,
                                     const double *lower, const pc_optim_limits *limits,
                                     pc_newton *out, pcal_error *err);
void pc_newton_free(pc_newton *newton); /* a zeroed one is fine */

/* Value (infinite or NaN: not allowed there), gradient and Hessian (count x count; the upper
 * triangle counts; NULL: not evaluated) at `at`. */
void pc_newton_update(pc_newton *newton, double value, const double *gradient,
                      const double *hessian);

/* Starts again from the best place, keeping the Hessian: for a function that changed a little.
 */
void pc_newton_restart(pc_newton *newton);

#endif
