/* Formulas, T the estimate, T* its replicas, q(p) their quantile, a = (1 - level) / 2:
 *
 *   percentile  [q(a), q(1 - a)]
 *
 *   basic       [2 T - q(1 - a), 2 T - q(a)]: removes the bias, which the replicas repeat
 *
 *   BCa         [q(b(a)), q(b(1 - a))],  b(p) = Phi(z0 + (z0 + z_p) / (1 - c (z0 + z_p))),
 *               z0 the normal quantile of the share of replicas below T, c the acceleration
 *
 *   jackknife   T -+ t se,  se^2 = (G - 1) / G sum_g (T_g - mean)^2,  T_g without block g of G:
 *               for estimates that are unbiased, but whose replicas are biased
 *
 *   on a scale  g^-1(g(T) -+ z |g'(T)| se),  g = log or logit
 *
 *   error       [T - bias - z se, T + z se], low = 0 where T <= mean + z deviation of the noise
 *
 *   Wilson      with continuity correction: the shares p with
 *               |share - p| - 1 / (2 n) <= z sqrt(p (1 - p) / n).  Its exact coverage at the
 *               level 0.95 is at least 0.949 for every p and n >= 25, and 0.945 for fewer rows
 *               (without the correction 0.838 where 0.2 rows are expected, 0.92 where 3 are)
 *
 *   Poisson     of means of losses, as if they were sums of weighted Poisson counts (Fay &
 *               Feuer): low is the a quantile of a gamma variable with mean T and variance
 *               se^2; high the 1 - a quantile of one with mean T + u and variance se^2 + u^2,
 *               u: the loss of one more event, which the rows do not contain, divided by n.
 *               The p quantile of a gamma variable with mean m and variance v (Wilson &
 *               Hilferty): m (1 - h + z_p sqrt(h))^3, h = v / (9 m^2)
 *
 *   count       of an estimate none + one * m, m events: an interval on a scale, joined with the
 *               Poisson interval of the distance from `none` or, if that is smaller, from the value
 *               of all events
 *
 *   norm        for errors, which chance makes larger: N = sqrt(q(1 - a)^2 - T^2) is the 1 - a
 *               quantile of chance alone, since squares of error and noise add up;
 *               low = 0 where T <= N, else T (T - N) / (q(1 - a) - N);
 *               high = T + max(q(1/2) - q(a), N - max(q(1/2) - T, 0), 0)
 *
 *   quadratic   the t0 with (T - t0)^2 <= t^2 (a t0 + b): for unbiased estimates of squares,
 *               whose variance grows with the true value
 *
 * Edge cases:
 *   (1) all replicas on one side of T: z0 is computed as if half a replica were on the other
 *       side;
 *   (2) a jackknife without deviation has acceleration 0;
 *   (3) middle^2 - T^2 of the quadratic interval is negative only if T < 0, and counts as 0;
 *   (4) a share of 0 has the low end 0, a share of 1 the high end 1;
 *   (5) a mean of losses of 0 has the low end 0 and, at the level 0.95, the high end 3.7 u;
 *       losses may be below 0 by rounding: a negative mean is its own low end.
 *
 * Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapters 11, 13 and 14;
 * Wilson, Journal of the American Statistical Association 1927; Newcombe, Two-sided confidence
 * intervals for the single proportion, Statistics in Medicine 1998, method 4; Fay & Feuer,
 * Confidence intervals for directly standardized rates, Statistics in Medicine 1997; Wilson &
 * Hilferty, The distribution of chi-square, PNAS 1931. */
#include "stats/interval.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/elementary.h"
#include "base/normal.h"
#include "stats/distributions.h"

const char pc_interval_methods[] = "auto|normal|percentile|basic|bca|jackknife";

const char *pc_interval_method_name(pcal_interval_method method) {
  static const char *const names[] = {"auto", "normal",    "wilson",  "percentile", "basic",
                                      "bca",  "jackknife", "poisson", "inversion"};
  return names[method];
}

/* Student's quantile by the first terms of its expansion around the normal quantile. */
static double interval_student(double freedom, double level) {
  const double z = pc_normal_quantile(0.5 + 0.5 * level), n = fmax(freedom, 1.0);
  const double z3 = z * z * z, z5 = z3 * z * z;
  return z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n);
}

pc_interval pc_interval_normal(double estimate, double se, double level) {
  const double reach = pc_normal_quantile(0.5 + 0.5 * level) * se;
  return (pc_interval){estimate - reach, estimate + reach};
}

static double interval_sigmoid(double x) {
  return x < 0.0 ? pc_exp(x) / (1.0 + pc_exp(x)) : 1.0 / (1.0 + pc_exp(-x));
}

pc_interval pc_interval_on_scale(pc_interval_scale scale, double estimate, double se,
                                 double level) {
  const double rest = 1.0 - estimate;
  if (scale == PC_SCALE_PLAIN || scale == PC_SCALE_NORM || !(estimate > 0.0) ||
      (scale == PC_SCALE_LOGIT && !(rest > 0.0)))
    return pc_interval_normal(estimate, se, level);
  if (scale == PC_SCALE_LOG) {
    const pc_interval inner = pc_interval_normal(pc_log(estimate), se / estimate, level);
    return (pc_interval){pc_exp(inner.low), pc_exp(inner.high)};
  }
  const pc_interval inner =
      pc_interval_normal(pc_log(estimate / rest), se / (estimate * rest), level);
  return (pc_interval){interval_sigmoid(inner.low), interval_sigmoid(inner.high)};
}

pc_interval pc_interval_of_error(double estimate, double se, const pc_interval_noise *noise,
                                 double level) {
  const double z = pc_normal_quantile(0.5 + 0.5 * level);
  const int chance = estimate <= noise->mean + z * noise->deviation;
  const double low = chance ? 0.0 : fmax(estimate - noise->bias - z * se, 0.0);
  const double high = fmin(estimate + z * se, 1.0);
  return (pc_interval){fmin(low, estimate), fmax(high, estimate)};
}

/* One end of Wilson's interval of a share; side: -1 or 1. */
static double interval_wilson_end(double share, double rows, double z, double side) {
  const double z2 = z * z / rows;
  const double middle = share + 0.5 * z2;
  const double reach = z * sqrt(share * (1.0 - share) / rows + 0.25 * z2 / rows);
  return (middle + side * reach) / (1.0 + z2);
}

pc_interval pc_interval_wilson(double share, double rows, double level) {
  const double z = pc_normal_quantile(0.5 + 0.5 * level), half = 0.5 / rows;
  const double low = interval_wilson_end(fmax(share - half, 0.0), rows, z, -1.0);
  const double high = interval_wilson_end(fmin(share + half, 1.0), rows, z, 1.0);
  return (pc_interval){share > half ? fmax(low, 0.0) : 0.0,
                       share < 1.0 - half ? fmin(high, 1.0) : 1.0};
}

static double interval_gamma_quantile(double mean, double variance, double z) {
  const double h = variance / (9.0 * mean * mean), root = fmax(1.0 - h + z * sqrt(h), 0.0);
  return mean * root * root * root;
}

pc_interval pc_interval_poisson(double estimate, double se, double unseen, double level) {
  const double z = pc_normal_quantile(0.5 + 0.5 * level), above = fmax(estimate, 0.0) + unseen;
  const double low = estimate > 0.0 ? interval_gamma_quantile(estimate, se * se, -z) : 0.0;
  const double high =
      above > 0.0 ? interval_gamma_quantile(above, se * se + unseen * unseen, z) : 0.0;
  return (pc_interval){fmin(low, estimate), fmax(high, estimate)};
}

void pc_interval_allow_count(double estimate, double se, const pc_interval_count *count,
                             double level, pc_interval *interval) {
  const double unseen = pc_interval_poisson(0.0, 0.0, 1.0, level).high;
  if (count->other > 0.0) {
    interval->low = fmin(interval->low, estimate - unseen * count->other);
    interval->high = fmax(interval->high, estimate + unseen * count->one);
    return;
  }
  const double events = fmax(estimate - count->none, 0.0);
  const double rest = fmax(count->all - estimate, 0.0);
  const int few = events <= rest;
  const pc_interval away = pc_interval_poisson(few ? events : rest, se, count->one, level);
  const double low = few ? count->none + away.low : fmax(count->all - away.high, count->none);
  const double high = few ? fmin(count->none + away.high, count->all) : count->all - away.low;
  interval->low = fmin(interval->low, low);
  interval->high = fmax(interval->high, high);
}

double pc_interval_quantile(const double *values, size_t count, double p) {
  pc_assert(count >= 1 && pc_is_ascending(values, count, 0));
  const double place = p * (double)(count - 1);
  const size_t below = place <= 0 ? 0 : (size_t)place;
  if (below + 1 >= count)
    return values[count - 1];
  return values[below] + (place - (double)below) * (values[below + 1] - values[below]);
}

double pc_interval_deviation(const double *values, size_t count) {
  double mean = 0.0, square = 0.0;
  for (size_t i = 0; i < count; i++)
    mean += values[i] / (double)count;
  for (size_t i = 0; i < count; i++)
    square += (values[i] - mean) * (values[i] - mean);
  return count < 2 ? 0.0 : sqrt(square / (double)(count - 1));
}

double pc_interval_jackknife_se(const double *left_out, size_t count) {
  const double g = (double)count;
  return count < 2 ? 0.0 : pc_interval_deviation(left_out, count) * (g - 1.0) / sqrt(g);
}

pc_interval pc_interval_jackknife(double estimate, double se, size_t count, double level) {
  const double t = interval_student((double)count - 1.0, level);
  return (pc_interval){estimate - t * se, estimate + t * se};
}

pc_interval pc_interval_quadratic(double estimate, double se, const pc_variance_model *variance,
                                  size_t count, double level) {
  const double t = interval_student((double)count - 1.0, level);
  const double seen =
      estimate > 0.0 ? (se * se - 2.0 * variance->noise) / estimate : variance->slope;
  const double slope =
      fmin(fmax(seen, 0.75 * variance->slope), variance->most * variance->slope);
  const double middle = estimate + 0.5 * t * t * slope;
  const double reach =
      sqrt(fmax(middle * middle - estimate * estimate, 0.0) + t * t * variance->noise);
  return (pc_interval){middle - reach, middle + reach};
}

#define INTERVAL_SKEW 1.5 /* docs/interval-coverage.md */

pc_interval pc_interval_of_square(double estimate, const pc_variance_model *variance,
                                  double level) {
  const double z = pc_normal_quantile(0.5 + 0.5 * level), t = fmax(estimate, 0.0);
  const double middle = t + 0.5 * z * z * variance->slope;
  const double along = middle * middle - t * t, noise = z * z * variance->noise;
  const double low = middle - sqrt(along + INTERVAL_SKEW * INTERVAL_SKEW * noise);
  return (pc_interval){sqrt(fmax(low, 0.0)), sqrt(middle + sqrt(along + noise))};
}

#define INTERVAL_ABOVE 0.6 /* standard errors */

void pc_interval_straighten(double value, double se, pc_interval *interval) {
  if (!(value > INTERVAL_ABOVE * se) || !(se > 0.0))
    return;
  const double root = sqrt(value),
               reach = 0.5 * (interval->high - interval->low) / (2.0 * root);
  interval->low = pc_pow(fmax(root - reach, 0.0), 2.0);
  interval->high = pc_pow(root + reach, 2.0);
}

double pc_interval_acceleration(const double *left_out, size_t count) {
  double mean = 0.0, square = 0.0, cube = 0.0;
  for (size_t i = 0; i < count; i++)
    mean += left_out[i] / (double)count;
  for (size_t i = 0; i < count; i++) {
    const double d = mean - left_out[i];
    square += d * d;
    cube += d * d * d;
  }
  return square > 0.0 ? cube / (6.0 * square * sqrt(square)) : 0.0;
}

#define INTERVAL_FAR 1.6

/* The normal quantile of the share of replicas below the estimate. */
static double interval_shift(const pc_replica_set *set) {
  double below = 0.0;
  for (size_t i = 0; i < set->count; i++)
    below += set->values[i] < set->estimate ? 1.0 : set->values[i] == set->estimate ? 0.5 : 0.0;
  const double least = 0.5, most = (double)set->count - 0.5;
  below = below < least ? least : below > most ? most : below;
  return pc_normal_quantile(below / (double)set->count);
}

static double interval_bca(const pc_replica_set *set, double shift, double p) {
  const double z = shift + pc_normal_quantile(p);
  const double place = 1.0 - pc_normal_tail(shift + z / (1.0 - set->acceleration * z));
  return pc_interval_quantile(set->values, set->count, place);
}

/* N, the quantile of chance at a true error of 0, from replicas T_r around T.  Near 0 the
 * squares of gaps and noise add up: the quantile of chance is sqrt(q(1 - a)^2 - T^2).  Far from
 * 0 only noise along the gaps moves T_r: the quantile is that of T_r itself, apart from the
 * bias of its median.  The first is larger; it decides whether 0 is inside, and is blended into
 * the second as T grows to INTERVAL_FAR times it.
 * Ends: low is 0 if T is compatible with a true error of 0; otherwise it is interpolated
 * between the quantiles at 0 and at T. */
pc_interval pc_interval_of_norm(const pc_replica_set *set, double level) {
  const double a = 0.5 * (1.0 - level), t = set->estimate;
  const double low = pc_interval_quantile(set->values, set->count, a);
  const double middle = pc_interval_quantile(set->values, set->count, 0.5);
  const double high = fmax(pc_interval_quantile(set->values, set->count, 1.0 - a), t);
  const double sd = 0.5 * (high - low) / pc_normal_quantile(1.0 - a);
  const double reach = sd * pc_normal_quantile(1.0 - 0.5 * a);
  const double near = sqrt(high * high - t * t);
  const double far = fmin(sqrt(fmax(middle * middle - t * t, 0.0) + reach * reach), near);
  const double above = fmax(fmax(middle - low, far - fmax(middle - t, 0.0)), 0.0);
  if (t <= near)
    return (pc_interval){0.0, t + above};
  const double part = fmin((t / near - 1.0) / (INTERVAL_FAR - 1.0), 1.0);
  const double noise = near + part * (far - near);
  return (pc_interval){t * fmin((t - noise) / (high - noise), 1.0), t + above};
}

pc_interval pc_interval_from_replicas(const pc_replica_set *set, pcal_interval_method method,
                                      double level) {
  const double a = 0.5 * (1.0 - level);
  if (method == PCAL_INTERVAL_BCA) {
    const double shift = interval_shift(set);
    return (pc_interval){interval_bca(set, shift, a), interval_bca(set, shift, 1.0 - a)};
  }
  const pc_interval plain = {pc_interval_quantile(set->values, set->count, a),
                             pc_interval_quantile(set->values, set->count, 1.0 - a)};
  if (method == PCAL_INTERVAL_BASIC)
    return (pc_interval){2.0 * set->estimate - plain.high, 2.0 * set->estimate - plain.low};
  return plain;
}

static int interval_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

size_t pc_interval_sort_values(double *values, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (!isnan(values[i]))
      values[kept++] = values[i];
  qsort(values, kept, sizeof *values, interval_order);
  return kept;
}
