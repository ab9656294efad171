/* temperature:objective=ece.
 *
 * Formula:  ECE(T) = sum over bins of |sum of (c - h) over the bin's rows| / N,  c the largest
 *           entry of softmax(z / T), h = 1 when it is the label's, 15 bins (lo, hi] of equal
 *           width, as the metric `ece`; for one column c and h are those of class 1.
 * Search:   ECE jumps where rows cross an edge and has many valleys.  It is evaluated at all
 *           places of a grid of log T at once; then the lowest valley is divided finely, and
 *           the neighbourhoods of the four lowest places again and again, until they are
 *           narrower than 1e-8.
 * Edge cases:
 *   1. Ties for the largest score go to the lowest class.
 *   2. The lowest value at an end of [1e-4, 1e4]: T stops there.
 *   3. No T is better than 1: T is 1.
 *   4. gradient is the slope of ECE by log T at the result, which need not vanish at a kink.
 *   5. Sums are exact to 2^-61 and do not depend on the order of rows.
 * Source:   Nixon et al. 2019, who search by Nelder and Mead.
 * Cost:     about 14 passes, up to 52 exps for each score in each, 45 in the first. */
#include "calibrators/temperature_ece.h"

#include <math.h>
#include <string.h>

#include "calibrators/sweep.h"
#include "core/executor.h"
#include "core/sum.h"
#include "kernels/lane_math.h"
#include "stats/bins.h"

#define TEMPERATURE_ECE_BINS 15
#define TEMPERATURE_ECE_MAX 56 /* trials in a pass */
#define TEMPERATURE_ECE_FIRST 48
#define TEMPERATURE_ECE_PARTS 12
#define TEMPERATURE_ECE_VALLEYS 4
#define TEMPERATURE_ECE_NARROW 1e-8
#define TEMPERATURE_ECE_BOUND 9.210340371976184 /* log 1e4 */

typedef struct temperature_ece_worker {
  pc_fixed gaps[TEMPERATURE_ECE_MAX][TEMPERATURE_ECE_BINS]; /* sums of c - h */
  pc_sum slopes[TEMPERATURE_ECE_BINS];                      /* of dc/dtau, of a single trial */
  pc_sum weight;
  double *shifts; /* scores less the largest */
} temperature_ece_worker;

typedef struct temperature_ece_state {
  const pc_fit_task *task;
  pc_partition bins;
  size_t count;
  double tau[TEMPERATURE_ECE_MAX], beta[TEMPERATURE_ECE_MAX]; /* tau = log(1 / T), ascending */
  double value[TEMPERATURE_ECE_MAX];
  double slope; /* of a single trial */
  temperature_ece_worker *workers;
  unsigned passes;
} temperature_ece_state;

/* An interval of tau, with the lowest place inside. */
typedef struct temperature_ece_valley {
  double low, at, high, value;
} temperature_ece_valley;

/* ---- One pass ---- */

/* The score of class `top` at beta, and its derivative by tau where `slope` is not NULL. */
static double temperature_ece_score(const double *shifts, size_t classes, size_t top,
                                    double beta, double *slope) {
  const double own = beta * shifts[top];
  double sum = 0.0, mean = 0.0;
  for (size_t k = 0; k < classes; k++)
    sum += pc_lane_exp(beta * shifts[k]);
  const double score = (shifts[top] < 0.0 ? pc_lane_exp(own) : 1.0) / sum;
  for (size_t k = 0; slope != NULL && k < classes; k++) {
    const double power = beta * shifts[k], term = pc_lane_exp(power);
    mean += term > 0.0 ? power * term / sum : 0.0;
  }
  if (slope != NULL)
    *slope = score > 0.0 ? score * (own - mean) : 0.0;
  return score;
}

static void temperature_ece_add_row(const temperature_ece_state *s, temperature_ece_worker *w,
                                    const double *scores, size_t classes, size_t label,
                                    double weight) {
  const int single = pc_layout_binary(&s->task->calibrator->layout);
  size_t top = 0;
  for (size_t k = 1; k < classes; k++)
    top = scores[k] > scores[top] ? k : top;
  for (size_t k = 0; k < classes; k++)
    w->shifts[k] = scores[k] - scores[top];
  top = single ? 1 : top;
  const double hit = label == top ? 1.0 : 0.0;
  pc_sum_add(&w->weight, weight);
  for (size_t t = 0; t < s->count; t++) {
    double slope = 0.0;
    const double score = temperature_ece_score(w->shifts, classes, top, s->beta[t],
                                               s->count == 1 ? &slope : NULL);
    const size_t bin = pc_partition_find(&s->bins, score);
    pc_fixed_add_weighted(&w->gaps[t][bin], weight, score - hit);
    if (s->count == 1)
      pc_sum_add_product(&w->slopes[bin], weight, slope);
  }
}

static pcal_status temperature_ece_add(void *user, size_t worker, const pc_rows *rows,
                                       pcal_error *err) {
  const temperature_ece_state *s = user;
  temperature_ece_worker *w = &s->workers[worker];
  if (w->shifts == NULL)
    w->shifts = pc_alloc(s->task->env, rows->classes, sizeof *w->shifts);
  if (w->shifts == NULL)
    return pc_fail_memory(err, "preparing workers");
  for (size_t i = 0; i < rows->count; i++)
    temperature_ece_add_row(s, w, rows->scores + i * rows->classes, rows->classes,
                            (size_t)rows->labels[i],
                            rows->weights == NULL ? 1.0 : rows->weights[i]);
  return PCAL_OK;
}

static void temperature_ece_collect(temperature_ece_state *s, size_t workers) {
  temperature_ece_worker *first = &s->workers[0];
  for (size_t w = 1; w < workers; w++) {
    pc_sum_merge(&first->weight, &s->workers[w].weight);
    for (size_t t = 0; t < s->count; t++)
      for (size_t b = 0; b < TEMPERATURE_ECE_BINS; b++)
        first->gaps[t][b].units += s->workers[w].gaps[t][b].units;
    for (size_t b = 0; b < TEMPERATURE_ECE_BINS; b++)
      pc_sum_merge(&first->slopes[b], &s->workers[w].slopes[b]);
  }
  s->slope = 0.0;
  for (size_t b = 0; b < TEMPERATURE_ECE_BINS; b++) {
    const double slope = pc_sum_value(&first->slopes[b]) / pc_sum_value(&first->weight);
    s->slope += first->gaps[0][b].units < 0 ? -slope : slope;
  }
  for (size_t t = 0; t < s->count; t++) {
    double sum = 0.0;
    for (size_t b = 0; b < TEMPERATURE_ECE_BINS; b++)
      sum += fabs(pc_fixed_value(&first->gaps[t][b]));
    s->value[t] = sum / pc_sum_value(&first->weight);
  }
}

static pcal_status temperature_ece_pass(temperature_ece_state *s, pcal_error *err) {
  const size_t workers = pc_worker_count(s->task->env);
  const pc_policy policy = {.need_scores = 1, .scores_only = 1, .lean = 1};
  for (size_t t = 0; t < s->count; t++)
    s->beta[t] = exp(s->tau[t]);
  for (size_t w = 0; w < workers; w++) {
    memset(s->workers[w].gaps, 0, sizeof s->workers[w].gaps);
    memset(s->workers[w].slopes, 0, sizeof s->workers[w].slopes);
    pc_sum_clear(&s->workers[w].weight);
  }
  PC_TRY(pc_sweep(s->task, &policy, temperature_ece_add, s, err));
  temperature_ece_collect(s, workers);
  s->passes++;
  return PCAL_OK;
}

/* ---- Search ---- */

/* Powers of 2^(1/4) from 1/16 to 16, which hold 1, and wider steps from there to the bounds. */
static void temperature_ece_grid(temperature_ece_state *s) {
  const double log2 = 0.6931471805599453, wide = (TEMPERATURE_ECE_BOUND - 4.0 * log2) / 6.0;
  s->count = 0;
  for (int i = 0; i < 6; i++)
    s->tau[s->count++] = -TEMPERATURE_ECE_BOUND + i * wide;
  for (int i = -16; i <= 16; i++)
    s->tau[s->count++] = i / 4.0 * log2;
  for (int i = 5; i >= 0; i--)
    s->tau[s->count++] = TEMPERATURE_ECE_BOUND - i * wide;
}

static const temperature_ece_valley temperature_ece_none = {0.0, 0.0, 0.0, INFINITY};

/* Puts the lowest places of trials first .. last - 1, with their neighbours, among the lowest
 * known. */
static void temperature_ece_valleys(const temperature_ece_state *s, size_t first, size_t last,
                                    temperature_ece_valley out[TEMPERATURE_ECE_VALLEYS]) {
  for (size_t t = first; t < last; t++) {
    const size_t left = t > first ? t - 1 : t, right = t + 1 < last ? t + 1 : t;
    temperature_ece_valley here = {s->tau[left], s->tau[t], s->tau[right], s->value[t]};
    if ((t != left && s->value[t] > s->value[left]) ||
        (t != right && s->value[t] >= s->value[right]))
      continue;
    for (size_t v = 0; v < TEMPERATURE_ECE_VALLEYS; v++)
      if (here.value < out[v].value) {
        const temperature_ece_valley moved = out[v];
        out[v] = here;
        here = moved;
      }
  }
}

/* Places from end to end of a valley, the lowest among them. */
static void temperature_ece_divide(temperature_ece_state *s, const temperature_ece_valley *from,
                                   int parts) {
  const int half = parts / 2;
  for (int i = 0; i < half; i++)
    s->tau[s->count++] = from->low + (from->at - from->low) * i / half;
  for (int i = 0; i <= half; i++)
    s->tau[s->count++] = from->at + (from->high - from->at) * i / half;
}

/* Divides the valleys, `count` of them at most, into parts, and finds the lowest in these. */
static pcal_status temperature_ece_narrow(temperature_ece_state *s, size_t count, int parts,
                                          temperature_ece_valley *valleys, pcal_error *err) {
  const size_t places = (size_t)parts + 1;
  s->count = 0;
  for (size_t v = 0; v < count && isfinite(valleys[v].value); v++)
    temperature_ece_divide(s, &valleys[v], parts);
  PC_TRY(temperature_ece_pass(s, err));
  for (size_t v = 0; v < TEMPERATURE_ECE_VALLEYS; v++)
    valleys[v] = temperature_ece_none;
  for (size_t first = 0; first < s->count; first += places)
    temperature_ece_valleys(s, first, first + places, valleys);
  return PCAL_OK;
}

static pcal_status temperature_ece_search(temperature_ece_state *s,
                                          temperature_ece_valley *best, pcal_error *err) {
  temperature_ece_valley valleys[TEMPERATURE_ECE_VALLEYS];
  for (size_t v = 0; v < TEMPERATURE_ECE_VALLEYS; v++)
    valleys[v] = temperature_ece_none;
  temperature_ece_grid(s);
  PC_TRY(temperature_ece_pass(s, err));
  for (size_t t = 0; t < s->count; t++)
    if (s->tau[t] == 0.0)
      s->task->calibrator->fit.before = s->value[t];
  temperature_ece_valleys(s, 0, s->count, valleys);
  PC_TRY(temperature_ece_narrow(s, 1, TEMPERATURE_ECE_FIRST, valleys, err));
  while (valleys[0].high - valleys[0].low > TEMPERATURE_ECE_NARROW)
    PC_TRY(temperature_ece_narrow(s, TEMPERATURE_ECE_VALLEYS, TEMPERATURE_ECE_PARTS, valleys,
                                  err));
  *best = valleys[0];
  s->count = 1;
  s->tau[0] = best->value < s->task->calibrator->fit.before ? best->at : 0.0;
  return temperature_ece_pass(s, err);
}

static void temperature_ece_take(const temperature_ece_state *s,
                                 const temperature_ece_valley *best, double *temperature) {
  pc_fit_info *fit = &s->task->calibrator->fit;
  fit->searched = 1;
  fit->iterations = s->passes;
  fit->gradient = fabs(s->slope);
  fit->after = fmin(best->value, fit->before);
  *temperature = 1.0;
  fit->status = PC_FIT_IDENTITY;
  if (!(best->value < fit->before))
    return;
  *temperature = fmin(fmax(exp(-best->at), 1e-4), 1e4);
  fit->status = PC_FIT_CONVERGED;
  if (fabs(best->at) < TEMPERATURE_ECE_BOUND)
    return;
  fit->status = PC_FIT_STOPPED;
  pc_fit_warn(fit, "T stopped at its bound %s: %s", best->at > 0.0 ? "0.0001" : "10000",
              best->at > 0.0 ? "no T above 0 is best"
                             : "the scores hardly tell which label is right");
}

pcal_status pc_temperature_fit_ece(const pc_fit_task *task, double *temperature,
                                   pcal_error *err) {
  const pcal_env *env = task->env;
  const size_t workers = pc_worker_count(env);
  temperature_ece_state state = {.task = task};
  temperature_ece_valley best = temperature_ece_none;
  PC_TRY(pc_partition_new(env, PC_EDGES_RIGHT, TEMPERATURE_ECE_BINS, &state.bins, err));
  state.workers = pc_alloc(env, workers, sizeof *state.workers);
  pcal_status status = state.workers == NULL ? pc_fail_memory(err, "preparing workers")
                                             : temperature_ece_search(&state, &best, err);
  if (status == PCAL_OK)
    temperature_ece_take(&state, &best, temperature);
  for (size_t w = 0; state.workers != NULL && w < workers; w++)
    pc_free(env, state.workers[w].shifts);
  pc_free(env, state.workers);
  pc_partition_free(env, &state.bins);
  return status;
}
