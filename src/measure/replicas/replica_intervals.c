/* Which interval suits which metric, unless one was asked for or the metric knows better:
 *   what has an unbiased inner value (debiased squares, kernel errors): Student's, from the
 *   jackknife over blocks, of the inner value, and the root of its ends;
 *   pairs of rows without one: the same of the value itself;
 *   errors, norms of gaps, which chance makes larger: test inversion (measure/replicas/interval_inversion.h), or
 *   where replicas cannot be shown at gap points, from the replicas alone (stats/interval.c);
 *   all others: BCa.
 * Pairs are never drawn again with weights, since copies of a row pair with themselves: one of
 * RESAMPLE_PAIR_BLOCKS blocks of rows is left out at a time, whatever method was asked for.
 * A null p-value is the share of calibrated replicas at least as large, (1 + count) / (1 +
 * replicas), for errors; for proper scores and accuracy, which a calibrated model can miss on
 * either side, twice the smaller tail; statistics of tests are compared by their size.
 * Edge cases: (1) replicas without a value are left out, and when that is every tenth or more
 * there is no interval; (2) a value that is itself undefined has none; (3) nor has the
 * statistic of a test, which has its p-value; (4) no interval excludes its own estimate or
 * leaves the range of its metric. */
#include "measure/replicas/replica_intervals.h"
#include "base/budget.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/number.h"
#include "measure/replicas/exchange.h"
#include "measure/replicas/interval_inversion.h"
#include "measure/replicas/replicas.h"

#define RESAMPLE_PAIR_NULLS 200 /* calibrated replicas of a metric over pairs, at most */
#define RESAMPLE_LACKING 0.1    /* share of replicas that may lack a value */
#define RESAMPLE_ABOVE 0.6      /* standard errors */

typedef struct resample_job {
  const pcal_env *env;
  const pc_measure_plan *plan;
  const pc_kept_rows *rows;
  pc_result_record *records;
  uint8_t *entries;
  double *values, *left_out;
  size_t count, blocks;          /* of values and left_out */
  const pc_replica_output *kept; /* unsorted values for the caller */
} resample_job;

/* Can a calibrated model miss it on either side? */
static int resample_two_sided(const pc_result_record *record) {
  return record->notion != NULL && strcmp(record->notion, "proper") == 0;
}

static int resample_lower(const pc_result_record *record) {
  return record->bound != NULL && strcmp(record->bound, "lower") == 0;
}

static int resample_inner(const resample_job *job, size_t entry) {
  return job->records[entry].outcome.inner_power > 0;
}

static pcal_interval_method resample_method(const resample_job *job, size_t entry) {
  const pcal_interval_method suits = job->plan->entries[entry].reading.interval;
  if (pc_measure_plan_pairs_rows(job->plan, entry))
    return PCAL_INTERVAL_JACKKNIFE;
  if (job->plan->certainty.method != PCAL_INTERVAL_AUTO)
    return (pcal_interval_method)job->plan->certainty.method;
  if (suits != PCAL_INTERVAL_AUTO)
    return suits;
  if (resample_inner(job, entry))
    return PCAL_INTERVAL_JACKKNIFE;
  return resample_lower(&job->records[entry]) || job->plan->entries[entry].reading.most > 0.0
             ? PCAL_INTERVAL_INVERSION
             : PCAL_INTERVAL_BCA;
}

static int resample_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts the values that are there to the front; returns how many. */
static size_t resample_gather(double *values, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (!isnan(values[i]))
      values[kept++] = values[i];
  qsort(values, kept, sizeof *values, resample_order);
  return kept;
}

/* The series of an entry's value, of its inner value, or of one of its parts. */
static double *resample_series(double *values, size_t count, size_t entry, size_t series) {
  return values + (entry * PC_REPLICA_VALUES + series) * count;
}

/* A series to find an interval for. */
typedef struct resample_goal {
  size_t entry, series; /* as in replicas.h */
  double estimate;
  pcal_interval_method method;
  const pc_variance_law *law; /* of the estimate, or NULL */
} resample_goal;

/* Is it known how the variance depends on the truth?  Of clusters it is not. */
static int resample_lawful(const resample_job *job, const resample_goal *goal) {
  return goal->law != NULL && goal->law->noise > 0 && !job->plan->certainty.by_cluster;
}

/* 0 when too many blocks have no value. */
static int resample_find_jackknife(const resample_job *job, const resample_goal *goal,
                                   double *se, pc_interval *out) {
  const double level = job->plan->certainty.level;
  double *without = resample_series(job->left_out, job->blocks, goal->entry, goal->series);
  const size_t blocks = resample_gather(without, job->blocks);
  if ((double)blocks < (1.0 - RESAMPLE_LACKING) * (double)job->blocks)
    return 0;
  *se = pc_interval_jackknife_se(without, blocks);
  *out = resample_lawful(job, goal)
             ? pc_interval_quadratic(goal->estimate, *se, goal->law, blocks, level)
             : pc_interval_jackknife(goal->estimate, *se, blocks, level);
  return 1;
}

/* 0 when too many replicas have no value. */
static int resample_find(const resample_job *job, const resample_goal *goal, double *se,
                         pc_interval *out) {
  const double level = job->plan->certainty.level;
  if (goal->method == PCAL_INTERVAL_JACKKNIFE)
    return resample_find_jackknife(job, goal, se, out);
  double *values = resample_series(job->values, job->count, goal->entry, goal->series);
  double *without = resample_series(job->left_out, job->blocks, goal->entry, goal->series);
  const size_t kept = resample_gather(values, job->count);
  if ((double)kept < (1.0 - RESAMPLE_LACKING) * (double)job->count)
    return 0;
  const size_t blocks =
      goal->method == PCAL_INTERVAL_BCA ? resample_gather(without, job->blocks) : 0;
  const pc_replica_set set = {goal->estimate, values, kept,
                              pc_interval_acceleration(without, blocks)};
  *se = pc_interval_deviation(values, kept);
  *out = goal->method == PCAL_INTERVAL_NORMAL ? pc_interval_normal(goal->estimate, *se, level)
         : goal->method == PCAL_INTERVAL_INVERSION
             ? pc_interval_of_norm(&set, level)
             : pc_interval_from_replicas(&set, goal->method, level);
  return 1;
}

static double resample_root(double inner, int power) {
  return power == 1 ? inner : pc_pow(fmax(inner, 0.0), 1.0 / power);
}

/* From the inner scale to that of the value; the error by its slope there, or at 0 by the
 * width. */
static void resample_unwrap(const pc_metric_result *outcome, double *se,
                            pc_interval *interval) {
  const int power = outcome->inner_power;
  const double inner_width = interval->high - interval->low;
  interval->low = resample_root(interval->low, power);
  interval->high = resample_root(interval->high, power);
  const double slope = power * pc_pow(resample_root(outcome->inner, power), power - 1);
  if (power != 1)
    *se = slope > 0.0         ? *se / slope
          : inner_width > 0.0 ? *se * (interval->high - interval->low) / inner_width
                              : 0.0;
}

/* No interval leaves the metric's range or excludes its own estimate, and what estimates a
 * square without bias may be negative, though the square is not: then 0 is inside. */
static void resample_bound(const resample_job *job, size_t entry, int inner,
                           pc_interval *interval) {
  const pc_result_record *record = &job->records[entry];
  const double value = record->outcome.value;
  const unsigned traits = job->plan->entries[entry].reading.traits;
  if (resample_lower(record) || (traits & PC_NOT_NEGATIVE) != 0)
    interval->low = fmax(interval->low, 0.0);
  if (inner || resample_lower(record))
    interval->high = fmax(interval->high, 0.0);
  interval->low = fmin(interval->low, value);
  interval->high = fmax(interval->high, value);
}

static void resample_interval(const resample_job *job, size_t entry) {
  pc_result_record *record = &job->records[entry];
  const pc_metric_result *outcome = &record->outcome;
  pc_interval_result *out = &record->interval_result;
  resample_goal goal = {entry, 0, outcome->value, resample_method(job, entry), NULL};
  const int inner = goal.method == PCAL_INTERVAL_JACKKNIFE && resample_inner(job, entry);
  pc_interval interval;
  if (inner) {
    goal.series = PC_REPLICA_INNER;
    goal.estimate = outcome->inner;
    goal.law = &outcome->inner_law;
  }
  if (!resample_find(job, &goal, &out->se, &interval)) {
    snprintf(out->why, sizeof out->why, "too many of %zu replicas have no value",
             goal.method == PCAL_INTERVAL_JACKKNIFE ? job->blocks : job->count);
    return;
  }
  if (inner)
    resample_unwrap(outcome, &out->se, &interval);
  out->has_interval = 1;
  out->level = job->plan->certainty.level;
  out->method = goal.method;
  resample_bound(job, entry, inner, &interval);
  out->low = interval.low;
  out->high = interval.high;
}

/* Debiased parts are unbiased by construction; most others are biased. */
static pcal_interval_method resample_part_method(const resample_job *job, const char *name) {
  if (job->plan->certainty.method != PCAL_INTERVAL_AUTO)
    return (pcal_interval_method)job->plan->certainty.method;
  return strstr(name, "_debiased") != NULL ? PCAL_INTERVAL_JACKKNIFE : PCAL_INTERVAL_BASIC;
}

/* Sums of squares lean to the right: unless they are next to 0 the same width is laid around
 * their root. */
static void resample_straighten(double value, double se, pc_interval *interval) {
  if (!(value > RESAMPLE_ABOVE * se) || !(se > 0.0))
    return;
  const double root = sqrt(value),
               reach = 0.5 * (interval->high - interval->low) / (2.0 * root);
  interval->low = pc_pow(fmax(root - reach, 0.0), 2.0);
  interval->high = pc_pow(root + reach, 2.0);
}

/* Parts that are biased: percentiles reach to one side, basic intervals to the other; both
 * together hold the truth.  A part that is never negative has no negative end. */
static void resample_widen(const resample_job *job, const resample_goal *goal,
                           pc_interval *interval) {
  double *values = resample_series(job->values, job->count, goal->entry, goal->series);
  const size_t kept = resample_gather(values, job->count);
  const pc_replica_set set = {goal->estimate, values, kept, 0.0};
  const pc_interval plain =
      pc_interval_from_replicas(&set, PCAL_INTERVAL_PERCENTILE, job->plan->certainty.level);
  interval->low = fmin(interval->low, plain.low);
  interval->high = fmax(interval->high, plain.high);
  if (values[0] >= 0.0)
    interval->low = fmax(interval->low, 0.0);
}

/* Parts that are the point of a metric have intervals too. */
static void resample_parts(const resample_job *job, size_t entry) {
  pc_result_record *record = &job->records[entry];
  if (!(job->plan->entries[entry].metric->traits & PC_PARTS_IN_TEXT))
    return;
  for (size_t p = 0; p < record->outcome.part_count; p++) {
    const pcal_part *part = &record->outcome.parts[p];
    const resample_goal goal = {entry, PC_REPLICA_PARTS + p, part->value,
                                resample_part_method(job, part->name),
                                &record->outcome.part_laws[p]};
    pc_part_interval *out = &record->part_interval_results[p];
    pc_interval interval;
    if (!isfinite(part->value) || !resample_find(job, &goal, &out->se, &interval))
      continue;
    if (goal.method == PCAL_INTERVAL_JACKKNIFE && !resample_lawful(job, &goal))
      resample_straighten(part->value, out->se, &interval);
    if (goal.method == PCAL_INTERVAL_BASIC)
      resample_widen(job, &goal, &interval);
    out->has_interval = 1;
    out->low = fmin(interval.low, part->value);
    out->high = fmax(interval.high, part->value);
  }
}

/* ---- calibrated replicas ---- */

static double resample_p_value(const pc_result_record *record, const double *values,
                               size_t count) {
  size_t above = 0, below = 0;
  const int tested = record->outcome.tested; /* statistics may have a sign */
  const double value = tested ? fabs(record->outcome.value) : record->outcome.value;
  for (size_t i = 0; i < count; i++) {
    above += (tested ? fabs(values[i]) : values[i]) >= value;
    below += values[i] <= value;
  }
  if (!resample_two_sided(record))
    return (1.0 + (double)above) / (1.0 + (double)count);
  const size_t least = above < below ? above : below;
  return fmin(2.0 * (1.0 + (double)least) / (1.0 + (double)count), 1.0);
}

static void resample_null(const resample_job *job, size_t entry) {
  pc_result_record *record = &job->records[entry];
  pc_interval_result *out = &record->interval_result;
  double *values = resample_series(job->values, job->count, entry, 0);
  const size_t kept = resample_gather(values, job->count);
  if ((double)kept < (1.0 - RESAMPLE_LACKING) * (double)job->count) {
    snprintf(out->why, sizeof out->why, "only %zu of %zu calibrated replicas have a value",
             kept, job->count);
    return;
  }
  for (size_t i = 0; i < kept; i++)
    out->null_mean += values[i] / (double)kept;
  out->has_null = 1;
  out->null_low = pc_interval_quantile(values, kept, 0.5 * (1.0 - PC_NULL_LEVEL));
  out->null_high = pc_interval_quantile(values, kept, 0.5 * (1.0 + PC_NULL_LEVEL));
  out->null_p_value = resample_p_value(record, values, kept);
}

/* ---- which entries ---- */

typedef int (*resample_wanted)(const resample_job *job, size_t entry);

static int resample_pair(const resample_job *job, size_t entry) {
  return pc_measure_plan_pairs_rows(job->plan, entry);
}

/* Parts have intervals where text shows them. */
static int resample_has_parts(const resample_job *job, size_t entry) {
  return (job->plan->entries[entry].metric->traits & PC_PARTS_IN_TEXT) != 0;
}

static int resample_measured(const resample_job *job, size_t entry) {
  const pc_metric_result *outcome = &job->records[entry].outcome;
  return pc_measure_plan_resampled(job->plan, entry) && !outcome->tested;
}

static int resample_inverted(const resample_job *job, size_t entry) {
  return resample_measured(job, entry) &&
         resample_method(job, entry) == PCAL_INTERVAL_INVERSION &&
         pc_interval_inversion_applies(job->plan, entry, job->rows);
}

/* By weights: where an interval or a comparison is made of them. */
static int resample_by_weights(const resample_job *job, size_t entry) {
  const pcal_interval_method method = resample_method(job, entry);
  const int made = (method != PCAL_INTERVAL_JACKKNIFE && !resample_inverted(job, entry)) ||
                   resample_has_parts(job, entry) || job->plan->certainty.paired;
  return resample_measured(job, entry) && !resample_pair(job, entry) && made;
}

/* By leaving blocks out: for the jackknife, and the acceleration of BCa. */
static int resample_by_blocks(const resample_job *job, size_t entry) {
  const pcal_interval_method method = resample_method(job, entry);
  const int made = method == PCAL_INTERVAL_JACKKNIFE || method == PCAL_INTERVAL_BCA ||
                   resample_has_parts(job, entry);
  return resample_measured(job, entry) && !resample_pair(job, entry) && made;
}

static int resample_pair_blocks(const resample_job *job, size_t entry) {
  return resample_measured(job, entry) && resample_pair(job, entry);
}

static int resample_row_nulls(const resample_job *job, size_t entry) {
  return pc_measure_plan_relabelled(job->plan, entry) && !resample_pair(job, entry);
}

static int resample_pair_null(const resample_job *job, size_t entry) {
  return pc_measure_plan_relabelled(job->plan, entry) && !job->records[entry].outcome.tested &&
         resample_pair(job, entry);
}

/* Entries that `wanted` names and whose value is finite; returns how many. */
static size_t resample_choose(const resample_job *job, resample_wanted wanted) {
  size_t chosen = 0;
  for (size_t e = 0; e < job->plan->entry_count; e++) {
    const pc_metric_result *outcome = &job->records[e].outcome;
    job->entries[e] =
        (uint8_t)(wanted(job, e) && !outcome->undefined && isfinite(outcome->value));
    chosen += job->entries[e];
  }
  return chosen;
}

/* Draws for the entries that `wanted` names; the values of all others are NaN. */
static pcal_status resample_draw(const resample_job *job, resample_wanted wanted,
                                 pc_replica_kind kind, size_t count, double *values,
                                 pcal_error *err) {
  const pc_replica_request request = {.plan = job->plan,
                                      .entries = job->entries,
                                      .rows = job->rows,
                                      .kind = kind,
                                      .count = count};
  if (resample_choose(job, wanted) > 0)
    return pc_replicas_measure(job->env, &request, values, err);
  pc_replica_values_clear(&request, values);
  return PCAL_OK;
}

/* ---- all of it ---- */

static void resample_keep(const resample_job *job, const double *values, size_t count,
                          double *out) {
  for (size_t e = 0; out != NULL && e < job->plan->entry_count; e++) {
    const size_t series = resample_inner(job, e) ? PC_REPLICA_INNER : 0;
    memcpy(out + e * count, values + (e * PC_REPLICA_VALUES + series) * count,
           count * sizeof(double));
  }
}

/* Hands the rows over to a caller who keeps them: copies become weights, and clusters are
 * numbered by their keys. */
static pcal_status resample_keep_rows(const pcal_env *env, const pc_replica_output *kept,
                                      pc_kept_rows *rows, pcal_error *err) {
  if (kept->rows == NULL || pc_exchange_bytes(rows) > PC_REPLICA_OUTPUT_ROWS_MAX)
    return PCAL_OK;
  PC_TRY(pc_exchange_number(env, rows, err));
  for (size_t i = 0; i < rows->count; i++)
    rows->weights[i] = pc_kept_weight(rows, i);
  pc_free(env, rows->copies);
  rows->copies = NULL;
  *kept->rows = *rows;
  *rows = (pc_kept_rows){.count = 0};
  return PCAL_OK;
}

static void resample_conclude(const resample_job *job, resample_wanted wanted) {
  (void)resample_choose(job, wanted);
  for (size_t e = 0; e < job->plan->entry_count; e++) {
    if (job->entries[e] && !job->records[e].interval_result.has_interval)
      resample_interval(job, e);
    if (job->entries[e])
      resample_parts(job, e);
  }
}

static int resample_rows_measured(const resample_job *job, size_t entry) {
  return resample_measured(job, entry) && !resample_pair(job, entry);
}

/* Those of them whose interval comes from the values that were drawn. */
static int resample_rows_drawn(const resample_job *job, size_t entry) {
  return resample_rows_measured(job, entry) && !resample_inverted(job, entry);
}

static pcal_status resample_intervals(resample_job *job, pcal_error *err) {
  job->count = job->plan->certainty.replicas;
  job->blocks = PC_JACKKNIFE_BLOCKS;
  if (resample_choose(job, resample_rows_measured) > 0) {
    PC_TRY(resample_draw(job, resample_by_weights, PC_REPLICA_WEIGHTS, job->count, job->values,
                         err));
    PC_TRY(resample_draw(job, resample_by_blocks, PC_REPLICA_WITHOUT, job->blocks,
                         job->left_out, err));
    resample_keep(job, job->values, job->count, job->kept->replicas);
    resample_conclude(job, resample_rows_drawn);
  }
  if (resample_choose(job, resample_inverted) > 0)
    PC_TRY(
        pc_interval_inversion(job->env, job->plan, job->entries, job->rows, job->records, err));
  job->blocks = PC_JACKKNIFE_PAIR_BLOCKS;
  if (resample_choose(job, resample_pair_blocks) > 0) {
    PC_TRY(resample_draw(job, resample_pair_blocks, PC_REPLICA_WITHOUT, job->blocks,
                         job->left_out, err));
    resample_keep(job, job->left_out, job->blocks, job->kept->left_out);
    resample_conclude(job, resample_pair_blocks);
  }
  return PCAL_OK;
}

static pcal_status resample_nulls(resample_job *job, pcal_error *err) {
  static const resample_wanted kinds[] = {resample_row_nulls, resample_pair_null};
  const size_t asked = job->plan->certainty.replicas;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    job->count = k > 0 && asked > RESAMPLE_PAIR_NULLS ? RESAMPLE_PAIR_NULLS : asked;
    if (resample_choose(job, kinds[k]) == 0)
      continue;
    PC_TRY(resample_draw(job, kinds[k], PC_REPLICA_LABELS, job->count, job->values, err));
    for (size_t e = 0; e < job->plan->entry_count; e++)
      if (job->entries[e])
        resample_null(job, e);
  }
  return PCAL_OK;
}

/* Why something that was asked for is not there. */
static void resample_excuse(const resample_job *job, size_t entry) {
  pc_result_record *record = &job->records[entry];
  if (job->plan->certainty.level > 0 &&
      (job->plan->entries[entry].reading.traits & PC_OF_THE_SAMPLE))
    snprintf(record->interval_result.why, sizeof record->interval_result.why,
             "it describes a sample of this size, so there is no true value for an interval "
             "to hold");
  if (job->plan->certainty.null && record->outcome.tested && resample_pair(job, entry))
    snprintf(record->interval_result.why, sizeof record->interval_result.why,
             "its p-value comes from replicas already, so there is no null beside it");
}

pcal_status pc_replica_intervals(const pcal_env *env, const pc_measure_plan *plan,
                                 const void *keep, const pc_distinct_rule *how,
                                 const pc_replica_output *values, pc_result_record *records,
                                 pcal_error *err) {
  const pc_machine *machine = plan->slots[plan->keep_slot].machine;
  const size_t series = plan->entry_count * PC_REPLICA_VALUES;
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  PC_TRY(pc_machine_rows_distinct(env, keep, how, &evidence, err));
  resample_job job = {
      .env = env, .plan = plan, .rows = &evidence.kept, .records = records, .kept = values};
  const pcal_env held = pc_env_for_use(env, PC_MEMORY_REPLICAS);
  job.entries = pc_alloc(&held, plan->entry_count, 1);
  job.values = pc_alloc_raw(&held, series * plan->certainty.replicas, sizeof(double));
  job.left_out = pc_alloc_raw(&held, series * PC_JACKKNIFE_BLOCKS, sizeof(double));
  const int enough = job.entries != NULL && job.values != NULL && job.left_out != NULL;
  pcal_status status = enough ? PCAL_OK : pc_fail_memory(err, "drawing replicas");
  if (status == PCAL_OK)
    status = resample_intervals(&job, err);
  if (status == PCAL_OK)
    status = resample_nulls(&job, err);
  for (size_t e = 0; status == PCAL_OK && e < plan->entry_count; e++)
    resample_excuse(&job, e);
  if (status == PCAL_OK)
    status = resample_keep_rows(env, values, &evidence.kept, err);
  pc_free(env, job.entries);
  pc_free(env, job.values);
  pc_free(env, job.left_out);
  machine->release(env, &evidence);
  return status;
}
