/* Formula:  D = T(model) - T(other),  D*_r = T*_r(model) - T*_r(other) in replica r, which
 * draws the same rows for both; the interval is [2 D - q(1 - a), 2 D - q(a)], q the quantiles
 *           of D*, and the p-value that of (2 D - mean D*) / sd D* under a normal law.
 * Edge cases: (1) a value undefined or infinite in one of them has no difference; (2) metrics
 * over pairs of rows are not drawn again, but have values without one block of rows each: D -+
 * t se, se by the jackknife of the differences; (3) other rows, metrics, levels or numbers of
 * replicas: refused; (4) statistics of tests, and means over blocks of rows, have a difference
 * without an interval, and that is said. Source: Efron & Tibshirani, An Introduction to the
 * Bootstrap, 1993, chapters 8 and 13. */
#include "measure/versus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/resample.h"
#include "stats/distributions.h"

static pcal_status versus_check(const pcal_results *a, const pcal_results *b, pcal_error *err) {
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

static int versus_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int versus_finite(const pc_outcome *outcome) {
  return !outcome->undefined && isfinite(outcome->value);
}

/* The interval and p-value from differences of replicas. */
static void versus_judge(pc_surety *surety, double *differences, size_t count, double level) {
  const double a = 0.5 * (1.0 - level), d = surety->difference;
  double mean = 0.0;
  qsort(differences, count, sizeof *differences, versus_order);
  for (size_t r = 0; r < count; r++)
    mean += differences[r] / (double)count;
  const double spread = pc_interval_spread(differences, count);
  surety->has_difference_interval = 1;
  surety->difference_se = spread;
  surety->difference_low = 2.0 * d - pc_interval_quantile(differences, count, 1.0 - a);
  surety->difference_high = 2.0 * d - pc_interval_quantile(differences, count, a);
  surety->difference_p_value = spread > 0.0
                                   ? 2.0 * pc_normal_tail(fabs(2.0 * d - mean) / spread)
                               : d == 0.0 ? 1.0
                                          : 0.0;
}

/* The same from differences without one block of rows each. */
static void versus_jackknife(pc_surety *surety, const double *differences, size_t count,
                             double level) {
  const double se = pc_interval_jackknife_se(differences, count), d = surety->difference;
  const pc_interval interval = pc_interval_jackknife(d, se, count, level);
  surety->has_difference_interval = 1;
  surety->difference_se = se;
  surety->difference_low = interval.low;
  surety->difference_high = interval.high;
  surety->difference_p_value = se > 0.0   ? 2.0 * pc_normal_tail(fabs(d) / se)
                               : d == 0.0 ? 1.0
                                          : 0.0;
}

/* Differences of what is there in both; returns how many. */
static size_t versus_differences(const double *x, const double *y, size_t count, double *out) {
  size_t kept = 0;
  for (size_t r = 0; r < count; r++)
    if (!isnan(x[r]) && !isnan(y[r]))
      out[kept++] = x[r] - y[r];
  return 2 * kept > count ? kept : 0;
}

/* Why a difference has no interval, where nothing else is to be said. */
static void versus_excuse(pc_result_record *record) {
  pc_surety *surety = &record->surety;
  if (surety->why[0] == '\0')
    snprintf(surety->why, sizeof surety->why, "%s",
             record->outcome.tested
                 ? "the statistics of two tests have a difference, but no interval for it"
                 : "it is not drawn again, so its difference has no interval; take another "
                   "estimator");
}

static void versus_one(pcal_results *results, const pcal_results *other, size_t metric,
                       double *differences) {
  pc_result_record *record = &results->records[metric];
  const pc_outcome *there = &other->records[metric].outcome;
  const size_t replicas = results->replica_count;
  if (!versus_finite(&record->outcome) || !versus_finite(there))
    return;
  record->surety.has_difference = 1;
  record->surety.difference = record->outcome.value - there->value;
  const size_t blocks = PC_RESAMPLE_PAIR_BLOCKS;
  const size_t kept =
      versus_differences(results->replicas + metric * replicas,
                         other->replicas + metric * replicas, replicas, differences);
  if (kept > 0) {
    versus_judge(&record->surety, differences, kept, results->level);
    return;
  }
  const size_t left =
      versus_differences(results->left_out + metric * blocks, other->left_out + metric * blocks,
                         blocks, differences);
  if (left > 1)
    versus_jackknife(&record->surety, differences, left, results->level);
  else
    versus_excuse(record);
}

pcal_status pc_versus(pcal_results *results, const pcal_results *other, pcal_error *err) {
  PC_TRY(versus_check(results, other, err));
  const size_t most = results->replica_count > PC_RESAMPLE_PAIR_BLOCKS
                          ? results->replica_count
                          : PC_RESAMPLE_PAIR_BLOCKS;
  double *differences = pc_alloc_raw(&results->env, most, sizeof *differences);
  if (differences == NULL)
    return pc_fail_memory(err, "comparing two models");
  for (size_t m = 0; m < results->metric_count; m++)
    versus_one(results, other, m, differences);
  pc_free(&results->env, differences);
  return PCAL_OK;
}

void pc_versus_injective(pcal_results *results) {
  static const char *const scores[] = {"brier", "log", "spherical"};
  for (size_t m = 0; m < results->metric_count; m++)
    for (size_t s = 0; s < sizeof scores / sizeof *scores; s++)
      if (strcmp(results->records[m].metric, scores[s]) == 0)
        results->records[m].surety.difference_of_calibration =
            results->records[m].surety.has_difference;
}
