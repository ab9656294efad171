/* Tail probabilities of the distributions used by tests and intervals: the probability of a
 * value at least as large. */
#ifndef PC_DISTRIBUTIONS_H
#define PC_DISTRIBUTIONS_H

#include <stddef.h>

/* Standard normal; its quantile is in base/normal.h. */
double pc_normal_tail(double z);

/* Converts a standardised sum z with this skewness to a standard normal deviate with the same
 * tail probability.  The tail is that of a shifted and scaled Poisson distribution, by
 * saddlepoint approximation.  Used for the smallest of many p-values: in the far tail a sum of
 * few outcomes is not normal. */
double pc_skewed_deviate(double z, double skewness);

/* Chi-square with a whole number of degrees of freedom, at least 1. */
double pc_chi_square_tail(double x, size_t degrees);

/* Brownian motion W on [0, 1]: max |W|, and the range max W - min W. */
double pc_brownian_maximum_tail(double x);
double pc_brownian_range_tail(double x);

/* The smallest of `count` p-values after Holm's correction.  NaN entries are tests without a
 * result; NaN if all are. */
double pc_holm_smallest(const double *p_values, size_t count);

#endif
