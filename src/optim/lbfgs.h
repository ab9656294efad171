/* L-BFGS for a smooth function of many numbers, in a metric that the caller knows.
 *
 * The search asks and the caller tells, as in newton.h:
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
  /* Multiplies by a positive definite approximation of the inverse Hessian, in place; NULL:
   * leaves the vector as it is. */
  void (*metric)(void *user, double *vector);
  void *user;

  pc_optim_end end;
  double *at, *best;    /* where to evaluate next; the best place so far */
  double value;         /* there */
  double gradient;      /* largest entry there */
  unsigned evaluations; /* told */
  unsigned steps;       /* accepted */

  double *slope, *step;
  double *moves, *turns; /* differences of places and of gradients, PC_LBFGS_PAIRS each */
  double inner[PC_LBFGS_PAIRS];
  size_t pairs, newest;
  double length, low, high; /* of the line search: tried, too short, too long */
  double promise, smallest;
  int known, steady;
} pc_lbfgs;

PC_CHECKED pcal_status pc_lbfgs_new(const pcal_env *env, size_t count, const double *start,
                                    const pc_optim_limits *limits, pc_lbfgs *out,
                                    pcal_error *err);
void pc_lbfgs_free(pc_lbfgs *lbfgs); /* a zeroed one is fine */

void pc_lbfgs_update(pc_lbfgs *lbfgs, double value, const double *gradient);

/* Starts again from the best place: for a metric or a function that changed. */
void pc_lbfgs_restart(pc_lbfgs *lbfgs);

#endif
