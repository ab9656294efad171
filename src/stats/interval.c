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
 *   Wilson      the shares p with |share - p| <= z sqrt(p (1 - p) / n)
 *
 *   Poisson     the t0 with (T - t0)^2 <= t^2 se^2 t0 / T,  t: Student's quantile with
 *               INTERVAL_CARRIED * (T / se)^2 degrees of freedom
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
 *   (3) middle^2 - T^2 of the quadratic interval is negative only if T < 0, and counts as 0.
 *
 * Source: Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapters 11, 13 and 14;
 * Wilson, Journal of the American Statistical Association 1927. */
#include "stats/interval.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/elementary.h"
#include "base/normal.h"
#include "stats/distributions.h"

#define INTERVAL_CARRIED 1.5

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
  return (pc_interval){chance ? 0.0 : fmax(estimate - noise->bias - z * se, 0.0),
                       estimate + z * se};
}

pc_interval pc_interval_wilson(double share, double rows, double level) {
  const double z = pc_normal_quantile(0.5 + 0.5 * level), z2 = z * z / rows;
  const double middle = (share + 0.5 * z2) / (1.0 + z2);
  const double reach = z / (1.0 + z2) * sqrt(share * (1.0 - share) / rows + 0.25 * z2 / rows);
  return (pc_interval){fmax(middle - reach, 0.0), fmin(middle + reach, 1.0)};
}

double pc_interval_event_count(double estimate, double se) {
  return se > 0.0 ? estimate / se * (estimate / se) : INFINITY;
}

pc_interval pc_interval_poisson(double estimate, double se, double level) {
  if (!(estimate > 0.0) || !(se > 0.0))
    return (pc_interval){estimate, estimate};
  const double freedom = INTERVAL_CARRIED * pc_interval_event_count(estimate, se);
  const double t = interval_student(freedom, level), slope = se * se / estimate;
  const double middle = estimate + 0.5 * t * t * slope;
  const double reach = sqrt(middle * middle - estimate * estimate);
  return (pc_interval){middle - reach, middle + reach};
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
