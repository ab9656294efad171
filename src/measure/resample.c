/* Which interval suits which metric, unless one was asked for: errors that are bounded below by
 * 0 and biased upwards (marked as lower bounds) take the basic interval, which takes the bias
 * off, cut at 0; all others BCa.  A null p-value is the share of calibrated replicas at least
 * as large, (1 + count) / (1 + replicas), for errors; for proper scores, which a calibrated
 * model can miss on either side, twice the smaller tail.
 * Edge cases: (1) replicas without a value are left out, and when that is every tenth or more
 * there is no interval; (2) a value that is itself undefined has none; (3) nor has the
 * statistic of a test, which has its p-value. */
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

static pc_interval_method resample_method(const pc_certainty *certainty,
                                          const pc_result_record *record) {
  if (certainty->method != PC_INTERVAL_AUTO)
    return (pc_interval_method)certainty->method;
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

static void resample_interval(const resample_job *job, size_t entry, double acceleration) {
  const pc_certainty *certainty = &job->plan->certainty;
  pc_result_record *record = &job->records[entry];
  pc_surety *out = &record->surety;
  double *values = job->values + entry * certainty->replicas;
  const size_t kept = resample_gather(values, certainty->replicas);
  if ((double)kept < (1.0 - RESAMPLE_LACKING) * (double)certainty->replicas) {
    snprintf(out->why, sizeof out->why, "only %zu of %zu replicas have a value", kept,
             certainty->replicas);
    return;
  }
  const pc_replica_set set = {record->outcome.value, values, kept, acceleration};
  out->method = resample_method(certainty, record);
  out->se = pc_interval_spread(values, kept);
  const pc_interval interval =
      out->method == PC_INTERVAL_NORMAL
          ? pc_interval_normal(record->outcome.value, out->se, certainty->level)
          : pc_interval_from(&set, out->method, certainty->level);
  const int floored = record->bound != NULL && strcmp(record->bound, "lower") == 0;
  out->has_interval = 1;
  out->level = certainty->level;
  out->low = floored ? fmax(interval.low, 0.0) : interval.low;
  out->high = floored ? fmax(interval.high, 0.0) : interval.high;
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
  double *values = job->values + entry * replicas;
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

static int resample_needs_bca(const resample_job *job) {
  for (size_t e = 0; e < job->plan->entry_count; e++)
    if (job->entries[e] &&
        resample_method(&job->plan->certainty, &job->records[e]) == PC_INTERVAL_BCA)
      return 1;
  return 0;
}

static double resample_acceleration(const resample_job *job, size_t entry) {
  double *left_out = job->left_out + entry * RESAMPLE_BLOCKS;
  const size_t kept = resample_gather(left_out, RESAMPLE_BLOCKS);
  return pc_interval_acceleration(left_out, kept);
}

static pcal_status resample_intervals(const resample_job *job, pcal_error *err) {
  if (resample_choose(job, resample_for_interval) == 0)
    return PCAL_OK;
  const int bca = resample_needs_bca(job);
  PC_TRY(
      resample_draw(job, PC_REPLICA_WEIGHTS, job->plan->certainty.replicas, job->values, err));
  if (job->kept != NULL)
    memcpy(job->kept, job->values,
           job->plan->entry_count * job->plan->certainty.replicas * sizeof(double));
  if (bca)
    PC_TRY(resample_draw(job, PC_REPLICA_WITHOUT, RESAMPLE_BLOCKS, job->left_out, err));
  for (size_t e = 0; e < job->plan->entry_count; e++)
    if (job->entries[e] && !job->records[e].surety.has_interval)
      resample_interval(job, e, bca ? resample_acceleration(job, e) : 0.0);
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
  job.values = pc_alloc_raw(env, plan->entry_count * plan->certainty.replicas, sizeof(double));
  job.left_out = pc_alloc_raw(env, plan->entry_count * RESAMPLE_BLOCKS, sizeof(double));
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
