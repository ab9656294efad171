/* Formula, p = softmax(W x + b), r = p - e_y, x with a 1 behind it:
 *   gradient by w[j][k] = mean x_j r_k;
 *   Hessian by w[i][k], w[j][l] = mean x_i x_j (p_k [k = l] - p_k p_l).
 * The mean loss is an exact sum of rounded losses of rows; the other sums are on a lattice
 * (stats/lattice_sums.h), for which features are scaled to absolute values of at most 1. */
#include "calibrators/linear/linear_pass.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "kernels/column_sum.h"
#include "kernels/dispatch.h"

#define LINEAR_PASS_BLOCK PC_LINEAR_BLOCK
#define LINEAR_PASS_LINE 8    /* numbers of a cache line: loads across two take twice as long */
#define LINEAR_PASS_BATCH 128 /* rows whose second derivatives are added together */

/* Rows that wait for the sums of second derivatives. */
typedef struct linear_pass_batch {
  size_t count;
  double *shrunk, *p; /* as in a worker */
  double *scaled;     /* scratch of pc_linear_kernels.upper */
  double weights[LINEAR_PASS_BATCH];
  int plain; /* all weights are 1 */
} linear_pass_batch;

struct pc_linear_pass_worker {
  pc_sum loss, weight;
  pc_lattice_sums gradient, hessian;
  double room;        /* weight that the lanes can still take */
  size_t held;        /* rows in the block */
  double held_weight; /* their weight, at most PC_LATTICE_FULL */
  double times;       /* the weight of a heavy row, otherwise 1 */
  double *x, *shrunk; /* features of the block; scaled to at most 1, with the 1 of b */
  double *u, *p, *r;
  linear_pass_batch batch;
  size_t labels[LINEAR_PASS_BLOCK];
  double weights[LINEAR_PASS_BLOCK];
};

/* ---- Space ---- */

static size_t linear_pass_pairs(const pc_linear_pass *pass) {
  return pass->classes * (pass->classes + 1) / 2;
}

/* Number of sums for the Hessian. */
static size_t linear_pass_hessian_cells(const pc_linear_pass *pass) {
  return linear_pass_pairs(pass) * (pass->classes + 1) * pass->inputs;
}

static pcal_status linear_pass_worker_new(const pc_linear_pass *pass,
                                          struct pc_linear_pass_worker *worker,
                                          pcal_error *err) {
  const pcal_env *env = pass->rows->task->env;
  const size_t block = LINEAR_PASS_BLOCK;
  const size_t batch = (pass->want & PC_LINEAR_HESSIAN) != 0 ? LINEAR_PASS_BATCH : 0;
  const size_t cells = block * (2 * pass->inputs + 3 * pass->stride) +
                       batch * (2 * pass->inputs + pass->stride) + PC_LINEAR_LANES;
  worker->x = pc_alloc(env, cells + LINEAR_PASS_LINE, sizeof *worker->x);
  if (worker->x == NULL)
    return pc_fail_memory(err, "preparing workers");
  const size_t over = (size_t)((uintptr_t)worker->x / sizeof *worker->x % LINEAR_PASS_LINE);
  worker->x += (LINEAR_PASS_LINE - over) % LINEAR_PASS_LINE;
  worker->shrunk = worker->x + block * pass->inputs;
  worker->u = worker->shrunk + block * pass->inputs;
  worker->p = worker->u + block * pass->stride;
  worker->r = worker->p + block * pass->stride;
  worker->batch.shrunk = worker->r + block * pass->stride;
  worker->batch.p = worker->batch.shrunk + batch * pass->inputs + PC_LINEAR_LANES;
  worker->batch.scaled = worker->batch.p + batch * pass->stride;
  if ((pass->want & PC_LINEAR_GRADIENT) != 0)
    PC_TRY(
        pc_lattice_sums_new(env, (pass->classes + 1) * pass->stride, &worker->gradient, err));
  return (pass->want & PC_LINEAR_HESSIAN) == 0
             ? PCAL_OK
             : pc_lattice_sums_new(env, linear_pass_hessian_cells(pass), &worker->hessian, err);
}

static pcal_status linear_pass_results_new(pc_linear_pass *pass, pcal_error *err) {
  const pcal_env *env = pass->rows->task->env;
  const size_t k = pass->classes, n = pass->count;
  pass->padded = pc_alloc(env, k + 1, pass->stride * sizeof(double));
  pass->gradient = pc_alloc(env, n, sizeof(double));
  int enough = pass->padded != NULL && pass->gradient != NULL;
  if ((pass->want & PC_LINEAR_HESSIAN) != 0) {
    pass->hessian = pc_alloc(env, n, n * sizeof(double));
    enough &= pass->hessian != NULL;
  }
  return enough ? PCAL_OK : pc_fail_memory(err, "preparing a search");
}

pcal_status pc_linear_pass_new(const pc_fit_rows *rows, unsigned want, int serial,
                               pc_linear_pass *out, pcal_error *err) {
  const size_t k = rows->classes;
  *out = (pc_linear_pass){.rows = rows,
                          .full = 1,
                          .classes = k,
                          .count = k * (k + 1),
                          .stride = pc_linear_stride(k),
                          .inputs = pc_linear_stride(k + 1),
                          .kernels = pc_kernels_best()->linear,
                          .want = want,
                          .worker_count = serial ? 1 : rows->worker_count,
                          .serial = serial};
  out->workers = pc_alloc(rows->task->env, out->worker_count, sizeof *out->workers);
  if (out->workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  for (size_t w = 0; w < out->worker_count; w++)
    PC_TRY(linear_pass_worker_new(out, &out->workers[w], err));
  return linear_pass_results_new(out, err);
}

/* ---- Sums over rows ---- */

/* Scores of the block's rows under the parameters. */
static void linear_pass_map(const pc_linear_pass *pass, struct pc_linear_pass_worker *worker) {
  const size_t s = pass->stride, k = pass->classes;
  const double *w = pass->padded, *b = w + k * s;
  for (size_t i = 0; i < worker->held; i += PC_LINEAR_ROWS)
    pass->kernels->map(w, b, worker->x + i * k, k, s, worker->u + i * s);
}

static void linear_pass_gradient(const pc_linear_pass *pass,
                                 struct pc_linear_pass_worker *worker, const double *weights) {
  for (size_t i = 0; i < worker->held; i += PC_LINEAR_ROWS)
    pass->kernels->outer(worker->gradient.lanes, worker->shrunk + i * pass->inputs,
                         pass->inputs, worker->r + i * pass->stride, pass->classes + 1,
                         pass->stride, weights == NULL ? NULL : weights + i);
}

/* Adds the rows with a factor above pass->least to the block of a pair of classes. */
static void linear_pass_hessian_pair(const pc_linear_pass *pass,
                                     const struct pc_linear_pass_worker *worker, size_t c,
                                     size_t d, double *sums) {
  const linear_pass_batch *batch = &worker->batch;
  const size_t k = pass->classes, m = pass->inputs;
  const double *rows[LINEAR_PASS_BATCH];
  double weights[LINEAR_PASS_BATCH], factors[LINEAR_PASS_BATCH];
  size_t held = 0;
  for (size_t i = 0; i < batch->count; i++) {
    const double *p = batch->p + i * pass->stride;
    const double factor = c == d ? p[c] * (1.0 - p[c]) : -p[c] * p[d];
    rows[held] = batch->shrunk + i * m;
    weights[held] = batch->weights[i];
    factors[held] = factor;
    held += fabs(factor) > pass->least;
  }
  if (held > 0)
    pass->kernels->upper(sums, rows, k + 1, m, factors, held, batch->plain ? NULL : weights,
                         batch->scaled);
}

/* Adds the rows that wait, one block of the Hessian for each pair of classes. */
static void linear_pass_hessian(const pc_linear_pass *pass,
                                struct pc_linear_pass_worker *worker) {
  const size_t k = pass->classes, m = pass->inputs;
  double *sums = worker->hessian.lanes;
  for (size_t c = 0; c < k && worker->batch.count > 0; c++)
    for (size_t d = c; d < k; d++, sums += (k + 1) * m)
      linear_pass_hessian_pair(pass, worker, c, d, sums);
  worker->batch.count = 0;
  worker->batch.plain = 1;
}

/* Lets the rows of the block wait. */
static void linear_pass_delay(const pc_linear_pass *pass, struct pc_linear_pass_worker *worker,
                              int plain) {
  linear_pass_batch *batch = &worker->batch;
  if (batch->count + LINEAR_PASS_BLOCK > LINEAR_PASS_BATCH)
    linear_pass_hessian(pass, worker);
  memcpy(batch->shrunk + batch->count * pass->inputs, worker->shrunk,
         worker->held * pass->inputs * sizeof *worker->shrunk);
  memcpy(batch->p + batch->count * pass->stride, worker->p,
         worker->held * pass->stride * sizeof *worker->p);
  memcpy(batch->weights + batch->count, worker->weights,
         worker->held * sizeof *worker->weights);
  batch->count += worker->held;
  batch->plain &= plain;
}

/* Adds the lanes, times `weight`, to the sums and clears them. */
static void linear_pass_empty(const pc_linear_pass *pass, struct pc_linear_pass_worker *worker,
                              double weight) {
  if ((pass->want & PC_LINEAR_GRADIENT) != 0)
    pc_lattice_sums_empty(&worker->gradient, weight);
  if ((pass->want & PC_LINEAR_HESSIAN) != 0) {
    linear_pass_hessian(pass, worker);
    pc_lattice_sums_empty(&worker->hessian, weight);
  }
  worker->room = PC_LATTICE_FULL;
}

/* Adds the losses of the block; plain: all weights are 1. */
static void linear_pass_losses(struct pc_linear_pass_worker *worker, const double *losses,
                               int plain) {
  const size_t count = worker->held;
  if (plain && worker->times == 1.0) {
    pc_sum_add_column(&worker->loss, losses, count);
    pc_sum_add_units(&worker->weight, (int64_t)count, 0);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const double weight = worker->times * worker->weights[i];
    pc_sum_add_product(&worker->loss, weight, losses[i]);
    pc_sum_add(&worker->weight, weight);
  }
}

/* Clears place i of the block. */
static void linear_pass_blank(const pc_linear_pass *pass, struct pc_linear_pass_worker *worker,
                              size_t i) {
  memset(worker->p + i * pass->stride, 0, pass->stride * sizeof(double));
  memset(worker->r + i * pass->stride, 0, pass->stride * sizeof(double));
  memset(worker->shrunk + i * pass->inputs, 0, pass->inputs * sizeof(double));
  worker->weights[i] = 0.0;
}

/* Adds the rows of the block to the sums. */
static void linear_pass_block(const pc_linear_pass *pass,
                              struct pc_linear_pass_worker *worker) {
  const size_t end = (worker->held + PC_LINEAR_ROWS - 1) / PC_LINEAR_ROWS * PC_LINEAR_ROWS;
  double losses[LINEAR_PASS_BLOCK];
  int plain = 1;
  linear_pass_map(pass, worker);
  pass->kernels->residuals(worker->u, pass->classes, pass->stride, worker->held, worker->labels,
                           worker->p, worker->r, losses);
  for (size_t i = 0; i < worker->held; i++)
    plain &= worker->weights[i] == 1.0;
  linear_pass_losses(worker, losses, plain);
  for (size_t i = worker->held; i < end; i++)
    linear_pass_blank(pass, worker, i);
  if (worker->held_weight > worker->room)
    linear_pass_empty(pass, worker, 1.0);
  worker->room -= worker->held_weight;
  if ((pass->want & PC_LINEAR_GRADIENT) != 0)
    linear_pass_gradient(pass, worker, plain ? NULL : worker->weights);
  if ((pass->want & PC_LINEAR_HESSIAN) != 0)
    linear_pass_delay(pass, worker, plain);
  worker->held = 0;
  worker->held_weight = 0.0;
}

/* Puts a row into the block. */
static void linear_pass_hold(const pc_linear_pass *pass, struct pc_linear_pass_worker *worker,
                             const double *x, int32_t label, double weight) {
  const size_t k = pass->classes, m = pass->inputs, at = worker->held++;
  const double shrink = pass->rows->shrink;
  double *shrunk = worker->shrunk + at * m;
  memcpy(worker->x + at * k, x, k * sizeof *x);
  for (size_t j = 0; j < k; j++) {
    const double size = x[j] * shrink;
    shrunk[j] = size > 1.0 ? 1.0 : size < -1.0 ? -1.0 : size;
  }
  shrunk[k] = 1.0;
  worker->labels[at] = (size_t)label;
  worker->weights[at] = weight;
  worker->held_weight += weight;
}

/* Adds a row too heavy for the lattice: alone, times its weight. */
static void linear_pass_heavy(const pc_linear_pass *pass, struct pc_linear_pass_worker *worker,
                              const double *x, int32_t label, double weight) {
  if (worker->held > 0)
    linear_pass_block(pass, worker);
  linear_pass_empty(pass, worker, 1.0);
  linear_pass_hold(pass, worker, x, label, 1.0);
  worker->times = weight;
  linear_pass_block(pass, worker);
  linear_pass_empty(pass, worker, weight);
  worker->times = 1.0;
}

int pc_linear_pass_includes(const pc_linear_pass *pass, const pc_fit_block *block, size_t i) {
  if (pass->which == PC_LINEAR_ALL)
    return 1;
  return (block->folds[i] == pass->fold) == (pass->which == PC_LINEAR_INSIDE_FOLD);
}

static pcal_status linear_pass_add(void *user, size_t w, const pc_fit_block *block,
                                   pcal_error *err) {
  const pc_linear_pass *pass = user;
  struct pc_linear_pass_worker *worker = &pass->workers[w];
  (void)err;
  for (size_t i = 0; i < block->count; i++) {
    const double weight = block->weights == NULL ? 1.0 : block->weights[i];
    const double *x = block->x + i * pass->classes;
    if (!pc_linear_pass_includes(pass, block, i))
      continue;
    if (weight > PC_LATTICE_HEAVY) {
      linear_pass_heavy(pass, worker, x, block->labels[i], weight);
      continue;
    }
    if (worker->held == LINEAR_PASS_BLOCK || worker->held_weight + weight > PC_LATTICE_FULL)
      linear_pass_block(pass, worker);
    linear_pass_hold(pass, worker, x, block->labels[i], weight);
  }
  if (worker->held > 0)
    linear_pass_block(pass, worker);
  return PCAL_OK;
}

/* ---- From sums to means ---- */

static void linear_pass_clear(const pc_linear_pass *pass,
                              struct pc_linear_pass_worker *worker) {
  pc_sum_clear(&worker->loss);
  pc_sum_clear(&worker->weight);
  if ((pass->want & PC_LINEAR_GRADIENT) != 0)
    pc_lattice_sums_clear(&worker->gradient);
  if ((pass->want & PC_LINEAR_HESSIAN) != 0)
    pc_lattice_sums_clear(&worker->hessian);
  worker->room = PC_LATTICE_FULL;
  worker->held = 0;
  worker->held_weight = 0.0;
  worker->batch.count = 0;
  worker->batch.plain = 1;
  worker->times = 1.0;
}

static pcal_status linear_pass_list(void *user, size_t w, pc_fit_fields *fields,
                                    pcal_error *err) {
  const pc_linear_pass *pass = user;
  struct pc_linear_pass_worker *worker = &pass->workers[w];
  linear_pass_empty(pass, worker, 1.0);
  PC_TRY(pc_fit_field_sums(fields, &worker->loss, 1, err));
  PC_TRY(pc_fit_field_sums(fields, &worker->weight, 1, err));
  if ((pass->want & PC_LINEAR_GRADIENT) != 0)
    PC_TRY(pc_fit_field_fixed(fields, worker->gradient.totals, worker->gradient.count, err));
  return (pass->want & PC_LINEAR_HESSIAN) == 0
             ? PCAL_OK
             : pc_fit_field_fixed(fields, worker->hessian.totals, worker->hessian.count, err);
}

static void linear_pass_merge(const pc_linear_pass *pass) {
  struct pc_linear_pass_worker *first = &pass->workers[0];
  linear_pass_empty(pass, first, 1.0);
  for (size_t w = 1; w < pass->worker_count; w++) {
    struct pc_linear_pass_worker *other = &pass->workers[w];
    linear_pass_empty(pass, other, 1.0);
    pc_sum_merge(&first->loss, &other->loss);
    pc_sum_merge(&first->weight, &other->weight);
    if ((pass->want & PC_LINEAR_GRADIENT) != 0)
      pc_lattice_sums_merge(&first->gradient, &other->gradient);
    if ((pass->want & PC_LINEAR_HESSIAN) != 0)
      pc_lattice_sums_merge(&first->hessian, &other->hessian);
  }
}

/* The factor of a feature in the sums; the 1 of b is not scaled. */
static double linear_pass_factor(const pc_linear_pass *pass, size_t feature) {
  return feature < pass->classes ? pass->rows->shrink : 1.0;
}

static void linear_pass_means(pc_linear_pass *pass) {
  const size_t k = pass->classes;
  const pc_lattice_sums *sums = &pass->workers[0].gradient;
  for (size_t j = 0; j <= k; j++) {
    const double total = pass->weight * linear_pass_factor(pass, j);
    for (size_t c = 0; c < k; c++)
      pass->gradient[j * k + c] = pc_lattice_sums_value(sums, j * pass->stride + c) / total;
  }
}

static void linear_pass_hessian_means(pc_linear_pass *pass) {
  const size_t k = pass->classes, n = pass->count, m = pass->inputs;
  const pc_lattice_sums *sums = &pass->workers[0].hessian;
  size_t at = 0;
  for (size_t c = 0; c < k; c++)
    for (size_t d = c; d < k; d++, at += (k + 1) * m)
      for (size_t i = 0; i <= k; i++)
        for (size_t j = 0; j <= k; j++) {
          /* The same sum is read for both places, so that the matrix is symmetric. */
          const size_t low = i < j ? i : j, high = i < j ? j : i;
          const double total =
              pass->weight * linear_pass_factor(pass, i) * linear_pass_factor(pass, j);
          const double mean = pc_lattice_sums_value(sums, at + low * m + (high - low)) / total;
          pass->hessian[(i * k + c) * n + j * k + d] = mean;
          pass->hessian[(j * k + d) * n + i * k + c] = mean;
        }
}

static void linear_pass_finish(pc_linear_pass *pass) {
  const struct pc_linear_pass_worker *first = &pass->workers[0];
  const double weight = pc_sum_value(&first->weight);
  pass->weight = weight > 0.0 ? weight : 1.0;
  pass->value = pc_sum_value(&first->loss) / pass->weight;
  if ((pass->want & PC_LINEAR_GRADIENT) != 0)
    linear_pass_means(pass);
  if ((pass->want & PC_LINEAR_HESSIAN) != 0)
    linear_pass_hessian_means(pass);
  pass->weight = weight;
}

pcal_status pc_linear_pass_run(pc_linear_pass *pass, const double *parameters, unsigned want,
                               pcal_error *err) {
  const size_t k = pass->classes;
  for (size_t j = 0; j < pass->count / k; j++)
    memcpy(pass->padded + j * pass->stride, parameters + j * k, k * sizeof *parameters);
  pass->want = want;
  for (size_t w = 0; w < pass->worker_count; w++)
    linear_pass_clear(pass, &pass->workers[w]);
  PC_TRY(pass->serial
             ? pc_fit_rows_run_serial(pass->rows, pass->buffers, linear_pass_add, pass, err)
             : pc_fit_rows_run(pass->rows, linear_pass_add, linear_pass_list, pass, err));
  linear_pass_merge(pass);
  linear_pass_finish(pass);
  return PCAL_OK;
}
