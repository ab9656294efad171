/* Objective: mean of -log q_y over all rows, and l2 times the sum of squared weights (offsets
 * are free); minimised by L-BFGS from parameters that leave rows alone.
 *
 * Order: rows are kept, sorted by label and features, and equal ones joined, and sums run over
 * a number of parts of them that the number of parameters decides: neither the order of rows
 * nor threads show.
 *
 * Edge cases: (1) no parameters are better than leaving rows alone: status identity; (2) the
 * search ends after NET_FIT_EVALUATIONS passes at the latest: status stopped; (3) fewer rows
 * than parameters are refused; (4) a label of probability 0 counts by its feature (features.c).
 *
 * Cost: passes of four operations for each weight and row; memory for all rows. */
#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "calibrators/fit_pass.h"
#include "calibrators/networks/network_model.h"
#include "kernels/softmax.h"
#include "optim/lbfgs.h"

#define NET_FIT_EVALUATIONS 500
#define NET_FIT_AIM 1e-6
#define NET_FIT_ENOUGH 1e-4
#define NET_FIT_PARTS 16
#define NET_FIT_PART_NUMBERS ((size_t)1 << 22) /* of all parts' gradients */

/* A row: weight, label, then features. */
typedef struct net_fit_rows {
  double *rows;
  size_t count, capacity;
  uint64_t impossible; /* rows whose label has probability 0 */
} net_fit_rows;

typedef struct net_fit {
  const pc_fit_task *task;
  const pc_network_model *net;
  net_fit_rows *workers;
  size_t worker_count;
  double *rows; /* sorted */
  size_t count, width;
  uint64_t impossible;
  double weight, l2, before;
  size_t parts;
  const double *at;
  double *values, *gradients; /* of each part */
  double **rooms;             /* of each worker */
} net_fit;

/* ---- Rows ---- */

static pcal_status net_fit_add(void *user, size_t w, const pc_rows *from, pcal_error *err) {
  const net_fit *fit = user;
  net_fit_rows *worker = &fit->workers[w];
  void *block = worker->rows;
  const pcal_status status =
      pc_reserve(fit->task->env, &block, &worker->capacity,
                 (worker->count + from->count) * fit->width, sizeof(double), err);
  worker->rows = block;
  PC_TRY(status);
  for (size_t i = 0; i < from->count; i++) {
    double *row = worker->rows + worker->count++ * fit->width;
    row[0] = from->weights == NULL ? 1.0 : from->weights[i];
    row[1] = (double)from->labels[i];
    worker->impossible += isinf(from->log_true[i]) != 0;
    pc_feature_row(fit->net->feature, &fit->task->calibrator->layout,
                   from->scores + i * from->classes, row + 2);
  }
  return PCAL_OK;
}

static int net_fit_compare(const double *a, const double *b, size_t width) {
  for (size_t j = 1; j < width; j++)
    if (a[j] != b[j])
      return a[j] < b[j] ? -1 : 1;
  return 0;
}

/* The same, and by weight at last, so that weights are always added in one order. */
static int net_fit_before(const double *a, const double *b, size_t width) {
  const int order = net_fit_compare(a, b, width);
  return order < 0 || (order == 0 && a[0] < b[0]);
}

/* Merge sort of pointers to rows; `spare` has room for as many. */
static void net_fit_sort(const double **rows, const double **spare, size_t count,
                         size_t width) {
  if (count < 2)
    return;
  const size_t half = count / 2;
  net_fit_sort(rows, spare, half, width);
  net_fit_sort(rows + half, spare, count - half, width);
  memcpy(spare, rows, half * sizeof *rows);
  for (size_t i = 0, j = half, to = 0; i < half; to++)
    rows[to] = j < count && net_fit_before(rows[j], spare[i], width) ? rows[j++] : spare[i++];
}

/* Rows of all workers in order, equal ones as one. */
static void net_fit_join(net_fit *fit, const double **sorted, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double *next = fit->rows + fit->count * fit->width;
    if (fit->count > 0 && net_fit_compare(next - fit->width, sorted[i], fit->width) == 0) {
      *(next - fit->width) += sorted[i][0];
      continue;
    }
    memcpy(next, sorted[i], fit->width * sizeof(double));
    fit->count++;
  }
}

static pcal_status net_fit_arrange(net_fit *fit, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  size_t count = 0, at = 0;
  for (size_t w = 0; w < fit->worker_count; w++)
    count += fit->workers[w].count;
  const double **sorted = pc_alloc_raw(env, count, 2 * sizeof *sorted);
  fit->rows = pc_alloc_raw(env, count * fit->width, sizeof *fit->rows);
  if (sorted == NULL || fit->rows == NULL) {
    pc_free(env, sorted);
    return pc_fail_memory(err, "keeping rows");
  }
  for (size_t w = 0; w < fit->worker_count; w++)
    for (size_t i = 0; i < fit->workers[w].count; i++)
      sorted[at++] = fit->workers[w].rows + i * fit->width;
  net_fit_sort(sorted, sorted + count, count, fit->width);
  net_fit_join(fit, sorted, count);
  pc_free(env, sorted);
  return PCAL_OK;
}

static pcal_status net_fit_gather(net_fit *fit, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const pc_row_policy policy = {.scores = PC_SCORES_FILLED, .need_log = 1};
  fit->workers = pc_alloc(env, fit->worker_count, sizeof *fit->workers);
  if (fit->workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  pcal_status status = pc_fit_pass(fit->task, &policy, net_fit_add, fit, err);
  if (status == PCAL_OK)
    status = net_fit_arrange(fit, err);
  for (size_t w = 0; w < fit->worker_count; w++) {
    fit->impossible += fit->workers[w].impossible;
    pc_free(env, fit->workers[w].rows);
  }
  pc_free(env, fit->workers);
  return status;
}

/* Range and size of the features, from the sorted rows. */
static void net_fit_look(net_fit *fit, pc_network_model *net) {
  double squares = 0.0;
  net->low = INFINITY;
  net->high = -INFINITY;
  for (size_t i = 0; i < fit->count; i++) {
    const double *row = fit->rows + i * fit->width;
    fit->weight += row[0];
    for (size_t c = 0; c < net->classes; c++) {
      net->low = fmin(net->low, row[2 + c]);
      net->high = fmax(net->high, row[2 + c]);
      squares += row[0] * row[2 + c] * row[2 + c] / (double)net->classes;
    }
  }
  net->scale = squares > 0.0 ? sqrt(squares / fit->weight) : 1.0;
}

/* ---- The objective ---- */

/* -log q_y of a row of scores, which become slopes of that times the weight. */
static double net_fit_score(double *scores, size_t classes, size_t label, double weight) {
  const double own = scores[label];
  const double norm = pc_softmax_row(scores, classes, scores);
  for (size_t c = 0; c < classes; c++)
    scores[c] *= weight;
  scores[label] -= weight;
  return norm - own;
}

static void net_fit_block(const net_fit *fit, size_t begin, size_t count, double *room,
                          double *value, double *gradient) {
  const pc_network_model *net = fit->net;
  const size_t k = net->classes;
  double *x = room, *scores = x + PC_NETWORK_ROWS * k, *rest = scores + PC_NETWORK_ROWS * k;
  for (size_t i = 0; i < count; i++)
    memcpy(x + i * k, fit->rows + (begin + i) * fit->width + 2, k * sizeof *x);
  net->kind->map(net, fit->at, x, count, rest, scores);
  for (size_t i = 0; i < count; i++) {
    const double *row = fit->rows + (begin + i) * fit->width;
    const double weight = row[0] / fit->weight;
    *value += weight * net_fit_score(scores + i * k, k, (size_t)row[1], weight);
  }
  net->kind->slope(net, fit->at, x, count, scores, rest, gradient);
}

static pcal_status net_fit_part(void *user, size_t part, size_t worker, pcal_error *err) {
  net_fit *fit = user;
  const size_t begin = fit->count * part / fit->parts,
               end = fit->count * (part + 1) / fit->parts;
  double *gradient = fit->gradients + part * fit->net->count;
  if (fit->rooms[worker] == NULL)
    fit->rooms[worker] = pc_alloc_raw(fit->task->env,
                                      2 * PC_NETWORK_ROWS * fit->net->classes +
                                          fit->net->kind->room(fit->net, PC_NETWORK_ROWS),
                                      sizeof(double));
  if (fit->rooms[worker] == NULL)
    return pc_fail_memory(err, "training a network");
  memset(gradient, 0, fit->net->count * sizeof *gradient);
  fit->values[part] = 0.0;
  for (size_t i = begin; i < end; i += PC_NETWORK_ROWS)
    net_fit_block(fit, i, end - i < PC_NETWORK_ROWS ? end - i : PC_NETWORK_ROWS,
                  fit->rooms[worker], &fit->values[part], gradient);
  return PCAL_OK;
}

/* Squares of weights, not of offsets. */
static double net_fit_penalty(const net_fit *fit, double *gradient) {
  const pc_dense_net *dense = &fit->net->dense;
  double sum = 0.0;
  size_t at = 0;
  for (size_t l = 0; l < dense->layers; l++) {
    const size_t weights = dense->sizes[l] * dense->sizes[l + 1];
    for (size_t i = at; i < at + weights; i++) {
      sum += fit->at[i] * fit->at[i];
      gradient[i] += 2.0 * fit->l2 * fit->at[i];
    }
    at += weights + dense->sizes[l + 1];
  }
  return fit->l2 * sum;
}

/* Value and gradient at fit->at; *loss: without the penalty. */
static pcal_status net_fit_evaluate(net_fit *fit, double *gradient, double *loss, double *value,
                                    pcal_error *err) {
  const size_t n = fit->net->count;
  PC_TRY(pc_run(fit->task->env, fit->parts, 6.0 * (double)fit->count * (double)n, net_fit_part,
                fit, err));
  *loss = 0.0;
  memset(gradient, 0, n * sizeof *gradient);
  for (size_t p = 0; p < fit->parts; p++) {
    *loss += fit->values[p];
    for (size_t i = 0; i < n; i++)
      gradient[i] += fit->gradients[p * n + i];
  }
  *value = *loss + net_fit_penalty(fit, gradient);
  return pc_check_interrupt(fit->task->env, err);
}

/* ---- The search ---- */

static pcal_status net_fit_run(net_fit *fit, pc_network_model *net, pc_lbfgs *search,
                               double *gradient, double *after, pcal_error *err) {
  double best = INFINITY;
  while (search->end == PC_OPTIM_RUNNING) {
    double loss, value;
    fit->at = search->at;
    PC_TRY(net_fit_evaluate(fit, gradient, &loss, &value, err));
    if (search->evaluations == 0)
      fit->before = fit->impossible > 0 ? (double)INFINITY : loss;
    if (value < best) {
      best = value;
      *after = loss;
    }
    pc_lbfgs_update(search, value, gradient);
    pc_progress(fit->task->env, "training", search->evaluations, NET_FIT_EVALUATIONS);
  }
  memcpy(net->parameters, search->best, net->count * sizeof *net->parameters);
  return PCAL_OK;
}

static void net_fit_note(const net_fit *fit, pc_network_model *net, const pc_lbfgs *search,
                         double after) {
  pc_fit_info *info = &fit->task->calibrator->fit;
  info->searched = 1;
  info->before = fit->before;
  info->after = after;
  info->iterations = search->evaluations + 1;
  info->gradient = search->gradient;
  info->status = search->end == PC_OPTIM_STUCK && search->gradient > NET_FIT_ENOUGH
                     ? PC_FIT_STOPPED
                     : PC_FIT_CONVERGED;
  if (after < fit->before)
    return;
  net->plain = 1;
  info->after = fit->before;
  info->status = PC_FIT_IDENTITY;
}

static pcal_status net_fit_learn(net_fit *fit, pc_network_model *net, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const pc_optim_limits limits = {NET_FIT_AIM, NET_FIT_ENOUGH, NET_FIT_EVALUATIONS, 1e-9};
  pc_lbfgs search = {0};
  double after = INFINITY;
  const size_t parts = NET_FIT_PART_NUMBERS / net->count;
  fit->parts = parts < 1 ? 1 : parts > NET_FIT_PARTS ? NET_FIT_PARTS : parts;
  fit->gradients = pc_alloc_raw(env, (fit->parts + 1) * net->count, sizeof *fit->gradients);
  fit->values = pc_alloc_raw(env, fit->parts, sizeof *fit->values);
  fit->rooms = pc_alloc(env, fit->worker_count, sizeof *fit->rooms);
  if (fit->gradients == NULL || fit->values == NULL || fit->rooms == NULL)
    return pc_fail_memory(err, "training a network");
  net->kind->start(net, env->seed, net->parameters);
  PC_TRY(pc_lbfgs_new(env, net->count, net->parameters, &limits, &search, err));
  const pcal_status status =
      net_fit_run(fit, net, &search, fit->gradients + fit->parts * net->count, &after, err);
  if (status == PCAL_OK)
    net_fit_note(fit, net, &search, after);
  pc_lbfgs_free(&search);
  return status;
}

pcal_status pc_network_train(const pc_fit_task *task, const pc_network_kind *kind,
                             pc_feature feature, double l2, pcal_error *err) {
  const pcal_env *env = task->env;
  pc_network_model *net = NULL;
  PC_TRY(pc_network_model_new(task->calibrator, kind, feature, &net, err));
  net_fit fit = {.task = task,
                 .net = net,
                 .worker_count = pc_worker_count(env),
                 .width = net->classes + 2,
                 .l2 = l2};
  pcal_status status = net_fit_gather(&fit, err);
  if (status == PCAL_OK)
    status = pc_fit_check_rows(task, net->count, "temperature", err);
  if (status == PCAL_OK) {
    net_fit_look(&fit, net);
    status = net_fit_learn(&fit, net, err);
  }
  for (size_t w = 0; fit.rooms != NULL && w < fit.worker_count; w++)
    pc_free(env, fit.rooms[w]);
  pc_free(env, fit.rooms);
  pc_free(env, fit.values);
  pc_free(env, fit.gradients);
  pc_free(env, fit.rows);
  return status;
}
