/* Formula, with f the metric as a function of means m of row values, C their covariance over n
 * rows and g the gradient of f at m (central differences of 1e-4 standard deviations):
 *   se = sqrt(g' C g / n),   interval = f -+ z se
 * Edge cases:
 *   (1) fewer than two rows: no interval;
 *   (2) an infinite or undefined value has no interval;
 *   (3) n is the sum of frequencies.  For importance weights C / n is the weighted sandwich
 *         sum w^2 (x - m)(y - m) / (sum w)^2 * N / (N - 1),   N = (sum w)^2 / sum w^2 (Kish),
 *       which equals the formula above for equal weights; Wilson's interval takes N for n;
 *   (4) a mean of losses, which are not negative, has the interval of a weighted count
 *       (stats/interval.c); a share has Wilson's;
 *   (5) where few rows are wrong, a set often lacks the losses that its mean depends on.  The
 *       interval allows for one more loss: max(3, -3/4 log mean), which in simulations is about
 *       the logarithmic loss of a row whose top class turns out wrong (docs/interval-coverage.md),
 *       but at most half of the largest loss that a row can have;
 *   (6) every interval, also one from replicas, contains its own estimate and otherwise stays in
 *       the range of its metric; an estimate outside of the range (unbiased estimates of squares
 *       may be negative) reaches as far into it as if it were at its end;
 *   (7) estimates that are linear in a number of events (oe-ratio, net-benefit) allow for one more
 *       event, or one fewer, if fewer than PC_INTERVAL_FEW_ROWS rows are events or fewer are not;
 *   (8) with fewer than PC_INTERVAL_FEW_ROWS rows of one kind all intervals but these two get a
 *       remark: these few rows carry all the information. */
#include "measure/interval_formula.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"

#define INTERVAL_LEAST_LOG 3.0 /* a true class of probability 0.05 */
#define INTERVAL_LOG_SHARE 0.75
#define INTERVAL_STEP 1e-4 /* of a standard deviation: the step of numerical derivatives */

/* Number of rows, or effective sample size of importance weights. */
static double interval_rows(const pc_evidence *evidence) {
  return evidence->importance ? evidence->effective : evidence->total;
}

/* Covariance of the means of two values.  The sum of squared weights is w^2 / n. */
static double interval_covariance(const pc_evidence *evidence, size_t v, size_t u) {
  const struct pc_sum_evidence *sum = &evidence->sum;
  const double w = evidence->total, n = interval_rows(evidence);
  const double mean_v = sum->value[v] / w, mean_u = sum->value[u] / w;
  if (!evidence->importance)
    return (sum->product[v][u] / n - mean_v * mean_u) / (n - 1.0);
  const double squares = (sum->square_product[v][u] - mean_v * sum->square_value[u] -
                          mean_u * sum->square_value[v]) *
                         (n / (w * w));
  return (squares + mean_v * mean_u) / (n - 1.0);
}

static pcal_status interval_shifted(const pc_metric *metric, const pc_options *options,
                                    const pc_evidence *evidence, size_t v, double shift,
                                    const pcal_env *env, double *out, pcal_error *err) {
  pc_evidence moved = *evidence;
  pc_metric_result outcome;
  memset(&outcome, 0, sizeof outcome);
  moved.sum.value[v] += shift;
  const pcal_status status = metric->evaluate(options, &moved, env, &outcome, err);
  *out = outcome.value;
  pc_free(env, outcome.class_values);
  return status;
}

static pcal_status interval_se(const pc_metric *metric, const pc_options *options,
                               const pc_evidence *evidence, const pcal_env *env, double *se,
                               pcal_error *err) {
  double gradient[PC_VALUES_MAX] = {0.0}, variance = 0.0;
  for (size_t v = 0; v < evidence->sum.count; v++) {
    const double deviation =
        sqrt(fmax(interval_covariance(evidence, v, v), 0.0) * interval_rows(evidence));
    const double shift = INTERVAL_STEP * deviation * evidence->total;
    double above, below;
    if (!(shift > 0.0))
      continue;
    PC_TRY(interval_shifted(metric, options, evidence, v, shift, env, &above, err));
    PC_TRY(interval_shifted(metric, options, evidence, v, -shift, env, &below, err));
    gradient[v] = (above - below) / (2.0 * shift) * evidence->total;
  }
  for (size_t v = 0; v < evidence->sum.count; v++)
    for (size_t u = 0; u < evidence->sum.count; u++)
      variance += gradient[v] * gradient[u] * interval_covariance(evidence, v, u);
  *se = sqrt(fmax(variance, 0.0));
  return PCAL_OK;
}

/* Edge case 5: the loss of one more wrong row. */
static double interval_unseen(double limit, double mean) {
  const double log =
      fmax(INTERVAL_LEAST_LOG, -INTERVAL_LOG_SHARE * pc_log(fmax(mean, DBL_EPSILON)));
  return limit > 0.0 ? fmin(0.5 * limit, log) : log;
}

/* The interval of the mean of losses, mapped to the metric. */
static pcal_status interval_poisson(const pc_interval_request *request, const pc_metric *metric,
                                    const pc_options *options, const pc_evidence *evidence,
                                    const pcal_env *env, pc_interval_result *out,
                                    pcal_error *err) {
  const double n = evidence->total, mean = evidence->sum.value[0] / n;
  const double se = sqrt(fmax(interval_covariance(evidence, 0, 0), 0.0));
  const double limit =
      metric->loss_limit != NULL ? metric->loss_limit(options) : metric->largest_loss;
  const double unseen = interval_unseen(limit, mean) / interval_rows(evidence);
  pc_interval ends = pc_interval_poisson(mean, se, unseen, request->level);
  if (limit > 0.0)
    ends.high = fmax(fmin(ends.high, limit), mean);
  if (2.0 * mean > limit && limit > 0.0) { /* few right rows: the loss that is left */
    const pc_interval left =
        pc_interval_poisson(fmax(limit - mean, 0.0), se, unseen, request->level);
    ends.low = fmin(ends.low, fmax(limit - left.high, 0.0));
  }
  PC_TRY(interval_shifted(metric, options, evidence, 0, (ends.low - mean) * n, env, &out->low,
                          err));
  PC_TRY(interval_shifted(metric, options, evidence, 0, (ends.high - mean) * n, env, &out->high,
                          err));
  out->method = PCAL_INTERVAL_POISSON;
  return PCAL_OK;
}

static void interval_normal(const pc_interval_request *request, double estimate,
                            pc_interval_result *out) {
  const pc_interval interval = pc_interval_normal(estimate, out->se, request->level);
  out->has_interval = 1;
  out->level = request->level;
  out->low = interval.low;
  out->high = interval.high;
  out->method = PCAL_INTERVAL_NORMAL;
}

/* The interval on the scale of the metric; a plain one if the user chose `normal`. */
static void interval_scaled(const pc_interval_request *request, const pc_metric_result *outcome,
                            pc_interval_result *out) {
  const pc_interval_scale scale =
      request->method == PCAL_INTERVAL_NORMAL && outcome->scale != PC_SCALE_NORM
          ? PC_SCALE_PLAIN
          : outcome->scale;
  pc_interval ends =
      scale == PC_SCALE_NORM
          ? pc_interval_of_error(outcome->value, out->se, &outcome->noise, request->level)
          : pc_interval_on_scale(scale, outcome->value, out->se, request->level);
  const pc_interval_count *count = &outcome->count;
  const double few = fmin(outcome->value - count->none, count->all - outcome->value);
  if (count->one > 0.0 && few < PC_INTERVAL_FEW_ROWS * count->one &&
      request->method != PCAL_INTERVAL_NORMAL)
    pc_interval_allow_count(outcome->value, out->se, &outcome->count, request->level, &ends);
  out->low = ends.low;
  out->high = ends.high;
}

void pc_interval_of_estimate(const pc_interval_request *request,
                             const pc_metric_result *outcome, pc_interval_result *out) {
  if (request->level <= 0 || outcome->undefined || !isfinite(outcome->value))
    return;
  if (!isfinite(outcome->se)) {
    snprintf(out->why, sizeof out->why, "these rows do not determine a standard error");
    return;
  }
  out->se = outcome->se;
  interval_normal(request, outcome->value, out);
  interval_scaled(request, outcome, out);
}

void pc_interval_of_blocks(const pc_interval_request *request, const pc_evidence *evidence,
                           const pc_metric_result *outcome, pc_interval_result *out) {
  const double n = (double)evidence->block.count;
  if (request->level <= 0 || outcome->undefined || outcome->tested)
    return;
  if (request->by_cluster || n < 2) {
    snprintf(out->why, sizeof out->why,
             n < 2 ? "the variance between blocks cannot be estimated from one block"
                   : "blocks of rows ignore clusters; choose another estimator");
    return;
  }
  const double mean = evidence->block.sum / n;
  out->se = sqrt(fmax(evidence->block.squares / n - mean * mean, 0.0) / (n - 1.0));
  interval_normal(request, mean, out);
  if (outcome->inner_power != 2)
    return;
  const double width = out->high - out->low;
  out->low = sqrt(fmax(out->low, 0.0));
  out->high = sqrt(fmax(out->high, 0.0));
  out->se *= outcome->value > 0 ? 0.5 / outcome->value
             : width > 0        ? (out->high - out->low) / width
                                : 0.0;
}

pcal_status pc_interval_of_sums(const pc_interval_request *request, const pc_metric *metric,
                                const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, const pc_metric_result *outcome,
                                pc_interval_result *out, pcal_error *err) {
  if (request->level <= 0 || outcome->undefined || !isfinite(outcome->value))
    return PCAL_OK;
  if (!(interval_rows(evidence) > 1.0)) {
    snprintf(out->why, sizeof out->why, "the variance cannot be estimated from one row");
    return PCAL_OK;
  }
  PC_TRY(interval_se(metric, options, evidence, env, &out->se, err));
  interval_normal(request, outcome->value, out);
  if (request->method == PCAL_INTERVAL_NORMAL)
    return PCAL_OK;
  if (metric->traits & PC_LOSS)
    return interval_poisson(request, metric, options, evidence, env, out, err);
  interval_scaled(request, outcome, out);
  if (!(metric->traits & PC_SHARE))
    return PCAL_OK;
  const pc_interval interval =
      pc_interval_wilson(outcome->value, interval_rows(evidence), request->level);
  out->low = interval.low;
  out->high = interval.high;
  out->method = PCAL_INTERVAL_WILSON;
  return PCAL_OK;
}

static double interval_root(double inner, int power) {
  return power == 1 ? inner : pc_pow(fmax(inner, 0.0), 1.0 / power);
}

void pc_interval_unwrap(const pc_metric_result *outcome, double *se, pc_interval *interval) {
  const int power = outcome->inner_power;
  const double inner_width = interval->high - interval->low;
  interval->low = interval_root(interval->low, power);
  interval->high = interval_root(interval->high, power);
  const double slope = power * pc_pow(interval_root(outcome->inner, power), power - 1);
  if (power != 1)
    *se = slope > 0.0         ? *se / slope
          : inner_width > 0.0 ? *se * (interval->high - interval->low) / inner_width
                              : 0.0;
}

void pc_interval_lacks_replicas(size_t replicas, pc_interval_result *out) {
  snprintf(out->why, sizeof out->why, "too many of %zu replicas have no value", replicas);
}

void pc_interval_bound(const pc_range *range, double value, pc_interval_result *out) {
  if (!out->has_interval)
    return;
  if (value < range->low)
    out->high = fmax(out->high, range->low + fmax(out->high - value, 0.0));
  if (value > range->high)
    out->low = fmin(out->low, range->high - fmax(value - out->low, 0.0));
  out->low = fmin(fmax(out->low, range->low), value);
  out->high = fmax(fmin(out->high, range->high), value);
}

void pc_interval_warn_few(double rarer, double total, const char *kind,
                          pc_interval_result *out) {
  char few[PC_NUMBER_MAX], all[PC_NUMBER_MAX];
  const int holds = out->method == PCAL_INTERVAL_WILSON || out->method == PCAL_INTERVAL_POISSON;
  if (!out->has_interval || holds || rarer >= PC_INTERVAL_FEW_ROWS)
    return;
  const int whole = rarer == floor(rarer) && total == floor(total);
  if (!whole) { /* effective numbers of rows */
    pc_number_round(rarer, 3, few);
    pc_number_round(total, 4, all);
  }
  snprintf(out->few_rows, sizeof out->few_rows,
           "only %s of %s %srows are %s, too few for an interval with the stated coverage; use "
           "more rows",
           whole ? pc_show(rarer, few) : few, whole ? pc_show(total, all) : all,
           whole ? "" : "effective ", kind);
}
