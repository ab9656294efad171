/* Sums of kernels in the log domain: each row keeps the largest exponent so far and the sum of
 * all kernels relative to it, rescaled when a larger exponent is found.  A task is a few packs
 * of rows against all packs, in order, so that the result does not depend on threads.
 *
 * Accuracy:
 *   exponents  about 1e-16 times their largest part, p log p / h or log Gamma(p / h);
 *   sums       kernels that, multiplied by their weight, are below e^-60 times the largest so
 *              far are left out.  The sum of a row is at least its largest kernel, so that for
 *              N distinct rows less than a share of N e^-60 < 1e-26 N is missing.  No log
 *              density is off by more, no sum_c |r_c| by more than twice that: below rounding
 *              up to N = 1e9.
 * Cost: N^2 pairs of 2 K operations, and an exp for each kernel that is not left out. */
#include "stats/dirichlet_kde.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/sum.h"
#include "device/device_dirichlet.h"
#include "kernels/dispatch.h"
#include "kernels/lane_math.h"
#include "kernels/pair_kernels.h"

#define DIRICHLET_PACKS 4 /* of a task */
/* Used as log 0.  Times a positive probability it is below every other exponent: those are
 * above -1e12, since positive probabilities are raised to at least 2^-200, too little to change
 * any other product. */
#define DIRICHLET_LOG_ZERO (-1e300)
#define DIRICHLET_LEAST 0x1p-200
#define DIRICHLET_SHUT (-1e200)

static double dirichlet_log(double p) {
  if (p <= 0.0)
    return DIRICHLET_LOG_ZERO;
  return p < DBL_MIN ? pc_lane_log(p * 0x1p60) - 60 * 0x1.62e42fefa39efp-1 : pc_lane_log(p);
}

/* A probability as used in kernels. */
static double dirichlet_prob(double p) {
  return !(p > 0.0) ? 0.0 : p < DIRICHLET_LEAST ? DIRICHLET_LEAST : p;
}

/* True if all probabilities can be used in kernels unchanged. */
static int dirichlet_plain(const double *probs, size_t count) {
  int plain = 1;
  for (size_t i = 0; i < count; i++)
    plain &= dirichlet_prob(probs[i]) == probs[i];
  return plain;
}

pcal_status pc_dirichlet_kde_new(const pcal_env *env, const pc_pair_rows *rows, double total,
                                 const pc_device_queue *queue, pc_dirichlet_kde *out,
                                 pcal_error *err) {
  const size_t count = pc_pair_pack_count(rows) * PC_LANES * rows->classes;
  const int plain = dirichlet_plain(rows->probs, count);
  *out = (pc_dirichlet_kde){
      .env = env, .rows = rows, .total = total, .probs = rows->probs, .queue = *queue};
  out->logs = pc_alloc_raw(env, count, sizeof(double));
  if (!plain)
    out->probs = out->own = pc_alloc_raw(env, count, sizeof(double));
  if (out->logs == NULL || out->probs == NULL) {
    pc_dirichlet_kde_free(out);
    return pc_fail_memory(err, "preparing kernels");
  }
  for (size_t i = 0; i < count; i++)
    out->logs[i] = dirichlet_log(rows->probs[i]);
  for (size_t i = 0; !plain && i < count; i++)
    out->own[i] = dirichlet_prob(rows->probs[i]);
  return PCAL_OK;
}

void pc_dirichlet_kde_free(pc_dirichlet_kde *dirichlet) {
  pc_free(dirichlet->env, dirichlet->logs);
  pc_free(dirichlet->env, dirichlet->own);
  dirichlet->logs = dirichlet->own = NULL;
}

/* ---- offsets: one number for each row and bandwidth ---- */

typedef struct dirichlet_offsets {
  const pc_pair_rows *rows;
  const double *bandwidths;
  size_t count;
  double *out; /* [bandwidth][row] */
} dirichlet_offsets;

/* log w_j - log B(p_j / h + 1) of one pack; -inf for rows of weight 0. */
static pcal_status dirichlet_offsets_task(void *user, size_t index, size_t worker,
                                          pcal_error *err) {
  (void)worker;
  (void)err;
  const dirichlet_offsets *work = user;
  const size_t all = pc_pair_pack_count(work->rows) * PC_LANES, k = work->rows->classes;
  const double *weights = work->rows->weights + index * PC_LANES;
  for (size_t b = 0; b < work->count; b++) {
    double *out = work->out + b * all + index * PC_LANES;
    pc_kernels_best()->pair->dirichlet_norm(k, work->rows->probs + index * PC_LANES * k,
                                            1.0 / work->bandwidths[b], out);
    for (size_t l = 0; l < PC_LANES; l++)
      out[l] = weights[l] > 0.0 ? out[l] + pc_lane_log(weights[l]) : -INFINITY;
  }
  return PCAL_OK;
}

pcal_status pc_dirichlet_kde_offsets(const pc_dirichlet_kde *dirichlet,
                                     const double *bandwidths, size_t count, double *out,
                                     pcal_error *err) {
  dirichlet_offsets work = {dirichlet->rows, bandwidths, count, out};
  const double cost =
      40.0 * (double)count * (double)dirichlet->rows->count * (double)dirichlet->rows->classes;
  return pc_run(dirichlet->env, pc_pair_pack_count(dirichlet->rows), cost,
                dirichlet_offsets_task, &work, err);
}

/* ---- sums of kernels ---- */

/* The rows of one pack: sums[r * PC_LANES + l] is relative to exp(peak[r]). */
typedef struct dirichlet_lanes {
  double peak[PC_LANES], sums[PC_PACK_PAIRS];
} dirichlet_lanes;

static void dirichlet_clear(dirichlet_lanes *lanes) {
  for (size_t r = 0; r < PC_LANES; r++)
    lanes->peak[r] = -DBL_MAX;
  memset(lanes->sums, 0, sizeof lanes->sums);
}

/* Rescales to a larger exponent; returns the factor. */
static double dirichlet_raise(dirichlet_lanes *lanes, size_t r, double peak) {
  const double factor = pc_lane_exp(lanes->peak[r] - peak);
  lanes->peak[r] = peak;
  for (size_t l = 0; l < PC_LANES; l++)
    lanes->sums[r * PC_LANES + l] *= factor;
  return factor;
}

/* The kernels of one pack of rows, their exponents scale * dots + offset. */
typedef struct dirichlet_pack {
  const double *dots, *offset;
  double scale;
} dirichlet_pack;

static double dirichlet_largest(const dirichlet_pack *pack, size_t r) {
  double largest = -INFINITY;
  for (size_t l = 0; l < PC_LANES; l++) {
    const double x = pack->dots[r * PC_LANES + l] * pack->scale + pack->offset[l];
    largest = x > largest ? x : largest;
  }
  return largest;
}

/* Adds the kernels.  classes: `count` sums per row that are rescaled with the lanes; or
 * NULL. */
static void dirichlet_meet(const dirichlet_pack *pack, dirichlet_lanes *lanes, double *classes,
                           size_t count) {
  const pc_pair_kernels *kernels = pc_kernels_best()->pair;
  const unsigned all = (1u << PC_LANES) - 1;
  const unsigned above =
      kernels->dirichlet(pack->dots, pack->scale, pack->offset, lanes->peak, all, lanes->sums);
  if (above == 0)
    return;
  for (size_t r = 0; r < PC_LANES; r++) {
    if ((above >> r & 1) == 0)
      continue;
    const double factor = dirichlet_raise(lanes, r, dirichlet_largest(pack, r));
    for (size_t c = 0; classes != NULL && c < count; c++)
      classes[r * count + c] *= factor;
  }
  (void)kernels->dirichlet(pack->dots, pack->scale, pack->offset, lanes->peak, above,
                           lanes->sums);
}

/* Returns the sum of the lanes of a row and clears them. */
static double dirichlet_fold(dirichlet_lanes *lanes, size_t r) {
  double *sums = lanes->sums + r * PC_LANES;
  for (size_t width = PC_LANES / 2; width > 0; width /= 2)
    for (size_t l = 0; l < width; l++)
      sums[l] += sums[l + width];
  const double sum = sums[0];
  memset(sums, 0, PC_LANES * sizeof *sums);
  return sum;
}

/* <log p_i, p_j> of two packs; -inf for a row with itself. */
static void dirichlet_dots(const pc_dirichlet_kde *dirichlet, size_t a, size_t b,
                           double *dots) {
  const size_t k = dirichlet->rows->classes;
  pc_kernels_best()->pair->dots(k, dirichlet->logs + a * PC_LANES * k,
                                dirichlet->probs + b * PC_LANES * k, dots);
  for (size_t r = 0; a == b && r < PC_LANES; r++)
    dots[r * PC_LANES + r] = -INFINITY;
}

/* The exponent of the summed kernels of the w - 1 other copies of row i; -inf if there are
 * none. */
static double dirichlet_copies(const pc_dirichlet_kde *dirichlet, size_t i, double bandwidth,
                               double offset) {
  const double w = dirichlet->rows->weights[i];
  const ptrdiff_t at = pc_pair_prob(dirichlet->rows, i, 0) - dirichlet->rows->probs;
  const double *p = dirichlet->probs + at, *logs = dirichlet->logs + at;
  double dot = 0.0;
  if (w < 2.0)
    return -INFINITY;
  for (size_t c = 0; c < dirichlet->rows->classes * PC_LANES; c += PC_LANES)
    dot += logs[c] * p[c];
  return (dot * (1.0 / bandwidth) + offset) + pc_lane_log((w - 1.0) / w);
}

/* ---- likelihood ---- */

typedef struct dirichlet_work {
  const pc_dirichlet_kde *dirichlet;
  const double *bandwidths;
  size_t count; /* bandwidths */
  double power; /* of the error */
  const double *offsets;
  double *values;       /* [bandwidth][row] */
  size_t scratch_bytes; /* per worker */
  char *scratch;
} dirichlet_work;

static size_t dirichlet_padded(const dirichlet_work *work) {
  return pc_pair_pack_count(work->dirichlet->rows) * PC_LANES;
}

static double dirichlet_log_density(const dirichlet_work *work, size_t row, size_t b,
                                    dirichlet_lanes *lanes) {
  const double offset = work->offsets[b * dirichlet_padded(work) + row];
  const double copies = dirichlet_copies(work->dirichlet, row, work->bandwidths[b], offset);
  const size_t r = row % PC_LANES;
  if (copies > lanes->peak[r])
    dirichlet_raise(lanes, r, copies);
  const double sum = dirichlet_fold(lanes, r) + pc_lane_exp(copies - lanes->peak[r]);
  return lanes->peak[r] < DIRICHLET_SHUT ? -INFINITY : lanes->peak[r] + pc_lane_log(sum);
}

static pcal_status dirichlet_likelihood_task(void *user, size_t a, size_t worker,
                                             pcal_error *err) {
  (void)err;
  const dirichlet_work *work = user;
  const size_t all = dirichlet_padded(work);
  dirichlet_lanes *lanes = (void *)(work->scratch + worker * work->scratch_bytes);
  double dots[PC_PACK_PAIRS];
  for (size_t b = 0; b < work->count; b++)
    dirichlet_clear(&lanes[b]);
  for (size_t j = 0; j < pc_pair_pack_count(work->dirichlet->rows); j++) {
    dirichlet_dots(work->dirichlet, a, j, dots);
    for (size_t b = 0; b < work->count; b++) {
      const dirichlet_pack pack = {dots, work->offsets + b * all + j * PC_LANES,
                                   1.0 / work->bandwidths[b]};
      dirichlet_meet(&pack, &lanes[b], NULL, 0);
    }
  }
  for (size_t r = 0; r < PC_LANES; r++)
    for (size_t b = 0; b < work->count; b++) {
      const size_t row = a * PC_LANES + r;
      work->values[b * all + row] = row < work->dirichlet->rows->count
                                        ? dirichlet_log_density(work, row, b, &lanes[b])
                                        : 0.0;
    }
  return PCAL_OK;
}

/* ---- error ---- */

/* Rows of the packs of one task: lanes hold the kernels of `label` only, classes those of all
 * labels before. */
typedef struct dirichlet_tile {
  const dirichlet_work *work;
  size_t first, packs;
  int32_t label;
  dirichlet_lanes *lanes; /* for each pack */
  double *classes;        /* for each row */
} dirichlet_tile;

static double *dirichlet_classes(const dirichlet_tile *tile, size_t pack, size_t r) {
  return tile->classes + (pack * PC_LANES + r) * tile->work->dirichlet->rows->classes;
}

/* Moves the sums of the lanes to the sums of their label. */
static void dirichlet_flush(dirichlet_tile *tile) {
  for (size_t a = 0; tile->label >= 0 && a < tile->packs; a++)
    for (size_t r = 0; r < PC_LANES; r++)
      dirichlet_classes(tile, a, r)[tile->label] += dirichlet_fold(&tile->lanes[a], r);
  tile->label = -1;
}

static void dirichlet_scatter(dirichlet_tile *tile, size_t a, const int32_t *labels) {
  double *sums = tile->lanes[a].sums;
  for (size_t r = 0; r < PC_LANES; r++)
    for (size_t l = 0; l < PC_LANES; l++)
      dirichlet_classes(tile, a, r)[labels[l]] += sums[r * PC_LANES + l];
  memset(sums, 0, sizeof tile->lanes[a].sums);
}

static void dirichlet_tile_meet(dirichlet_tile *tile, size_t j) {
  const dirichlet_work *work = tile->work;
  const pc_pair_pack right = pc_pair_pack_at(work->dirichlet->rows, j);
  double dots[PC_PACK_PAIRS];
  const dirichlet_pack pack = {dots, work->offsets + j * PC_LANES, 1.0 / work->bandwidths[0]};
  if (right.label != tile->label)
    dirichlet_flush(tile);
  tile->label = right.label;
  for (size_t a = 0; a < tile->packs; a++) {
    dirichlet_dots(work->dirichlet, tile->first + a, j, dots);
    dirichlet_meet(&pack, &tile->lanes[a], dirichlet_classes(tile, a, 0),
                   work->dirichlet->rows->classes);
    if (right.label < 0)
      dirichlet_scatter(tile, a, right.labels);
  }
}

static double dirichlet_gap(double gap, double power) {
  const double size = fabs(gap);
  if (power == 1.0)
    return size;
  return power == 2.0 ? size * size : pc_pow(size, power);
}

/* sum_c |r_c - p_c|^power of one row; -1 if all kernels are 0 there. */
static double dirichlet_row_error(const dirichlet_tile *tile, size_t pack, size_t r) {
  const dirichlet_work *work = tile->work;
  const pc_pair_rows *rows = work->dirichlet->rows;
  const size_t row = (tile->first + pack) * PC_LANES + r;
  dirichlet_lanes *lanes = &tile->lanes[pack];
  double *classes = dirichlet_classes(tile, pack, r), total = 0.0, error = 0.0, factor = 1.0;
  const double copies =
      dirichlet_copies(work->dirichlet, row, work->bandwidths[0], work->offsets[row]);
  if (copies > lanes->peak[r])
    factor = dirichlet_raise(lanes, r, copies);
  for (size_t c = 0; c < rows->classes; c++)
    classes[c] *= factor;
  classes[rows->labels[row]] += pc_lane_exp(copies - lanes->peak[r]);
  if (lanes->peak[r] < DIRICHLET_SHUT)
    return -1.0;
  for (size_t c = 0; c < rows->classes; c++)
    total += classes[c];
  for (size_t c = 0; c < rows->classes; c++)
    error += dirichlet_gap(classes[c] / total - *pc_pair_prob(rows, row, c), work->power);
  return error;
}

static pcal_status dirichlet_error_task(void *user, size_t index, size_t worker,
                                        pcal_error *err) {
  (void)err;
  const dirichlet_work *work = user;
  const pc_pair_rows *rows = work->dirichlet->rows;
  const size_t all = pc_pair_pack_count(rows), first = index * DIRICHLET_PACKS;
  char *scratch = work->scratch + worker * work->scratch_bytes;
  dirichlet_tile tile = {
      work, first,           first + DIRICHLET_PACKS < all ? DIRICHLET_PACKS : all - first,
      -1,   (void *)scratch, (void *)(scratch + DIRICHLET_PACKS * sizeof(dirichlet_lanes))};
  memset(tile.classes, 0, tile.packs * PC_LANES * rows->classes * sizeof(double));
  for (size_t a = 0; a < tile.packs; a++)
    dirichlet_clear(&tile.lanes[a]);
  for (size_t j = 0; j < all; j++)
    dirichlet_tile_meet(&tile, j);
  dirichlet_flush(&tile);
  for (size_t a = 0; a < tile.packs; a++)
    for (size_t r = 0; r < PC_LANES && (first + a) * PC_LANES + r < rows->count; r++)
      work->values[(first + a) * PC_LANES + r] = dirichlet_row_error(&tile, a, r);
  return PCAL_OK;
}

/* ---- On a device ---- */

#define DIRICHLET_DEVICE_ROWS 2000
#define DIRICHLET_DEVICE_PACKS ((size_t)1 << 20)
#define DIRICHLET_LAUNCH 2e10               /* pairs of a launch: some ten milliseconds */
#define DIRICHLET_THREADS ((size_t)1 << 17) /* of a launch, unless it has fewer rows */

int pc_dirichlet_kde_on_device(const pc_dirichlet_kde *dirichlet) {
  return dirichlet->queue.device != NULL && dirichlet->rows->count >= DIRICHLET_DEVICE_ROWS &&
         pc_pair_pack_count(dirichlet->rows) <= DIRICHLET_DEVICE_PACKS &&
         pc_device_has_dirichlet(dirichlet->queue.device);
}

static int dirichlet_on_device(const dirichlet_work *work) {
  return work->count <= PC_DIRICHLET_SUMS_SCALES && pc_dirichlet_kde_on_device(work->dirichlet);
}

static pcal_status dirichlet_launch(const dirichlet_work *work, const char *what,
                                    pc_device_dirichlet *there, pcal_error *err) {
  const pcal_env *env = work->dirichlet->env;
  const size_t rows = work->dirichlet->rows->count, fewest = DIRICHLET_THREADS / work->count;
  const size_t some = (size_t)(DIRICHLET_LAUNCH / ((double)rows * (double)work->count));
  const size_t step = some > fewest ? some : fewest;
  for (size_t first = 0; first < rows; first += step) {
    pc_progress(env, what, first, rows);
    PC_TRY(pc_check_interrupt(env, err));
    PC_TRY(
        pc_device_dirichlet_run(there, first, rows - first < step ? rows - first : step, err));
  }
  return PCAL_OK;
}

/* The errors of rows, from the sums of their classes. */
static void dirichlet_errors(const dirichlet_work *work, double *classes) {
  const pc_pair_rows *rows = work->dirichlet->rows;
  dirichlet_lanes lanes = {.peak = {0}};
  for (size_t i = 0; i < rows->count; i++) {
    const size_t r = i % PC_LANES, pack = i / PC_LANES;
    dirichlet_tile tile = {work, pack,   1,
                           -1,   &lanes, classes + pack * PC_LANES * rows->classes};
    lanes.peak[r] = work->values[i];
    work->values[i] = dirichlet_row_error(&tile, 0, r);
  }
}

/* Fills the values; by_label: errors, otherwise log densities. */
static pcal_status dirichlet_there(const dirichlet_work *work, const char *what, int by_label,
                                   pcal_error *err) {
  const pc_dirichlet_kde *dirichlet = work->dirichlet;
  const pcal_env *env = dirichlet->env;
  const size_t cells = by_label ? dirichlet_padded(work) * dirichlet->rows->classes : 1;
  const pc_device_dirichlet_rows from = {dirichlet->rows, dirichlet->logs,  dirichlet->probs,
                                         work->offsets,   work->bandwidths, work->count,
                                         by_label};
  double *classes = pc_alloc(env, cells, sizeof *classes);
  pc_device_dirichlet there = {.queue = dirichlet->queue};
  if (classes == NULL)
    return pc_fail_memory(err, "preparing kernels");
  pcal_status status = pc_device_dirichlet_open(&dirichlet->queue, &from, env, &there, err);
  if (status == PCAL_OK)
    status = dirichlet_launch(work, what, &there, err);
  if (status == PCAL_OK)
    status = pc_device_dirichlet_results(&there, work->values, by_label ? classes : NULL, err);
  pc_device_dirichlet_close(&there);
  if (status == PCAL_OK && by_label)
    dirichlet_errors(work, classes);
  pc_free(env, classes);
  return status;
}

/* ---- both ---- */

typedef struct dirichlet_job {
  const char *what;
  pc_task task;
  size_t packs;         /* of a task */
  double nanoseconds;   /* of a pair */
  size_t scratch_bytes; /* of a worker */
} dirichlet_job;

static pcal_status dirichlet_run(dirichlet_work *work, const dirichlet_job *job,
                                 double *offsets, pcal_error *err) {
  const pc_dirichlet_kde *dirichlet = work->dirichlet;
  const double rows = (double)dirichlet->rows->count;
  const size_t packs = pc_pair_pack_count(dirichlet->rows);
  PC_TRY(pc_dirichlet_kde_offsets(dirichlet, work->bandwidths, work->count, offsets, err));
  if (dirichlet_on_device(work))
    return dirichlet_there(work, job->what, job->task == dirichlet_error_task, err);
  return pc_run_with_progress(dirichlet->env, job->what, (packs + job->packs - 1) / job->packs,
                              job->nanoseconds * rows * rows, job->task, work, err);
}

/* Offsets, values and scratch in one block each; values are the caller's to free. */
static pcal_status dirichlet_compute(dirichlet_work *work, const dirichlet_job *job,
                                     pcal_error *err) {
  const pcal_env *env = work->dirichlet->env;
  const size_t cells = work->count * dirichlet_padded(work);
  double *offsets = pc_alloc_raw(env, cells, sizeof *offsets);
  work->offsets = offsets;
  work->values = pc_alloc_raw(env, cells, sizeof *work->values);
  work->scratch_bytes = job->scratch_bytes;
  work->scratch = pc_alloc_raw(env, pc_worker_count(env), job->scratch_bytes);
  pcal_status status = PCAL_OK;
  if (offsets == NULL || work->values == NULL || work->scratch == NULL)
    status = pc_fail_memory(err, "preparing kernels");
  else
    status = dirichlet_run(work, job, offsets, err);
  pc_free(env, offsets);
  pc_free(env, work->scratch);
  if (status != PCAL_OK)
    pc_free(env, work->values);
  return status;
}

/* The weighted mean of one value per row; returns `odd` if some value is not above `least`. */
static double dirichlet_mean(const pc_dirichlet_kde *dirichlet, const double *values,
                             double least, double odd) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t i = 0; i < dirichlet->rows->count; i++) {
    if (!(values[i] > least))
      return odd;
    pc_sum_add_product(&sum, dirichlet->rows->weights[i], values[i]);
  }
  return pc_sum_value(&sum) / dirichlet->total;
}

pcal_status pc_dirichlet_kde_likelihood(const pc_dirichlet_kde *dirichlet,
                                        const double *bandwidths, size_t count, double *out,
                                        pcal_error *err) {
  const dirichlet_job job = {"choosing a bandwidth", dirichlet_likelihood_task, 1,
                             (double)count * 1.5, count * sizeof(dirichlet_lanes)};
  dirichlet_work work = {.dirichlet = dirichlet, .bandwidths = bandwidths, .count = count};
  PC_TRY(dirichlet_compute(&work, &job, err));
  for (size_t b = 0; b < count; b++)
    out[b] = dirichlet_mean(dirichlet, work.values + b * dirichlet_padded(&work), -INFINITY,
                            -INFINITY) -
             pc_log(dirichlet->total - 1.0);
  pc_free(dirichlet->env, work.values);
  return PCAL_OK;
}

pcal_status pc_dirichlet_kde_error(const pc_dirichlet_kde *dirichlet, double bandwidth,
                                   double power, double *out, pcal_error *err) {
  const size_t row = dirichlet->rows->classes * sizeof(double);
  const dirichlet_job job = {"comparing rows with their neighbours", dirichlet_error_task,
                             DIRICHLET_PACKS, 1.0 + 0.1 * (double)dirichlet->rows->classes,
                             DIRICHLET_PACKS * (sizeof(dirichlet_lanes) + PC_LANES * row)};
  dirichlet_work work = {
      .dirichlet = dirichlet, .bandwidths = &bandwidth, .count = 1, .power = power};
  PC_TRY(dirichlet_compute(&work, &job, err));
  *out = dirichlet_mean(dirichlet, work.values, -0.5, -1.0);
  pc_free(dirichlet->env, work.values);
  return PCAL_OK;
}
