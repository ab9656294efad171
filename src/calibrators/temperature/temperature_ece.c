/* temperature:objective=ece.
 *
 * Formula:  ECE(T) = sum over bins of |sum of (c - h) over the bin's rows| / N,  c the largest
 *           entry of softmax(z / T), h = 1 if it is the label's, 15 bins (lo, hi] of equal
 *           width, as in the metric `ece`; for one column c and h are those of class 1.
 * Search:   ECE jumps where rows cross an edge and has many local minima: branch and bound.
 *           Over an interval of log T, c of each row is monotone, so rows in the same bin at
 *           both ends stay in it: the sums of their least and greatest c - h bound the
 *           contribution of the bin, and each other row contributes at most its |c - h|.  The
 *           interval with the lowest bound is divided until no bound is more than 0.1 % (or
 *           1e-6) below the lowest value found: then the status is converged.  A search that
 *           would take too long ends with the lowest value found and status stopped.
 * Edge cases:
 *   1. Ties for the largest score go to the lowest class.
 *   2. The lowest value at an end of [1e-4, 1e4]: T stops there.
 *   3. No T beats 1: T is 1.
 *   4. `gradient` is the slope of ECE by log T at the result, which need not vanish at a kink.
 *   5. Sums are exact to 2^-61 and do not depend on the order of rows.
 * Source:   Nixon et al. 2019, who search by Nelder and Mead.
 * Cost:     a few hundred exp for each score with many rows, up to about ten thousand with
 *           few. */
#include "calibrators/temperature/temperature_ece.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "base/sum.h"
#include "calibrators/fit_pass.h"
#include "kernels/lane_math.h"
#include "stats/bins.h"

#define TEMPERATURE_ECE_BINS 15
#define TEMPERATURE_ECE_MAX 56      /* trials in a pass */
#define TEMPERATURE_ECE_PARTS 7     /* that an interval is divided into */
#define TEMPERATURE_ECE_NARROW 1e-9 /* shorter intervals are not divided */
#define TEMPERATURE_ECE_NEAR 1e-3   /* tolerance relative to the lowest value */
#define TEMPERATURE_ECE_LEAST 1e-6  /* absolute tolerance */
#define TEMPERATURE_ECE_WORK 1e9    /* exps; at least TEMPERATURE_ECE_TRIALS for each score */
#define TEMPERATURE_ECE_TRIALS 2000.0
#define TEMPERATURE_ECE_BOUND 9.210340371976184 /* log 1e4 */

typedef struct temperature_ece_worker {
  pc_fixed gaps[TEMPERATURE_ECE_MAX][TEMPERATURE_ECE_BINS]; /* sums of c - h */
  /* For the interval that begins at a trial: sums of the least and greatest c - h of rows that
   * stay in their bin, and of the greatest |c - h| of the others. */
  pc_fixed least[TEMPERATURE_ECE_MAX][TEMPERATURE_ECE_BINS];
  pc_fixed most[TEMPERATURE_ECE_MAX][TEMPERATURE_ECE_BINS];
  pc_fixed moving[TEMPERATURE_ECE_MAX];
  uint64_t rows;
  pc_sum slopes[TEMPERATURE_ECE_BINS]; /* sums of dc/dtau, for a single trial */
  pc_sum weight;
  double *shifts; /* scores minus the largest */
} temperature_ece_worker;

typedef struct temperature_ece_state {
  const pc_fit_task *task;
  pc_partition bins;
  size_t count;
  double tau[TEMPERATURE_ECE_MAX], beta[TEMPERATURE_ECE_MAX]; /* tau = log(1 / T), ascending */
  int begins[TEMPERATURE_ECE_MAX]; /* an interval goes from this trial to the next */
  double value[TEMPERATURE_ECE_MAX], bound[TEMPERATURE_ECE_MAX];
  double slope; /* for a single trial */
  temperature_ece_worker *workers;
  unsigned passes;
} temperature_ece_state;

/* An interval of tau, and a lower bound of ECE inside. */
typedef struct temperature_ece_interval {
  double low, high, bound;
} temperature_ece_interval;

/* Intervals to be divided: a heap, the lowest bound first. */
typedef struct temperature_ece_heap {
  temperature_ece_interval *at;
  size_t count, capacity;
} temperature_ece_heap;

typedef struct temperature_ece_found {
  double at, value; /* the lowest so far */
  int certain;      /* no T is lower by more than TEMPERATURE_ECE_NEAR */
} temperature_ece_found;

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

/* Adds a row to the interval that begins at trial t; bin NULL: it differs between the ends,
 * where c - h is a and b. */
static void temperature_ece_between(temperature_ece_worker *w, size_t t, const size_t *bin,
                                    double a, double b, double weight) {
  if (bin == NULL) {
    pc_fixed_add_weighted(&w->moving[t], weight, fmax(fabs(a), fabs(b)));
    return;
  }
  pc_fixed_add_weighted(&w->least[t][*bin], weight, fmin(a, b));
  pc_fixed_add_weighted(&w->most[t][*bin], weight, fmax(a, b));
}

static void temperature_ece_add_row(const temperature_ece_state *s, temperature_ece_worker *w,
                                    const double *scores, size_t classes, size_t label,
                                    double weight) {
  const int single = pc_layout_is_binary(&s->task->calibrator->layout);
  size_t top = 0;
  for (size_t k = 1; k < classes; k++)
    top = scores[k] > scores[top] ? k : top;
  for (size_t k = 0; k < classes; k++)
    w->shifts[k] = scores[k] - scores[top];
  top = single ? 1 : top;
  const double hit = label == top ? 1.0 : 0.0;
  pc_sum_add(&w->weight, weight);
  w->rows++;
  double gap_before = 0.0;
  size_t bin_before = 0;
  for (size_t t = 0; t < s->count; t++) {
    double slope = 0.0;
    const double score = temperature_ece_score(w->shifts, classes, top, s->beta[t],
                                               s->count == 1 ? &slope : NULL);
    const size_t bin = pc_partition_find(&s->bins, score);
    const double gap = score - hit;
    pc_fixed_add_weighted(&w->gaps[t][bin], weight, gap);
    if (s->count == 1)
      pc_sum_add_product(&w->slopes[bin], weight, slope);
    if (t > 0 && s->begins[t - 1])
      temperature_ece_between(w, t - 1, bin == bin_before ? &bin : NULL, gap_before, gap,
                              weight);
    gap_before = gap;
    bin_before = bin;
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

static void temperature_ece_merge(temperature_ece_worker *into,
                                  const temperature_ece_worker *from, size_t count) {
  into->rows += from->rows;
  pc_sum_merge(&into->weight, &from->weight);
  for (size_t t = 0; t < count; t++) {
    into->moving[t].units += from->moving[t].units;
    for (size_t b = 0; b < TEMPERATURE_ECE_BINS; b++) {
      into->gaps[t][b].units += from->gaps[t][b].units;
      into->least[t][b].units += from->least[t][b].units;
      into->most[t][b].units += from->most[t][b].units;
    }
  }
  for (size_t b = 0; b < TEMPERATURE_ECE_BINS; b++)
    pc_sum_merge(&into->slopes[b], &from->slopes[b]);
}

/* The value at trial t, and the bound of the interval that begins there. */
static void temperature_ece_value(temperature_ece_state *s, size_t t, double weight) {
  const temperature_ece_worker *all = &s->workers[0];
  double value = 0.0, bound = -pc_fixed_value(&all->moving[t]);
  for (size_t b = 0; b < TEMPERATURE_ECE_BINS; b++) {
    const double least = pc_fixed_value(&all->least[t][b]);
    const double most = pc_fixed_value(&all->most[t][b]);
    value += fabs(pc_fixed_value(&all->gaps[t][b]));
    bound += least > 0.0 ? least : most < 0.0 ? -most : 0.0;
  }
  s->value[t] = value / weight;
  s->bound[t] = bound / weight;
}

static void temperature_ece_collect(temperature_ece_state *s, size_t workers) {
  temperature_ece_worker *first = &s->workers[0];
  for (size_t w = 1; w < workers; w++)
    temperature_ece_merge(first, &s->workers[w], s->count);
  const double weight = pc_sum_value(&first->weight);
  s->slope = 0.0;
  for (size_t b = 0; b < TEMPERATURE_ECE_BINS; b++) {
    const double slope = pc_sum_value(&first->slopes[b]) / weight;
    s->slope += first->gaps[0][b].units < 0 ? -slope : slope;
  }
  for (size_t t = 0; t < s->count; t++)
    temperature_ece_value(s, t, weight);
}

static pcal_status temperature_ece_pass(temperature_ece_state *s, pcal_error *err) {
  const size_t workers = pc_worker_count(s->task->env);
  const pc_row_policy policy = {.scores = PC_SCORES_ONLY, .probs = PC_PROBS_LEAN};
  for (size_t t = 0; t < s->count; t++)
    s->beta[t] = pc_lane_exp(s->tau[t]);
  for (size_t w = 0; w < workers; w++) {
    double *shifts = s->workers[w].shifts;
    memset(&s->workers[w], 0, sizeof s->workers[w]);
    pc_sum_clear(&s->workers[w].weight);
    s->workers[w].shifts = shifts;
  }
  PC_TRY(pc_fit_pass(s->task, &policy, temperature_ece_add, NULL, s, err));
  temperature_ece_collect(s, workers);
  s->passes++;
  return PCAL_OK;
}

/* ---- Search ---- */

/* Powers of 2^(1/4) from 1/16 to 16, and wider steps from there to the bounds. */
static void temperature_ece_grid(temperature_ece_state *s) {
  const double log2 = 0.6931471805599453, wide = (TEMPERATURE_ECE_BOUND - 4.0 * log2) / 6.0;
  s->count = 0;
  for (int i = 0; i < 6; i++)
    s->tau[s->count++] = -TEMPERATURE_ECE_BOUND + i * wide;
  for (int i = -16; i <= 16; i++)
    s->tau[s->count++] = i / 4.0 * log2;
  for (int i = 5; i >= 0; i--)
    s->tau[s->count++] = TEMPERATURE_ECE_BOUND - i * wide;
  for (size_t t = 0; t < s->count; t++)
    s->begins[t] = t + 1 < s->count;
}

/* ---- Intervals ---- */

static void temperature_ece_swap(temperature_ece_interval *a, temperature_ece_interval *b) {
  const temperature_ece_interval moved = *a;
  *a = *b;
  *b = moved;
}

static pcal_status temperature_ece_push(const pcal_env *env, temperature_ece_heap *heap,
                                        temperature_ece_interval from, pcal_error *err) {
  if (heap->count == heap->capacity) {
    const size_t capacity = heap->capacity == 0 ? 256 : 2 * heap->capacity;
    temperature_ece_interval *more = pc_alloc(env, capacity, sizeof *more);
    if (more == NULL)
      return pc_fail_memory(err, "searching for a temperature");
    if (heap->count > 0)
      memcpy(more, heap->at, heap->count * sizeof *more);
    pc_free(env, heap->at);
    heap->at = more;
    heap->capacity = capacity;
  }
  size_t i = heap->count++;
  heap->at[i] = from;
  for (; i > 0 && heap->at[i].bound < heap->at[(i - 1) / 2].bound; i = (i - 1) / 2)
    temperature_ece_swap(&heap->at[i], &heap->at[(i - 1) / 2]);
  return PCAL_OK;
}

static temperature_ece_interval temperature_ece_pop(temperature_ece_heap *heap) {
  const temperature_ece_interval first = heap->at[0];
  heap->at[0] = heap->at[--heap->count];
  for (size_t i = 0, child = 1; child < heap->count; i = child, child = 2 * child + 1) {
    child += child + 1 < heap->count && heap->at[child + 1].bound < heap->at[child].bound;
    if (heap->at[i].bound <= heap->at[child].bound)
      break;
    temperature_ece_swap(&heap->at[i], &heap->at[child]);
  }
  return first;
}

/* ---- Branch and bound ---- */

/* True if an interval with this bound may hold a value lower by more than the tolerance. */
static int temperature_ece_matters(const temperature_ece_found *best, double bound) {
  return bound < best->value - fmax(TEMPERATURE_ECE_NEAR * best->value, TEMPERATURE_ECE_LEAST);
}

/* Takes the lowest value of the trials; puts the intervals that matter onto the heap. */
static pcal_status temperature_ece_judge(const temperature_ece_state *s,
                                         temperature_ece_heap *heap,
                                         temperature_ece_found *best, pcal_error *err) {
  for (size_t t = 0; t < s->count; t++)
    if (s->value[t] < best->value) {
      best->value = s->value[t];
      best->at = s->tau[t];
    }
  for (size_t t = 0; t < s->count; t++) {
    const temperature_ece_interval inside = {s->tau[t], s->begins[t] ? s->tau[t + 1] : 0.0,
                                             s->bound[t]};
    if (s->begins[t] && inside.high - inside.low > TEMPERATURE_ECE_NARROW &&
        temperature_ece_matters(best, inside.bound))
      PC_TRY(temperature_ece_push(s->task->env, heap, inside, err));
  }
  return PCAL_OK;
}

/* Sets trials that divide the intervals with the lowest bounds. */
static void temperature_ece_divide(temperature_ece_state *s, temperature_ece_heap *heap,
                                   const temperature_ece_found *best) {
  s->count = 0;
  while (heap->count > 0 && temperature_ece_matters(best, heap->at[0].bound) &&
         s->count + TEMPERATURE_ECE_PARTS < TEMPERATURE_ECE_MAX) {
    const temperature_ece_interval from = temperature_ece_pop(heap);
    for (int i = 0; i <= TEMPERATURE_ECE_PARTS; i++, s->count++) {
      s->tau[s->count] = from.low + (from.high - from.low) * i / TEMPERATURE_ECE_PARTS;
      s->begins[s->count] = i < TEMPERATURE_ECE_PARTS;
    }
    s->tau[s->count - 1] = from.high;
  }
}

static pcal_status temperature_ece_narrow(temperature_ece_state *s, temperature_ece_heap *heap,
                                          temperature_ece_found *best, pcal_error *err) {
  const double cells = (double)s->workers[0].rows * (double)s->task->calibrator->layout.classes;
  double trials = fmax(TEMPERATURE_ECE_TRIALS, TEMPERATURE_ECE_WORK / cells);
  for (;;) {
    PC_TRY(temperature_ece_judge(s, heap, best, err));
    best->certain = heap->count == 0 || !temperature_ece_matters(best, heap->at[0].bound);
    if (best->certain || trials <= 0.0)
      return PCAL_OK;
    temperature_ece_divide(s, heap, best);
    trials -= (double)s->count;
    PC_TRY(temperature_ece_pass(s, err));
  }
}

static pcal_status temperature_ece_search(temperature_ece_state *s, temperature_ece_found *best,
                                          pcal_error *err) {
  temperature_ece_heap heap = {NULL, 0, 0};
  temperature_ece_grid(s);
  PC_TRY(temperature_ece_pass(s, err));
  for (size_t t = 0; t < s->count; t++)
    if (s->tau[t] == 0.0)
      s->task->calibrator->fit.before = s->value[t];
  PC_TRY(temperature_ece_narrow(s, &heap, best, err));
  s->count = 1;
  s->begins[0] = 0;
  s->tau[0] = best->value < s->task->calibrator->fit.before ? best->at : 0.0;
  return temperature_ece_pass(s, err);
}

static void temperature_ece_take(const temperature_ece_state *s,
                                 const temperature_ece_found *best, double *temperature) {
  pc_fit_info *fit = &s->task->calibrator->fit;
  fit->searched = 1;
  fit->iterations = s->passes;
  fit->gradient = fabs(s->slope);
  fit->after = fmin(best->value, fit->before);
  *temperature = 1.0;
  fit->status = PC_FIT_IDENTITY;
  if (!best->certain)
    pc_fit_warn(fit, "the search stopped early; another temperature may have an error lower by "
                     "more than 0.1 %%");
  if (!(best->value < fit->before))
    return;
  *temperature = fmin(fmax(pc_lane_exp(-best->at), 1e-4), 1e4);
  fit->status = best->certain ? PC_FIT_CONVERGED : PC_FIT_STOPPED;
  if (fabs(best->at) < TEMPERATURE_ECE_BOUND)
    return;
  fit->status = PC_FIT_STOPPED;
  pc_fit_warn(fit, "T stopped at its bound %s: %s", best->at > 0.0 ? "0.0001" : "10000",
              best->at > 0.0 ? "a lower T is always better"
                             : "the scores carry hardly any information about the labels");
}

pcal_status pc_temperature_fit_ece(const pc_fit_task *task, double *temperature,
                                   pcal_error *err) {
  const pcal_env *env = task->env;
  const size_t workers = pc_worker_count(env);
  temperature_ece_state state = {.task = task};
  temperature_ece_found best = {0.0, INFINITY, 0};
  PC_TRY(pc_partition_new(env, PC_EDGES_RIGHT, TEMPERATURE_ECE_BINS, &state.bins, err));
  state.workers = pc_alloc(env, workers, sizeof *state.workers);
  if (state.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(temperature_ece_search(&state, &best, err));
  temperature_ece_take(&state, &best, temperature);
  return PCAL_OK;
}
