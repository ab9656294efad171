/* Formula, p = softmax(w * x + b), r = p - e_y:
 *   gradient by w_k, b_k = mean of r_k x_k, r_k;
 *   H (w', b') by w_k, b_k = mean of q_k x_k, q_k,  q_k = p_k (u_k - sum_l p_l u_l),
 *   u = w' * x + b'.
 * The mean loss is an exact sum of rounded losses of rows; the other sums are on a lattice
 * (stats/lattice_sums.h), with features clipped as in fit_rows.h.
 * Edge cases:
 *   1. A row of weight above PC_LATTICE_HEAVY is added alone, and its terms are multiplied by
 *      its weight.
 *   2. Lanes of a tile without a row have weight 0.
 * Cost: for each score about 2 ns for an evaluation and 0.7 ns for a product. */
#include "calibrators/linear/vector_pass.h"

#include <math.h>
#include <string.h>

#include "kernels/column_sum.h"
#include "kernels/dispatch.h"
#include "stats/lattice_sums.h"

#define VECTOR_PASS_LOSSES 256
#define VECTOR_PASS_PART (PC_VECTOR_SCALING_FOLD / 2)

struct pc_vector_pass_worker {
  pc_sum loss;
  pc_lattice_sums sums;
  double room;    /* weight that the lanes can still take */
  double *lanes;  /* sums of kernels */
  double *terms;  /* scratch of kernels for a tile */
  double *wide;   /* features of a tile of rows that are not kept */
  double *unused; /* sums that are not needed */
  double *probs;  /* probabilities of such a tile */
  size_t loss_count;
  double losses[VECTOR_PASS_LOSSES];
  void *block; /* holds the arrays */
};

/* ---- Space ---- */

static pcal_status vector_pass_worker_new(const pc_vector_pass *pass,
                                          struct pc_vector_pass_worker *worker,
                                          pcal_error *err) {
  const pcal_env *env = pass->rows->task->env;
  const size_t k = pass->classes, tile = k * PC_LANES, fold = k * PC_VECTOR_SCALING_FOLD;
  const size_t cells = (PC_VECTOR_SCALING_ALL + PC_VECTOR_SCALING_SLOPES) * fold + 3 * tile;
  worker->block = pc_alloc(env, cells + PC_VECTOR_SCALING_FOLD, sizeof(double));
  if (worker->block == NULL)
    return pc_fail_memory(err, "preparing workers");
  worker->lanes = (double *)worker->block + (64 - (uintptr_t)worker->block % 64) % 64 / 8;
  worker->unused = worker->lanes + PC_VECTOR_SCALING_ALL * fold;
  worker->terms = worker->unused + PC_VECTOR_SCALING_SLOPES * fold;
  worker->wide = worker->terms + tile;
  worker->probs = worker->wide + tile;
  return pc_lattice_sums_new(env, PC_VECTOR_SCALING_ALL * k, &worker->sums, err);
}

/* Rows whose probabilities are kept; 0 if that would take more than a quarter of the memory
 * limit. */
static size_t vector_pass_places(const pc_vector_pass *pass) {
  const uint64_t limit = pass->rows->task->env->memory_limit;
  const size_t places = pass->sample != NULL ? pass->sample->count + PC_LANES
                        : pass->rows->kept   ? pass->rows->padded_count
                                             : 0;
  return limit > 0 && places > limit / 4 / (pass->classes * sizeof *pass->probs) ? 0 : places;
}

static pcal_status vector_pass_prepare(pc_vector_pass *pass, pcal_error *err) {
  const pcal_env *env = pass->rows->task->env;
  const size_t k = pass->classes, places = vector_pass_places(pass);
  pass->place = pc_alloc(env, k, 9 * sizeof(double));
  pass->workers = pc_alloc(env, pass->worker_count, sizeof *pass->workers);
  pass->probs = places > 0 ? pc_alloc_raw(env, places, k * sizeof *pass->probs) : NULL;
  if (pass->place == NULL || pass->workers == NULL || (places > 0 && pass->probs == NULL))
    return pc_fail_memory(err, "preparing a search");
  pass->vector = pass->place + pass->count;
  pass->gradient = pass->vector + pass->count;
  pass->class_variances = pass->gradient + pass->count;
  for (size_t w = 0; w < pass->worker_count; w++)
    PC_TRY(vector_pass_worker_new(pass, &pass->workers[w], err));
  return PCAL_OK;
}

pcal_status pc_vector_pass_new(const pc_fit_rows *rows, const pc_fit_block *sample,
                               double weight, pc_vector_pass *out, pcal_error *err) {
  *out = (pc_vector_pass){.rows = rows,
                          .sample = sample,
                          .weight = weight,
                          .classes = rows->classes,
                          .most = ldexp(1.0 / rows->shrink, rows->exponent),
                          .count = 2 * rows->classes,
                          .kernels = pc_kernels_best()->vector_scaling,
                          .worker_count = sample != NULL ? 1 : rows->worker_count};
  return vector_pass_prepare(out, err);
}

void pc_vector_pass_free(pc_vector_pass *pass) {
  const pcal_env *env = pass->rows->task->env;
  for (size_t w = 0; w < pass->worker_count; w++) {
    pc_lattice_sums_free(env, &pass->workers[w].sums);
    pc_free(env, pass->workers[w].block);
  }
  pc_free(env, pass->workers);
  pc_free(env, pass->place);
  pc_free(env, pass->probs);
  *pass = (pc_vector_pass){0};
}

/* ---- Sums over rows ---- */

/* Sums for each class in the current pass. */
static size_t vector_pass_numbers(const pc_vector_pass *pass) {
  return !pass->products && pass->wants_class_variances ? PC_VECTOR_SCALING_ALL
                                                        : PC_VECTOR_SCALING_SLOPES;
}

/* Adds the lanes, times `weight`, to the sums and clears them.  Half of them at a time: the sum
 * of all lanes of a tile of weight PC_LANES * PC_LATTICE_HEAVY might not be exact. */
static void vector_pass_empty(const pc_vector_pass *pass, struct pc_vector_pass_worker *worker,
                              double weight) {
  const double small = 1.0 / pass->most;
  const double unit[PC_VECTOR_SCALING_ALL] = {small, 1.0, 1.0, small, small * small};
  const size_t numbers = vector_pass_numbers(pass), cells = numbers * pass->classes;
  for (size_t begin = 0; begin < PC_VECTOR_SCALING_FOLD; begin += VECTOR_PASS_PART) {
    for (size_t i = 0; i < cells; i++) {
      const double *lanes = worker->lanes + i * PC_VECTOR_SCALING_FOLD + begin;
      double sum = 0.0;
      for (size_t l = 0; l < VECTOR_PASS_PART; l++)
        sum += lanes[l];
      worker->sums.lanes[i] = sum * unit[i % numbers];
    }
    pc_lattice_sums_empty(&worker->sums, weight);
  }
  memset(worker->lanes, 0, cells * PC_VECTOR_SCALING_FOLD * sizeof *worker->lanes);
  worker->room = PC_LATTICE_FULL;
}

static void vector_pass_flush(struct pc_vector_pass_worker *worker) {
  pc_sum_add_column(&worker->loss, worker->losses, worker->loss_count);
  worker->loss_count = 0;
}

/* Adds the losses of a tile, `times` over; weights NULL: all 1. */
static void vector_pass_losses(struct pc_vector_pass_worker *worker, const double *losses,
                               const double *weights, double times) {
  if (weights == NULL) {
    memcpy(worker->losses + worker->loss_count, losses, PC_LANES * sizeof *losses);
    worker->loss_count += PC_LANES;
    if (worker->loss_count == VECTOR_PASS_LOSSES)
      vector_pass_flush(worker);
    return;
  }
  for (size_t l = 0; l < PC_LANES; l++)
    if (weights[l] > 0.0)
      pc_sum_add_product(&worker->loss, times * weights[l], losses[l]);
}

static void vector_pass_tile(const pc_vector_pass *pass, struct pc_vector_pass_worker *worker,
                             const pc_vector_scaling_tile *tile, double *probs, double times) {
  const size_t k = pass->classes;
  double losses[PC_LANES];
  pc_vector_scaling_tile product = *tile;
  if (!pass->products) {
    pass->kernels->evaluate(tile, pass->wants_class_variances, worker->terms, losses, probs,
                            worker->lanes);
    vector_pass_losses(worker, losses, tile->weights, times);
    return;
  }
  product.w = pass->vector;
  product.b = pass->vector + k;
  if (pass->probs == NULL)
    pass->kernels->evaluate(tile, 0, worker->terms, losses, probs, worker->unused);
  pass->kernels->multiply(&product, probs, worker->terms, worker->lanes);
}

/* Adds the rows of a tile that are too heavy for the lattice, each alone, times its weight. */
static void vector_pass_heavy(const pc_vector_pass *pass, struct pc_vector_pass_worker *worker,
                              const pc_vector_scaling_tile *tile, double *probs,
                              double *weights) {
  double one[PC_LANES] = {0.0};
  pc_vector_scaling_tile alone = *tile;
  alone.weights = one;
  for (size_t l = 0; l < PC_LANES; l++) {
    if (!(weights[l] > PC_LATTICE_HEAVY))
      continue;
    vector_pass_empty(pass, worker, 1.0);
    one[l] = 1.0;
    vector_pass_tile(pass, worker, &alone, probs, weights[l]);
    vector_pass_empty(pass, worker, weights[l]);
    one[l] = weights[l] = 0.0;
  }
}

/* Sets the weights of a tile, their sum and the largest; returns 1 if all are 1. */
static int vector_pass_weigh(const pc_fit_block *block, size_t begin, double *weights,
                             double *sum, double *largest) {
  int plain = 1;
  *sum = PC_LANES;
  *largest = 1.0;
  if (block->weights == NULL && block->count - begin >= PC_LANES)
    return 1;
  *sum = *largest = 0.0;
  for (size_t l = 0; l < PC_LANES; l++) {
    weights[l] = begin + l >= block->count ? 0.0
                 : block->weights == NULL  ? 1.0
                                           : block->weights[begin + l];
    plain &= weights[l] == 1.0;
    *sum += fmin(weights[l], PC_LATTICE_HEAVY);
    *largest = fmax(*largest, weights[l]);
  }
  return plain;
}

/* Transposes the features of a tile of rows. */
static void vector_pass_transpose(const pc_vector_pass *pass, const pc_fit_block *block,
                                  size_t begin, double *out) {
  const size_t k = pass->classes, left = block->count - begin;
  for (size_t l = 0; l < PC_LANES; l++)
    for (size_t j = 0; j < k; j++)
      out[j * PC_LANES + l] = l < left ? block->x[(begin + l) * k + j] : 0.0;
}

/* Adds PC_LANES rows of a block, from `begin` on. */
static void vector_pass_rows(const pc_vector_pass *pass, struct pc_vector_pass_worker *worker,
                             const pc_fit_block *block, size_t begin) {
  const size_t k = pass->classes, left = block->count - begin;
  const int floats = pass->sample == NULL && pass->rows->floats;
  int32_t labels[PC_LANES] = {0};
  double weights[PC_LANES], sum, largest;
  const int plain = vector_pass_weigh(block, begin, weights, &sum, &largest);
  double *probs =
      pass->probs == NULL ? worker->probs : pass->probs + (block->first + begin) * k;
  pc_vector_scaling_tile tile = {.classes = k,
                                 .labels = labels,
                                 .weights = plain ? NULL : weights,
                                 .most = pass->most,
                                 .w = pass->place,
                                 .b = pass->place + k};
  memcpy(labels, block->labels + begin, (left < PC_LANES ? left : PC_LANES) * sizeof *labels);
  if (block->transposed == NULL)
    vector_pass_transpose(pass, block, begin, worker->wide);
  tile.features_f32 = block->transposed == NULL || !floats
                          ? NULL
                          : (const float *)block->transposed + begin * k;
  tile.features_f64 = block->transposed == NULL ? worker->wide
                      : floats                  ? NULL
                                                : (const double *)block->transposed + begin * k;
  if (largest > PC_LATTICE_HEAVY)
    vector_pass_heavy(pass, worker, &tile, probs, weights);
  if (sum > worker->room)
    vector_pass_empty(pass, worker, 1.0);
  worker->room -= sum;
  vector_pass_tile(pass, worker, &tile, probs, 1.0);
}

static pcal_status vector_pass_add(void *user, size_t w, const pc_fit_block *block,
                                   pcal_error *err) {
  const pc_vector_pass *pass = user;
  (void)err;
  for (size_t begin = 0; begin < block->count; begin += PC_LANES)
    vector_pass_rows(pass, &pass->workers[w], block, begin);
  return PCAL_OK;
}

static pcal_status vector_pass_list(void *user, size_t w, pc_fit_fields *fields,
                                    pcal_error *err) {
  const pc_vector_pass *pass = user;
  struct pc_vector_pass_worker *worker = &pass->workers[w];
  vector_pass_empty(pass, worker, 1.0);
  vector_pass_flush(worker);
  PC_TRY(pc_fit_field_sums(fields, &worker->loss, 1, err));
  return pc_fit_field_fixed(fields, worker->sums.totals, worker->sums.count, err);
}

/* Adds all rows, into the sums of the first worker. */
static pcal_status vector_pass_run(pc_vector_pass *pass, int products, pcal_error *err) {
  struct pc_vector_pass_worker *first = &pass->workers[0];
  pass->products = products;
  for (size_t w = 0; w < pass->worker_count; w++) {
    struct pc_vector_pass_worker *worker = &pass->workers[w];
    const size_t cells = PC_VECTOR_SCALING_ALL * pass->classes * PC_VECTOR_SCALING_FOLD;
    pc_sum_clear(&worker->loss);
    pc_lattice_sums_clear(&worker->sums);
    memset(worker->lanes, 0, cells * sizeof *worker->lanes);
    worker->room = PC_LATTICE_FULL;
    worker->loss_count = 0;
  }
  PC_TRY(pass->sample != NULL
             ? vector_pass_add(pass, 0, pass->sample, err)
             : pc_fit_rows_run(pass->rows, vector_pass_add, vector_pass_list, pass, err));
  for (size_t w = 0; w < pass->worker_count; w++) {
    struct pc_vector_pass_worker *worker = &pass->workers[w];
    vector_pass_empty(pass, worker, 1.0);
    vector_pass_flush(worker);
    if (w == 0)
      continue;
    pc_sum_merge(&first->loss, &worker->loss);
    pc_lattice_sums_merge(&first->sums, &worker->sums);
  }
  return PCAL_OK;
}

/* ---- Results ---- */

/* A mean over rows; shrink: factor of the features in it. */
static double vector_pass_mean(const pc_vector_pass *pass, size_t class, size_t number,
                               double shrink) {
  const pc_lattice_sums *sums = &pass->workers[0].sums;
  return pc_lattice_sums_value(sums, class * vector_pass_numbers(pass) + number) /
         (pass->weight * shrink);
}

/* Converts parameters to those of undivided features, times a scale. */
static void vector_pass_place(const pc_vector_pass *pass, const double *from, double scale,
                              double *to) {
  const double unit = ldexp(scale, -pass->rows->exponent);
  for (size_t k = 0; k < pass->classes; k++) {
    to[k] = from[k] * unit;
    to[pass->classes + k] = from[pass->classes + k] * scale;
  }
}

pcal_status pc_vector_pass_evaluate(pc_vector_pass *pass, const double *parameters,
                                    int class_variances, pcal_error *err) {
  const size_t classes = pass->classes;
  const double shrink = pass->rows->shrink;
  vector_pass_place(pass, parameters, 1.0, pass->place);
  pass->wants_class_variances = class_variances;
  PC_TRY(vector_pass_run(pass, 0, err));
  pass->value = pc_sum_value(&pass->workers[0].loss) / pass->weight;
  for (size_t k = 0; k < classes; k++) {
    pass->gradient[k] = vector_pass_mean(pass, k, 0, shrink);
    pass->gradient[classes + k] = vector_pass_mean(pass, k, 1, 1.0);
  }
  for (size_t k = 0; class_variances && k < classes; k++) {
    pass->class_variances[3 * k] = vector_pass_mean(pass, k, 2, 1.0);
    pass->class_variances[3 * k + 1] = vector_pass_mean(pass, k, 3, shrink);
    pass->class_variances[3 * k + 2] = vector_pass_mean(pass, k, 4, shrink * shrink);
  }
  return PCAL_OK;
}

/* A power of 2 that makes a vector small enough for the kernels; 0 for a vector of zeros. */
static double vector_pass_scale(const pc_vector_pass *pass, const double *v) {
  double most = 0.0;
  for (size_t i = 0; i < pass->count; i++)
    most = fmax(most, i < pass->classes ? fabs(v[i]) / pass->rows->shrink : fabs(v[i]));
  return most > 1e-290 && most < 1e290 ? ldexp(1.0, -ilogb(most) - 3) : 0.0;
}

pcal_status pc_vector_pass_multiply(pc_vector_pass *pass, const double *v, double *out,
                                    pcal_error *err) {
  const size_t classes = pass->classes;
  const double scale = vector_pass_scale(pass, v);
  vector_pass_place(pass, v, scale, pass->vector);
  PC_TRY(vector_pass_run(pass, 1, err));
  for (size_t k = 0; k < classes; k++) {
    const double w = vector_pass_mean(pass, k, 0, pass->rows->shrink);
    const double b = vector_pass_mean(pass, k, 1, 1.0);
    out[k] = scale > 0.0 ? w / scale : 0.0;
    out[classes + k] = scale > 0.0 ? b / scale : 0.0;
  }
  return PCAL_OK;
}
