/* Formulas:
 *   chi-square, even degrees:  Q(x) = exp(-x/2) sum_{j < d/2} (x/2)^j / j!
 *   odd degrees:               Q(x) = erfc(sqrt(x/2)) + exp(-x/2) sum_{j < (d-1)/2}
 *                                     (x/2)^(j + 1/2) / Gamma(j + 3/2)
 *   max |W|, large x:          4 sum_{k >= 0} (-1)^k T((2k+1) x),  T the normal tail
 *            small x:          1 - 4/pi sum_{k >= 0} (-1)^k / (2k+1)
 *                                  exp(-(2k+1)^2 pi^2 / (8 x^2))
 *   range of W:                8 sum_{k >= 1} (-1)^(k-1) k T(k x)
 *   skewed sum, skewness g:    r + log(u / r) / r,  x = 1 + g z,  u = sqrt(x) log(x) / g,
 *                              r = sign(z) sqrt(2 (x log x - x + 1)) / |g|
 * Edge cases:
 * (1) x <= 0 gives 1;
 * (2) below 0.05 the range series would need hundreds of terms, and the probability of a
 *     smaller range is below exp(-1900): 1;
 * (3) a NaN stays NaN;
 * (4) results are kept inside [0, 1];
 * (5) skewed sum: |g z| < 1e-4 gives z - g (z^2 - 1) / 6; |r| < 0.05 gives r; beyond the end of
 *     the Poisson distribution (1 + g z <= 0) the deviate at that end, sqrt(2) / |g|.
 * Source: Feller, Annals of Mathematical Statistics 1951 (range); Billingsley, Convergence of
 * Probability Measures, section 11 (maximum); Holm, Scandinavian Journal of Statistics 1979;
 * Barndorff-Nielsen, Biometrika 1986 (r with its correction).
 * Accuracy: 1e-13 absolute; chi-square 1e-12 relative; skewed sums are an approximation.
 * Cost: some tens of terms. */
#include "stats/distributions.h"

#include <math.h>

#include "base/elementary.h"

#define DISTRIBUTIONS_PI 3.14159265358979323846
#define DISTRIBUTIONS_ROOT_HALF 0.70710678118654752440
#define DISTRIBUTIONS_TERMS 400

static double distributions_clamp(double p) {
  return p < 0.0 ? 0.0 : p > 1.0 ? 1.0 : p;
}

double pc_normal_tail(double z) {
  return 0.5 * pc_erfc(z * DISTRIBUTIONS_ROOT_HALF);
}

double pc_skewed_deviate(double z, double skewness) {
  if (fabs(skewness * z) < 1e-4)
    return z - skewness * (z * z - 1.0) / 6.0;
  const double x = 1.0 + skewness * z;
  const double side = z < 0.0 ? -1.0 : 1.0;
  if (!(x > 0.0))
    return side * sqrt(2.0) / fabs(skewness);
  const double r = side * sqrt(2.0 * fmax(x * pc_log(x) - x + 1.0, 0.0)) / fabs(skewness);
  if (fabs(r) < 0.05)
    return r;
  return r + pc_log(sqrt(x) * pc_log(x) / skewness / r) / r;
}

double pc_chi_square_tail(double x, size_t degrees) {
  if (isnan(x) || x <= 0.0)
    return isnan(x) ? x : 1.0;
  const double half = 0.5 * x;
  const int odd = degrees % 2 == 1;
  double tail = odd ? pc_erfc(sqrt(half)) : 0.0;
  double log_term = odd ? 0.5 * pc_log(half) - pc_log(0.5 * sqrt(DISTRIBUTIONS_PI)) : 0.0;
  for (size_t j = 0; j < (degrees - (size_t)odd) / 2; j++) {
    tail += pc_exp(log_term - half);
    log_term += pc_log(half) - pc_log((double)j + (odd ? 1.5 : 1.0));
  }
  return distributions_clamp(tail);
}

static double distributions_maximum_large(double x) {
  double tail = 0.0;
  for (int k = 0; k < DISTRIBUTIONS_TERMS; k++) {
    const double term = 4.0 * pc_normal_tail((2 * k + 1) * x);
    tail += k % 2 == 0 ? term : -term;
    if (term < 1e-300 || term < 1e-17 * tail)
      break;
  }
  return tail;
}

static double distributions_maximum_small(double x) {
  const double rate = DISTRIBUTIONS_PI * DISTRIBUTIONS_PI / (8.0 * x * x);
  double inside = 0.0;
  for (int k = 0; k < DISTRIBUTIONS_TERMS; k++) {
    const double odd = 2 * k + 1;
    const double term = 4.0 / DISTRIBUTIONS_PI / odd * pc_exp(-odd * odd * rate);
    inside += k % 2 == 0 ? term : -term;
    if (term < 1e-18)
      break;
  }
  return 1.0 - inside;
}

double pc_brownian_maximum_tail(double x) {
  if (isnan(x) || x <= 0.0)
    return isnan(x) ? x : 1.0;
  return distributions_clamp(x > 1.0 ? distributions_maximum_large(x)
                                     : distributions_maximum_small(x));
}

double pc_brownian_range_tail(double x) {
  if (isnan(x) || x <= 0.05)
    return isnan(x) ? x : 1.0;
  double tail = 0.0;
  for (int k = 1; k < DISTRIBUTIONS_TERMS; k++) {
    const double term = 8.0 * k * pc_normal_tail(k * x);
    tail += k % 2 == 1 ? term : -term;
    if (term < 1e-300 || term < 1e-17)
      break;
  }
  return distributions_clamp(tail);
}

double pc_holm_smallest(const double *p_values, size_t count) {
  double smallest = (double)NAN;
  size_t made = 0;
  for (size_t i = 0; i < count; i++) {
    if (isnan(p_values[i]))
      continue;
    made++;
    smallest = made == 1 || p_values[i] < smallest ? p_values[i] : smallest;
  }
  return made == 0 ? smallest : distributions_clamp((double)made * smallest);
}
