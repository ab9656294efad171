/* Quadratic programs with few variables and any number of linear constraints. */
#ifndef PC_ACTIVE_SET_H
#define PC_ACTIVE_SET_H

#include "base/memory.h"

/* Minimise x' H x / 2 - f' x subject to a' x >= b for all constraints. */
typedef struct pc_quadratic_program {
  size_t n;
  const double *inverse; /* of H, n x n, symmetric and positive definite */
  const double *f;
  /* Finds the constraint that x violates most: fills a and b and returns b - a' x, or 0 if none
   * is violated. */
  double (*worst)(void *user, const double *x, double *a, double *b);
  void *user;
  double tolerance; /* violations up to this count as none */
} pc_quadratic_program;

typedef struct pc_quadratic_program_result {
  int solved;        /* 0: stopped, because no step was possible or too many were needed */
  size_t iterations; /* constraints added */
  size_t active;     /* active constraints */
  double violation;  /* at the result */
} pc_quadratic_program_result;

/* Fills x, n numbers.  The constraints must have a common solution. */
PC_CHECKED pcal_status pc_quadratic_program_solve(const pcal_env *env,
                                                  const pc_quadratic_program *problem,
                                                  double *x, pc_quadratic_program_result *out,
                                                  pcal_error *err);

#endif
