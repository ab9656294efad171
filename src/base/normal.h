/* The standard normal distribution. */
#ifndef PC_NORMAL_H
#define PC_NORMAL_H

double pc_normal_cdf(double z);
double pc_normal_density(double z);

/* Inverse of the CDF, with a relative error of a few 1e-16; -inf at 0, inf at 1, NaN outside. */
double pc_normal_quantile(double p);

#endif
