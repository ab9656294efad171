/* Logistic regression on one number. */
#ifndef PC_SIGMOID_FIT_H
#define PC_SIGMOID_FIT_H

#include <stddef.h>

/* sigma(a x + b) */
typedef struct pc_sigmoid {
  double a, b;
} pc_sigmoid;

double pc_sigmoid_at(const pc_sigmoid *sigmoid, double x);

/* log p - log(1 - p), with p kept 1e-12 away from 0 and 1. */
double pc_sigmoid_logit(double p);

/* Fits a sigmoid to `weight` rows at each x, of which `hits` came true: minimises the cross
 * entropy to Platt's targets, (N+ + 1) / (N+ + 2) for hits and 1 / (N- + 2) for misses.  The
 * result is always finite; if all x are equal, a is 0.  The gradient of the mean ends below
 * 1e-10, or where rounding stops it. */
pc_sigmoid pc_sigmoid_fit(const double *x, const double *weight, const double *hits,
                          size_t count);

#endif
