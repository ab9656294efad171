/* The minimum of a smooth function of one positive number. */
#ifndef PC_SCALAR_SEARCH_H
#define PC_SCALAR_SEARCH_H

#include "base/error.h"

#define PC_SCALAR_DERIVATIVES 6

/* Value and derivatives at a place. */
typedef struct pc_scalar_derivatives {
  double value;
  double slope[PC_SCALAR_DERIVATIVES];
} pc_scalar_derivatives;

typedef struct pc_scalar_problem {
  pcal_status (*evaluate)(void *user, double at, pc_scalar_derivatives *out, pcal_error *err);
  void *user;
  double low, high; /* bounds, 0 < low < high */
  int orders;       /* derivatives that are given: 2 or 6 */
  unsigned limit;   /* evaluations at most */
  int rough;        /* six derivatives need tell the minimum to a thousandth of x only */
} pc_scalar_problem;

typedef enum pc_scalar_end {
  PC_SEARCH_FLAT = 1, /* the derivative by log x is below 1e-8, mostly below 1e-12 */
  PC_SEARCH_BOUND,    /* at a bound, and the function falls beyond it */
  PC_SEARCH_STUCK     /* the limit was reached, or no step changes x any more */
} pc_scalar_end;

typedef struct pc_scalar_result {
  double at;
  pc_scalar_derivatives slopes; /* there */
  double gradient;              /* size of the derivative by log x there, or a bound of it */
  unsigned evaluations;         /* without a known start */
  pc_scalar_end end;
} pc_scalar_result;

/* Walks downhill from a start, where the slopes may be known already (or NULL).  Convex
 * functions are minimised; others end in a local minimum.  Fails only when evaluate does. */
PC_CHECKED pcal_status pc_scalar_search(const pc_scalar_problem *problem, double start,
                                        const pc_scalar_derivatives *known,
                                        pc_scalar_result *out, pcal_error *err);

#endif
