/* Intervals of errors that are norms of gaps, by test inversion.
 *
 * Formula:
 *   g    gaps of the data (sums of score - outcome, bin by bin or along the score)
 *   T    |g|, the value of the metric
 *   e_r  gaps of replica r minus g: the effect of chance on the gaps
 *   A model with the gaps h has the true error |h| and would show T_r(h) = |h + f e_r|.
 *   The interval consists of the errors |h| under which T is not unusual, a = (1 - level) / 2:
 *   low   |h| for the smallest h with T <= q(1 - a) of T_r(h), high for the largest h with
 *         T >= q(a) of T_r(h), along two families of gaps: own * g, own >= 0 (pc_gap_point);
 *         and the gaps of a shift of all log-odds, score (1 - score) in each row, in the
 *         direction in which the data are off.  Gaps of a shift have one sign, so their error is
 *         the mean of signed gaps: a shift beyond the upper end of that mean (gap_direction.h) is
 *         not looked at
 *   f     sqrt(variance that the predictions claim / variance that the data show), at least 1,
 *         at h = 0; falls to 1 at |h| = T
 *
 * Quantiles are interpolated between the points at which T_r is known; T_r is convex along a
 * line, so this widens the interval.  | |g| - |h| | <= |g - h|, so the largest h to look at
 * lies q(1 - a) of |e_r| above T.
 *
 * Edge cases:
 *   1. The interval contains T, although chance makes T too large: high is at least T.
 *   2. Few rows of the rarer outcome, m of n: high is at least, and low at most, the error with
 *      as many more such rows as are compatible with m (rarer_rows.h), for high less half of what
 *      chance adds to T: T minus the error |h| under which T is the median.  Where these would
 *      not make the error larger, or m is not small, high rises by the error of a shift of mean
 *      (more - z sqrt(s m)) / n, the excess of Wilson's upper end (rarer_rows.c) over the normal
 *      one; over all classes by 2/K of that, since a row changes two
 *      classes.  Over all classes, in bins with edges from the data, which move with the rows:
 *      both, and nothing is subtracted.
 *   3. Errors over all classes: hits of rare classes fall into few bins, and replicas can only
 *      repeat these hits.  q(1 - a) is at least a blend from N at own = 0, the quantile for
 *      labels drawn from the predictions, to M = max(q(1 - a), sqrt(N^2 + T^2)) at own = 1.
 *      The blend is the mean of two bounds: sqrt(N^2 + own^2 (M^2 - N^2)), for gaps in the bins
 *      of the noise, where squares add up; and N + own (M - N), for gaps in other bins, where
 *      both add up as they are.  With 100 classes and some rows in each bin the first alone
 *      covers in 5 to 60 % of sets, the second is a quarter wider than the mean.  Labels are
 *      drawn only if the interval would exclude 0 otherwise.
 *      The same for all errors where few rows have the rarer outcome (pc_rarer_share above 0):
 *      drawn labels move wrong rows to other scores, replicas leave a third of them as they are
 *      and repeat the others.
 *   4. Errors over all classes have no shift; the lower shape has more points in its place.
 *      The noise in g, spread over many bins, makes |h + f e_r| grow too little, so the tails
 *      are a / 4 for low and a / 2 for high.
 *   5. The mean of signed gaps may show a larger low end than chance allows for T
 *      (gap_direction.h).
 *   6. The largest gap of any bin, with fewer than PC_INTERVAL_FEW_ROWS rows of the rarer outcome:
 *      such rows say nothing about bins that the data lack, and high is the end of the range.
 *   7. Replicas without a value are left out; if they are a tenth or more, there is no
 *      interval.
 *   8. Ends stay in the metric's range.
 *   9. Root mean squares of gaps: chance adds a known amount to the square, and the variance of
 *      what remains is known from the bins, so that the interval is that of the unbiased square
 *      (pc_interval_of_square), extended to T; edge case 2 below PC_INTERVAL_FEW_ROWS only.
 *      Low is 0 where labels drawn from the predictions (edge case 3) would show T too.  These
 *      labels vary as much as gaps of 0 allow: that outcomes vary more than the predictions
 *      claim is the error itself, and does not raise the quantile.
 *      Replicas of bins with few rows vary far more than new rows would.
 *      Not with clusters, whose rows are not independent.
 *   10. Replicas on cells (replica_cells.h): T is the value of the data on cells in all of the
 *      above; high rises by what the cells hide of the value.
 *
 * Covers: the population's value on the same bins (equal-mass bins: with the edges found in the
 * data).
 * Source: test inversion, Casella & Berger, Statistical Inference, 2002, 9.2.1; shapes and
 *   points chosen by simulation (docs/interval-coverage.md).
 * Cost: one evaluation per replica and point, from sums that are computed once; points that the
 *   ends turn out not to need are not evaluated (inversion_ends.h). */
#include "measure/replicas/interval_inversion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/executor.h"
#include "base/normal.h"
#include "measure/interval_formula.h"
#include "measure/replicas/gap_direction.h"
#include "measure/replicas/inversion_ends.h"
#include "measure/replicas/rarer_rows.h"
#include "measure/replicas/replica_cells.h"
#include "measure/replicas/replicas.h"

#define INVERSION_PILOT 40 /* replicas that decide how far apart points are */
#define INVERSION_LACKING 0.1
#define INVERSION_CLAIMED 4.0
#define INVERSION_BIAS 0.5 /* share of the estimated bias that edge case 2 subtracts */

#define INVERSION_ROW_COST 5.0 /* nanoseconds per row, class and entry, for the executor */

typedef struct inversion_job {
  const pcal_env *env;
  const pc_measure_plan *plan;
  const pc_kept_rows *rows;
  pc_replica_views *views;
  const double *more; /* values with more rows of the rarer outcome, or NULL */
  pc_result_record *records;
  size_t count;
  pc_gap_point *points;      /* PC_INVERSION_TRUTHS for each entry */
  double *truths;            /* the error of each point, without noise */
  double *values;            /* of replicas */
  double *noise;             /* of points, while some are not drawn */
  uint8_t *chosen, *doubted; /* entries */
  pc_row_moments moments;
  pc_rarer found;
  double side; /* 1: scores are too high on average; -1: too low */
} inversion_job;

int pc_interval_inversion_applies(const pc_measure_plan *plan, size_t entry,
                                  const pc_kept_rows *rows) {
  const pc_metric_config *config = &plan->entries[entry].config;
  return config->most > 0.0 && plan->layout.form == PC_FORM_CLASSES &&
         (rows == NULL || pc_replica_has_points(plan, entry, rows));
}

/* The value that replicas are compared with: on cells, if they are. */
static double inversion_value(const inversion_job *job, size_t entry) {
  return job->records[entry].outcome.value - job->views->hidden[entry * PC_REPLICA_VALUES];
}

static int inversion_over_classes(const inversion_job *job, size_t entry) {
  return pc_view_is_every_class(&job->plan->slots[job->plan->entries[entry].slot].need.view);
}

/* True for an error over all classes whose bins have edges from the data. */
static int inversion_has_own_edges(const inversion_job *job, size_t entry) {
  const pc_plan_entry *at = &job->plan->entries[entry];
  return inversion_over_classes(job, entry) &&
         job->plan->slots[at->slot].need.machine != PC_GRID;
}

/* ---- statistics of the rows ---- */

/* The variance that the outcomes show relative to the variance that the predictions claim; the
 * ratio is shrunk towards 1 as if INVERSION_CLAIMED more rows of the rarer outcome agreed with
 * the claim. */
typedef struct inversion_chance {
  double shown, claimed, ratio;
} inversion_chance;

static inversion_chance inversion_variance(const inversion_job *job, int over_classes) {
  const pc_row_moments *rows = &job->moments;
  inversion_chance out = {over_classes ? rows->shown_classes : rows->shown,
                          over_classes ? rows->claimed_classes : rows->claimed, 1.0};
  if (out.claimed > 0.0)
    out.ratio = (job->found.rarer * out.shown / out.claimed + INVERSION_CLAIMED) /
                (job->found.rarer + INVERSION_CLAIMED);
  return out;
}

/* The sums over rows: of the tally, or added up. */
static void inversion_count(inversion_job *job) {
  int over_classes = 0;
  for (size_t e = 0; e < job->plan->entry_count; e++)
    over_classes |= job->chosen[e] && inversion_over_classes(job, e);
  job->moments = job->views->tally != NULL
                     ? job->views->tally->moments
                     : pc_row_moments_of(job->rows, job->views->bits, over_classes);
  job->side = job->moments.scores >= job->moments.hits ? 1.0 : -1.0;
}

static pc_interval inversion_direction(const inversion_job *job, size_t entry) {
  const pc_gap_moments gaps =
      job->views->tally != NULL
          ? job->views->tally->gaps[entry]
          : pc_gap_moments_of(job->plan, entry, job->rows, job->views->bits);
  return pc_gap_direction(job->plan, entry, &job->moments, &gaps);
}

/* The factor of the deviations of replicas at own = 0. */
static double inversion_noise(const inversion_job *job, int over_classes) {
  const inversion_chance chance = inversion_variance(job, over_classes);
  return chance.shown > 0.0 ? fmax(sqrt(chance.ratio * chance.claimed / chance.shown), 1.0)
                            : 1.0;
}

static double inversion_few(const inversion_job *job) {
  const double level = job->plan->intervals.level, z = pc_normal_quantile(0.5 + 0.5 * level);
  const double rarer = job->found.rarer;
  const double spread = pc_rarer_spread(&job->found, PC_RARER_OF_GAPS);
  return (pc_rarer_more(rarer, spread, level) - z * sqrt(rarer * spread)) / job->found.total;
}

/* ---- quantiles ---- */

/* Sorts the values that are not NaN to the front; returns how many, 0 if too many are
 * missing. */
static size_t inversion_sort(double *values, size_t count) {
  const size_t kept = pc_interval_sort_values(values, count);
  return (double)kept < (1.0 - INVERSION_LACKING) * (double)count ? 0 : kept;
}

/* The shares of replicas beyond the value at the two ends of the interval. */
typedef struct inversion_shares {
  double low, high;
} inversion_shares;

static inversion_shares inversion_tail(const inversion_job *job, size_t entry) {
  const double a = 0.5 * (1.0 - job->plan->intervals.level);
  return inversion_over_classes(job, entry) ? (inversion_shares){0.25 * a, 0.5 * a}
                                            : (inversion_shares){a, a};
}

/* ---- points ---- */

static pcal_status inversion_draw(const inversion_job *job, const uint8_t *entries,
                                  pc_replica_kind kind, size_t count, size_t points,
                                  double *values, pcal_error *err) {
  const pc_replica_request request = {.plan = job->plan,
                                      .entries = entries,
                                      .rows = job->rows,
                                      .kind = kind,
                                      .count = count,
                                      .points = points > 0 ? job->points : NULL,
                                      .point_count = points,
                                      .views = job->views};
  return pc_replica_cells_measure(job->env, &request, values, err);
}

/* Sets the points of an entry.  reach: the largest error that noise alone showed. */
static void inversion_place(const inversion_job *job, size_t entry, double reach,
                            pc_gap_point *at) {
  const double value = inversion_value(job, entry);
  const int over_classes = inversion_over_classes(job, entry);
  const double noise = inversion_noise(job, over_classes);
  const double step = value > 0.0 ? reach / value : 0.0;
  const double own[] = {0.0, 0.35, 0.7, 1.0, 1.0 + 0.5 * step, 1.0 + step};
  const double between[] = {0.15, 0.5, 0.85, (double)NAN, (double)NAN};
  for (size_t j = 0; j < PC_INVERSION_POINTS; j++) {
    const size_t k = j < PC_INVERSION_SHIFT_THIRD ? j : j - PC_INVERSION_SHIFT_THIRD + 1;
    const double part = j >= PC_INVERSION_SHIFT_THIRD && over_classes ? between[k - 1] : own[k];
    const double chance = isnan(part) ? part : fmax(noise + (1.0 - noise) * part, 1.0);
    at[j] = j < PC_INVERSION_SHIFT_THIRD || over_classes
                ? (pc_gap_point){part, chance, 0.0}
                : (pc_gap_point){0.0, chance, job->side * part * value};
  }
  const double few = inversion_few(job);
  at[PC_INVERSION_FEW] = (pc_gap_point){
      0.0, 0.0, over_classes ? 2.0 * few / (double)job->plan->layout.classes : few};
}

/* reach[e]: the largest error among a few replicas at own = 0. */
static pcal_status inversion_reach(inversion_job *job, double *reach, pcal_error *err) {
  const size_t count = job->count < INVERSION_PILOT ? job->count : INVERSION_PILOT;
  for (size_t e = 0; e < job->plan->entry_count; e++)
    job->points[e] = (pc_gap_point){
        0.0, job->chosen[e] ? inversion_noise(job, inversion_over_classes(job, e)) : 1.0, 0.0};
  PC_TRY(inversion_draw(job, job->chosen, PC_REPLICA_WEIGHTS, count, 1, job->values, err));
  for (size_t e = 0; e < job->plan->entry_count; e++) {
    double *values = job->values + e * count;
    const size_t kept = inversion_sort(values, count);
    reach[e] = kept > 0 ? values[kept - 1] : 0.0;
  }
  return PCAL_OK;
}

/* Computes the errors of the points without noise. */
static pcal_status inversion_truths(inversion_job *job, pcal_error *err) {
  const size_t all = job->plan->entry_count * PC_INVERSION_TRUTHS;
  double *noise = pc_alloc_raw(job->env, all, sizeof *noise);
  if (noise == NULL)
    return pc_fail_memory(err, "finding intervals");
  for (size_t i = 0; i < all; i++) {
    noise[i] = job->points[i].noise;
    job->points[i].noise = 0.0;
  }
  const pcal_status status = inversion_draw(job, job->chosen, PC_REPLICA_WEIGHTS, 1,
                                            PC_INVERSION_TRUTHS, job->truths, err);
  for (size_t i = 0; i < all; i++)
    job->points[i].noise = noise[i];
  pc_free(job->env, noise);
  return status;
}

/* Sets all points and computes their errors. */
static pcal_status inversion_prepare(inversion_job *job, pcal_error *err) {
  const size_t entries = job->plan->entry_count;
  double *reach = pc_alloc(job->env, entries, sizeof *reach);
  pcal_status status = reach == NULL ? pc_fail_memory(err, "finding intervals")
                                     : inversion_reach(job, reach, err);
  for (size_t e = 0; status == PCAL_OK && e < entries; e++)
    if (job->chosen[e])
      inversion_place(job, e, reach[e], job->points + e * PC_INVERSION_TRUTHS);
  pc_free(job->env, reach);
  return status == PCAL_OK ? inversion_truths(job, err) : status;
}

/* Drops the points that are evaluated without noise only. */
static void inversion_close_up(inversion_job *job) {
  for (size_t e = 0; e < job->plan->entry_count; e++)
    memmove(job->points + e * PC_INVERSION_POINTS, job->points + e * PC_INVERSION_TRUTHS,
            PC_INVERSION_POINTS * sizeof *job->points);
  for (size_t i = 0; i < job->plan->entry_count * PC_INVERSION_POINTS; i++)
    job->noise[i] = job->points[i].noise;
}

/* ---- ends ---- */

static int inversion_read(const inversion_job *job, size_t entry, pc_inversion_tails *out) {
  const inversion_shares a = inversion_tail(job, entry);
  for (size_t j = 0; j < PC_INVERSION_POINTS; j++) {
    double *values = job->values + (entry * PC_INVERSION_POINTS + j) * job->count;
    if (isnan(job->points[entry * PC_INVERSION_POINTS + j].noise))
      continue;
    const size_t kept = inversion_sort(values, job->count);
    if (kept == 0)
      return 0;
    out->low[j] = pc_interval_quantile(values, kept, a.high);
    out->middle[j] = pc_interval_quantile(values, kept, 0.5);
    out->high[j] = pc_interval_quantile(values, kept, 1.0 - a.low);
    if (j == PC_INVERSION_DATA)
      job->records[entry].interval_result.se = pc_interval_deviation(values, kept);
  }
  out->truth = job->truths + entry * PC_INVERSION_TRUTHS;
  out->value = inversion_value(job, entry);
  return 1;
}

/* Edge case 2. */
static void inversion_allow(const inversion_job *job, size_t entry,
                            const pc_inversion_tails *tails, pc_interval *ends) {
  const double share = pc_rarer_share(&job->found);
  const double beyond = ends->high + tails->truth[PC_INVERSION_FEW];
  pc_interval with_more = {tails->value, tails->value};
  pc_rarer_include(job->more, entry, 0, 0, 1.0, &with_more);
  ends->low -= share * fmax(ends->low - with_more.low, 0.0);
  if (inversion_has_own_edges(job, entry))
    with_more.high = fmax(ends->high, with_more.high) + beyond - ends->high;
  else if (with_more.high > tails->value)
    with_more.high -= INVERSION_BIAS * pc_inversion_bias(tails);
  else
    with_more.high = beyond;
  ends->high = share * fmax(ends->high, with_more.high) + (1.0 - share) * beyond;
}

/* Edge case 9: true if the unbiased square of the error and its variance are known. */
static int inversion_has_square(const inversion_job *job, size_t entry) {
  return job->records[entry].outcome.square_variance.noise > 0.0 &&
         !job->plan->intervals.by_cluster;
}

static pc_inversion_kind inversion_kind(const inversion_job *job, size_t entry) {
  const int square = inversion_has_square(job, entry);
  const int few =
      square ? job->found.rarer < PC_INTERVAL_FEW_ROWS : pc_rarer_share(&job->found) > 0.0;
  return (pc_inversion_kind){inversion_over_classes(job, entry), square, few};
}

static pc_interval inversion_of_square(const inversion_job *job, size_t entry) {
  const pc_metric_result *outcome = &job->records[entry].outcome;
  return pc_interval_of_square(outcome->square, &outcome->square_variance,
                               job->plan->intervals.level);
}

/* The ends before allowances. */
static pc_interval inversion_ends(const inversion_job *job, size_t entry,
                                  const pc_inversion_tails *tails,
                                  const pc_interval *signed_gap) {
  const int over_classes = inversion_over_classes(job, entry);
  if (inversion_has_square(job, entry)) {
    pc_interval ends = inversion_of_square(job, entry);
    if (tails->value <= tails->zero_high)
      ends.low = 0.0;
    return ends;
  }
  pc_interval ends = {pc_inversion_least(tails, over_classes),
                      pc_inversion_largest(tails, PC_INVERSION_DATA, PC_INVERSION_FARTHEST)};
  if (!over_classes) {
    const double shift =
        pc_inversion_largest(tails, PC_INVERSION_SHIFT, PC_INVERSION_SHIFT_FARTHEST);
    ends.high = fmax(ends.high, fmin(shift, signed_gap->high));
  }
  return ends;
}

static void inversion_conclude(const inversion_job *job, size_t entry,
                               const pc_inversion_tails *tails) {
  const double most = job->plan->entries[entry].config.most;
  const double value = job->records[entry].outcome.value;
  pc_interval_result *out = &job->records[entry].interval_result;
  const pc_interval signed_gap = inversion_direction(job, entry);
  pc_interval ends = inversion_ends(job, entry, tails, &signed_gap);
  const pc_gap_norm gaps = job->plan->entries[entry].config.gaps;
  ends.low = fmax(ends.low, signed_gap.low);
  if (!inversion_has_square(job, entry) || job->found.rarer < PC_INTERVAL_FEW_ROWS)
    inversion_allow(job, entry, tails, &ends);
  if (!inversion_has_square(job, entry))
    ends.high += fmax(value - tails->value, 0.0);
  if (gaps == PC_GAPS_LARGEST && job->found.rarer < PC_INTERVAL_FEW_ROWS)
    ends.high = most;
  out->has_interval = 1;
  out->level = job->plan->intervals.level;
  out->method = PCAL_INTERVAL_INVERSION;
  out->low = fmin(ends.low, value);
  out->high = fmax(fmin(ends.high, most), value);
}

/* ---- labels drawn from the predictions ---- */

/* Selects the entries of edge case 3 whose interval would exclude 0. */
static size_t inversion_doubt(inversion_job *job, const pc_inversion_tails *tails,
                              const uint8_t *read) {
  size_t count = 0;
  const int few = job->rows != NULL && pc_rarer_share(&job->found) > 0.0;
  for (size_t e = 0; e < job->plan->entry_count; e++) {
    job->doubted[e] =
        read[e] && pc_measure_plan_no_null(job->plan, e) == NULL &&
        (few || inversion_over_classes(job, e)) &&
        (inversion_has_square(job, e) ? inversion_of_square(job, e).low > 0.0
                                      : tails[e].value > tails[e].high[PC_INVERSION_ZERO]);
    count += job->doubted[e];
  }
  return count;
}

static pcal_status inversion_nulls(inversion_job *job, pc_inversion_tails *tails,
                                   pcal_error *err) {
  const size_t count = job->count < PC_INVERSION_NULLS ? job->count : PC_INVERSION_NULLS;
  const size_t series = job->plan->entry_count * PC_REPLICA_VALUES;
  double *values = pc_alloc_raw(job->env, series * count, sizeof *values);
  if (values == NULL)
    return pc_fail_memory(err, "finding intervals");
  const pcal_status status =
      inversion_draw(job, job->doubted, PC_REPLICA_LABELS, count, 0, values, err);
  for (size_t e = 0; status == PCAL_OK && e < job->plan->entry_count; e++) {
    double *here = values + e * PC_REPLICA_VALUES * count;
    const size_t kept = job->doubted[e] ? inversion_sort(here, count) : 0;
    if (kept == 0)
      continue;
    const double high = pc_interval_quantile(here, kept, 1.0 - inversion_tail(job, e).low);
    const double ratio = inversion_variance(job, inversion_over_classes(job, e)).ratio;
    tails[e].null_high = sqrt(ratio) * high;
    tails[e].zero_high = sqrt(fmin(ratio, 1.0)) * high;
  }
  pc_free(job->env, values);
  return status;
}

/* ---- entry point ---- */

/* Draws the replicas of the entries `wanted` at the selected points, and reads their quantiles;
 * clears `read` of entries whose replicas lack a value. */
static pcal_status inversion_draw_points(inversion_job *job, pc_inversion_tails *tails,
                                         const uint8_t *wanted, uint8_t *read,
                                         pcal_error *err) {
  PC_TRY(inversion_draw(job, wanted, PC_REPLICA_WEIGHTS, job->count, PC_INVERSION_POINTS,
                        job->values, err));
  for (size_t e = 0; e < job->plan->entry_count; e++)
    if (wanted[e] && !inversion_read(job, e, &tails[e]))
      read[e] = 0;
  return PCAL_OK;
}

/* Selects the points that are drawn first (further = 0), or those of the rest that are needed;
 * returns how many of the entries `read` have such points, and marks them. */
static size_t inversion_select(inversion_job *job, const pc_inversion_tails *tails, int further,
                               const uint8_t *read, uint8_t *marked) {
  size_t count = 0;
  for (size_t e = 0; e < job->plan->entry_count; e++) {
    const pc_inversion_kind kind = inversion_kind(job, e);
    marked[e] = 0;
    for (size_t j = 0; j < PC_INVERSION_POINTS && read[e]; j++) {
      const size_t i = e * PC_INVERSION_POINTS + j;
      const int needed = further ? pc_inversion_needs_more(&kind, &tails[e], j)
                                 : pc_inversion_needs_first(&kind, j);
      job->points[i].noise = needed ? job->noise[i] : (double)NAN;
      marked[e] |= (uint8_t)(needed && !isnan(job->noise[i]));
    }
    count += marked[e];
  }
  return count;
}

/* The user data of inversion_task: one entry, whose signed gaps are added up over all rows. */
typedef struct inversion_conclusions {
  inversion_job *job;
  pc_inversion_tails *tails;
  const uint8_t *read;
} inversion_conclusions;

static pcal_status inversion_task(void *user, size_t entry, size_t worker, pcal_error *err) {
  const inversion_conclusions *all = user;
  (void)worker;
  (void)err;
  if (all->read[entry])
    inversion_conclude(all->job, entry, &all->tails[entry]);
  return PCAL_OK;
}

static pcal_status inversion_finish(inversion_job *job, pc_inversion_tails *tails,
                                    uint8_t *read, pcal_error *err) {
  for (size_t e = 0; e < job->plan->entry_count; e++) {
    if (job->chosen[e] && !read[e])
      pc_interval_lacks_replicas(job->count, &job->records[e].interval_result);
  }
  if (inversion_doubt(job, tails, read) > 0)
    PC_TRY(inversion_nulls(job, tails, err));
  inversion_conclusions all = {job, tails, read};
  const size_t rows = job->rows == NULL ? 0 : job->rows->count, n = job->plan->entry_count;
  const double cost = INVERSION_ROW_COST * (double)(rows * job->plan->layout.classes * n);
  return pc_run(job->env, n, cost, inversion_task, &all, err);
}

static pcal_status inversion_work(inversion_job *job, pc_inversion_tails *tails, uint8_t *read,
                                  pcal_error *err) {
  PC_TRY(inversion_prepare(job, err));
  inversion_close_up(job);
  inversion_select(job, tails, 0, job->chosen, read);
  PC_TRY(inversion_draw_points(job, tails, read, read, err));
  if (inversion_select(job, tails, 1, read, job->doubted) > 0)
    PC_TRY(inversion_draw_points(job, tails, job->doubted, read, err));
  return inversion_finish(job, tails, read, err);
}

pcal_status pc_interval_inversion(const pcal_env *env, pc_replica_views *views,
                                  const uint8_t *entries, const pc_rarer *found,
                                  const double *rarer, pc_result_record *records,
                                  pcal_error *err) {
  const size_t n = views->plan->entry_count;
  inversion_job job = {.env = env,
                       .plan = views->plan,
                       .rows = views->rows,
                       .views = views,
                       .more = rarer,
                       .found = *found,
                       .records = records,
                       .count = views->plan->intervals.replicas};
  job.points = pc_alloc(env, n * PC_INVERSION_TRUTHS, sizeof *job.points);
  job.truths = pc_alloc_raw(env, n * PC_INVERSION_TRUTHS, sizeof *job.truths);
  job.values = pc_alloc_raw(env, n * PC_INVERSION_POINTS * job.count, sizeof *job.values);
  job.noise = pc_alloc_raw(env, n * PC_INVERSION_POINTS, sizeof *job.noise);
  job.chosen = pc_alloc(env, n, 1);
  job.doubted = pc_alloc(env, n, 1);
  pc_inversion_tails *tails = pc_alloc(env, n, sizeof *tails);
  uint8_t *read = pc_alloc(env, n, 1);
  const int enough = job.points != NULL && job.truths != NULL && job.values != NULL &&
                     job.noise != NULL && job.chosen != NULL && job.doubted != NULL &&
                     tails != NULL && read != NULL;
  pcal_status status = enough ? PCAL_OK : pc_fail_memory(err, "finding intervals");
  if (status == PCAL_OK) {
    memcpy(job.chosen, entries, n);
    inversion_count(&job);
    status = inversion_work(&job, tails, read, err);
  }
  void *const blocks[] = {job.points, job.truths,  job.values, job.noise,
                          job.chosen, job.doubted, tails,      read};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
    pc_free(env, blocks[b]);
  return status;
}
