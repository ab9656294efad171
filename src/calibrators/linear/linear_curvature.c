/* Formula, at parameters with probabilities p and for a vector v of parameters:
 *   (H v)_k = mean of q_k x,  q_k = p_k (v_k . x - sum_l p_l v_l . x);
 *   block of class k = mean of p_k (1 - p_k) x x^T.
 * Classes with p up to `least` are left out of a row, and the others rescaled to sum to one: a
 * confident model has few, which makes products cheap.  Blocks leave out p (1 - p) below 1e-3,
 * and are computed again only after many products with old ones.  This slows the search a
 * little and does not change its result.
 * The sums are on a lattice; v is scaled so that the absolute value of every term is at most
 * 1. */
#include "calibrators/linear/linear_curvature.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "optim/cholesky.h"

#define LINEAR_CURVATURE_BLOCK_LEAST 1e-3
#define LINEAR_CURVATURE_PATIENCE 8 /* most products for which old blocks are kept */
#define LINEAR_CURVATURE_DAMPING 1e-9
#define LINEAR_CURVATURE_BATCH 128 /* rows added to the blocks of all classes in turn */
#define LINEAR_CURVATURE_HELD 16   /* of these, rows that one call adds to a block */

struct pc_linear_curvature_worker {
  pc_lattice_sums product, blocks;
  double room;      /* weight that the lanes can still take */
  double *x, *u;    /* a block of rows for kernels */
  double *shrunk;   /* features of a row, and a 1 behind them; of a batch of rows for blocks */
  double *scaled;   /* scratch of pc_linear_kernels.upper; NULL: diagonals */
  float *probs;     /* of a chunk of rows that are not kept */
  uint16_t *active; /* beside them, as in pc_linear_curvature */
};

/* ---- Space ---- */

static size_t linear_curvature_block_cells(const pc_linear_curvature *c) {
  const size_t k = c->pass->classes;
  return c->blocked ? (k + 1) * c->pass->inputs : c->pass->inputs;
}

static size_t linear_curvature_chunk(const pc_linear_curvature *c) {
  return pc_chunk_rows(&c->pass->rows->task->calibrator->layout);
}

static pcal_status linear_curvature_worker_new(const pc_linear_curvature *c,
                                               struct pc_linear_curvature_worker *worker,
                                               pcal_error *err) {
  const pc_linear_pass *pass = c->pass;
  const pcal_env *env = pass->rows->task->env;
  const size_t k = pass->classes;
  worker->x = pc_alloc(env, PC_LINEAR_ROWS, (k + pass->stride) * sizeof(double));
  const size_t batch = c->blocked ? LINEAR_CURVATURE_BATCH : 1;
  worker->shrunk = pc_alloc(env, batch * pass->inputs + PC_LINEAR_LANES, sizeof(double));
  if (c->blocked)
    worker->scaled = pc_alloc(env, LINEAR_CURVATURE_HELD * pass->inputs, sizeof(double));
  if (!pass->rows->kept) {
    worker->probs = pc_alloc(env, linear_curvature_chunk(c), k * sizeof(float));
    worker->active = pc_alloc(env, linear_curvature_chunk(c), (k + 1) * sizeof(uint16_t));
  }
  if (worker->x == NULL || worker->shrunk == NULL || (c->blocked && worker->scaled == NULL) ||
      (!pass->rows->kept && (worker->probs == NULL || worker->active == NULL)))
    return pc_fail_memory(err, "preparing workers");
  worker->u = worker->x + PC_LINEAR_ROWS * k;
  PC_TRY(pc_lattice_sums_new(env, k * pass->inputs, &worker->product, err));
  return pc_lattice_sums_new(env, k * linear_curvature_block_cells(c), &worker->blocks, err);
}

pcal_status pc_linear_curvature_new(const pc_linear_pass *pass, pc_linear_curvature *out,
                                    pcal_error *err) {
  const pcal_env *env = pass->rows->task->env;
  const size_t k = pass->classes;
  *out = (pc_linear_curvature){.pass = pass, .blocked = k <= PC_LINEAR_BLOCKS};
  out->padded = pc_alloc(env, k + 1, pass->stride * sizeof(double));
  out->vector = pc_alloc(env, k, pass->inputs * sizeof(double));
  out->blocks = pc_alloc(env, k, (out->blocked ? k + 1 : 1) * (k + 1) * sizeof(double));
  out->column = pc_alloc(env, k + 1, sizeof(double));
  out->workers = pc_alloc(env, pass->worker_count, sizeof *out->workers);
  if (pass->rows->kept) {
    out->probs = pc_alloc(env, pass->rows->count, k * sizeof(float));
    out->active = pc_alloc(env, pass->rows->count, (k + 1) * sizeof(uint16_t));
  }
  if (out->padded == NULL || out->vector == NULL || out->blocks == NULL ||
      out->column == NULL || out->workers == NULL ||
      (pass->rows->kept && (out->probs == NULL || out->active == NULL)))
    return pc_fail_memory(err, "preparing a search");
  for (size_t w = 0; w < pass->worker_count; w++)
    PC_TRY(linear_curvature_worker_new(out, &out->workers[w], err));
  return PCAL_OK;
}

/* ---- Probabilities ---- */

/* Drops small probabilities and rescales; zeros for a row that is not included. */
static void linear_curvature_thin(const double *p, size_t classes, double least, int counts,
                                  float *out, uint16_t *active) {
  double sum = 0.0;
  uint16_t count = 0;
  for (size_t k = 0; k < classes; k++)
    sum += p[k] > least ? p[k] : 0.0;
  for (size_t k = 0; k < classes; k++)
    out[k] = counts && p[k] > least ? (float)(p[k] / sum) : 0.0f;
  for (size_t k = 0; k < classes; k++) {
    active[1 + count] = (uint16_t)k;
    count = (uint16_t)(count + (out[k] > 0.0f));
  }
  active[0] = count;
}

static void linear_curvature_fill(const pc_linear_curvature *c,
                                  const struct pc_linear_curvature_worker *worker,
                                  const pc_fit_block *block, float *out, uint16_t *active) {
  const pc_linear_pass *pass = c->pass;
  const size_t k = pass->classes, s = pass->stride;
  for (size_t i = 0; i < block->count; i += PC_LINEAR_ROWS) {
    const size_t left = block->count - i;
    const size_t rows = left < PC_LINEAR_ROWS ? left : PC_LINEAR_ROWS;
    memcpy(worker->x, block->x + i * k, rows * k * sizeof(double));
    pass->kernels->map(c->padded, c->padded + k * s, worker->x, k, s, worker->u);
    for (size_t r = 0; r < rows; r++) {
      double *u = worker->u + r * s;
      pass->kernels->softmax(u, k, u);
      linear_curvature_thin(u, k, c->least, pc_linear_pass_includes(pass, block, i + r),
                            out + (i + r) * k, active + (i + r) * (k + 1));
    }
  }
}

static pcal_status linear_curvature_keep(void *user, size_t w, const pc_fit_block *block,
                                         pcal_error *err) {
  const pc_linear_curvature *c = user;
  (void)err;
  const size_t k = c->pass->classes;
  linear_curvature_fill(c, &c->workers[w], block, c->probs + block->first * k,
                        c->active + block->first * (k + 1));
  return PCAL_OK;
}

/* ---- Sums over rows ---- */

/* Rows begin .. end - 1 of a block, with probabilities `probs`.  heavy: a row too heavy for the
 * lattice, added with weight 1; the sums are multiplied by its weight later. */
typedef struct linear_curvature_run {
  const pc_fit_block *block;
  const float *probs;
  const uint16_t *active;
  size_t begin, end;
  int heavy;
} linear_curvature_run;

typedef void (*linear_curvature_body)(const pc_linear_curvature *c,
                                      const struct pc_linear_curvature_worker *worker,
                                      const linear_curvature_run *run);

static double linear_curvature_weight(const pc_fit_block *block, size_t i) {
  return block->weights == NULL ? 1.0 : block->weights[i];
}

/* Divides a block into runs whose weight the lanes can take. */
static void linear_curvature_runs(const pc_linear_curvature *c,
                                  const struct pc_linear_curvature_worker *worker,
                                  const pc_fit_block *block, pc_lattice_sums *tally,
                                  double *room, linear_curvature_body body) {
  const size_t k = c->pass->classes;
  const int kept = c->probs != NULL;
  const linear_curvature_run all = {.block = block,
                                    .probs = kept ? c->probs + block->first * k : worker->probs,
                                    .active = kept ? c->active + block->first * (k + 1)
                                                   : worker->active};
  linear_curvature_run run = all;
  if (!kept)
    linear_curvature_fill(c, worker, block, worker->probs, worker->active);
  while (run.begin < block->count) {
    double total = linear_curvature_weight(block, run.begin);
    run.heavy = total > PC_LATTICE_HEAVY;
    for (run.end = run.begin + 1; run.end < block->count && !run.heavy; run.end++) {
      const double weight = linear_curvature_weight(block, run.end);
      if (weight > PC_LATTICE_HEAVY || total + weight > PC_LATTICE_FULL)
        break;
      total += weight;
    }
    if (run.heavy || total > *room) {
      pc_lattice_sums_empty(tally, 1.0);
      *room = PC_LATTICE_FULL;
    }
    body(c, worker, &run);
    *room -= run.heavy ? 0.0 : total;
    if (run.heavy)
      pc_lattice_sums_empty(tally, total);
    run.begin = run.end;
  }
}

static void linear_curvature_shrink(const pc_linear_curvature *c, const double *x,
                                    double *shrunk) {
  const double shrink = c->pass->rows->shrink;
  for (size_t j = 0; j < c->pass->classes; j++) {
    const double size = x[j] * shrink;
    shrunk[j] = size > 1.0 ? 1.0 : size < -1.0 ? -1.0 : size;
  }
  shrunk[c->pass->classes] = 1.0;
}

static void linear_curvature_product_row(const pc_linear_curvature *c,
                                         const struct pc_linear_curvature_worker *worker,
                                         const float *probs, const uint16_t *active,
                                         double weight) {
  const pc_linear_pass *pass = c->pass;
  const size_t m = pass->inputs, count = active[0];
  double mean = 0.0, sum = 0.0;
  for (size_t a = 0; a < count; a++) {
    const size_t target = active[1 + a];
    const double p = (double)probs[target];
    worker->u[a] = pass->kernels->dot(c->vector + target * m, worker->shrunk, m);
    mean += p * worker->u[a];
    sum += p;
  }
  for (size_t a = 0; a < count; a++) {
    const size_t target = active[1 + a];
    const double q = (double)probs[target] * (worker->u[a] - mean / sum);
    pass->kernels->accumulate(worker->product.lanes + target * m, q, worker->shrunk, m, weight);
  }
}

static void linear_curvature_product_run(const pc_linear_curvature *c,
                                         const struct pc_linear_curvature_worker *worker,
                                         const linear_curvature_run *run) {
  const size_t k = c->pass->classes;
  for (size_t i = run->begin; i < run->end; i++) {
    if (run->active[i * (k + 1)] < 2) /* a row of one class has no curvature */
      continue;
    linear_curvature_shrink(c, run->block->x + i * k, worker->shrunk);
    linear_curvature_product_row(c, worker, run->probs + i * k, run->active + i * (k + 1),
                                 run->heavy ? 1.0 : linear_curvature_weight(run->block, i));
  }
}

static double linear_curvature_spread(const linear_curvature_run *run, size_t row,
                                      size_t classes, size_t target) {
  const double p = (double)run->probs[row * classes + target];
  return p * (1.0 - p);
}

/* Adds the rows of a batch, which begins at `begin`, to the upper triangle of a class. */
static void linear_curvature_triangle(const pc_linear_curvature *c,
                                      const struct pc_linear_curvature_worker *worker,
                                      const linear_curvature_run *run, size_t begin, size_t end,
                                      size_t target) {
  const size_t k = c->pass->classes, m = c->pass->inputs;
  const int plain = run->heavy || run->block->weights == NULL;
  double *sums = worker->blocks.lanes + target * linear_curvature_block_cells(c);
  const double *rows[LINEAR_CURVATURE_HELD];
  double factors[LINEAR_CURVATURE_HELD], weights[LINEAR_CURVATURE_HELD];
  size_t held = 0;
  for (size_t i = begin; i < end; i++) {
    rows[held] = worker->shrunk + (i - begin) * m;
    factors[held] = linear_curvature_spread(run, i, k, target);
    weights[held] = linear_curvature_weight(run->block, i);
    held += !(factors[held] < LINEAR_CURVATURE_BLOCK_LEAST);
    if (held == LINEAR_CURVATURE_HELD || (held > 0 && i + 1 == end)) {
      c->pass->kernels->upper(sums, rows, k + 1, m, factors, held, plain ? NULL : weights,
                              worker->scaled);
      held = 0;
    }
  }
}

static void linear_curvature_triangles(const pc_linear_curvature *c,
                                       const struct pc_linear_curvature_worker *worker,
                                       const linear_curvature_run *run) {
  const size_t k = c->pass->classes, m = c->pass->inputs;
  for (size_t begin = run->begin; begin < run->end; begin += LINEAR_CURVATURE_BATCH) {
    const size_t left = run->end - begin;
    const size_t end = begin + (left < LINEAR_CURVATURE_BATCH ? left : LINEAR_CURVATURE_BATCH);
    for (size_t i = begin; i < end; i++)
      linear_curvature_shrink(c, run->block->x + i * k, worker->shrunk + (i - begin) * m);
    for (size_t target = 0; target < k; target++)
      linear_curvature_triangle(c, worker, run, begin, end, target);
  }
}

/* Class after class, so that the sums of a class stay in the cache. */
static void linear_curvature_diagonals(const pc_linear_curvature *c,
                                       const struct pc_linear_curvature_worker *worker,
                                       const linear_curvature_run *run) {
  const size_t k = c->pass->classes, cells = linear_curvature_block_cells(c);
  for (size_t target = 0; target < k; target++)
    for (size_t i = run->begin; i < run->end; i++) {
      const double spread = linear_curvature_spread(run, i, k, target);
      if (spread < LINEAR_CURVATURE_BLOCK_LEAST)
        continue;
      linear_curvature_shrink(c, run->block->x + i * k, worker->shrunk);
      for (size_t j = 0; j <= k; j++)
        worker->u[j] = spread * worker->shrunk[j];
      c->pass->kernels->add(worker->blocks.lanes + target * cells, worker->u, worker->shrunk,
                            k + 1, run->heavy ? 1.0 : linear_curvature_weight(run->block, i));
    }
}

static pcal_status linear_curvature_product_add(void *user, size_t w, const pc_fit_block *block,
                                                pcal_error *err) {
  const pc_linear_curvature *c = user;
  struct pc_linear_curvature_worker *worker = &c->workers[w];
  (void)err;
  linear_curvature_runs(c, worker, block, &worker->product, &worker->room,
                        linear_curvature_product_run);
  return PCAL_OK;
}

static pcal_status linear_curvature_block_add(void *user, size_t w, const pc_fit_block *block,
                                              pcal_error *err) {
  const pc_linear_curvature *c = user;
  struct pc_linear_curvature_worker *worker = &c->workers[w];
  (void)err;
  linear_curvature_runs(c, worker, block, &worker->blocks, &worker->room,
                        c->blocked ? linear_curvature_triangles : linear_curvature_diagonals);
  return PCAL_OK;
}

static pcal_status linear_curvature_list_sums(pc_lattice_sums *sums, pc_fit_fields *fields,
                                              pcal_error *err) {
  pc_lattice_sums_empty(sums, 1.0);
  return pc_fit_field_fixed(fields, sums->totals, sums->count, err);
}

static pcal_status linear_curvature_product_list(void *user, size_t w, pc_fit_fields *fields,
                                                 pcal_error *err) {
  const pc_linear_curvature *c = user;
  return linear_curvature_list_sums(&c->workers[w].product, fields, err);
}

static pcal_status linear_curvature_block_list(void *user, size_t w, pc_fit_fields *fields,
                                               pcal_error *err) {
  const pc_linear_curvature *c = user;
  return linear_curvature_list_sums(&c->workers[w].blocks, fields, err);
}

static pcal_status linear_curvature_pass(pc_linear_curvature *c, pc_fit_add add,
                                         pc_fit_list_fields list, pcal_error *err) {
  const pc_linear_pass *pass = c->pass;
  return pass->serial ? pc_fit_rows_run_serial(pass->rows, pass->buffers, add, c, err)
                      : pc_fit_rows_run(pass->rows, add, list, c, err);
}

/* Clears the sums of each worker, runs a pass, and merges all into the first. */
static pcal_status linear_curvature_sum(pc_linear_curvature *c, int product, pcal_error *err) {
  const size_t count = c->pass->worker_count;
  for (size_t w = 0; w < count; w++) {
    pc_lattice_sums_clear(product ? &c->workers[w].product : &c->workers[w].blocks);
    c->workers[w].room = PC_LATTICE_FULL;
  }
  PC_TRY(product ? linear_curvature_pass(c, linear_curvature_product_add,
                                         linear_curvature_product_list, err)
                 : linear_curvature_pass(c, linear_curvature_block_add,
                                         linear_curvature_block_list, err));
  pc_lattice_sums *first = product ? &c->workers[0].product : &c->workers[0].blocks;
  pc_lattice_sums_empty(first, 1.0);
  for (size_t w = 1; w < count; w++) {
    pc_lattice_sums *other = product ? &c->workers[w].product : &c->workers[w].blocks;
    pc_lattice_sums_empty(other, 1.0);
    pc_lattice_sums_merge(first, other);
  }
  return PCAL_OK;
}

/* ---- For searches ---- */

/* The factor of a feature in the sums; the 1 of b is not shrunk. */
static double linear_curvature_factor(const pc_linear_curvature *c, size_t feature) {
  return feature < c->pass->classes ? c->pass->rows->shrink : 1.0;
}

/* Second derivative of the penalty by w[j][class]. */
static double linear_curvature_penalty(const pc_linear_curvature *c, size_t j, size_t target) {
  return 2.0 * (j == c->pass->classes ? c->shift : j != target ? c->off : 0.0);
}

/* Sets the block of a class, with the penalty, and factors it; or its diagonal. */
static void linear_curvature_set_block(const pc_linear_curvature *c, size_t target) {
  const size_t k = c->pass->classes, m = c->pass->inputs, n = k + 1;
  const pc_lattice_sums *sums = &c->workers[0].blocks;
  const size_t cells = linear_curvature_block_cells(c);
  double *block = c->blocks + target * (c->blocked ? n : 1) * n, largest = 0.0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = i; j < (c->blocked ? n : i + 1); j++) {
      const double total =
          c->block_weight * linear_curvature_factor(c, i) * linear_curvature_factor(c, j);
      const double mean =
          pc_lattice_sums_value(sums, target * cells + (c->blocked ? i * m + (j - i) : j)) /
          total;
      block[(c->blocked ? i * n : 0) + j] =
          mean + (i == j ? linear_curvature_penalty(c, i, target) : 0.0);
      largest = fmax(largest, i == j ? block[(c->blocked ? i * n : 0) + j] : 0.0);
    }
  const double damping = largest > 0.0 ? LINEAR_CURVATURE_DAMPING * largest : 1.0;
  for (size_t i = 0; i < n; i++)
    block[c->blocked ? i * n + i : i] += damping;
  if (!c->blocked || pc_cholesky_factor(block, n, damping / 2.0))
    return;
  memset(block, 0, n * n * sizeof *block);
  for (size_t i = 0; i < n; i++)
    block[i * n + i] = sqrt(fmax(largest, damping));
}

static pcal_status linear_curvature_block_task(void *user, size_t target, size_t worker,
                                               pcal_error *err) {
  (void)worker;
  (void)err;
  linear_curvature_set_block(user, target);
  return PCAL_OK;
}

/* Sets all blocks from their sums, with the current penalties. */
static pcal_status linear_curvature_set_blocks(pc_linear_curvature *c, pcal_error *err) {
  const size_t k = c->pass->classes;
  const double cubes = c->blocked ? (double)k * (double)k * (double)k : (double)k;
  c->block_off = c->off;
  c->block_shift = c->shift;
  for (size_t target = 0; c->pass->serial && target < k; target++)
    linear_curvature_set_block(c, target);
  return c->pass->serial ? PCAL_OK
                         : pc_run(c->pass->rows->task->env, k, 0.2 * (double)k * cubes,
                                  linear_curvature_block_task, c, err);
}

pcal_status pc_linear_curvature_set_point(void *user, const double *at, pcal_error *err) {
  pc_linear_curvature *c = user;
  const size_t k = c->pass->classes;
  for (size_t j = 0; j <= k; j++)
    memcpy(c->padded + j * c->pass->stride, at + j * k, k * sizeof *at);
  if (c->probs != NULL)
    PC_TRY(linear_curvature_pass(c, linear_curvature_keep, NULL, err));
  const int keep = c->settled && c->products <= LINEAR_CURVATURE_PATIENCE;
  c->products = 0;
  if (keep && c->block_off == c->off && c->block_shift == c->shift)
    return PCAL_OK;
  if (!keep) {
    PC_TRY(linear_curvature_sum(c, 0, err));
    c->block_weight = c->pass->weight;
  }
  c->settled = 1;
  return linear_curvature_set_blocks(c, err);
}

/* Scales v so that |v . x| is at most 1/2 for shrunk features. */
static void linear_curvature_load(pc_linear_curvature *c, const double *v) {
  const size_t k = c->pass->classes, m = c->pass->inputs;
  double largest = 0.0;
  for (size_t target = 0; target < k; target++) {
    double sum = 0.0;
    for (size_t j = 0; j <= k; j++)
      sum += fabs(v[j * k + target]) / linear_curvature_factor(c, j);
    largest = fmax(largest, sum);
  }
  c->scale = largest > 0.0 ? ldexp(0.5, -(ilogb(largest) + 1)) : 1.0;
  for (size_t target = 0; target < k; target++)
    for (size_t j = 0; j <= k; j++)
      c->vector[target * m + j] = v[j * k + target] / linear_curvature_factor(c, j) * c->scale;
}

pcal_status pc_linear_curvature_multiply(void *user, const double *v, double *out,
                                         pcal_error *err) {
  pc_linear_curvature *c = user;
  const size_t k = c->pass->classes, m = c->pass->inputs;
  linear_curvature_load(c, v);
  c->products++;
  PC_TRY(linear_curvature_sum(c, 1, err));
  for (size_t j = 0; j <= k; j++) {
    const double total = c->pass->weight * linear_curvature_factor(c, j) * c->scale;
    for (size_t target = 0; target < k; target++)
      out[j * k + target] =
          pc_lattice_sums_value(&c->workers[0].product, target * m + j) / total +
          linear_curvature_penalty(c, j, target) * v[j * k + target];
  }
  return PCAL_OK;
}

void pc_linear_curvature_precondition(void *user, double *v) {
  const pc_linear_curvature *c = user;
  const size_t k = c->pass->classes, n = k + 1;
  for (size_t target = 0; target < k; target++) {
    const double *block = c->blocks + target * (c->blocked ? n : 1) * n;
    for (size_t j = 0; j < n; j++)
      c->column[j] = c->blocked ? v[j * k + target] : v[j * k + target] / block[j];
    if (c->blocked)
      pc_cholesky_solve(block, n, c->column);
    for (size_t j = 0; j < n; j++)
      v[j * k + target] = c->column[j];
  }
}
