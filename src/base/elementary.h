/* Elementary functions with the same bits on every processor and system.
 *
 * The functions of C libraries differ in the last digit, some of them between processors;
 * results and calibrator files must not.  Functions that are exact or correctly rounded (sqrt,
 * floor, fma, ldexp, fmod, round ...) still come from the C library.
 *
 * Errors in ulp: 0.51 exp, exp2, log, log2, log10, pow; 0.8 log1p, cbrt; 1 expm1, hypot, sin,
 * erf; 2 erfc.  Special values follow C, Annex F.  errno is not set. */
#ifndef PC_ELEMENTARY_H
#define PC_ELEMENTARY_H

double pc_exp(double x);
double pc_exp2(double x);
double pc_expm1(double x);
double pc_log(double x);
double pc_log1p(double x);
double pc_log2(double x);
double pc_log10(double x);
double pc_pow(double x, double y);
double pc_cbrt(double x);
double pc_hypot(double x, double y);
double pc_sin(double x); /* |x| <= 1e5 */
double pc_erf(double x);
double pc_erfc(double x);

/* exp(high + low); |low| is at most one ulp of high. */
double pc_exp_of_sum(double high, double low);

/* Returns high such that x y = high + *low exactly, barring overflow and underflow. */
double pc_product(double x, double y, double *low);

#endif
