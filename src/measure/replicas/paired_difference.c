/* Formula:  D = T(model) - T(other), its interval and p-value by exchanging the two models row
 *   by row (measure/replicas/paired_test.c); for squares under a root (debiased errors, kernel
 *   errors) D is judged on the scale of the squares, and the ends of its interval are converted
 *   back (pc_paired_root).
 * Edge cases:
 *   (1) a value undefined or infinite in one of them has no difference;
 *   (2) metrics over pairs of rows have DIFFERENCE_PAIR_EXCHANGES exchanges, and standard
 *       errors by the jackknife over blocks of rows;
 *   (3) results with different rows, metrics, levels or numbers of replicas are refused;
 *   (4) statistics of tests, and means over blocks of rows, have a difference without an
 *       interval, and the result says why;
 *   (5) models of different kinds (quantiles against samples), and rows of more than
 *       PC_REPLICA_OUTPUT_ROWS_MAX bytes, are not exchanged: standard errors alone decide, and
 *       difference_method says so;
 *   (6) the models are the same in every row: all differences are 0, all p-values 1;
 *   (7) auc of class 1 is judged by DeLong's test (paired_delong.c), unless there are clusters, or
 *       importance weights that are not all equal.
 * Cost: each exchange measures the rows of both models.
 * Source: see measure/replicas/paired_test.c. */
#include "measure/replicas/paired_difference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/replicas/exchange.h"
#include "measure/replicas/paired_delong.h"
#include "measure/replicas/replica_intervals.h"
#include "measure/replicas/replicas.h"

#define DIFFERENCE_PAIR_EXCHANGES 109 /* metrics over pairs: p < 0.05 has size 5 / 110 */

/* Two results that are compared. */
typedef struct difference_job {
  const pcal_env *env;
  pcal_results *results;
  const pcal_results *other;
  pc_exchange_check check;
  pc_measure_plan plan;
  pc_kept_rows joined;
  uint8_t *wanted, *entries; /* by metric: to be compared; measured in the current pass */
  double *values;            /* as in replicas.h */
  size_t exchanges;          /* number of exchanges in `values`; the first exchanges nothing */
} difference_job;

static pcal_status difference_check(const pcal_results *a, const pcal_results *b,
                                    pcal_error *err) {
  int same = a->metric_count == b->metric_count && a->replica_count == b->replica_count;
  for (size_t m = 0; same && m < a->metric_count; m++)
    same = strcmp(a->records[m].metric, b->records[m].metric) == 0;
  if (!same || a->replicas == NULL || b->replicas == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "two results can be compared when both were measured with the same metrics, "
                   "an interval and `paired`");
  if (a->rows != b->rows || a->weight != b->weight)
    return pc_fail(err, PCAL_DATA,
                   "the two models are measured on different rows (%llu and %llu); drop rows "
                   "that are missing in one of them from both",
                   (unsigned long long)a->rows, (unsigned long long)b->rows);
  return PCAL_OK;
}

static int difference_finite(const pc_metric_result *outcome) {
  return !outcome->undefined && isfinite(outcome->value);
}

static int difference_pair(const difference_job *job, size_t metric) {
  return job->plan.entry_count > 0 && pc_measure_plan_pairs_rows(&job->plan, metric);
}

/* True for errors, which are 0 for a calibrated model; scores and variances are not. */
static int difference_zero_if_calibrated(const pc_result_record *record) {
  const pcal_notion notion =
      record->notion == PCAL_NOTION_NONE ? PCAL_NOTION_PROPER : record->notion;
  return record->bound == PCAL_BOUND_LOWER || record->outcome.inner_power > 0 ||
         (notion != PCAL_NOTION_PROPER && notion != PCAL_NOTION_VARIANCE);
}

/* ---- standard errors from replicas ---- */

/* Copies the pairs that are not NaN, and their differences; returns how many, 0 if half are
 * missing. */
static size_t difference_both(const double *x, const double *y, size_t count, double *out[3]) {
  size_t kept = 0;
  for (size_t r = 0; r < count; r++)
    if (!isnan(x[r]) && !isnan(y[r])) {
      out[0][kept] = x[r];
      out[1][kept] = y[r];
      out[2][kept++] = x[r] - y[r];
    }
  return 2 * kept > count ? kept : 0;
}

/* Twice the share of replicas whose difference does not have the sign of `value`. */
static double difference_sign_p(const double *differences, size_t count, double value) {
  double against = 1.0;
  for (size_t r = 0; r < count; r++)
    against += value > 0.0 ? differences[r] <= 0.0 : differences[r] >= 0.0;
  return count == 0 ? 0.0 : fmin(1.0, 2.0 * against / (1.0 + (double)count));
}

/* Fills the standard errors and biases of the sample from replicas or, for metrics over pairs,
 * from values without one block each; NaN if there are none. */
static void difference_replicas(const difference_job *job, size_t metric, double *out[3],
                                pc_paired_sample *sample) {
  const size_t replicas = job->results->replica_count, blocks = PC_JACKKNIFE_PAIR_BLOCKS;
  double *const places[] = {&sample->se[0], &sample->se[1], &sample->deviation};
  size_t kept = difference_both(job->results->replicas + metric * replicas,
                                job->other->replicas + metric * replicas, replicas, out);
  for (size_t i = 0; i < 3; i++)
    *places[i] = kept > 0 ? pc_interval_deviation(out[i], kept) : (double)NAN;
  sample->sign_p = difference_sign_p(out[2], kept, sample->value[0] - sample->value[1]);
  for (size_t r = 0; r < kept; r++)
    sample->bias += (out[2][r] - (sample->value[0] - sample->value[1])) / (double)kept;
  for (size_t m = 0; m < 2 && kept > 0; m++) {
    double mean = 0.0;
    for (size_t r = 0; r < kept; r++)
      mean += out[m][r] / (double)kept;
    const double bias = mean - sample->value[m];
    sample->dominant_bias = fmax(sample->dominant_bias, bias > sample->se[m] ? bias : 0.0);
  }
  if (kept > 0) { /* minus the error due to the number of replicas */
    const double error = sample->deviation / sqrt((double)kept);
    sample->bias = copysign(fmax(fabs(sample->bias) - error, 0.0), sample->bias);
    return;
  }
  kept = difference_both(job->results->left_out + metric * blocks,
                         job->other->left_out + metric * blocks, blocks, out);
  for (size_t i = 0; kept > 1 && i < 3; i++)
    *places[i] = pc_interval_jackknife_se(out[i], kept);
}

/* ---- one metric ---- */

/* Says why a difference has no interval, unless another reason is given. */
static void difference_say_why(pc_result_record *record) {
  pc_interval_result *interval_result = &record->interval_result;
  if (interval_result->why[0] == '\0' && interval_result->few_rows[0] == '\0')
    snprintf(interval_result->why, sizeof interval_result->why, "%s",
             record->outcome.tested
                 ? "the statistics of two tests have a difference, but no interval for it"
                 : "it is not resampled, so its difference has no interval; choose another "
                   "estimator");
}

/* Separates the values of the two models after each exchange. */
static void difference_exchanged(const difference_job *job, size_t metric, int inner,
                                 double *out[2]) {
  const double *values =
      job->values +
      (metric * PC_REPLICA_VALUES + (inner ? PC_REPLICA_INNER : 0)) * 2 * job->exchanges;
  for (size_t e = 0; e < job->exchanges; e++)
    for (size_t m = 0; m < 2; m++)
      out[m][e] = values[2 * e + m];
}

/* Stores a finding, converted from the scale of the test to that of the difference.  The
 * interval includes the difference; p < 1 - level exactly if it excludes 0. */
static void difference_store(const pc_paired_sample *sample, int power,
                             const pc_paired_finding *finding, pc_interval_result *out) {
  const double a = sample->value[0], b = sample->value[1], d = out->difference;
  const double low = pc_paired_root(a, b, power, finding->low);
  const double high = pc_paired_root(a, b, power, finding->high);
  const double width = finding->high - finding->low;
  out->has_difference_interval = 1;
  out->difference_method = finding->method;
  out->difference_low = fmin(low, d);
  out->difference_high = fmax(high, d);
  out->difference_p_value = finding->p_value;
  out->difference_se = width > 0.0 ? finding->se * (high - low) / width : finding->se;
  if ((finding->low > 0.0 && !(out->difference_low > 0.0)) ||
      (finding->high < 0.0 && !(out->difference_high < 0.0)))
    out->difference_p_value = fmax(out->difference_p_value, 1.0 - sample->level);
}

/* No difference of values leaves the width of the metric's range. */
static void difference_bound(const difference_job *job, size_t metric,
                             pc_interval_result *out) {
  if (metric >= job->plan.entry_count || !out->has_difference_interval)
    return;
  const pc_range *range = &job->plan.entries[metric].config.range;
  const double width = range->high - range->low;
  out->difference_low = fmax(out->difference_low, fmin(-width, out->difference));
  out->difference_high = fmin(out->difference_high, fmax(width, out->difference));
}

static void difference_one(const difference_job *job, size_t metric, double *room) {
  pc_result_record *record = &job->results->records[metric];
  const pc_metric_result *here = &record->outcome,
                         *there = &job->other->records[metric].outcome;
  const int power = here->inner_power == there->inner_power ? here->inner_power : 0;
  const size_t most = job->results->replica_count + PC_JACKKNIFE_PAIR_BLOCKS + job->exchanges;
  double *columns[3] = {room, room + most, room + 2 * most};
  pc_interval_result *interval_result = &record->interval_result;
  interval_result->has_difference_interval = 0;
  if (!difference_finite(here) || !difference_finite(there))
    return;
  interval_result->has_difference = 1;
  interval_result->difference = here->value - there->value;
  pc_paired_sample sample = {
      .value = {power > 0 ? here->inner : here->value, power > 0 ? there->inner : there->value},
      .score_distance = job->check.score_distance,
      .zero_if_calibrated = difference_zero_if_calibrated(record),
      .level = job->results->level};
  pc_paired_finding finding;
  difference_replicas(job, metric, columns, &sample);
  if (!sample.zero_if_calibrated || power > 0)
    sample.bias = sample.dominant_bias = 0.0;
  sample.bias_unknown = power == 0 && difference_pair(job, metric);
  if (job->exchanges > 0) {
    difference_exchanged(job, metric, power > 0, columns);
    sample.exchanged[0] = columns[0];
    sample.exchanged[1] = columns[1];
    sample.exchanges = job->exchanges;
  }
  if (pc_paired_judge(&sample, &finding))
    difference_store(&sample, power, &finding, interval_result);
  else
    difference_say_why(record);
  difference_bound(job, metric, interval_result);
}

/* ---- exchanges ---- */

static pcal_status difference_plan(difference_job *job, pcal_error *err) {
  const pcal_results *results = job->results;
  const pc_interval_request request = {.level = results->level,
                                       .replicas = results->replica_count,
                                       .by_cluster = results->kept.clusters != NULL,
                                       .paired = 1};
  const char **specs = pc_alloc(job->env, results->metric_count, sizeof *specs);
  if (specs == NULL)
    return pc_fail_memory(err, "comparing two models");
  for (size_t m = 0; m < results->metric_count; m++)
    specs[m] = results->records[m].spec;
  const pcal_status status = pc_measure_plan_new(job->env, &results->layout, &request, specs,
                                                 results->metric_count, &job->plan, err);
  pc_free(job->env, specs);
  return status;
}

/* Selects metrics: those over pairs of rows, or all others. */
static size_t difference_choose(const difference_job *job, int pairs) {
  size_t chosen = 0;
  for (size_t m = 0; m < job->plan.entry_count; m++) {
    const pc_metric_result *here = &job->results->records[m].outcome;
    const pc_metric_result *there = &job->other->records[m].outcome;
    job->entries[m] = (uint8_t)(job->wanted[m] && difference_pair(job, m) == pairs &&
                                !here->tested && pc_measure_plan_resampled(&job->plan, m) &&
                                difference_finite(here) && difference_finite(there));
    chosen += job->entries[m];
  }
  return chosen;
}

/* Exchanges the models for metrics of one kind, then judges them. */
static pcal_status difference_pass(difference_job *job, int pairs, pcal_error *err) {
  const size_t asked = job->results->replica_count, all = job->plan.entry_count;
  job->exchanges =
      1 + (pairs && asked > DIFFERENCE_PAIR_EXCHANGES ? DIFFERENCE_PAIR_EXCHANGES : asked);
  if (difference_choose(job, pairs) == 0)
    return PCAL_OK;
  const pc_replica_request request = {.plan = &job->plan,
                                      .entries = job->entries,
                                      .rows = &job->joined,
                                      .kind = PC_REPLICA_EXCHANGE,
                                      .count = 2 * job->exchanges,
                                      .half = job->joined.count / 2,
                                      .whole = job->results->weights_are !=
                                                   PCAL_WEIGHTS_IMPORTANCE &&
                                               pc_exchange_whole(&job->results->kept)};
  const size_t most = asked + PC_JACKKNIFE_PAIR_BLOCKS + job->exchanges;
  job->values =
      pc_alloc_raw(job->env, all * PC_REPLICA_VALUES * 2 * job->exchanges, sizeof *job->values);
  double *room = pc_alloc_raw(job->env, 3 * most, sizeof *room);
  pcal_status status = job->values != NULL && room != NULL
                           ? pc_replicas_measure(job->env, &request, job->values, err)
                           : pc_fail_memory(err, "comparing two models");
  for (size_t m = 0; status == PCAL_OK && m < all; m++)
    if (job->entries[m])
      difference_one(job, m, room);
  pc_free(job->env, job->values);
  pc_free(job->env, room);
  job->values = NULL;
  return status;
}

static pcal_status difference_exchange(difference_job *job, pcal_error *err) {
  const pc_kept_rows *rows[2] = {&job->results->kept, &job->other->kept};
  PC_TRY(difference_plan(job, err));
  PC_TRY(pc_exchange_join(job->env, rows, &job->joined, err));
  for (int pairs = 0; pairs < 2; pairs++)
    PC_TRY(difference_pass(job, pairs, err));
  return PCAL_OK;
}

/* The models are the same in every row. */
static void difference_same(const difference_job *job) {
  for (size_t m = 0; m < job->results->metric_count; m++) {
    const pc_metric_result *here = &job->results->records[m].outcome;
    pc_interval_result *interval_result = &job->results->records[m].interval_result;
    if (!job->wanted[m] || !difference_finite(here) || here->tested)
      continue;
    interval_result->has_difference = interval_result->has_difference_interval = 1;
    interval_result->difference = interval_result->difference_low =
        interval_result->difference_high = 0.0;
    interval_result->difference_se = 0.0;
    interval_result->difference_p_value = 1.0;
    interval_result->difference_method = PCAL_DIFFERENCE_EXCHANGE;
  }
}

/* ---- areas under the ROC curve ---- */

static int difference_is_auc(const pc_result_record *record) {
  return strcmp(record->metric, "auc") == 0 && record->view.kind == PC_VIEW_CLASS;
}

/* The weight of one row: 1 for frequencies, their common value for equal importance weights; 0 for
 * others. */
static double difference_unit(const difference_job *job) {
  const pc_kept_rows *rows = &job->results->kept;
  if (job->results->weights_are != PCAL_WEIGHTS_IMPORTANCE)
    return pc_exchange_whole(rows) ? 1.0 : 0.0;
  for (size_t i = 1; i < rows->count; i++)
    if (pc_kept_weight(rows, i) != pc_kept_weight(rows, 0))
      return 0.0;
  return pc_kept_weight(rows, 0);
}

/* Judges areas of class 1, which are then not wanted any more. */
static pcal_status difference_areas(const difference_job *job, pcal_error *err) {
  const pc_kept_rows *rows[2] = {&job->results->kept, &job->other->kept};
  const double unit = difference_unit(job);
  if (rows[0]->clusters != NULL || rows[0]->classes != 2 || !(unit > 0.0))
    return PCAL_OK;
  for (size_t m = 0; m < job->results->metric_count; m++) {
    pc_result_record *record = &job->results->records[m];
    const pc_metric_result *there = &job->other->records[m].outcome;
    pc_paired_finding finding;
    int found = 0;
    if (!job->wanted[m] || !difference_is_auc(record) || !difference_finite(&record->outcome) ||
        !difference_finite(there))
      continue;
    const pc_paired_sample sample = {.value = {record->outcome.value, there->value},
                                     .level = job->results->level};
    const double difference = sample.value[0] - sample.value[1];
    PC_TRY(pc_paired_delong(job->env, rows, unit, difference, sample.level, &found, &finding,
                            err));
    if (!found)
      continue;
    record->interval_result.has_difference = 1;
    record->interval_result.difference = difference;
    difference_store(&sample, 0, &finding, &record->interval_result);
    job->wanted[m] = 0;
  }
  return PCAL_OK;
}

/* Judges the metrics for which the models were not exchanged. */
static pcal_status difference_rest(difference_job *job, pcal_error *err) {
  const size_t most = job->results->replica_count + PC_JACKKNIFE_PAIR_BLOCKS;
  double *room = pc_alloc_raw(job->env, 3 * most, sizeof *room);
  if (room == NULL)
    return pc_fail_memory(err, "comparing two models");
  job->exchanges = 0;
  for (size_t m = 0; m < job->results->metric_count; m++)
    if (job->wanted[m] && !job->results->records[m].interval_result.has_difference_interval)
      difference_one(job, m, room);
  pc_free(job->env, room);
  return PCAL_OK;
}

static pcal_status difference_run(difference_job *job, size_t metric, pcal_error *err) {
  pcal_results *results = job->results;
  const pc_layout *layouts[2] = {&results->layout, &job->other->layout};
  const pc_kept_rows *rows[2] = {&results->kept, &job->other->kept};
  job->wanted = pc_alloc(job->env, results->metric_count, 1);
  job->entries = pc_alloc(job->env, results->metric_count, 1);
  if (job->wanted == NULL || job->entries == NULL)
    return pc_fail_memory(err, "comparing two models");
  for (size_t m = 0; m < results->metric_count; m++) {
    job->wanted[m] = metric == SIZE_MAX || metric == m;
    if (job->wanted[m])
      results->records[m].interval_result.has_difference_interval = 0;
  }
  PC_TRY(pc_exchange_compare(job->env, layouts, rows, &job->check, err));
  results->against = (pc_model_difference){.known = job->check.possible,
                                           .clusters = rows[0]->clusters != NULL,
                                           .differ = job->check.differ};
  if (job->check.possible && job->check.differ == 0)
    difference_same(job);
  else if (job->check.possible) {
    PC_TRY(difference_areas(job, err));
    PC_TRY(difference_exchange(job, err));
  }
  return difference_rest(job, err);
}

pcal_status pc_paired_difference(pcal_results *results, const pcal_results *other,
                                 size_t metric, pcal_error *err) {
  difference_job job = {.env = &results->env, .results = results, .other = other};
  PC_TRY(difference_check(results, other, err));
  const pcal_status status = difference_run(&job, metric, err);
  pc_measure_plan_free(job.env, &job.plan);
  pc_exchange_free(job.env, &job.joined);
  pc_free(job.env, job.wanted);
  pc_free(job.env, job.entries);
  return status;
}

pcal_status pc_paired_differences(pcal_results *results, const pcal_results *other,
                                  pcal_error *err) {
  return pc_paired_difference(results, other, SIZE_MAX, err);
}

void pc_paired_differences_mark_injective(pcal_results *results) {
  for (size_t m = 0; m < results->metric_count; m++) {
    const pc_metric *metric =
        pc_metric_find_for(results->layout.form, results->records[m].metric);
    if (metric != NULL && (metric->traits & PC_PROPER_SCORE) != 0)
      results->records[m].interval_result.difference_of_calibration =
          results->records[m].interval_result.has_difference;
  }
}
