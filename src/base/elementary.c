/* Formulas
 *   exp(x) = 2^e 2^(j/64) exp(r),  64 e + j = round(64 x / ln 2),  |r| <= ln 2 / 128 in two
 *            parts; exp(r) - 1 by its series to r^6.
 *   log(x) = k ln 2 + log c + log(1 + r),  x = 2^k m,  m in [11/16, 11/8),  1/c from a table of
 *            128 values of ten bits, exactly 1 for m near 1, so that r = m/c - 1 is exact as a
 *            sum of two doubles; |r| <= 1/128 and its series to r^9.  log c and ln 2 are each
 *            stored as a multiple of 2^-42 plus a remainder, so that adding the multiples is
 *            exact.
 *   pow, log2, log10 use log(x) in two parts; log1p(x) is the logarithm of 1 + x in two parts.
 * Sums of two parts follow Dekker and Knuth.
 * Edge cases:
 *  1. exp(NaN) and logarithms of negative numbers are NaN.
 *  2. subnormal arguments are scaled first.
 *  3. results below 2^-1022 are rounded twice. */
#include "base/elementary.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elementary_log.h"

#define ELEMENTARY_WHOLE 0x1.8p52 /* a sum with this is rounded to a whole number */

static inline elementary_pair elementary_sum(double a, double b) {
  const double high = a + b, part = high - a;
  return (elementary_pair){high, (a - (high - part)) + (b - part)};
}

double pc_product(double x, double y, double *low) {
  const double high = x * y, a = elementary_upper(x), b = elementary_upper(y);
  *low = (((a * b - high) + a * (y - b)) + (x - a) * b) + (x - a) * (y - b);
  return high;
}

/* ---- Exponentials ---- */

/* exp(x) = 2^power (whole[0] + whole[1]) (1 + r + rest). */
typedef struct elementary_exp {
  int power;
  const double *whole;
  double r, rest;
} elementary_exp;

static inline elementary_exp elementary_exp_of(double high, double low) {
  const double shifted = high * ELEMENTARY_STEPS + ELEMENTARY_WHOLE;
  const double steps = shifted - ELEMENTARY_WHOLE;
  const int32_t k = (int32_t)steps, j = k & 63;
  const double near = high - steps * ELEMENTARY_STEP_1, second = steps * ELEMENTARY_STEP_2;
  const double most = near - second;
  const elementary_pair r =
      elementary_fast_sum(most, (((near - most) - second) - steps * ELEMENTARY_STEP_3) + low);
  const double h = r.high;
  const double tail =
      h * h * (0.5 + h * (1.0 / 6 + h * (1.0 / 24 + h * (1.0 / 120 + h / 720))));
  return (elementary_exp){(k - j) / 64, elementary_powers[j], h, r.low + tail};
}

static inline double elementary_scale(double x, int power) {
  if (power >= -1020 && power <= 1023)
    return x * pc_double_from_bits((uint64_t)(power + 1023) << 52);
  return ldexp(x, power);
}

double pc_exp_of_sum(double high, double low) {
  if (!(high < 710.0))
    return high >= 710.0 ? INFINITY : high;
  if (high < -746.0)
    return 0.0;
  const elementary_exp e = elementary_exp_of(high, low);
  const double *whole = e.whole;
  return elementary_scale(whole[0] + (whole[1] + whole[0] * (e.r + e.rest)), e.power);
}

double pc_exp(double x) {
  return pc_exp_of_sum(x, 0.0);
}

double pc_exp2(double x) {
  double low;
  if (!(fabs(x) < 1100.0))
    return isnan(x) ? x : x > 0.0 ? INFINITY : 0.0;
  const double high = pc_product(x, ELEMENTARY_LN2, &low);
  return pc_exp_of_sum(high, low + x * ELEMENTARY_LN2_REST);
}

double pc_expm1(double x) {
  if (fabs(x) < 0x1p-54)
    return x;
  if (x < -40.0 || !(x < 709.0))
    return x < -40.0 ? -1.0 : pc_exp(x);
  const elementary_exp e = elementary_exp_of(x, 0.0);
  const elementary_pair most = elementary_sum(elementary_scale(e.whole[0], e.power), -1.0);
  double low;
  const double next = pc_product(elementary_scale(e.whole[0], e.power), e.r, &low);
  const elementary_pair sum = elementary_sum(most.high, next);
  const double rest = elementary_scale(e.whole[1] + e.whole[0] * e.rest, e.power);
  return sum.high + ((sum.low + (most.low + low)) + rest);
}

/* ---- Logarithms ---- */

/* log(x + more) for a positive and finite x, as a sum; more is at most half of the last digit
 * of x. */
static elementary_pair elementary_log(double x, double more) {
  const elementary_split at = elementary_split_of(x);
  const elementary_logs_at log = elementary_look_up(&at);
  const double extra =
      more == 0.0 ? 0.0 : ldexp(more, (int)-at.power) * elementary_logs[at.cell][0];
  const double h = log.r.high, low = log.r.low + extra;
  double square_low;
  const double square = pc_product(h, h, &square_low);
  const double tail = square * h * elementary_log_tail(h);
  const elementary_pair one = elementary_fast_sum(log.most, h);
  const elementary_pair two = elementary_fast_sum(one.high, -0.5 * square);
  const double small = (low - h * low) + (tail - 0.5 * square_low);
  return elementary_fast_sum(two.high, (one.low + two.low) + (log.rest + small));
}

double pc_log(double x) {
  return elementary_log_of(x);
}

double pc_log1p(double x) {
  double odd;
  if (fabs(x) < 0x1p-54)
    return x;
  if (elementary_odd(1.0 + x, &odd))
    return odd;
  const elementary_pair sum = elementary_sum(1.0, x);
  return elementary_log(sum.high, sum.low).high;
}

static double elementary_log_times(double x, double factor, double rest) {
  double odd, low;
  if (elementary_odd(x, &odd))
    return odd;
  const elementary_pair log = elementary_log(x, 0.0);
  const double high = pc_product(log.high, factor, &low);
  return high + (low + (log.high * rest + log.low * factor));
}

double pc_log2(double x) {
  return elementary_log_times(x, ELEMENTARY_LOG2_E, ELEMENTARY_LOG2_E_REST);
}

double pc_log10(double x) {
  return elementary_log_times(x, ELEMENTARY_LOG10_E, ELEMENTARY_LOG10_E_REST);
}

/* ---- Powers and roots ---- */

/* x^y for x > 0, finite or not, and not 1. */
static double elementary_power(double x, double y) {
  double low;
  if (x == INFINITY || isinf(y))
    return (x > 1.0) == (y > 0.0) ? INFINITY : 0.0;
  const elementary_pair log = elementary_log(x, 0.0);
  if (!(fabs(log.high * y) < 800.0))
    return log.high * y > 0.0 ? INFINITY : 0.0;
  const double high = pc_product(log.high, y, &low);
  return pc_exp_of_sum(high, low + log.low * y);
}

double pc_pow(double x, double y) {
  if (y == 0.0 || x == 1.0)
    return 1.0;
  if (y == 2.0)
    return x * x;
  if (isnan(x) || isnan(y))
    return x + y;
  const int whole = y == floor(y), odd = whole && fabs(fmod(y, 2.0)) == 1.0;
  if (x == 0.0) {
    const double size = y > 0.0 ? 0.0 : INFINITY;
    return odd ? copysign(size, x) : size;
  }
  if (x == -1.0 && isinf(y))
    return 1.0;
  if (x < 0.0 && !whole && !isinf(y) && !isinf(x))
    return NAN;
  const double size = x == -1.0 ? 1.0 : elementary_power(fabs(x), y);
  return x < 0.0 && odd ? -size : size;
}

/* Newton's step corrects the last digits. */
double pc_cbrt(double x) {
  double square_low, cube_low;
  if (x == 0.0 || !isfinite(x))
    return x;
  int power;
  const double m = frexp(fabs(x), &power);
  const int third = (power + 3 * 1000) / 3 - 1000;
  const double a = ldexp(m, power - 3 * third), y = pc_exp(pc_log(a) / 3.0);
  const double square = pc_product(y, y, &square_low);
  const double cube = pc_product(square, y, &cube_low);
  const double off = (cube - a) + (cube_low + square_low * y);
  return copysign(ldexp(y - off / (3.0 * square), third), x);
}

double pc_hypot(double x, double y) {
  const double most = fmax(fabs(x), fabs(y));
  if (isinf(x) || isinf(y))
    return INFINITY;
  if (isnan(x) || isnan(y) || most == 0.0)
    return isnan(x) || isnan(y) ? x + y : 0.0;
  int power;
  (void)frexp(most, &power);
  const double a = ldexp(x, -power), b = ldexp(y, -power);
  return ldexp(sqrt(a * a + b * b), power);
}

/* ---- Sine ---- */

static double elementary_sin_near(double r, double low) {
  const double q = r * r;
  const double high = -1.0 / 39916800 + q * (1.0 / 6227020800.0 - q * (1.0 / 1307674368000.0));
  const double p =
      -1.0 / 6 + q * (1.0 / 120 + q * (-1.0 / 5040 + q * (1.0 / 362880 + q * high)));
  return r + (r * q * p + (low - 0.5 * q * low));
}

static double elementary_cos_near(double r, double low) {
  const double q = r * r, half = 0.5 * q, one = 1.0 - half;
  const double high =
      1.0 / 479001600 + q * (-1.0 / 87178291200.0 + q * (1.0 / 20922789888000.0));
  const double p =
      1.0 / 24 + q * (-1.0 / 720 + q * (1.0 / 40320 + q * (-1.0 / 3628800 + q * high)));
  return one + (((1.0 - one) - half) + (q * q * p - r * low));
}

/* x = n pi/2 + r. */
double pc_sin(double x) {
  const double first = 0x1.921fb54400000p+0, second = 0x1.0b4611a600000p-34;
  const double third = 0x1.3198a2e037073p-69, inverse = 0x1.45f306dc9c883p-1;
  if (!isfinite(x))
    return NAN;
  if (fabs(x) < 0x1p-27)
    return x;
  const double n = (x * inverse + ELEMENTARY_WHOLE) - ELEMENTARY_WHOLE;
  const double near = x - n * first;
  const elementary_pair r = elementary_sum(near, -n * second);
  const double low = r.low - n * third;
  const int quarter = (int)((int64_t)n & 3);
  const double size =
      quarter & 1 ? elementary_cos_near(r.high, low) : elementary_sin_near(r.high, low);
  return quarter & 2 ? -size : size;
}
