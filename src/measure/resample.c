/* Which interval suits which metric, unless one was asked for or the metric knows better:
 * errors that are bounded below by 0 and biased upwards (marked as lower bounds) take the basic
 * interval, which takes the bias off, cut at 0; all others BCa.  A null p-value is the share of
 * calibrated replicas at least as large, (1 + count) / (1 + replicas), for errors; for proper
 * scores, which a calibrated model can miss on either side, twice the smaller tail. Edge cases:
 * (1) replicas without a value are left out, and when that is every tenth or more there is no
 * interval; (2) a value that is itself undefined has none; (3) nor has the statistic of a test,
 * which has its p-value. */
#include "measure/resample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/replicate.h"

#define RESAMPLE_BLOCKS 50
#define RESAMPLE_LACKING 0.1 /* share of replicas that may lack a value */

typedef struct resample_job {
  const pcal_env *env;
  const pc_plan *plan;
  const pc_kept_rows *rows;
  pc_result_record *records;
  uint8_t *entries;
  double *values, *left_out;
  double *kept; /* unsorted values for the caller, or NULL */
} resample_job;

static int resample_proper(const pc_result_record *record) {
  return record->notion != NULL && strcmp(record->notion, "proper") == 0;
}

static pc_interval_method resample_method(const resample_job *job, size_t entry) {
  const pc_result_record *record = &job->records[entry];
  const pc_interval_method suits = job->plan->entries[entry].reading.interval;
  if (job->plan->certainty.method != PC_INTERVAL_AUTO)
    return (pc_interval_method)job->plan->certainty.method;
  if (suits != PC_INTERVAL_AUTO)
    return suits;
  return record->bound != NULL && strcmp(record->bound, "lower") == 0 ? PC_INTERVAL_BASIC
                                                                      : PC_INTERVAL_BCA;
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

/* The series of an entry's value (0) or of one of its parts. */
static double *resample_series(double *values, size_t count, size_t entry, size_t series) {
  return values + (entry * PC_REPLICA_VALUES + series) * count;
}

/* A series to find an interval for. */
typedef struct resample_goal {
  size_t entry, series; /* 0: the value, else a part */
  double estimate;
  pc_interval_method method;
} resample_goal;

/* 0 when too many replicas have no value. */
static int resample_find(const resample_job *job, const resample_goal *goal, double *se,
                         pc_interval *out) {
  const pc_certainty *certainty = &job->plan->certainty;
  double *values = resample_series(job->values, certainty->replicas, goal->entry, goal->series);
  double *without = resample_series(job->left_out, RESAMPLE_BLOCKS, goal->entry, goal->series);
  const size_t kept = resample_gather(values, certainty->replicas);
  if ((double)kept < (1.0 - RESAMPLE_LACKING) * (double)certainty->replicas)
    return 0;
  const size_t blocks = resample_gather(without, RESAMPLE_BLOCKS);
  const pc_replica_set set = {goal->estimate, values, kept,
                              pc_interval_acceleration(without, blocks)};
  *se = goal->method == PC_INTERVAL_JACKKNIFE ? pc_interval_jackknife_se(without, blocks)
                                              : pc_interval_spread(values, kept);
  *out = goal->method == PC_INTERVAL_NORMAL
             ? pc_interval_normal(goal->estimate, *se, certainty->level)
         : goal->method == PC_INTERVAL_JACKKNIFE
             ? pc_interval_jackknife(goal->estimate, *se, blocks, certainty->level)
             : pc_interval_from(&set, goal->method, certainty->level);
  return 1;
}

static void resample_interval(const resample_job *job, size_t entry) {
  pc_result_record *record = &job->records[entry];
  pc_surety *out = &record->surety;
  const resample_goal goal = {entry, 0, record->outcome.value, resample_method(job, entry)};
  pc_interval interval;
  if (!resample_find(job, &goal, &out->se, &interval)) {
    snprintf(out->why, sizeof out->why, "too many of %zu replicas have no value",
             job->plan->certainty.replicas);
    return;
  }
  const int floored = record->bound != NULL && strcmp(record->bound, "lower") == 0;
  out->has_interval = 1;
  out->level = job->plan->certainty.level;
  out->method = goal.method;
  out->low = floored ? fmax(interval.low, 0.0) : interval.low;
  out->high = floored ? fmax(interval.high, 0.0) : interval.high;
}

/* Debiased parts are unbiased by construction; most others are biased. */
static pc_interval_method resample_part_method(const resample_job *job, const char *name) {
  if (job->plan->certainty.method != PC_INTERVAL_AUTO)
    return (pc_interval_method)job->plan->certainty.method;
  return strstr(name, "_debiased") != NULL ? PC_INTERVAL_JACKKNIFE : PC_INTERVAL_BASIC;
}

/* Parts that are the point of a metric have intervals too. */
static void resample_parts(const resample_job *job, size_t entry) {
  pc_result_record *record = &job->records[entry];
  if (!(job->plan->entries[entry].metric->traits & PC_PARTS_IN_TEXT))
    return;
  for (size_t p = 0; p < record->outcome.part_count; p++) {
    const pcal_part *part = &record->outcome.parts[p];
    const resample_goal goal = {entry, 1 + p, part->value,
                                resample_part_method(job, part->name)};
    pc_part_surety *out = &record->part_surety[p];
    pc_interval interval;
    if (!isfinite(part->value) || !resample_find(job, &goal, &out->se, &interval))
      continue;
    out->has_interval = 1;
    out->low = interval.low;
    out->high = interval.high;
  }
}

static double resample_p_value(const pc_result_record *record, const double *values,
                               size_t count) {
  size_t above = 0, below = 0;
  for (size_t i = 0; i < count; i++) {
    above += values[i] >= record->outcome.value;
    below += values[i] <= record->outcome.value;
  }
  if (!resample_proper(record))
    return (1.0 + (double)above) / (1.0 + (double)count);
  const size_t least = above < below ? above : below;
  return fmin(2.0 * (1.0 + (double)least) / (1.0 + (double)count), 1.0);
}

static void resample_null(const resample_job *job, size_t entry) {
  const size_t replicas = job->plan->certainty.replicas;
  pc_result_record *record = &job->records[entry];
  pc_surety *out = &record->surety;
  double *values = resample_series(job->values, replicas, entry, 0);
  const size_t kept = resample_gather(values, replicas);
  if ((double)kept < (1.0 - RESAMPLE_LACKING) * (double)replicas) {
    snprintf(out->why, sizeof out->why, "only %zu of %zu calibrated replicas have a value",
             kept, replicas);
    return;
  }
  for (size_t i = 0; i < kept; i++)
    out->null_mean += values[i] / (double)kept;
  out->has_null = 1;
  out->null_low = pc_interval_quantile(values, kept, 0.5 * (1.0 - PC_NULL_LEVEL));
  out->null_high = pc_interval_quantile(values, kept, 0.5 * (1.0 + PC_NULL_LEVEL));
  out->null_p_value = resample_p_value(record, values, kept);
}

static int resample_for_interval(const resample_job *job, size_t entry) {
  return pc_plan_resampled(job->plan, entry) && !job->records[entry].outcome.tested;
}

static int resample_for_null(const resample_job *job, size_t entry) {
  return pc_plan_relabelled(job->plan, entry);
}

/* Entries that `wanted` names and whose value is finite; returns how many. */
static size_t resample_choose(const resample_job *job,
                              int (*wanted)(const resample_job *job, size_t entry)) {
  size_t chosen = 0;
  for (size_t e = 0; e < job->plan->entry_count; e++) {
    const pc_outcome *outcome = &job->records[e].outcome;
    job->entries[e] =
        (uint8_t)(wanted(job, e) && !outcome->undefined && isfinite(outcome->value));
    chosen += job->entries[e];
  }
  return chosen;
}

static pcal_status resample_draw(const resample_job *job, pc_replica_kind kind, size_t count,
                                 double *values, pcal_error *err) {
  const pc_replica_request request = {job->plan, job->entries, job->rows, kind, count};
  return pc_replicate(job->env, &request, values, err);
}

static pcal_status resample_intervals(const resample_job *job, pcal_error *err) {
  const pc_plan *plan = job->plan;
  const size_t replicas = plan->certainty.replicas;
  if (resample_choose(job, resample_for_interval) == 0)
    return PCAL_OK;
  PC_TRY(resample_draw(job, PC_REPLICA_WEIGHTS, replicas, job->values, err));
  PC_TRY(resample_draw(job, PC_REPLICA_WITHOUT, RESAMPLE_BLOCKS, job->left_out, err));
  for (size_t e = 0; job->kept != NULL && e < plan->entry_count; e++)
    memcpy(job->kept + e * replicas, resample_series(job->values, replicas, e, 0),
           replicas * sizeof(double));
  for (size_t e = 0; e < plan->entry_count; e++) {
    if (job->entries[e] && !job->records[e].surety.has_interval)
      resample_interval(job, e);
    if (job->entries[e])
      resample_parts(job, e);
  }
  return PCAL_OK;
}

static pcal_status resample_nulls(const resample_job *job, pcal_error *err) {
  if (resample_choose(job, resample_for_null) == 0)
    return PCAL_OK;
  PC_TRY(
      resample_draw(job, PC_REPLICA_LABELS, job->plan->certainty.replicas, job->values, err));
  for (size_t e = 0; e < job->plan->entry_count; e++)
    if (job->entries[e])
      resample_null(job, e);
  return PCAL_OK;
}

pcal_status pc_resample(const pcal_env *env, const pc_plan *plan, const void *keep,
                        double *values, pc_result_record *records, pcal_error *err) {
  const pc_machine *machine = plan->slots[plan->keep_slot].machine;
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  PC_TRY(machine->finish(env, keep, &evidence, err));
  resample_job job = {
      .env = env, .plan = plan, .rows = &evidence.kept, .records = records, .kept = values};
  job.entries = pc_alloc(env, plan->entry_count, 1);
  job.values = pc_alloc_raw(
      env, plan->entry_count * PC_REPLICA_VALUES * plan->certainty.replicas, sizeof(double));
  job.left_out = pc_alloc_raw(env, plan->entry_count * PC_REPLICA_VALUES * RESAMPLE_BLOCKS,
                              sizeof(double));
  const int enough = job.entries != NULL && job.values != NULL && job.left_out != NULL;
  pcal_status status = enough ? PCAL_OK : pc_fail_memory(err, "drawing replicas");
  if (status == PCAL_OK)
    status = resample_intervals(&job, err);
  if (status == PCAL_OK)
    status = resample_nulls(&job, err);
  pc_free(env, job.entries);
  pc_free(env, job.values);
  pc_free(env, job.left_out);
  machine->release(env, &evidence);
  return status;
}
