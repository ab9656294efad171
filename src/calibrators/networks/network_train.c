/* Objective: mean of -log q_y over all rows plus l2 times the sum of squared weights (offsets
 *            are not penalised), minimised by L-BFGS from parameters that leave probabilities
 *            unchanged.
 * Converged: the gradient is at most NETWORK_TRAIN_AIM, or the last NETWORK_TRAIN_WINDOW steps
 *            together lowered the objective by at most NETWORK_TRAIN_GAIN of it.  Networks have
 *            flat valleys; with a gain of 1e-4 what docs/studies.md says of methods changes,
 *            with 3e-5 it is as with 1e-5, ranks of single sets aside.
 * Order:     rows are kept, sorted by label and features, and equal ones joined; sums run over
 *            a number of parts that depends only on the number of parameters.  So neither the
 *            order of rows nor threads change the result.
 * Edge cases:
 *   1. No parameters beat leaving probabilities unchanged: status identity.
 *   2. The search ends after NETWORK_TRAIN_EVALUATIONS passes: status stopped.
 *   3. Fewer rows than parameters are refused.
 *   4. A label of probability 0 counts by its clipped feature (features.c).
 * Cost:      passes of four operations for each weight and row; memory for all rows. */
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/executor.h"
#include "calibrators/fit_pass.h"
#include "calibrators/networks/network_model.h"
#include "kernels/dispatch.h"
#include "optim/lbfgs.h"

#define NETWORK_TRAIN_EVALUATIONS 500
#define NETWORK_TRAIN_AIM 1e-6
#define NETWORK_TRAIN_ENOUGH 1e-4
#define NETWORK_TRAIN_WINDOW 10 /* steps */
#define NETWORK_TRAIN_GAIN 3e-5 /* of the objective */
#define NETWORK_TRAIN_PARTS 16
#define NETWORK_TRAIN_PREPARED ((size_t)1 << 24) /* most prepared numbers that are kept */
#define NETWORK_TRAIN_PART_NUMBERS \
  ((size_t)1 << 22) /* most numbers of the gradients of all parts */

/* Rows of a worker; each is weight, label, features. */
typedef struct network_train_rows {
  double *rows;
  size_t count, capacity;
  uint64_t impossible; /* rows whose label has probability 0 */
} network_train_rows;

typedef struct network_train {
  const pc_fit_task *task;
  const pc_network_model *net;
  network_train_rows *workers;
  size_t worker_count;
  double *rows;        /* all, sorted, equal ones joined */
  size_t count, width; /* width: numbers of a row */
  uint64_t impossible;
  double weight, l2, before;
  size_t parts;
  const double *at;           /* parameters under evaluation */
  double *values, *gradients; /* of each part */
  double *shares;             /* weight of each row, of 1; 0 after the last row */
  uint32_t *places;           /* of the label of each row among its scores; 0 after the last */
  double *prepared;           /* of all blocks of rows; NULL: not kept */
  double **scratch;           /* of each worker */
} network_train;

/* ---- Rows ---- */

static pcal_status network_train_add(void *user, size_t w, const pc_rows *from,
                                     pcal_error *err) {
  const network_train *fit = user;
  network_train_rows *worker = &fit->workers[w];
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

/* Orders rows by label and features. */
static int network_train_compare(const double *a, const double *b, size_t width) {
  for (size_t j = 1; j < width; j++)
    if (a[j] != b[j])
      return a[j] < b[j] ? -1 : 1;
  return 0;
}

/* The same, then by weight, so that weights are added in one order. */
static int network_train_before(const double *a, const double *b, size_t width) {
  const int order = network_train_compare(a, b, width);
  return order < 0 || (order == 0 && a[0] < b[0]);
}

typedef const double *network_train_row;

#define PC_SORT_NAME network_train_sort
#define PC_SORT_TYPE network_train_row
#define PC_SORT_CONTEXT size_t
#define PC_SORT_IN_ORDER(width, a, b) (!network_train_before(*(b), *(a), width))
#include "base/stable_sort.h"

/* Copies the sorted rows, joining equal ones. */
static void network_train_join(network_train *fit, const double **sorted, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double *next = fit->rows + fit->count * fit->width;
    if (fit->count > 0 &&
        network_train_compare(next - fit->width, sorted[i], fit->width) == 0) {
      *(next - fit->width) += sorted[i][0];
      continue;
    }
    memcpy(next, sorted[i], fit->width * sizeof(double));
    fit->count++;
  }
}

static pcal_status network_train_arrange(network_train *fit, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  size_t count = 0, at = 0;
  for (size_t w = 0; w < fit->worker_count; w++)
    count += fit->workers[w].count;
  const double **sorted = pc_alloc_raw(env, count, 2 * sizeof *sorted);
  fit->rows = pc_alloc_raw(env, count * fit->width, sizeof *fit->rows);
  if (sorted == NULL || fit->rows == NULL)
    return pc_fail_memory(err, "keeping rows");
  for (size_t w = 0; w < fit->worker_count; w++)
    for (size_t i = 0; i < fit->workers[w].count; i++)
      sorted[at++] = fit->workers[w].rows + i * fit->width;
  network_train_sort(fit->width, sorted, sorted + count, count);
  network_train_join(fit, sorted, count);
  pc_free(env, sorted);
  return PCAL_OK;
}

/* Reads and sorts all rows. */
static pcal_status network_train_gather(network_train *fit, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const pc_row_policy policy = {.scores = PC_SCORES_FILLED, .need_log = 1};
  fit->workers = pc_alloc(env, fit->worker_count, sizeof *fit->workers);
  if (fit->workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(pc_fit_pass(fit->task, &policy, network_train_add, NULL, fit, err));
  PC_TRY(network_train_arrange(fit, err));
  for (size_t w = 0; w < fit->worker_count; w++) {
    fit->impossible += fit->workers[w].impossible;
    pc_free(env, fit->workers[w].rows);
  }
  return PCAL_OK;
}

/* Sets range and scale of the features from the sorted rows. */
static void network_train_set_scale(network_train *fit, pc_network_model *net) {
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

/* Numbers of a worker: for one block of rows, and the gradient of its part in lanes. */
typedef struct network_train_space {
  double *x, *scores, *prepared, *losses, *lanes, *rest;
} network_train_space;

static size_t network_train_space_size(const pc_network_model *net) {
  return PC_NETWORK_ROWS * (2 * net->classes + net->kind->prepared_size(net) + 1) +
         PC_NETWORK_LANES * net->count + net->kind->scratch_size(net, PC_NETWORK_ROWS);
}

static network_train_space network_train_split(const network_train *fit, size_t worker) {
  const pc_network_model *net = fit->net;
  double *x = fit->scratch[worker], *scores = x + PC_NETWORK_ROWS * net->classes,
         *prepared = scores + PC_NETWORK_ROWS * net->classes,
         *losses = prepared + PC_NETWORK_ROWS * net->kind->prepared_size(net),
         *lanes = losses + PC_NETWORK_ROWS;
  return (network_train_space){x,      scores, prepared,
                               losses, lanes,  lanes + PC_NETWORK_LANES * net->count};
}

/* Allocates numbers that begin where vectors do: loads across two cache lines take twice as long.
 * They are freed with the environment of the fit. */
static double *network_train_alloc(const pcal_env *env, size_t count) {
  const size_t vector = PC_NETWORK_LANES * sizeof(double);
  double *numbers = pc_alloc_raw(env, count + PC_NETWORK_LANES, sizeof *numbers);
  const size_t over = (size_t)((uintptr_t)numbers % vector) / sizeof *numbers;
  return numbers == NULL || over == 0 ? numbers : numbers + (PC_NETWORK_LANES - over);
}

static pcal_status network_train_scratch(network_train *fit, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const size_t size = network_train_space_size(fit->net);
  fit->scratch = pc_alloc(env, fit->worker_count, sizeof *fit->scratch);
  if (fit->scratch == NULL)
    return pc_fail_memory(err, "training a network");
  for (size_t w = 0; w < fit->worker_count; w++) {
    fit->scratch[w] = network_train_alloc(env, size);
    if (fit->scratch[w] == NULL)
      return pc_fail_memory(err, "training a network");
  }
  return PCAL_OK;
}

/* The first row of a part.  Only the last block of all has rows that are not whole vectors. */
static size_t network_train_begin(const network_train *fit, size_t part) {
  const size_t even = fit->count * part / fit->parts;
  return part == fit->parts ? fit->count : even / PC_NETWORK_LANES * PC_NETWORK_LANES;
}

/* The number of rows of the block of a part that begins at row i. */
static size_t network_train_block_rows(const network_train *fit, size_t part, size_t i) {
  const size_t left = network_train_begin(fit, part + 1) - i;
  return left < PC_NETWORK_ROWS ? left : PC_NETWORK_ROWS;
}

/* The rows of a block, prepared into `out`. */
static pc_network_rows network_train_prepare_rows(const network_train *fit, size_t begin,
                                                  size_t count, double *x, double *out) {
  const size_t k = fit->net->classes;
  for (size_t i = 0; i < count; i++)
    memcpy(x + i * k, fit->rows + (begin + i) * fit->width + 2, k * sizeof *x);
  fit->net->kind->prepare(fit->net, x, count, out);
  return (pc_network_rows){out, pc_network_stride(count)};
}

/* Adds the objective of rows begin .. begin + count - 1, and its gradient to the lanes. */
static void network_train_block(const network_train *fit, size_t begin, size_t count,
                                const network_train_space *space, double *value) {
  const pc_network_model *net = fit->net;
  const double *kept = fit->prepared;
  const size_t stride = pc_network_stride(count);
  const pc_network_rows rows =
      kept == NULL ? network_train_prepare_rows(fit, begin, count, space->x, space->prepared)
                   : (pc_network_rows){kept + begin * net->kind->prepared_size(net), stride};
  net->kind->map(net, fit->at, &rows, space->rest, space->scores);
  pc_kernels_best()->network->softmax(space->scores, net->classes, stride, fit->places + begin,
                                      fit->shares + begin, space->losses);
  for (size_t i = 0; i < count; i++)
    *value += fit->shares[begin + i] * space->losses[i];
  net->kind->backward(net, fit->at, &rows, space->scores, space->rest, space->lanes);
}

static pcal_status network_train_part(void *user, size_t part, size_t worker, pcal_error *err) {
  network_train *fit = user;
  const network_train_space space = network_train_split(fit, worker);
  const size_t n = fit->net->count, end = network_train_begin(fit, part + 1);
  (void)err;
  memset(space.lanes, 0, PC_NETWORK_LANES * n * sizeof *space.lanes);
  fit->values[part] = 0.0;
  for (size_t i = network_train_begin(fit, part); i < end; i += PC_NETWORK_ROWS)
    network_train_block(fit, i, network_train_block_rows(fit, part, i), &space,
                        &fit->values[part]);
  for (size_t i = 0; i < n; i++)
    fit->gradients[part * n + i] = pc_network_fold(space.lanes + i * PC_NETWORK_LANES);
  return PCAL_OK;
}

/* ---- What depends on the features alone ---- */

/* Sets the place of the label of each row of a block. */
static void network_train_place(const network_train *fit, size_t begin, size_t count,
                                const pc_network_rows *rows) {
  const pc_network_kind *kind = fit->net->kind;
  const size_t k = fit->net->classes;
  const uint32_t *order = kind->order == NULL ? NULL : kind->order(fit->net, rows);
  for (size_t i = 0; i < count; i++) {
    const double *row = fit->rows + (begin + i) * fit->width;
    const uint32_t label = (uint32_t)row[1];
    uint32_t place = order == NULL ? label : 0;
    while (order != NULL && order[i * k + place] != label)
      place++;
    fit->places[begin + i] = place;
    fit->shares[begin + i] = row[0] / fit->weight;
  }
}

static pcal_status network_train_prepare_part(void *user, size_t part, size_t worker,
                                              pcal_error *err) {
  network_train *fit = user;
  const network_train_space space = network_train_split(fit, worker);
  const size_t size = fit->net->kind->prepared_size(fit->net);
  const size_t end = network_train_begin(fit, part + 1);
  (void)err;
  for (size_t i = network_train_begin(fit, part); i < end; i += PC_NETWORK_ROWS) {
    const size_t count = network_train_block_rows(fit, part, i);
    double *to = fit->prepared == NULL ? space.prepared : fit->prepared + i * size;
    const pc_network_rows rows = network_train_prepare_rows(fit, i, count, space.x, to);
    network_train_place(fit, i, count, &rows);
  }
  return PCAL_OK;
}

/* Computes what depends on features alone once for all evaluations, if there is memory for it;
 * else each evaluation computes it again, with the same bits. */
static pcal_status network_train_prepare(network_train *fit, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const size_t size = fit->net->kind->prepared_size(fit->net),
               stride = pc_network_stride(fit->count);
  fit->places = pc_alloc(env, stride, sizeof *fit->places);
  fit->shares = pc_alloc(env, stride, sizeof *fit->shares);
  if (fit->places == NULL || fit->shares == NULL)
    return pc_fail_memory(err, "training a network");
  if (stride <= NETWORK_TRAIN_PREPARED / size &&
      stride * size * sizeof *fit->prepared <= pc_budget_left(env)) {
    fit->prepared = network_train_alloc(env, stride * size);
    if (fit->prepared == NULL)
      return pc_fail_memory(err, "training a network");
  }
  return pc_run(env, fit->parts, 10.0 * (double)(fit->count * size), network_train_prepare_part,
                fit, err);
}

/* ---- The search ---- */

/* The penalty; adds its gradient. */
static double network_train_penalty(const network_train *fit, double *gradient) {
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

/* Objective and gradient at fit->at; *loss is the objective without the penalty. */
static pcal_status network_train_evaluate(network_train *fit, double *gradient, double *loss,
                                          double *value, pcal_error *err) {
  const size_t n = fit->net->count;
  PC_TRY(pc_run(fit->task->env, fit->parts, 6.0 * (double)fit->count * (double)n,
                network_train_part, fit, err));
  *loss = 0.0;
  memset(gradient, 0, n * sizeof *gradient);
  for (size_t p = 0; p < fit->parts; p++) {
    *loss += fit->values[p];
    for (size_t i = 0; i < n; i++)
      gradient[i] += fit->gradients[p * n + i];
  }
  *value = *loss + network_train_penalty(fit, gradient);
  return pc_check_interrupt(fit->task->env, err);
}

/* The objective after each of the last NETWORK_TRAIN_WINDOW steps, in a ring. */
typedef struct network_train_progress {
  double values[NETWORK_TRAIN_WINDOW];
  size_t steps;
} network_train_progress;

/* True if the last NETWORK_TRAIN_WINDOW steps lowered the objective by little. */
static int network_train_is_flat(network_train_progress *progress, const pc_lbfgs *search) {
  if (search->steps == progress->steps)
    return 0;
  progress->steps = search->steps;
  double *oldest = &progress->values[search->steps % NETWORK_TRAIN_WINDOW];
  const int flat = search->steps > NETWORK_TRAIN_WINDOW &&
                   *oldest - search->value <= NETWORK_TRAIN_GAIN * search->value;
  *oldest = search->value;
  return flat;
}

static pcal_status network_train_run(network_train *fit, pc_network_model *net,
                                     pc_lbfgs *search, double *gradient, double *after,
                                     pcal_error *err) {
  network_train_progress progress = {.steps = 0};
  while (search->end == PC_OPTIM_RUNNING) {
    double loss, value;
    fit->at = search->at;
    PC_TRY(network_train_evaluate(fit, gradient, &loss, &value, err));
    if (search->evaluations == 0)
      fit->before = fit->impossible > 0 ? (double)INFINITY : loss;
    const unsigned steps = search->steps;
    const int known = search->known;
    pc_lbfgs_update(search, value, gradient);
    if (!known || search->steps > steps) /* accepted: search->best is where the loss is */
      *after = loss;
    if (search->end == PC_OPTIM_RUNNING && network_train_is_flat(&progress, search))
      search->end = PC_OPTIM_CONVERGED;
    pc_progress(fit->task->env, "training", search->evaluations, NETWORK_TRAIN_EVALUATIONS);
  }
  memcpy(net->parameters, search->best, net->count * sizeof *net->parameters);
  return PCAL_OK;
}

static void network_train_record_fit(const network_train *fit, pc_network_model *net,
                                     const pc_lbfgs *search, double after) {
  pc_fit_info *info = &fit->task->calibrator->fit;
  info->searched = 1;
  info->before = fit->before;
  info->after = after;
  info->iterations = search->evaluations + 1;
  info->gradient = search->gradient;
  info->status = search->end == PC_OPTIM_STUCK && search->gradient > NETWORK_TRAIN_ENOUGH
                     ? PC_FIT_STOPPED
                     : PC_FIT_CONVERGED;
  if (after < fit->before)
    return;
  net->identity = 1;
  info->after = fit->before;
  info->status = PC_FIT_IDENTITY;
}

static pcal_status network_train_learn(network_train *fit, pc_network_model *net,
                                       pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const pc_optim_limits limits = {NETWORK_TRAIN_AIM, NETWORK_TRAIN_ENOUGH,
                                  NETWORK_TRAIN_EVALUATIONS, 1e-9};
  pc_lbfgs search = {0};
  double after = INFINITY;
  const size_t parts = NETWORK_TRAIN_PART_NUMBERS / net->count;
  fit->parts = parts < 1 ? 1 : parts > NETWORK_TRAIN_PARTS ? NETWORK_TRAIN_PARTS : parts;
  fit->gradients = pc_alloc_raw(env, (fit->parts + 1) * net->count, sizeof *fit->gradients);
  fit->values = pc_alloc_raw(env, fit->parts, sizeof *fit->values);
  if (fit->gradients == NULL || fit->values == NULL)
    return pc_fail_memory(err, "training a network");
  PC_TRY(network_train_scratch(fit, err));
  net->kind->start(net, env->seed, net->parameters);
  PC_TRY(pc_lbfgs_new(env, net->count, net->parameters, &limits, &search, err));
  PC_TRY(network_train_prepare(fit, err)); /* last: it may do with less memory */
  PC_TRY(network_train_run(fit, net, &search, fit->gradients + fit->parts * net->count, &after,
                           err));
  network_train_record_fit(fit, net, &search, after);
  return PCAL_OK;
}

pcal_status pc_network_train(const pc_fit_task *task, const pc_network_kind *kind,
                             pc_feature feature, double l2, pcal_error *err) {
  const pcal_env *env = task->env;
  pc_network_model *net = NULL;
  PC_TRY(pc_network_model_new(task->calibrator, kind, feature, &net, err));
  network_train fit = {.task = task,
                       .net = net,
                       .worker_count = pc_worker_count(env),
                       .width = net->classes + 2,
                       .l2 = l2};
  PC_TRY(network_train_gather(&fit, err));
  PC_TRY(pc_fit_check_rows(task, net->count, "temperature", err));
  network_train_set_scale(&fit, net);
  return network_train_learn(&fit, net, err);
}
