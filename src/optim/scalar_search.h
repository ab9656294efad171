/* Minimises a smooth function of one positive number. */
#ifndef PC_SCALAR_SEARCH_H
#define PC_SCALAR_SEARCH_H

#include "base/error.h"

#define PC_SCALAR_DERIVATIVES 6

/* Value and derivatives at a point. */
typedef struct pc_scalar_derivatives {
  double value;
  double slope[PC_SCALAR_DERIVATIVES];
} pc_scalar_derivatives;

typedef struct pc_scalar_problem {
  pcal_status (*evaluate)(void *user, double at, pc_scalar_derivatives *out, pcal_error *err);
  void *user;
  double low, high; /* bounds, 0 < low < high */
  int orders;       /* derivatives that evaluate sets: 2 or 6 */
  unsigned limit;   /* most evaluations */
  int rough;        /* with six derivatives: stop once x is known to a relative error of 1e-3 */
} pc_scalar_problem;

typedef enum pc_scalar_end {
  PC_SEARCH_FLAT = 1, /* the derivative by log x is below 1e-8, mostly below 1e-12 */
  PC_SEARCH_BOUND,    /* the minimum lies beyond a bound; the result is that bound */
  PC_SEARCH_STUCK     /* the limit was reached, or no step changes x any more */
} pc_scalar_end;

typedef struct pc_scalar_result {
  double at;
  pc_scalar_derivatives slopes; /* at `at` */
  double gradient;              /* size of the derivative by log x at `at`, or a bound of it */
  unsigned evaluations;         /* calls of evaluate */
  pc_scalar_end end;
} pc_scalar_result;

/* Descends from `start`; `known`: the derivatives there, or NULL.  Finds the minimum of a
 * convex function, a local minimum of another.  Fails only if evaluate fails. */
PC_CHECKED pcal_status pc_scalar_search(const pc_scalar_problem *problem, double start,
                                        const pc_scalar_derivatives *known,
                                        pc_scalar_result *out, pcal_error *err);

#endif
