/* The quantile: Wichura, AS 241 (PPND16), Applied Statistics 37, 1988. */
#include "base/normal.h"

#include <math.h>

#include "base/elementary.h"

#define NORMAL_ROOT_HALF 0.70710678118654752440
#define NORMAL_ROOT_2PI 2.50662827463100050242

double pc_normal_cdf(double z) {
  return 0.5 * pc_erfc(-z * NORMAL_ROOT_HALF);
}

double pc_normal_density(double z) {
  return pc_exp(-0.5 * z * z) / NORMAL_ROOT_2PI;
}

static double normal_polynomial(const double c[8], double x) {
  double sum = c[7];
  for (int i = 6; i >= 0; i--)
    sum = sum * x + c[i];
  return sum;
}

/* Ratios of two polynomials for the middle, |p - 1/2| <= 0.425, and for two parts of the tail
 * in r = sqrt(-log min(p, 1 - p)): r <= 5 and above. */
static const double normal_middle_above[8] = {
    3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
    1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
    3.3430575583588128105e+4, 2.5090809287301226727e+3};
static const double normal_middle_below[8] = {1.0,
                                              4.2313330701600911252e+1,
                                              6.8718700749205790830e+2,
                                              5.3941960214247511077e+3,
                                              2.1213794301586595867e+4,
                                              3.9307895800092710610e+4,
                                              2.8729085735721942674e+4,
                                              5.2264952788528545610e+3};
static const double normal_tail_above[8] = {
    1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
    3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
    2.27238449892691845833e-2, 7.74545014278341407640e-4};
static const double normal_tail_below[8] = {1.0,
                                            2.05319162663775882187e0,
                                            1.67638483018380384940e0,
                                            6.89767334985100004550e-1,
                                            1.48103976427480074590e-1,
                                            1.51986665636164571966e-2,
                                            5.47593808499534494600e-4,
                                            1.05075007164441684324e-9};
static const double normal_far_above[8] = {
    6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
    2.71155556874348757815e-5, 2.01033439929228813265e-7};
static const double normal_far_below[8] = {1.0,
                                           5.99832206555887937690e-1,
                                           1.36929880922735805310e-1,
                                           1.48753612908506148525e-2,
                                           7.86869131145613259100e-4,
                                           1.84631831751005468180e-5,
                                           1.42151175831644588870e-7,
                                           2.04426310338993978564e-15};

double pc_normal_quantile(double p) {
  const double q = p - 0.5;
  if (fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * normal_polynomial(normal_middle_above, r) /
           normal_polynomial(normal_middle_below, r);
  }
  const double tail = q < 0 ? p : 1.0 - p;
  if (!(tail > 0))
    return tail == 0 ? copysign(INFINITY, q) : NAN;
  double r = sqrt(-pc_log(tail));
  double size;
  if (r <= 5.0) {
    r -= 1.6;
    size = normal_polynomial(normal_tail_above, r) / normal_polynomial(normal_tail_below, r);
  } else {
    r -= 5.0;
    size = normal_polynomial(normal_far_above, r) / normal_polynomial(normal_far_below, r);
  }
  return q < 0 ? -size : size;
}
