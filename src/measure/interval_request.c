/* Formula, f the metric as a function of means m of row values with covariance C over n rows:
 *   se = sqrt(g' C g / n),  g the gradient of f at m, by central differences of 1e-4 standard
 *   deviations; the interval is f -+ z se.
 * Edge cases: (1) fewer than two rows: no interval; (2) an infinite or undefined value has
 * none; (3) n is the sum of frequencies; of importance weights C / n is the weighted sandwich
 * sum w^2 (x - m)(y - m) / (sum w)^2 times N / (N - 1), N = (sum w)^2 / sum w^2 after Kish,
 * which equal weights turn into the formula above, and Wilson's interval takes N for n; (4) a
 * mean of losses, which are not negative, has the interval of a count (stats/interval.c), and a
 * share Wilson's; (5) with fewer than PC_INTERVAL_FEW_ROWS rows of one kind every other interval
 * comes with a remark: such rows carry all that is known, and coverage was seen to fall below
 * 93 % (docs/interval-coverage.md). */
#include "measure/interval_request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CERTAINTY_STEP 1e-4

/* Wilson, Poisson and inversion are chosen, not requested. */
static int interval_request_known(pcal_interval_method method) {
  return (int)method >= PCAL_INTERVAL_AUTO && method <= PCAL_INTERVAL_JACKKNIFE &&
         method != PCAL_INTERVAL_WILSON;
}

pcal_status pc_interval_request_read(const pcal_measure_config *config,
                                     pc_interval_request *out, pcal_error *err) {
  *out = (pc_interval_request){.level = config->interval,
                               .replicas = config->replicas == 0 ? PC_REPLICAS_DEFAULT
                                                                 : config->replicas,
                               .method = config->interval_method,
                               .null = config->null != 0,
                               .by_cluster = config->by_cluster != 0,
                               .paired = config->paired != 0};
  if (config->interval != 0 && !(config->interval > 0 && config->interval < 1))
    return pc_fail(err, PCAL_USAGE,
                   "the level of intervals lies between 0 and 1; 0.95 is the usual one");
  if (out->replicas < 20 || out->replicas > PC_REPLICAS_MAX)
    return pc_fail(err, PCAL_USAGE, "the number of replicas must lie between 20 and %d",
                   PC_REPLICAS_MAX);
  if (!interval_request_known(config->interval_method))
    return pc_fail(err, PCAL_USAGE, "interval method %d cannot be requested; choose one of %s",
                   (int)config->interval_method, pc_interval_methods);
  if (out->paired && out->level <= 0)
    return pc_fail(err, PCAL_USAGE, "a comparison needs a level; ask for {interval} too");
  if (out->by_cluster && out->level <= 0)
    return pc_fail(err, PCAL_USAGE,
                   "clusters matter for intervals only; ask for {interval} too");
  return PCAL_OK;
}

int pc_interval_request_equal(const pc_interval_request *a, const pc_interval_request *b) {
  return a->level == b->level && a->replicas == b->replicas && a->method == b->method &&
         a->null == b->null && a->by_cluster == b->by_cluster && a->paired == b->paired;
}

int pc_interval_request_allows_formula(const pc_interval_request *certainty) {
  return certainty->method == PCAL_INTERVAL_AUTO || certainty->method == PCAL_INTERVAL_NORMAL;
}

/* Rows that the evidence stands for. */
static double certainty_rows(const pc_evidence *evidence) {
  return evidence->importance ? evidence->effective : evidence->total;
}

/* Covariance of the means of two values; the sum of squared weights is W^2 / N. */
static double certainty_covariance(const pc_evidence *evidence, size_t v, size_t u) {
  const struct pc_sum_evidence *sum = &evidence->sum;
  const double w = evidence->total, n = certainty_rows(evidence);
  const double mean_v = sum->value[v] / w, mean_u = sum->value[u] / w;
  if (!evidence->importance)
    return (sum->product[v][u] / n - mean_v * mean_u) / (n - 1.0);
  const double squares = (sum->square_product[v][u] - mean_v * sum->square_value[u] -
                          mean_u * sum->square_value[v]) *
                         (n / (w * w));
  return (squares + mean_v * mean_u) / (n - 1.0);
}

static pcal_status certainty_shifted(const pc_metric *metric, const pc_options *options,
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

static pcal_status certainty_se(const pc_metric *metric, const pc_options *options,
                                const pc_evidence *evidence, const pcal_env *env, double *se,
                                pcal_error *err) {
  double gradient[PC_VALUES_MAX] = {0.0}, variance = 0.0;
  for (size_t v = 0; v < evidence->sum.count; v++) {
    const double spread =
        sqrt(fmax(certainty_covariance(evidence, v, v), 0.0) * certainty_rows(evidence));
    const double shift = CERTAINTY_STEP * spread * evidence->total;
    double above, below;
    if (!(shift > 0.0))
      continue;
    PC_TRY(certainty_shifted(metric, options, evidence, v, shift, env, &above, err));
    PC_TRY(certainty_shifted(metric, options, evidence, v, -shift, env, &below, err));
    gradient[v] = (above - below) / (2.0 * shift) * evidence->total;
  }
  for (size_t v = 0; v < evidence->sum.count; v++)
    for (size_t u = 0; u < evidence->sum.count; u++)
      variance += gradient[v] * gradient[u] * certainty_covariance(evidence, v, u);
  *se = sqrt(fmax(variance, 0.0));
  return PCAL_OK;
}

/* The ends of the mean, and what the metric makes of them. */
static pcal_status certainty_poisson(const pc_interval_request *certainty,
                                     const pc_metric *metric, const pc_options *options,
                                     const pc_evidence *evidence, const pcal_env *env,
                                     pc_interval_result *out, pcal_error *err) {
  const double n = evidence->total, mean = evidence->sum.value[0] / n;
  const double se = sqrt(fmax(certainty_covariance(evidence, 0, 0), 0.0));
  const pc_interval ends = pc_interval_poisson(mean, se, certainty->level);
  PC_TRY(certainty_shifted(metric, options, evidence, 0, (ends.low - mean) * n, env, &out->low,
                           err));
  PC_TRY(certainty_shifted(metric, options, evidence, 0, (ends.high - mean) * n, env,
                           &out->high, err));
  out->method = PCAL_INTERVAL_POISSON;
  return PCAL_OK;
}

static void certainty_normal(const pc_interval_request *certainty, double estimate,
                             pc_interval_result *out) {
  const pc_interval interval = pc_interval_normal(estimate, out->se, certainty->level);
  out->has_interval = 1;
  out->level = certainty->level;
  out->low = interval.low;
  out->high = interval.high;
  out->method = PCAL_INTERVAL_NORMAL;
}

void pc_interval_of_blocks(const pc_interval_request *certainty, const pc_evidence *evidence,
                           const pc_metric_result *outcome, pc_interval_result *out) {
  const double n = (double)evidence->block.count;
  if (certainty->level <= 0 || outcome->undefined || outcome->tested)
    return;
  if (certainty->by_cluster || n < 2) {
    snprintf(out->why, sizeof out->why,
             n < 2 ? "one block says nothing about how much blocks differ"
                   : "blocks of rows do not know clusters; take another estimator");
    return;
  }
  const double mean = evidence->block.sum / n;
  out->se = sqrt(fmax(evidence->block.squares / n - mean * mean, 0.0) / (n - 1.0));
  certainty_normal(certainty, mean, out);
  if (outcome->inner_power != 2)
    return;
  const double width = out->high - out->low;
  out->low = sqrt(fmax(out->low, 0.0));
  out->high = sqrt(fmax(out->high, 0.0));
  out->se *= outcome->value > 0 ? 0.5 / outcome->value
             : width > 0        ? (out->high - out->low) / width
                                : 0.0;
}

pcal_status pc_interval_of_sums(const pc_interval_request *certainty, const pc_metric *metric,
                                const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, const pc_metric_result *outcome,
                                pc_interval_result *out, pcal_error *err) {
  if (certainty->level <= 0 || outcome->undefined || !isfinite(outcome->value))
    return PCAL_OK;
  if (!(certainty_rows(evidence) > 1.0)) {
    snprintf(out->why, sizeof out->why, "one row says nothing about how much rows differ");
    return PCAL_OK;
  }
  PC_TRY(certainty_se(metric, options, evidence, env, &out->se, err));
  certainty_normal(certainty, outcome->value, out);
  if (certainty->method == PCAL_INTERVAL_NORMAL)
    return PCAL_OK;
  if (metric->traits & PC_LOSS)
    return certainty_poisson(certainty, metric, options, evidence, env, out, err);
  if (!(metric->traits & PC_SHARE))
    return PCAL_OK;
  const pc_interval interval =
      pc_interval_wilson(outcome->value, certainty_rows(evidence), certainty->level);
  out->low = interval.low;
  out->high = interval.high;
  out->method = PCAL_INTERVAL_WILSON;
  return PCAL_OK;
}

void pc_interval_warn_few(double rarer, double total, const char *kind,
                          pc_interval_result *out) {
  char few[PC_NUMBER_MAX], all[PC_NUMBER_MAX];
  if (!out->has_interval || out->method == PCAL_INTERVAL_WILSON ||
      rarer >= PC_INTERVAL_FEW_ROWS)
    return;
  if (out->why[0] != '\0')
    strncat(out->why, "; ", sizeof out->why - strlen(out->why) - 1);
  const size_t said = strlen(out->why);
  out->few = said + 1;
  const int whole = rarer == floor(rarer) && total == floor(total);
  if (!whole) { /* effective numbers of rows */
    pc_number_round(rarer, 3, few);
    pc_number_round(total, 4, all);
  }
  snprintf(out->why + said, sizeof out->why - said,
           "only %s of %s %srows are %s, too few for an interval that keeps its level; take "
           "more rows",
           whole ? pc_show(rarer, few) : few, whole ? pc_show(total, all) : all,
           whole ? "" : "effective ", kind);
}
