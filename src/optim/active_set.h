/* Quadratic programs with few unknowns and any number of linear constraints. */
#ifndef PC_ACTIVE_SET_H
#define PC_ACTIVE_SET_H

#include "base/memory.h"

/* Minimises x' H x / 2 - f' x subject to a' x >= b for all constraints. */
typedef struct pc_quadratic_program {
  size_t n;
  const double *inverse; /* of H, n x n, symmetric and positive definite */
  const double *f;
  /* Finds the constraint that x violates most: fills a and b, and gives b - a' x, or 0 when
   * none is violated. */
  double (*worst)(void *user, const double *x, double *a, double *b);
  void *user;
  double tolerance; /* violations up to this are none */
} pc_quadratic_program;

typedef struct pc_quadratic_program_result {
  int solved;        /* else it was stopped: no step led on, or too many were needed */
  size_t iterations; /* constraints looked at */
  size_t active;     /* constraints that hold with equality */
  double violation;  /* at the result */
} pc_quadratic_program_result;

/* x: n numbers.  There must be a point that meets all constraints. */
PC_CHECKED pcal_status pc_quadratic_program_solve(const pcal_env *env,
                                                  const pc_quadratic_program *problem,
                                                  double *x, pc_quadratic_program_result *out,
                                                  pcal_error *err);

#endif
