/* Scale:  2^exponent is the geometric mean of the largest feature of each row, rounded up.  It
 *         does not depend on the order of rows, and little on a few outliers.  In sums of
 *         derivatives, features are clipped at 2^10 times the scale.
 * Folds:  a hash of label, features and seed: equal rows are in one fold, and neither the order
 *         of rows nor batches matter.  Without the label where it is a distribution over classes,
 *         since such a row is given once for each class (io/source_soft.c). */
#include "calibrators/fit_rows.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "base/rng.h"
#include "base/sum.h"
#include "calibrators/fit_pass.h"
#include "io/source.h"
#include "kernels/column_sum.h"

#define FIT_ROWS_OUTLIER 10 /* features are clipped at 2^10 times the scale */
#define FIT_ROWS_EXPONENT_MAX 500
#define FIT_ROWS_LARGEST 2000 /* bound of the exponents of doubles */
#define FIT_ROWS_COST 8.0     /* nanoseconds for a feature, for the executor */

/* The sums of a worker, and the rows that it keeps. */
struct pc_fit_rows_worker {
  pc_sum log_true, weight;   /* log_true: of log p of the label */
  pc_sum exponents, nonzero; /* nonzero: weight of the rows with a feature other than 0 */
  int largest;               /* exponent of the largest feature */
  uint64_t impossible;
  pc_fixed *class_weight;

  int keeps;  /* rows are kept so far */
  int floats; /* as floats, else as doubles */
  size_t count, capacity;
  void *values;
  int32_t *labels;
  double *weights;
  uint8_t *folds;

  double *x; /* buffers: the features and folds of a block */
  uint8_t *block_folds;
};

typedef struct fit_rows_pass {
  pc_fit_rows *rows;
  pc_fit_add add;
  pc_fit_list_fields list;
  void *user;
} fit_rows_pass;

/* Rounds a number of rows up to whole tiles. */
static size_t fit_rows_padded(size_t count) {
  return (count + PC_LANES - 1) / PC_LANES * PC_LANES;
}

static size_t fit_rows_block(const pc_fit_rows *rows) {
  const size_t block = pc_chunk_rows(&rows->task->calibrator->layout);
  return rows->transposed ? fit_rows_padded(block) : block;
}

/* ---- Features ---- */

static uint8_t fit_rows_fold(const pc_fit_rows *rows, const double *x, int32_t label) {
  uint64_t key = pc_hash_u64(rows->task->env->seed + UINT64_C(0x9e3779b97f4a7c15));
  if (!rows->soft)
    key = pc_hash_u64(key + (uint64_t)label);
  for (size_t j = 0; j < rows->width; j++)
    key = pc_hash_u64(key + pc_double_bits(x[j] + 0.0));
  return (uint8_t)((key >> 32) * PC_FIT_FOLDS >> 32);
}

/* Allocates the buffers of a worker when they are first needed. */
static pcal_status fit_rows_reserve_buffers(const pc_fit_rows *rows,
                                            struct pc_fit_rows_worker *worker,
                                            pcal_error *err) {
  const pcal_env *env = rows->task->env;
  const size_t block = fit_rows_block(rows);
  if (worker->x == NULL)
    worker->x = pc_alloc_raw(env, block, rows->width * sizeof *worker->x);
  if (worker->block_folds == NULL)
    worker->block_folds = pc_alloc_raw(env, block, 1);
  return worker->x == NULL || worker->block_folds == NULL
             ? pc_fail_memory(err, "preparing workers")
             : PCAL_OK;
}

/* Computes the features of rows, undivided, in the worker's buffers. */
static pcal_status fit_rows_compute(const pc_fit_rows *rows, struct pc_fit_rows_worker *worker,
                                    const pc_rows *from, pcal_error *err) {
  const pc_layout *layout = &rows->task->calibrator->layout;
  PC_TRY(fit_rows_reserve_buffers(rows, worker, err));
  for (size_t i = 0; i < from->count; i++) {
    double *x = worker->x + i * rows->width;
    pc_feature_row(rows->feature, layout, from->scores + i * from->classes, x);
    if (rows->folded)
      worker->block_folds[i] = fit_rows_fold(rows, x, from->labels[i]);
  }
  return PCAL_OK;
}

static void fit_rows_divide(double *x, size_t count, int exponent) {
  const double factor = ldexp(1.0, -exponent);
  for (size_t i = 0; i < count; i++)
    x[i] *= factor;
}

/* ---- First pass ---- */

/* The largest absolute value of a feature of a row; four at a time, so that comparisons do not
 * wait for each other. */
static double fit_rows_size(const double *x, size_t width) {
  double most[4] = {0.0};
  size_t j = 0;
  for (; j + 4 <= width; j += 4)
    for (size_t l = 0; l < 4; l++)
      most[l] = fabs(x[j + l]) > most[l] ? fabs(x[j + l]) : most[l];
  for (; j < width; j++)
    most[0] = fmax(most[0], fabs(x[j]));
  return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

static void fit_rows_add_sizes(const pc_fit_rows *rows, struct pc_fit_rows_worker *worker,
                               const pc_rows *from) {
  int64_t exponents = 0, nonzero = 0;
  for (size_t i = 0; i < from->count; i++) {
    const double size = fit_rows_size(worker->x + i * rows->width, rows->width);
    if (!(size > 0.0))
      continue;
    const int exponent = ilogb(size) + 1;
    worker->largest = exponent > worker->largest ? exponent : worker->largest;
    if (from->weights == NULL) {
      exponents += exponent;
      nonzero++;
    } else {
      pc_sum_add_product(&worker->exponents, from->weights[i], (double)exponent);
      pc_sum_add(&worker->nonzero, from->weights[i]);
    }
  }
  pc_sum_add_units(&worker->exponents, exponents, 0);
  pc_sum_add_units(&worker->nonzero, nonzero, 0);
}

static void fit_rows_add_sums(struct pc_fit_rows_worker *worker, const pc_rows *from) {
  uint64_t impossible = 0;
  for (size_t i = 0; i < from->count; i++) {
    const double weight = from->weights == NULL ? 1.0 : from->weights[i];
    pc_fixed_add_weighted(&worker->class_weight[from->labels[i]], weight, 1.0);
    impossible += isinf(from->log_true[i]) != 0;
    if (from->weights != NULL)
      pc_sum_add(&worker->weight, weight);
  }
  worker->impossible += impossible;
  if (from->weights == NULL)
    pc_sum_add_units(&worker->weight, (int64_t)from->count, 0);
  if (from->weights == NULL && impossible == 0)
    pc_sum_add_column(&worker->log_true, from->log_true, from->count);
  for (size_t i = 0; (from->weights != NULL || impossible > 0) && i < from->count; i++)
    if (!isinf(from->log_true[i]))
      pc_sum_add_product(&worker->log_true, from->weights == NULL ? 1.0 : from->weights[i],
                         from->log_true[i]);
}

static size_t fit_rows_bytes(const pc_fit_rows *rows, const struct pc_fit_rows_worker *worker) {
  return rows->width * (worker->floats ? sizeof(float) : sizeof(double)) + sizeof(int32_t) +
         sizeof(double) + 1;
}

static void fit_rows_drop(const pc_fit_rows *rows, struct pc_fit_rows_worker *worker) {
  const pcal_env *env = rows->task->env;
  pc_free(env, worker->values);
  pc_free(env, worker->labels);
  pc_free(env, worker->weights);
  pc_free(env, worker->folds);
  worker->values = worker->labels = NULL;
  worker->weights = NULL;
  worker->folds = NULL;
  worker->count = worker->capacity = 0;
}

/* Makes room for more rows; a worker that would keep too many drops them all. */
static pcal_status fit_rows_reserve(const pc_fit_rows *rows, struct pc_fit_rows_worker *worker,
                                    size_t more, pcal_error *err) {
  const pcal_env *env = rows->task->env;
  const size_t row = fit_rows_bytes(rows, worker), needed = worker->count + more;
  const uint64_t limit = env->memory_limit == 0
                             ? PC_FIT_ROWS_BYTES
                             : env->memory_limit / 2 / (uint64_t)rows->worker_count;
  const uint64_t most = (limit < PC_FIT_ROWS_BYTES ? limit : PC_FIT_ROWS_BYTES) / row;
  if (needed > most) {
    worker->keeps = 0;
    fit_rows_drop(rows, worker);
    return PCAL_OK;
  }
  if (needed <= worker->capacity)
    return PCAL_OK;
  const size_t grown = needed + worker->capacity / 2;
  const size_t wanted =
      fit_rows_padded(grown < rows->share && rows->share <= most ? rows->share : grown);
  const size_t size = rows->width * (worker->floats ? sizeof(float) : sizeof(double));
  void *values = pc_resize(env, worker->values, wanted, size);
  worker->values = values == NULL ? worker->values : values;
  int32_t *labels = pc_resize(env, worker->labels, wanted, sizeof *labels);
  worker->labels = labels == NULL ? worker->labels : labels;
  double *weights = pc_resize(env, worker->weights, wanted, sizeof *weights);
  worker->weights = weights == NULL ? worker->weights : weights;
  uint8_t *folds = pc_resize(env, worker->folds, wanted, 1);
  worker->folds = folds == NULL ? worker->folds : folds;
  if (values == NULL || labels == NULL || weights == NULL || folds == NULL)
    return pc_fail_memory(err, "keeping rows");
  worker->capacity = wanted;
  return PCAL_OK;
}

/* Adds a row to the tiles. */
static void fit_rows_transpose(const pc_fit_rows *rows, struct pc_fit_rows_worker *worker,
                               size_t number, const double *x) {
  const size_t lane = number % PC_LANES, cells = rows->width * PC_LANES;
  const size_t at = (number - lane) * rows->width;
  float *floats = (float *)worker->values + at;
  double *doubles = (double *)worker->values + at;
  if (lane == 0 && worker->floats)
    memset(floats, 0, cells * sizeof *floats);
  else if (lane == 0)
    memset(doubles, 0, cells * sizeof *doubles);
  for (size_t j = 0; worker->floats && j < rows->width; j++)
    floats[j * PC_LANES + lane] = (float)x[j];
  for (size_t j = 0; !worker->floats && j < rows->width; j++)
    doubles[j * PC_LANES + lane] = x[j];
}

static void fit_rows_copy(const pc_fit_rows *rows, struct pc_fit_rows_worker *worker,
                          size_t count) {
  const size_t cells = count * rows->width, at = worker->count * rows->width;
  for (size_t i = 0; rows->transposed && i < count; i++)
    fit_rows_transpose(rows, worker, worker->count + i, worker->x + i * rows->width);
  if (rows->transposed)
    return;
  for (size_t i = 0; worker->floats && i < cells; i++)
    ((float *)worker->values)[at + i] = (float)worker->x[i];
  if (!worker->floats)
    memcpy((double *)worker->values + at, worker->x, cells * sizeof(double));
}

static pcal_status fit_rows_keep(const pc_fit_rows *rows, struct pc_fit_rows_worker *worker,
                                 const pc_rows *from, pcal_error *err) {
  PC_TRY(fit_rows_reserve(rows, worker, from->count, err));
  if (!worker->keeps)
    return PCAL_OK;
  fit_rows_copy(rows, worker, from->count);
  memcpy(worker->labels + worker->count, from->labels, from->count * sizeof(int32_t));
  for (size_t i = 0; i < from->count; i++)
    worker->weights[worker->count + i] = from->weights == NULL ? 1.0 : from->weights[i];
  if (rows->folded)
    memcpy(worker->folds + worker->count, worker->block_folds, from->count);
  worker->count += from->count;
  return PCAL_OK;
}

static pcal_status fit_rows_first(void *user, size_t w, const pc_rows *from, pcal_error *err) {
  const fit_rows_pass *pass = user;
  struct pc_fit_rows_worker *worker = &pass->rows->workers[w];
  PC_TRY(fit_rows_compute(pass->rows, worker, from, err));
  fit_rows_add_sizes(pass->rows, worker, from);
  fit_rows_add_sums(worker, from);
  return worker->keeps ? fit_rows_keep(pass->rows, worker, from, err) : PCAL_OK;
}

static pcal_status fit_rows_first_list(void *user, size_t w, pc_fit_fields *fields,
                                       pcal_error *err) {
  const fit_rows_pass *pass = user;
  struct pc_fit_rows_worker *worker = &pass->rows->workers[w];
  double largest = (double)worker->largest;
  PC_TRY(pc_fit_field_sums(fields, &worker->log_true, 1, err));
  PC_TRY(pc_fit_field_sums(fields, &worker->weight, 1, err));
  PC_TRY(pc_fit_field_sums(fields, &worker->exponents, 1, err));
  PC_TRY(pc_fit_field_sums(fields, &worker->nonzero, 1, err));
  PC_TRY(pc_fit_field_counts(fields, &worker->impossible, 1, err));
  PC_TRY(pc_fit_field_fixed(fields, worker->class_weight, pass->rows->classes, err));
  PC_TRY(pc_fit_field_most(fields, &largest, 1, err));
  if (fields->taking)
    worker->largest = (int)fmin(fmax(largest, -FIT_ROWS_LARGEST), FIT_ROWS_LARGEST);
  return PCAL_OK;
}

static void fit_rows_scale(pc_fit_rows *rows, const pc_sum *exponents, const pc_sum *nonzero,
                           int largest) {
  const double weight = pc_sum_value(nonzero);
  const double typical = weight > 0.0 ? ceil(pc_sum_value(exponents) / weight) : 0.0;
  rows->exponent = (int)fmax(fmin(typical, FIT_ROWS_EXPONENT_MAX), -FIT_ROWS_EXPONENT_MAX);
  const int above = largest - rows->exponent;
  rows->shrink = ldexp(1.0, -(above < 0                  ? 0
                              : above > FIT_ROWS_OUTLIER ? FIT_ROWS_OUTLIER
                                                         : above));
}

static void fit_rows_collect(pc_fit_rows *rows) {
  struct pc_fit_rows_worker *first = &rows->workers[0];
  rows->kept = first->keeps;
  rows->count = first->count;
  rows->padded_count = fit_rows_padded(first->count);
  for (size_t w = 1; w < rows->worker_count; w++) {
    const struct pc_fit_rows_worker *other = &rows->workers[w];
    pc_sum_merge(&first->log_true, &other->log_true);
    pc_sum_merge(&first->weight, &other->weight);
    pc_sum_merge(&first->exponents, &other->exponents);
    pc_sum_merge(&first->nonzero, &other->nonzero);
    first->largest = other->largest > first->largest ? other->largest : first->largest;
    first->impossible += other->impossible;
    rows->kept &= other->keeps;
    rows->count += other->count;
    rows->padded_count += fit_rows_padded(other->count);
    for (size_t c = 0; c < rows->classes; c++)
      first->class_weight[c].units += other->class_weight[c].units;
  }
  for (size_t c = 0; c < rows->classes; c++)
    rows->class_weight[c] = pc_fixed_value(&first->class_weight[c]);
  rows->weight = pc_sum_value(&first->weight);
  rows->impossible = first->impossible;
  rows->before =
      rows->impossible > 0 ? INFINITY : 0.0 - pc_sum_value(&first->log_true) / rows->weight;
  fit_rows_scale(rows, &first->exponents, &first->nonzero, first->largest);
}

/* True if floats hold the features exactly: they are the float32 logits themselves. */
static int fit_rows_floats_suffice(const pc_fit_rows *rows, const pcal_shape *shape) {
  return shape->type == PCAL_F32 && shape->kind == PCAL_LOGIT &&
         (rows->feature == PC_FEATURE_SCORES || rows->feature == PC_FEATURE_LOG_ODDS);
}

static pcal_status fit_rows_prepare(pc_fit_rows *rows, pcal_error *err) {
  const pcal_env *env = rows->task->env;
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(rows->task->source, &shape);
  rows->floats = fit_rows_floats_suffice(rows, &shape);
  if (shape.row_count != PCAL_NO_ROW)
    rows->share = (size_t)(shape.row_count / rows->worker_count + 1);
  rows->class_weight = pc_alloc(env, rows->classes, sizeof *rows->class_weight);
  rows->workers = pc_alloc(env, rows->worker_count, sizeof *rows->workers);
  int enough = rows->class_weight != NULL && rows->workers != NULL;
  for (size_t w = 0; enough && w < rows->worker_count; w++) {
    struct pc_fit_rows_worker *worker = &rows->workers[w];
    worker->keeps = rows->task->replay == NULL;
    worker->floats = rows->floats;
    worker->largest = -2 * FIT_ROWS_EXPONENT_MAX;
    worker->class_weight = pc_alloc(env, rows->classes, sizeof *worker->class_weight);
    enough = worker->class_weight != NULL;
  }
  return enough ? PCAL_OK : pc_fail_memory(err, "preparing workers");
}

pcal_status pc_fit_rows_open(const pc_fit_task *task, pc_feature feature,
                             pc_fit_rows_flags order, pc_fit_rows *out, pcal_error *err) {
  const pc_layout *layout = &task->calibrator->layout;
  const pc_row_policy policy = {
      .scores = PC_SCORES_FILLED, .need_log = 1, .probs = PC_PROBS_LEAN};
  *out = (pc_fit_rows){.task = task,
                       .feature = feature,
                       .classes = layout->classes,
                       .width = pc_feature_count(feature, layout),
                       .folded = (order & PC_FIT_FOLDED) != 0,
                       .soft = pc_source_is_soft(task->source),
                       .transposed = (order & PC_FIT_TRANSPOSED) != 0,
                       .worker_count = pc_worker_count(task->env)};
  fit_rows_pass pass = {.rows = out};
  PC_TRY(fit_rows_prepare(out, err));
  PC_TRY(pc_fit_pass(task, &policy, fit_rows_first, fit_rows_first_list, &pass, err));
  fit_rows_collect(out);
  for (size_t w = 0; !out->kept && w < out->worker_count; w++)
    fit_rows_drop(out, &out->workers[w]);
  return PCAL_OK;
}

/* ---- Later passes ---- */

static pcal_status fit_rows_again(void *user, size_t w, const pc_rows *from, pcal_error *err) {
  const fit_rows_pass *pass = user;
  const pc_fit_rows *rows = pass->rows;
  struct pc_fit_rows_worker *worker = &rows->workers[w];
  PC_TRY(fit_rows_compute(rows, worker, from, err));
  if (!rows->transposed)
    fit_rows_divide(worker->x, from->count * rows->width, rows->exponent);
  const pc_fit_block block = {.count = from->count,
                              .x = worker->x,
                              .labels = from->labels,
                              .weights = from->weights,
                              .folds = rows->folded ? worker->block_folds : NULL};
  return pass->add(pass->user, w, &block, err);
}

static pcal_status fit_rows_again_list(void *user, size_t w, pc_fit_fields *fields,
                                       pcal_error *err) {
  const fit_rows_pass *pass = user;
  return pass->list(pass->user, w, fields, err);
}

/* Index of the first kept row of a worker. */
static size_t fit_rows_first_index(const pc_fit_rows *rows,
                                   const struct pc_fit_rows_worker *worker) {
  size_t number = 0;
  for (const struct pc_fit_rows_worker *other = rows->workers; other < worker; other++)
    number += rows->transposed ? fit_rows_padded(other->count) : other->count;
  return number;
}

/* Copies kept features as doubles, divided by 2^exponent. */
static void fit_rows_widen(const struct pc_fit_rows_worker *from, size_t at, size_t cells,
                           int exponent, double *out) {
  for (size_t i = 0; from->floats && i < cells; i++)
    out[i] = (double)((const float *)from->values)[at + i];
  if (!from->floats)
    memcpy(out, (const double *)from->values + at, cells * sizeof *out);
  fit_rows_divide(out, cells, exponent);
}

/* Hands block number `index` of the rows of worker `from` to worker `w`, through the buffers of
 * worker `buffers`. */
static pcal_status fit_rows_hand_out(const fit_rows_pass *pass,
                                     const struct pc_fit_rows_worker *from, size_t index,
                                     size_t buffers, size_t w, pcal_error *err) {
  const pc_fit_rows *rows = pass->rows;
  struct pc_fit_rows_worker *own = &rows->workers[buffers];
  const size_t size = fit_rows_block(rows), begin = index * size, left = from->count - begin;
  const size_t count = left < size ? left : size, at = begin * rows->width;
  const int weighted = rows->task->calibrator->fit.weighted;
  pc_fit_block block = {.count = count,
                        .first = fit_rows_first_index(rows, from) + begin,
                        .labels = from->labels + begin,
                        .weights = weighted ? from->weights + begin : NULL,
                        .folds = rows->folded ? from->folds + begin : NULL};
  if (rows->transposed) {
    block.transposed = from->floats ? (const void *)((const float *)from->values + at)
                                    : (const void *)((const double *)from->values + at);
    return pass->add(pass->user, w, &block, err);
  }
  PC_TRY(fit_rows_reserve_buffers(rows, own, err));
  fit_rows_widen(from, at, count * rows->width, rows->exponent, own->x);
  block.x = own->x;
  return pass->add(pass->user, w, &block, err);
}

static size_t fit_rows_blocks(const pc_fit_rows *rows,
                              const struct pc_fit_rows_worker *worker) {
  return (worker->count + fit_rows_block(rows) - 1) / fit_rows_block(rows);
}

static pcal_status fit_rows_task(void *user, size_t index, size_t w, pcal_error *err) {
  const fit_rows_pass *pass = user;
  const struct pc_fit_rows_worker *from = pass->rows->workers;
  while (index >= fit_rows_blocks(pass->rows, from))
    index -= fit_rows_blocks(pass->rows, from++);
  return fit_rows_hand_out(pass, from, index, w, w, err);
}

pcal_status pc_fit_rows_run(const pc_fit_rows *rows, pc_fit_add add, pc_fit_list_fields list,
                            void *user, pcal_error *err) {
  const pc_row_policy policy = {.scores = PC_SCORES_ONLY, .probs = PC_PROBS_LEAN};
  pc_fit_rows copy = *rows;
  fit_rows_pass pass = {&copy, add, list, user};
  if (!rows->kept)
    return pc_fit_pass(rows->task, &policy, fit_rows_again,
                       list == NULL ? NULL : fit_rows_again_list, &pass, err);
  size_t blocks = 0;
  for (size_t w = 0; w < rows->worker_count; w++)
    blocks += fit_rows_blocks(rows, &rows->workers[w]);
  const double cost = FIT_ROWS_COST * (double)rows->count * (double)rows->width;
  return pc_run(rows->task->env, blocks, cost, fit_rows_task, &pass, err);
}

pcal_status pc_fit_rows_run_serial(const pc_fit_rows *rows, size_t buffers, pc_fit_add add,
                                   void *user, pcal_error *err) {
  pc_fit_rows copy = *rows;
  const fit_rows_pass pass = {&copy, add, NULL, user};
  for (size_t w = 0; w < rows->worker_count; w++)
    for (size_t b = 0; b < fit_rows_blocks(rows, &rows->workers[w]); b++)
      PC_TRY(fit_rows_hand_out(&pass, &rows->workers[w], b, buffers, 0, err));
  return PCAL_OK;
}
