/* Formula, P = w1 a + w2 b + w3 u with a = softmax(beta z), b = softmax(z), u = 1/K, and
 * tau = log beta, d = z - mean of z under a, v = its variance:
 *   a' = da/dtau = beta a d,   a'' = a' + beta^2 a (d^2 - v);
 *   log:    f = -log P_y,  f_i = -P_i / P,  f_ij = P_i P_j / P^2 - P_ij / P at the label;
 *   Brier:  f = |P - e_y|^2,  f_i = 2 (P - e_y) . P_i,
 *           f_ij = 2 P_i . P_j + 2 (P - e_y) . P_ij.
 * Edge cases:
 *   1. The log score uses ratios to the largest part with weight above 0, so that nothing
 *      underflows; a ratio is at most exp(300).
 *   2. Terms below exp(-708) are 0.
 *   3. Sums are exact. */
#include "calibrators/temperature/ets_pass.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/executor.h"
#include "base/sum.h"
#include "calibrators/fit_pass.h"
#include "kernels/column_sum.h"
#include "kernels/dispatch.h"
#include "kernels/lane_math.h"

#define ETS_PASS_SUMS (1 + PC_ETS_TERMS + PC_ETS_TERMS * (PC_ETS_TERMS + 1) / 2)
#define ETS_PASS_RATIO_MAX 300.0
#define ETS_PASS_FAR (-708.0)
#define ETS_PASS_GAP_MAX 1e300
#define ETS_PASS_ROWS ((size_t)64) /* rows whose moments are computed together */

typedef struct ets_pass_worker {
  pc_sum sums[PC_ETS_TRIALS][ETS_PASS_SUMS]; /* value, gradient, upper triangle */
  pc_sum weight;
  uint64_t impossible[PC_ETS_TRIALS];
  double *parts; /* Brier: a, a', a'', b and gaps of one row; log: gaps of a block, by class */
} ets_pass_worker;

typedef struct ets_pass_state {
  const pc_fit_task *task;
  int brier, alone;
  const pc_ets_trial *trials;
  size_t count;
  ets_pass_worker *workers;
} ets_pass_state;

/* One part of the mixture, for one row. */
typedef struct ets_pass_part {
  double norm;     /* log of the sum of terms */
  double mean;     /* of gaps to the largest score */
  double variance; /* of gaps */
} ets_pass_part;

/* p = softmax(beta gaps) with its moments. */
static ets_pass_part ets_pass_softmax(const double *gaps, size_t count, double beta,
                                      double *p) {
  ets_pass_part part = {0.0, 0.0, 0.0};
  double sum = 0.0;
  for (size_t k = 0; k < count; k++)
    p[k] = pc_lane_exp(beta * gaps[k]);
  for (size_t k = 0; k < count; k++) {
    const double gap = beta * gaps[k] < ETS_PASS_FAR ? 0.0 : gaps[k];
    sum += p[k];
    part.mean += p[k] * gap;
    part.variance += p[k] * gap * gap;
  }
  for (size_t k = 0; k < count; k++)
    p[k] /= sum;
  part.norm = pc_lane_log(sum);
  part.mean /= sum;
  part.variance = part.variance / sum - part.mean * part.mean;
  return part;
}

/* ---- One row ---- */

/* f and its derivatives, in the order of the sums, from the ratios P_i / P and P_ij / P; gap: of
 * the label, even: log(1 / K). */
static void ets_pass_log_row(const pc_ets_trial *trial, double beta, double even, double gap,
                             const ets_pass_part *tempered, const ets_pass_part *plain,
                             double *out) {
  gap = fmax(gap, -ETS_PASS_GAP_MAX);
  const double logs[3] = {beta * gap - tempered->norm, gap - plain->norm, even};
  double top = -INFINITY, ratio[3], sum = 0.0;
  for (size_t i = 0; i < 3; i++)
    top = trial->weight[i] > 0.0 ? fmax(top, logs[i]) : top;
  for (size_t i = 0; i < 3; i++) {
    ratio[i] = pc_lane_exp(fmin(logs[i] - top, ETS_PASS_RATIO_MAX));
    sum += trial->weight[i] * ratio[i];
  }
  const double away = ratio[0] > 0.0 ? beta * (gap - tempered->mean) : 0.0;
  const double first = ratio[0] * away / sum;
  const double second =
      first + ratio[0] * (away * away - beta * beta * tempered->variance) / sum;
  const double by[PC_ETS_TERMS] = {trial->weight[0] * first, ratio[0] / sum, ratio[1] / sum,
                                   ratio[2] / sum};
  *out++ = -(top + pc_log(sum));
  for (size_t i = 0; i < PC_ETS_TERMS; i++)
    *out++ = -by[i];
  for (size_t i = 0; i < PC_ETS_TERMS; i++)
    for (size_t j = i; j < PC_ETS_TERMS; j++) {
      const double cross = i > 0 || j > 1 ? 0.0 : j == 0 ? trial->weight[0] * second : first;
      *out++ = by[i] * by[j] - cross;
    }
}

/* The same for the Brier score, from products of the vectors a', a, b, u, P - e_y and a''. */
static void ets_pass_brier_row(const pc_ets_trial *trial, const double *gaps, size_t classes,
                               size_t label, const ets_pass_part *tempered, double *parts,
                               double *out) {
  const double beta = pc_lane_exp(trial->tau), *w = trial->weight, even = 1.0 / (double)classes;
  const double *a = parts, *b = parts + 3 * classes;
  double value = 0.0, gradient[PC_ETS_TERMS] = {0.0}, curvature = 0.0, cross_curvature = 0.0;
  double products[PC_ETS_TERMS][PC_ETS_TERMS] = {{0.0}};
  for (size_t k = 0; k < classes; k++) {
    const double away = a[k] > 0.0 ? beta * (gaps[k] - tempered->mean) : 0.0;
    const double first = a[k] * away;
    const double second = first + a[k] * (away * away - beta * beta * tempered->variance);
    const double by[PC_ETS_TERMS] = {w[0] * first, a[k], b[k], even};
    const double rest = w[0] * a[k] + w[1] * b[k] + w[2] * even - (k == label ? 1.0 : 0.0);
    value += rest * rest;
    curvature += rest * w[0] * second;
    cross_curvature += rest * first;
    for (size_t i = 0; i < PC_ETS_TERMS; i++) {
      gradient[i] += rest * by[i];
      for (size_t j = i; j < PC_ETS_TERMS; j++)
        products[i][j] += by[i] * by[j];
    }
  }
  *out++ = value;
  for (size_t i = 0; i < PC_ETS_TERMS; i++)
    *out++ = 2.0 * gradient[i];
  for (size_t i = 0; i < PC_ETS_TERMS; i++)
    for (size_t j = i; j < PC_ETS_TERMS; j++) {
      const double cross = i > 0 || j > 1 ? 0.0 : j == 0 ? curvature : cross_curvature;
      *out++ = 2.0 * (products[i][j] + cross);
    }
}

/* True for the sums of the value and its derivatives by tau. */
static int ets_pass_is_of_tau(size_t sum) {
  return sum < 2 || sum == 1 + PC_ETS_TERMS;
}

/* Adds the numbers of a row to the sums of a trial. */
static void ets_pass_sum(const ets_pass_state *state, pc_sum *sums, double weight,
                         const double *values) {
  for (size_t i = 0; i < ETS_PASS_SUMS; i++)
    if (!state->alone || ets_pass_is_of_tau(i)) {
      if (weight == 1.0)
        pc_sum_add(&sums[i], values[i]);
      else
        pc_sum_add_product(&sums[i], weight, values[i]);
    }
}

static double ets_pass_max(const double *scores, size_t classes) {
  double max = scores[0];
  for (size_t k = 1; k < classes; k++)
    max = scores[k] > max ? scores[k] : max;
  return max;
}

static void ets_pass_add_brier(const ets_pass_state *state, ets_pass_worker *worker,
                               const double *scores, size_t classes, size_t label,
                               double weight) {
  double *gaps = worker->parts + 4 * classes, *plain = worker->parts + 3 * classes;
  const double max = ets_pass_max(scores, classes);
  double values[ETS_PASS_SUMS];
  for (size_t k = 0; k < classes; k++)
    gaps[k] = scores[k] - max;
  pc_sum_add(&worker->weight, weight);
  (void)ets_pass_softmax(gaps, classes, 1.0, plain);
  for (size_t t = 0; t < state->count; t++) {
    const pc_ets_trial *trial = &state->trials[t];
    const ets_pass_part tempered =
        ets_pass_softmax(gaps, classes, pc_lane_exp(trial->tau), worker->parts);
    ets_pass_brier_row(trial, gaps, classes, label, &tempered, worker->parts, values);
    ets_pass_sum(state, worker->sums[t], weight, values);
  }
}

/* ---- A block of rows, log score ---- */

/* The gap of a label; -inf only if its score is, so that finite scores never have probability 0. */
static double ets_pass_own_gap(double score, double max) {
  return isinf(score) ? score : fmax(score - max, -ETS_PASS_GAP_MAX);
}

/* Parts of the mixture for a block of rows. */
typedef struct ets_pass_moments {
  double norm[ETS_PASS_ROWS], mean[ETS_PASS_ROWS], variance[ETS_PASS_ROWS];
} ets_pass_moments;

static ets_pass_part ets_pass_moments_of(const ets_pass_moments *moments, size_t row) {
  return (ets_pass_part){moments->norm[row], moments->mean[row], moments->variance[row]};
}

static void ets_pass_compute(const double *gaps, size_t classes, size_t count, double beta,
                             ets_pass_moments *out) {
  pc_kernels_best()->temperature->moments(gaps, classes, count, beta, out->norm, out->mean,
                                          out->variance);
}

/* Adds the numbers of rows of weight 1, [sum][row], to the sums of a trial. */
static void ets_pass_sum_block(const ets_pass_state *state, pc_sum *sums,
                               double values[ETS_PASS_SUMS][ETS_PASS_ROWS], size_t count) {
  for (size_t i = 0; i < ETS_PASS_SUMS; i++)
    if (!state->alone || ets_pass_is_of_tau(i))
      pc_sum_add_column(&sums[i], values[i], count);
}

/* Adds one trial of the rows of a block, whose labels have the gaps `own`. */
static void ets_pass_add_trial(const ets_pass_state *state, ets_pass_worker *worker, size_t t,
                               const double *own, const double *weights, size_t classes,
                               size_t count, const ets_pass_moments *plain) {
  const pc_ets_trial *trial = &state->trials[t];
  const double beta = pc_lane_exp(trial->tau), even = -pc_lane_log((double)classes);
  ets_pass_moments tempered;
  double unweighted[ETS_PASS_SUMS][ETS_PASS_ROWS];
  size_t used = 0;
  ets_pass_compute(worker->parts, classes, count, beta, &tempered);
  for (size_t i = 0; i < count; i++) {
    const ets_pass_part a = ets_pass_moments_of(&tempered, i),
                        b = ets_pass_moments_of(plain, i);
    double values[ETS_PASS_SUMS];
    if (isinf(own[i]) && state->alone)
      continue;
    if (isinf(own[i]) && !(trial->weight[2] > 0.0)) {
      worker->impossible[t]++;
      continue;
    }
    ets_pass_log_row(trial, beta, even, own[i], &a, &b, values);
    if (weights != NULL)
      ets_pass_sum(state, worker->sums[t], weights[i], values);
    for (size_t v = 0; weights == NULL && v < ETS_PASS_SUMS; v++)
      unweighted[v][used] = values[v];
    used++;
  }
  if (weights == NULL)
    ets_pass_sum_block(state, worker->sums[t], unweighted, used);
}

static void ets_pass_add_block(const ets_pass_state *state, ets_pass_worker *worker,
                               const pc_rows *rows, size_t begin, size_t count) {
  const size_t k = rows->classes;
  const double *weights = rows->weights == NULL ? NULL : rows->weights + begin;
  double *gaps = worker->parts, own[ETS_PASS_ROWS];
  ets_pass_moments plain;
  for (size_t i = 0; i < count; i++) {
    const double *scores = rows->scores + (begin + i) * k, max = ets_pass_max(scores, k);
    for (size_t c = 0; c < k; c++)
      gaps[c * count + i] = scores[c] - max;
    own[i] = ets_pass_own_gap(scores[rows->labels[begin + i]], max);
    if (!(isinf(own[i]) && state->alone))
      pc_sum_add(&worker->weight, weights == NULL ? 1.0 : weights[i]);
  }
  ets_pass_compute(gaps, k, count, 1.0, &plain);
  for (size_t t = 0; t < state->count; t++)
    ets_pass_add_trial(state, worker, t, own, weights, k, count, &plain);
}

/* ---- All rows ---- */

static pcal_status ets_pass_add(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  const ets_pass_state *state = user;
  ets_pass_worker *worker = &state->workers[w];
  const size_t numbers = state->brier ? 5 : ETS_PASS_ROWS, k = rows->classes;
  if (worker->parts == NULL)
    worker->parts = pc_alloc(state->task->env, k, numbers * sizeof(double));
  if (worker->parts == NULL)
    return pc_fail_memory(err, "preparing workers");
  for (size_t i = 0; i < rows->count && state->brier; i++)
    ets_pass_add_brier(state, worker, rows->scores + i * k, k, (size_t)rows->labels[i],
                       rows->weights == NULL ? 1.0 : rows->weights[i]);
  for (size_t i = 0; i < rows->count && !state->brier; i += ETS_PASS_ROWS) {
    const size_t left = rows->count - i;
    ets_pass_add_block(state, worker, rows, i, left < ETS_PASS_ROWS ? left : ETS_PASS_ROWS);
  }
  return PCAL_OK;
}

static pcal_status ets_pass_list(void *user, size_t w, pc_fit_fields *fields, pcal_error *err) {
  const ets_pass_state *state = user;
  ets_pass_worker *worker = &state->workers[w];
  PC_TRY(pc_fit_field_sums(fields, &worker->weight, 1, err));
  PC_TRY(pc_fit_field_counts(fields, worker->impossible, state->count, err));
  return pc_fit_field_sums(fields, worker->sums[0], state->count * ETS_PASS_SUMS, err);
}

static void ets_pass_collect(const ets_pass_state *state, size_t workers, pc_ets_values *out) {
  ets_pass_worker *first = &state->workers[0];
  for (size_t w = 1; w < workers; w++) {
    const ets_pass_worker *other = &state->workers[w];
    pc_sum_merge(&first->weight, &other->weight);
    for (size_t t = 0; t < state->count; t++) {
      first->impossible[t] += other->impossible[t];
      for (size_t i = 0; i < ETS_PASS_SUMS; i++)
        pc_sum_merge(&first->sums[t][i], &other->sums[t][i]);
    }
  }
  const double weight = pc_sum_value(&first->weight), total = weight > 0.0 ? weight : 1.0;
  for (size_t t = 0; t < state->count; t++) {
    const pc_sum *sum = first->sums[t];
    out[t].value = pc_sum_value(sum++) / total;
    if (first->impossible[t] > 0)
      out[t].value = INFINITY;
    for (size_t i = 0; i < PC_ETS_TERMS; i++)
      out[t].gradient[i] = pc_sum_value(sum++) / total;
    for (size_t i = 0; i < PC_ETS_TERMS; i++)
      for (size_t j = i; j < PC_ETS_TERMS; j++)
        out[t].hessian[i * PC_ETS_TERMS + j] = out[t].hessian[j * PC_ETS_TERMS + i] =
            pc_sum_value(sum++) / total;
  }
}

pcal_status pc_ets_pass(const pc_fit_task *task, int brier, int alone,
                        const pc_ets_trial *trials, size_t count, pc_ets_values *out,
                        pcal_error *err) {
  const size_t workers = pc_worker_count(task->env);
  const pc_row_policy policy = {.scores = PC_SCORES_ONLY, .probs = PC_PROBS_LEAN};
  ets_pass_state state = {task, brier, alone, trials, count, NULL};
  state.workers = pc_alloc(task->env, workers, sizeof *state.workers);
  if (state.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(pc_fit_pass(task, &policy, ets_pass_add, ets_pass_list, &state, err));
  ets_pass_collect(&state, workers, out);
  for (size_t w = 0; w < workers; w++)
    pc_free(task->env, state.workers[w].parts);
  pc_free(task->env, state.workers);
  return PCAL_OK;
}
