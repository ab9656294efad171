/* Exponentials, logarithms and their relatives with the same bits on every processor and every
 * system.  C libraries differ in the last digit, and some choose other instructions on other
 * processors; results and calibrator files must not.  What is exact anyway (sqrt, floor, fma,
 * ldexp, fmod, round ...) comes from the C library.
 *
 * Accuracy, in units of the last digit: 0.51 exp, exp2, log, log2, log10, pow; 0.8 log1p, cbrt;
 * 1 expm1, hypot, sin, erf; 2 erfc.  Special values are those of C (Annex F); there is no
 * errno. */
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

/* exp(high + low), |low| below the last digit of high. */
double pc_exp_of_sum(double high, double low);

/* x y = high + *low exactly, barring overflow and underflow. */
double pc_product(double x, double y, double *low);

#endif
