/* The interval of a metric, unless the user chose a method or the metric names one:
 *   unbiased inner value (debiased squares, kernel errors): Student's interval of the inner
 *     value, from the jackknife over blocks of rows, and the root of its ends;
 *   pairs of rows without an inner value: the same for the value itself;
 *   errors that are norms of gaps, which chance makes larger: test inversion
 *     (interval_inversion.h), or from the replicas alone (stats/interval.c) if replicas cannot
 *     be evaluated at gap points;
 *   all others: BCa.
 * Metrics over pairs are never resampled with weights, since copies of a row would pair with
 * each other: one of PC_JACKKNIFE_PAIR_BLOCKS blocks of rows is left out at a time, whatever
 * method was chosen.  Nulls: null_summary.h.
 *
 * Edge cases:
 *   (1) replicas without a value are left out; from a tenth on there is no interval;
 *   (2) an undefined value has no interval; (3) the statistic of a test has its p-value instead;
 *   (4) an unbiased estimate of a square may be negative: its interval is then that around 0;
 *   (5) where few rows are wrong, or few right, an interval also contains the value that the
 *       metric would have with as many such rows as are compatible with those that are there
 *       (rarer_rows.h); not where labels are distributions over classes;
 *   (6) scores and their parts that are not negative in any replica are sums of few large terms
 *       and many small ones: they also contain the interval of a weighted Poisson count
 *       (stats/interval.c) with one more term of the size se^2 / T, the mean size of a term
 *       weighted by its size;
 *   (7) parts and debiased squares that depend on bins with few rows, which the data may lack: that
 *       term is at least what one such row may add (part_unseen); if few rows are wrong, m of them,
 *       se is at least T / sqrt(m), for debiased parts too, unless only scores matter; parts
 *       that may be negative reach that far on either side, beyond their ends if m is small;
 *   (8) if few rows are wrong, low ends of errors that chance explains are 0 (chance_floor.h);
 *   (9) biased parts have the interval of their unbiased twin (unbiased_parts.h). */
#include "measure/replicas/replica_intervals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/elementary.h"
#include "base/number.h"
#include "measure/interval_formula.h"
#include "measure/replicas/chance_floor.h"
#include "measure/replicas/empty_replicas.h"
#include "measure/replicas/exchange.h"
#include "measure/replicas/interval_inversion.h"
#include "measure/replicas/null_summary.h"
#include "measure/replicas/rarer_rows.h"
#include "measure/replicas/replica_cells.h"
#include "measure/replicas/unbiased_parts.h"

#define INTERVALS_PAIR_NULLS 200 /* most calibrated replicas of a metric over pairs */
#define INTERVALS_LACKING 0.1    /* share of replicas that may lack a value */

typedef struct intervals_job {
  const pcal_env *env;
  const pc_measure_plan *plan;
  const pc_kept_rows *rows; /* NULL: they were tallied */
  pc_replica_views *views;
  pc_result_record *records;
  uint8_t *entries;
  double *values, *left_out;
  double *rarer; /* values with more rows of the rarer outcome; NULL: there are enough */
  pc_rarer found;
  size_t count, blocks;          /* of `values`, and of `left_out` */
  int empty;                     /* too many replicas by weights have no rows */
  const pc_replica_output *kept; /* unsorted values that the caller keeps */
} intervals_job;

static int intervals_lower(const pc_result_record *record) {
  return record->bound == PCAL_BOUND_LOWER;
}

static int intervals_inner(const intervals_job *job, size_t entry) {
  return job->records[entry].outcome.inner_power > 0;
}

static int intervals_pair(const intervals_job *job, size_t entry) {
  return pc_measure_plan_pairs_rows(job->plan, entry);
}

static pcal_interval_method intervals_method(const intervals_job *job, size_t entry) {
  const pcal_interval_method suits = job->plan->entries[entry].config.interval;
  if (intervals_pair(job, entry))
    return PCAL_INTERVAL_JACKKNIFE;
  if (job->plan->intervals.method != PCAL_INTERVAL_AUTO)
    return (pcal_interval_method)job->plan->intervals.method;
  if (suits != PCAL_INTERVAL_AUTO)
    return suits;
  if (intervals_inner(job, entry))
    return PCAL_INTERVAL_JACKKNIFE;
  return intervals_lower(&job->records[entry]) || job->plan->entries[entry].config.most > 0.0
             ? PCAL_INTERVAL_INVERSION
             : PCAL_INTERVAL_BCA;
}

/* The series of an entry's value, of its inner value, or of one of its parts. */
static double *intervals_series(double *values, size_t count, size_t entry, size_t series) {
  return values + (entry * PC_REPLICA_VALUES + series) * count;
}

/* A series whose interval is computed. */
typedef struct intervals_goal {
  size_t entry, series; /* as in replicas.h */
  double estimate;
  pcal_interval_method method;
  const pc_variance_model *variance; /* of the estimate, or NULL */
} intervals_goal;

/* True if the variance of the variance is known; with clusters it is not. */
static int intervals_variance_known(const intervals_job *job, const intervals_goal *goal) {
  return goal->variance != NULL && goal->variance->noise > 0 &&
         !job->plan->intervals.by_cluster;
}

/* Returns 0 if too many blocks have no value. */
static int intervals_find_jackknife(const intervals_job *job, const intervals_goal *goal,
                                    double *se, pc_interval *out) {
  const double level = job->plan->intervals.level;
  double *without = intervals_series(job->left_out, job->blocks, goal->entry, goal->series);
  const size_t blocks = pc_interval_sort_values(without, job->blocks);
  if ((double)blocks < (1.0 - INTERVALS_LACKING) * (double)job->blocks)
    return 0;
  *se = pc_interval_jackknife_se(without, blocks);
  *out = intervals_variance_known(job, goal)
             ? pc_interval_quadratic(goal->estimate, *se, goal->variance, blocks, level)
             : pc_interval_jackknife(goal->estimate, *se, blocks, level);
  return 1;
}

/* Returns 0 if too many replicas have no value. */
static int intervals_find(const intervals_job *job, const intervals_goal *goal, double *se,
                          pc_interval *out) {
  const double level = job->plan->intervals.level;
  if (goal->method == PCAL_INTERVAL_JACKKNIFE)
    return intervals_find_jackknife(job, goal, se, out);
  double *values = intervals_series(job->values, job->count, goal->entry, goal->series);
  double *without = intervals_series(job->left_out, job->blocks, goal->entry, goal->series);
  const size_t kept = pc_interval_sort_values(values, job->count);
  if ((double)kept < (1.0 - INTERVALS_LACKING) * (double)job->count)
    return 0;
  const size_t blocks =
      goal->method == PCAL_INTERVAL_BCA ? pc_interval_sort_values(without, job->blocks) : 0;
  const pc_replica_set set = {goal->estimate, values, kept,
                              pc_interval_acceleration(without, blocks)};
  *se = pc_interval_deviation(values, kept);
  *out = goal->method == PCAL_INTERVAL_NORMAL ? pc_interval_normal(goal->estimate, *se, level)
         : goal->method == PCAL_INTERVAL_INVERSION
             ? pc_interval_of_norm(&set, level)
             : pc_interval_from_replicas(&set, goal->method, level);
  return 1;
}

/* True if so few rows have the rarer outcome that intervals allow for more (rarer_rows.h). */
static int intervals_few_rare(const intervals_job *job) {
  return job->plan->layout.form == PC_FORM_CLASSES && pc_rarer_share(&job->found) > 0.0;
}

/* Edge case 7 for debiased squares; over all classes ten wrong rows are enough. */
static int intervals_lacks_rows(const intervals_job *job, size_t entry) {
  const pc_view *view = &job->plan->slots[job->plan->entries[entry].slot].need.view;
  return job->records[entry].outcome.inner_unseen > 0.0 && intervals_few_rare(job) &&
         (!pc_view_is_every_class(view) || job->found.rarer < PC_INTERVAL_FEW_ROWS);
}

/* True if more wrong rows leave a number as it is: it depends on scores alone. */
static int intervals_of_scores(const intervals_job *job, const intervals_goal *goal) {
  const size_t at = (goal->entry * PC_REPLICA_VALUES + goal->series) * PC_RARER_DRAWS;
  const double t = goal->estimate;
  return job->rarer != NULL && fabs(job->rarer[at] - t) <= 1e-9 * fabs(t);
}

/* Edge cases 6 and 7, for a number that is not negative. */
static void intervals_poisson(const intervals_job *job, const intervals_goal *goal, double se,
                              double unseen, pc_interval *interval) {
  const double t = fmax(goal->estimate, 0.0), m = fmax(job->found.rarer, 1.0);
  const int few = unseen > 0.0 && intervals_few_rare(job) && !intervals_of_scores(job, goal);
  const double share = few ? pc_rarer_share(&job->found) : 0.0;
  const double spread = se + share * fmax(t / sqrt(m) - se, 0.0);
  const double term = t > 0.0 ? spread * spread / t : 0.0;
  const pc_interval ends = pc_interval_poisson(t, spread, fmax(term, unseen / job->found.total),
                                               job->plan->intervals.level);
  interval->low = fmin(interval->low, ends.low);
  interval->high = fmax(interval->high, ends.high);
}

static void intervals_skew(const intervals_job *job, const intervals_goal *goal, double se,
                           double unseen, pc_interval *interval) {
  const double *values = intervals_series(job->values, job->count, goal->entry, goal->series);
  if (values[0] >= 0.0) {
    if (goal->estimate > 0.0 || unseen > 0.0)
      intervals_poisson(job, goal, se, unseen, interval);
    return;
  }
  const pc_interval row =
      pc_interval_poisson(0.0, 0.0, unseen / job->found.total, job->plan->intervals.level);
  const double further = intervals_few_rare(job) ? pc_rarer_share(&job->found) * row.high : 0.0;
  interval->low = fmin(interval->low - further, goal->estimate - row.high);
  interval->high = fmax(interval->high + further, goal->estimate + row.high);
}

static void intervals_of_value(const intervals_job *job, size_t entry) {
  pc_result_record *record = &job->records[entry];
  const pc_metric_result *outcome = &record->outcome;
  pc_interval_result *out = &record->interval_result;
  intervals_goal goal = {entry, 0, outcome->value, intervals_method(job, entry), NULL};
  const int inner = goal.method == PCAL_INTERVAL_JACKKNIFE && intervals_inner(job, entry);
  pc_interval interval;
  if (inner) { /* the truth cannot be below its range: nor need the centre of the interval */
    goal.series = PC_REPLICA_INNER;
    goal.estimate = fmax(outcome->inner, job->plan->entries[entry].config.range.low);
    goal.variance = &outcome->inner_variance;
  }
  if (!intervals_find(job, &goal, &out->se, &interval)) {
    pc_interval_lacks_replicas(
        goal.method == PCAL_INTERVAL_JACKKNIFE ? job->blocks : job->count, out);
    return;
  }
  if (goal.method == PCAL_INTERVAL_BCA && pc_null_two_sided(record))
    intervals_skew(job, &goal, out->se, 0.0, &interval);
  if (inner && intervals_lacks_rows(job, entry))
    intervals_poisson(job, &goal, out->se, outcome->inner_unseen, &interval);
  pc_rarer_include(job->rarer, entry, goal.series, intervals_pair(job, entry),
                   pc_rarer_share(&job->found), &interval);
  if (inner)
    pc_interval_unwrap(outcome, &out->se, &interval);
  out->has_interval = 1;
  out->level = job->plan->intervals.level;
  out->method = goal.method;
  out->low = interval.low;
  out->high = interval.high;
}

static pcal_interval_method intervals_part_method(const intervals_job *job, int unbiased) {
  if (job->plan->intervals.method != PCAL_INTERVAL_AUTO)
    return (pcal_interval_method)job->plan->intervals.method;
  return unbiased ? PCAL_INTERVAL_JACKKNIFE : PCAL_INTERVAL_BASIC;
}

/* Biased parts: percentile intervals reach to one side, basic intervals to the other; their
 * union contains the truth.  A part that is never negative has no negative end. */
static void intervals_widen(const intervals_job *job, const intervals_goal *goal,
                            pc_interval *interval) {
  double *values = intervals_series(job->values, job->count, goal->entry, goal->series);
  const size_t kept = pc_interval_sort_values(values, job->count);
  const pc_replica_set set = {goal->estimate, values, kept, 0.0};
  const pc_interval plain =
      pc_interval_from_replicas(&set, PCAL_INTERVAL_PERCENTILE, job->plan->intervals.level);
  interval->low = fmin(interval->low, plain.low);
  interval->high = fmax(interval->high, plain.high);
  if (values[0] >= 0.0)
    interval->low = fmax(interval->low, 0.0);
}

/* Intervals of parts, for metrics whose parts are shown. */
static void intervals_of_parts(const intervals_job *job, size_t entry) {
  pc_result_record *record = &job->records[entry];
  for (size_t p = 0; p < record->outcome.part_count; p++) {
    const pcal_part *part = &record->outcome.parts[p];
    const intervals_goal goal = {entry, PC_REPLICA_PARTS + p, part->value,
                                 intervals_part_method(job, record->outcome.part_unbiased[p]),
                                 &record->outcome.part_variances[p]};
    pc_part_interval *out = &record->part_interval_results[p];
    pc_interval interval;
    if (!isfinite(part->value) || !intervals_find(job, &goal, &out->se, &interval))
      continue;
    if (goal.method == PCAL_INTERVAL_JACKKNIFE && !intervals_variance_known(job, &goal))
      pc_interval_straighten(part->value, out->se, &interval);
    const double unseen = record->outcome.part_unseen[p];
    if (goal.method == PCAL_INTERVAL_BASIC) {
      intervals_widen(job, &goal, &interval);
      intervals_skew(job, &goal, out->se, unseen, &interval);
    } else if (unseen > 0.0 && intervals_few_rare(job)) {
      intervals_poisson(job, &goal, out->se, unseen, &interval);
    }
    pc_rarer_include(job->rarer, entry, goal.series, 0, pc_rarer_share(&job->found), &interval);
    out->has_interval = 1;
    out->low = fmin(interval.low, part->value);
    out->high = fmax(interval.high, part->value);
  }
  if (job->plan->intervals.method == PCAL_INTERVAL_AUTO)
    pc_unbiased_parts(record);
}

/* ---- calibrated replicas ---- */

static void intervals_null(const intervals_job *job, size_t entry) {
  pc_null_summary(intervals_series(job->values, job->count, entry, 0), job->count,
                  pc_replica_cells_slack(job->views, entry), &job->records[entry]);
}

/* ---- which entries ---- */

typedef int (*intervals_wanted)(const intervals_job *job, size_t entry);

/* Parts have intervals if text output shows them. */
static int intervals_has_parts(const intervals_job *job, size_t entry) {
  return (job->plan->entries[entry].metric->traits & PC_PARTS_IN_TEXT) != 0;
}

static int intervals_drawn(const intervals_job *job, size_t entry) {
  return pc_replica_cells_lack(job->views, entry) == NULL;
}

static int intervals_measured(const intervals_job *job, size_t entry) {
  const pc_metric_result *outcome = &job->records[entry].outcome;
  return pc_measure_plan_resampled(job->plan, entry) && intervals_drawn(job, entry) &&
         !outcome->tested;
}

static int intervals_inverted(const intervals_job *job, size_t entry) {
  return intervals_measured(job, entry) &&
         intervals_method(job, entry) == PCAL_INTERVAL_INVERSION &&
         pc_interval_inversion_applies(
             job->plan, entry,
             pc_replica_cells_tally(job->views, entry) != NULL ? NULL : job->rows);
}

/* Entries that need replicas by weights: for an interval or a comparison. */
static int intervals_by_weights(const intervals_job *job, size_t entry) {
  const pcal_interval_method method = intervals_method(job, entry);
  const int made = (method != PCAL_INTERVAL_JACKKNIFE && !intervals_inverted(job, entry)) ||
                   intervals_has_parts(job, entry) || job->plan->intervals.paired;
  return intervals_measured(job, entry) && !intervals_pair(job, entry) && made && !job->empty;
}

/* Entries that need replicas without blocks: for the jackknife and the acceleration of BCa. */
static int intervals_by_blocks(const intervals_job *job, size_t entry) {
  const pcal_interval_method method = intervals_method(job, entry);
  const int made = method == PCAL_INTERVAL_JACKKNIFE ||
                   (method == PCAL_INTERVAL_BCA && !job->empty) ||
                   intervals_has_parts(job, entry);
  return intervals_measured(job, entry) && !intervals_pair(job, entry) && made;
}

static int intervals_pair_blocks(const intervals_job *job, size_t entry) {
  return intervals_measured(job, entry) && intervals_pair(job, entry);
}

static int intervals_row_nulls(const intervals_job *job, size_t entry) {
  return pc_measure_plan_relabelled(job->plan, entry) && intervals_drawn(job, entry) &&
         !intervals_pair(job, entry);
}

static int intervals_pair_null(const intervals_job *job, size_t entry) {
  return pc_measure_plan_relabelled(job->plan, entry) && !job->records[entry].outcome.tested &&
         intervals_pair(job, entry);
}

/* Selects the entries for which `wanted` holds and the value is finite; returns how many. */
static size_t intervals_choose(const intervals_job *job, intervals_wanted wanted) {
  size_t chosen = 0;
  for (size_t e = 0; e < job->plan->entry_count; e++) {
    const pc_metric_result *outcome = &job->records[e].outcome;
    job->entries[e] =
        (uint8_t)(wanted(job, e) && !outcome->undefined && isfinite(outcome->value));
    chosen += job->entries[e];
  }
  return chosen;
}

/* Measures replicas of the entries for which `wanted` holds; values of others are NaN. */
static pcal_status intervals_draw(const intervals_job *job, intervals_wanted wanted,
                                  pc_replica_kind kind, size_t count, double *values,
                                  pcal_error *err) {
  const pc_replica_request request = {.plan = job->plan,
                                      .entries = job->entries,
                                      .rows = job->rows,
                                      .kind = kind,
                                      .count = count,
                                      .views = job->views};
  if (intervals_choose(job, wanted) == 0) {
    pc_replica_values_clear(&request, values);
    return PCAL_OK;
  }
  return pc_replica_cells_measure(job->env, &request, values, err);
}

/* ---- entry point ---- */

static void intervals_keep(const intervals_job *job, const double *values, size_t count,
                           double *out) {
  for (size_t e = 0; out != NULL && e < job->plan->entry_count; e++) {
    const size_t series = intervals_inner(job, e) ? PC_REPLICA_INNER : 0;
    memcpy(out + e * count, values + (e * PC_REPLICA_VALUES + series) * count,
           count * sizeof(double));
  }
}

static void intervals_conclude(const intervals_job *job, intervals_wanted wanted) {
  (void)intervals_choose(job, wanted);
  for (size_t e = 0; e < job->plan->entry_count; e++) {
    if (job->entries[e] && !job->records[e].interval_result.has_interval)
      intervals_of_value(job, e);
    if (job->entries[e] && intervals_has_parts(job, e))
      intervals_of_parts(job, e);
  }
}

static int intervals_rows_measured(const intervals_job *job, size_t entry) {
  return intervals_measured(job, entry) && !intervals_pair(job, entry);
}

/* The same, without entries whose interval comes from test inversion. */
static int intervals_rows_drawn(const intervals_job *job, size_t entry) {
  return intervals_rows_measured(job, entry) && !intervals_inverted(job, entry);
}

/* Measures the entries for which `wanted` holds with more rows of the rarer outcome. */
static pcal_status intervals_measure_rarer(intervals_job *job, intervals_wanted wanted,
                                           pc_rarer_counts counts, pcal_error *err) {
  const size_t series = job->plan->entry_count * PC_REPLICA_VALUES;
  pc_free(job->env, job->rarer);
  job->rarer = NULL;
  if (!intervals_few_rare(job) || intervals_choose(job, wanted) == 0)
    return PCAL_OK;
  job->rarer = pc_alloc_raw(job->env, series * PC_RARER_DRAWS, sizeof *job->rarer);
  return job->rarer == NULL ? pc_fail_memory(err, "finding intervals")
                            : pc_rarer_measure(job->env, job->plan, job->entries, job->rows,
                                               &job->found, counts, job->rarer, err);
}

/* Few rows of the rarer outcome need more than tallies of replicas. */
static int intervals_lack_rows(const intervals_job *job) {
  const int lacking =
      job->rows == NULL && job->plan->intervals.level > 0 && intervals_few_rare(job);
  for (size_t e = 0; lacking && e < job->plan->entry_count; e++)
    if (intervals_measured(job, e))
      snprintf(job->records[e].interval_result.why, sizeof job->records[e].interval_result.why,
               "few rows have one of the outcomes, so its interval needs all rows in one "
               "process");
  return lacking;
}

static pcal_status intervals_invert(intervals_job *job, pcal_error *err) {
  if (job->empty) {
    (void)intervals_choose(job, intervals_inverted);
    for (size_t e = 0; e < job->plan->entry_count; e++)
      if (job->entries[e])
        pc_interval_lacks_replicas(job->count, &job->records[e].interval_result);
    return PCAL_OK;
  }
  PC_TRY(intervals_measure_rarer(job, intervals_inverted, PC_RARER_OF_GAPS, err));
  return intervals_choose(job, intervals_inverted) == 0
             ? PCAL_OK
             : pc_interval_inversion(job->env, job->views, job->entries, &job->found,
                                     job->rarer, job->records, err);
}

static pcal_status intervals_intervals(intervals_job *job, pcal_error *err) {
  job->count = job->plan->intervals.replicas;
  job->blocks = PC_JACKKNIFE_BLOCKS;
  job->empty = pc_empty_replicas(job->env, job->plan, job->rows, INTERVALS_LACKING);
  if (intervals_lack_rows(job))
    return PCAL_OK;
  if (intervals_choose(job, intervals_rows_measured) > 0) {
    PC_TRY(intervals_draw(job, intervals_by_weights, PC_REPLICA_WEIGHTS, job->count,
                          job->values, err));
    PC_TRY(intervals_draw(job, intervals_by_blocks, PC_REPLICA_WITHOUT, job->blocks,
                          job->left_out, err));
    intervals_keep(job, job->values, job->count, job->kept->replicas);
    PC_TRY(intervals_measure_rarer(job, intervals_rows_drawn, PC_RARER_OF_ROWS, err));
    intervals_conclude(job, intervals_rows_drawn);
    if (intervals_few_rare(job) && intervals_choose(job, intervals_rows_drawn) > 0)
      PC_TRY(pc_chance_floor(job->env, job->views, job->entries, job->records, err));
  }
  PC_TRY(intervals_invert(job, err));
  job->blocks = PC_JACKKNIFE_PAIR_BLOCKS;
  if (intervals_choose(job, intervals_pair_blocks) > 0) {
    PC_TRY(intervals_draw(job, intervals_pair_blocks, PC_REPLICA_WITHOUT, job->blocks,
                          job->left_out, err));
    intervals_keep(job, job->left_out, job->blocks, job->kept->left_out);
    PC_TRY(intervals_measure_rarer(job, intervals_pair_blocks, PC_RARER_OF_ROWS, err));
    intervals_conclude(job, intervals_pair_blocks);
  }
  return PCAL_OK;
}

static pcal_status intervals_nulls(intervals_job *job, pcal_error *err) {
  static const intervals_wanted kinds[] = {intervals_row_nulls, intervals_pair_null};
  const size_t asked = job->plan->intervals.replicas;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    job->count = k > 0 && asked > INTERVALS_PAIR_NULLS ? INTERVALS_PAIR_NULLS : asked;
    if (intervals_choose(job, kinds[k]) == 0)
      continue;
    PC_TRY(intervals_draw(job, kinds[k], PC_REPLICA_LABELS, job->count, job->values, err));
    for (size_t e = 0; e < job->plan->entry_count; e++)
      if (job->entries[e])
        intervals_null(job, e);
  }
  return PCAL_OK;
}

/* Says why a requested interval or null is missing. */
static void intervals_say_why(const intervals_job *job, size_t entry) {
  pc_result_record *record = &job->records[entry];
  const char *lacks = pc_replica_cells_lack(job->views, entry);
  if (lacks != NULL && !record->outcome.undefined)
    snprintf(record->interval_result.why, sizeof record->interval_result.why, "%s", lacks);
  if (job->plan->intervals.level > 0 &&
      (job->plan->entries[entry].config.traits & PC_OF_THE_SAMPLE))
    snprintf(record->interval_result.why, sizeof record->interval_result.why,
             "it describes a sample of this size, so there is no true value for an interval "
             "to contain");
  if (job->plan->intervals.null && record->outcome.tested && intervals_pair(job, entry))
    snprintf(record->interval_result.why, sizeof record->interval_result.why,
             "its p-value comes from replicas already, so there is no null beside it");
}

/* Intervals and nulls of rows, or of the tally of `views`. */
static pcal_status intervals_run(intervals_job *job, const pc_row_moments *moments,
                                 pcal_error *err) {
  const pc_measure_plan *plan = job->plan;
  const size_t series = plan->entry_count * PC_REPLICA_VALUES;
  const pcal_env held = pc_env_for_use(job->env, PC_MEMORY_REPLICAS);
  if (moments != NULL)
    job->found = pc_rarer_from(moments);
  if (moments != NULL && job->rows != NULL && !plan->soft)
    PC_TRY(pc_rarer_find_design(&held, job->rows, &job->found, err));
  if (plan->soft) /* no outcome was drawn, so that none is rare by chance */
    job->found.rarer = PC_RARER_ENOUGH;
  job->entries = pc_alloc(&held, plan->entry_count, 1);
  job->values = pc_alloc_raw(&held, series * plan->intervals.replicas, sizeof(double));
  job->left_out = pc_alloc_raw(&held, series * PC_JACKKNIFE_BLOCKS, sizeof(double));
  double *hidden = pc_alloc_raw(&held, series, sizeof *hidden);
  const int enough =
      job->entries != NULL && job->values != NULL && job->left_out != NULL && hidden != NULL;
  job->views->hidden = hidden;
  pcal_status status =
      enough ? pc_replica_cells_hidden(job->env, job->views, job->records, hidden, err)
             : pc_fail_memory(err, "drawing replicas");
  job->views->on_rows = job->rows != NULL && intervals_few_rare(job);
  if (status == PCAL_OK)
    status = intervals_intervals(job, err);
  job->views->on_rows = 0;
  if (status == PCAL_OK)
    status = intervals_nulls(job, err);
  for (size_t e = 0; status == PCAL_OK && e < plan->entry_count; e++)
    intervals_say_why(job, e);
  pc_free(job->env, job->entries);
  pc_free(job->env, job->values);
  pc_free(job->env, job->left_out);
  pc_free(job->env, hidden);
  pc_free(job->env, job->rarer);
  return status;
}

pcal_status pc_replica_intervals(const pcal_env *env, const pc_measure_plan *plan,
                                 const void *rows, const pc_distinct_rule *rule,
                                 const pc_replica_output *values, pc_result_record *records,
                                 pcal_error *err) {
  const pc_machine *machine = plan->slots[plan->rows_slot].machine;
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  PC_TRY(pc_machine_rows_distinct(env, rows, rule, &evidence, err));
  const pc_kept_rows *kept = &evidence.kept;
  const int classes = plan->layout.form == PC_FORM_CLASSES;
  pc_replica_views views;
  intervals_job job = {.env = env,
                       .plan = plan,
                       .rows = kept,
                       .views = &views,
                       .records = records,
                       .kept = values};
  pcal_status status = pc_replica_views_new(env, plan, kept, &views, err);
  if (status == PCAL_OK) {
    pc_replica_cells cells = {0};
    pc_row_moments moments = {0};
    if (classes)
      moments = pc_row_moments_of(kept, views.bits, 0);
    if (classes && pc_replica_cells_apply(&views, moments.total)) {
      status = pc_replica_cells_new(env, plan, kept, &cells, err);
      views.coarse = &cells;
    }
    if (status == PCAL_OK)
      status = intervals_run(&job, classes ? &moments : NULL, err);
    pc_replica_cells_free(&cells);
    pc_replica_views_free(&views);
  }
  if (status == PCAL_OK && values->rows != NULL &&
      pc_exchange_bytes(kept) <= PC_REPLICA_OUTPUT_ROWS_MAX)
    status = pc_exchange_take(env, &evidence.kept, values->rows, err);
  machine->release(env, &evidence);
  return status;
}

pcal_status pc_replica_intervals_tallied(const pcal_env *env, const pc_measure_plan *plan,
                                         const pc_replica_tally *tally,
                                         pc_result_record *records, pcal_error *err) {
  const pc_replica_output none = {NULL, NULL, NULL};
  pc_replica_views views;
  intervals_job job = {env, plan, NULL, &views, records, .kept = &none};
  PC_TRY(pc_replica_views_new(env, plan, NULL, &views, err));
  views.tally = tally;
  views.bits = tally->bits;
  const pcal_status status =
      intervals_run(&job, plan->layout.form == PC_FORM_CLASSES ? &tally->moments : NULL, err);
  pc_replica_views_free(&views);
  return status;
}
