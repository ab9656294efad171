/* Functions with known minima, shared by the tests of searches. */
#ifndef OPTIM_HELP_H
#define OPTIM_HELP_H

#include "../unit.h"
#include "optim/optim_limits.h"

/* sum_i c_i (x_i - i)^2 / 2 with c_i = 10^(i mod 4): a minimum of 0 at x_i = i. */
static inline double bowl(const double *x, size_t count, double *gradient, double *hessian) {
  double value = 0.0;
  for (size_t i = 0; i < count; i++) {
    const double curvature = pow(10.0, (double)(i % 4)), gap = x[i] - (double)i;
    value += 0.5 * curvature * gap * gap;
    gradient[i] = curvature * gap;
    for (size_t j = 0; hessian != NULL && j < count; j++)
      hessian[i * count + j] = i == j ? curvature : 0.0;
  }
  return value;
}

/* Rosenbrock's valley, a minimum of 0 at (1, 1). */
static inline double valley(const double *x, double *gradient, double *hessian) {
  const double a = 1.0 - x[0], b = x[1] - x[0] * x[0];
  gradient[0] = -2.0 * a - 400.0 * x[0] * b;
  gradient[1] = 200.0 * b;
  if (hessian != NULL) {
    hessian[0] = 2.0 - 400.0 * b + 800.0 * x[0] * x[0];
    hessian[1] = hessian[2] = -400.0 * x[0];
    hessian[3] = 200.0;
  }
  return a * a + 100.0 * b * b;
}

/* exp(-x): no minimum, the infimum is 0. */
static inline double slide(const double *x, double *gradient, double *hessian) {
  gradient[0] = -exp(-x[0]);
  if (hessian != NULL)
    hessian[0] = exp(-x[0]);
  return exp(-x[0]);
}

#endif
