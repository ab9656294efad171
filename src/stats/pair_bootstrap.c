/* Formula:  with counts n_i, v_i = n_i - mean(n), r_i the mean of row i of h, m the mean of h:
 *   sum_{ij} n_i n_j (h_ij - r_i - r_j + m) = sum_{ij} v_i v_j h_ij
 * Centring h is centring the counts.  So each tile of pairs is evaluated once for PC_MIX_WIDTH
 * replicas, and nothing of size n^2 is stored.
 * Edge cases:
 *   (1) copies of a row pair with each other, but not with themselves;
 *   (2) lanes beyond the rows have v = 0;
 *   (3) if a row has more than PAIR_BOOTSTRAP_COPIES copies, their counts are not drawn one by
 *       one: their sum N is Poisson(w); the sum of squares is N plus a normal draw for the
 *       number of ordered pairs that meet, with mean N (N - 1) / w and variance twice that.
 * Accuracy: tiles and columns in float, sums of tasks in double: 1e-5 of the standard
 * deviation.
 * Source: Arcones & Gine 1992; Widmann, Lindsten & Zachariah 2019. */
#include "stats/pair_bootstrap.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/dispatch.h"
#include "kernels/lane_math.h"
#include "kernels/pair_tile.h"

#define PAIR_BOOTSTRAP_STREAM UINT64_C(0x5b00000000000000)
#define PAIR_BOOTSTRAP_PACKS 4 /* left packs of a task */
#define PAIR_BOOTSTRAP_COPIES 64
#define PAIR_BOOTSTRAP_POISSON 1e6

typedef struct bootstrap_work {
  const pc_pair_form *form;
  const pc_pair_rows *rows;
  uint64_t seed;
  size_t first;  /* replica of the first column */
  float *counts; /* v: [row, up to whole packs][column] */
  double *sums;  /* of each task, [column] */
} bootstrap_work;

/* ---- draws ---- */

/* Counts of one copy of a row in all columns. */
static void pair_bootstrap_copy(const bootstrap_work *work, size_t row, size_t copy,
                                float out[PC_MIX_WIDTH]) {
  for (size_t b = 0; b < PC_MIX_WIDTH; b += 4) {
    const pc_rng rng = {work->seed,
                        PAIR_BOOTSTRAP_STREAM + ((uint64_t)(work->first + b) << 24) + copy};
    uint32_t bits[4];
    pc_rng_block(&rng, row, bits);
    for (size_t q = 0; q < 4; q++)
      out[b + q] = (float)pc_poisson_one(bits[q]);
  }
}

/* Many copies of a row in one replica: the sum of their counts, and the sum of squared
 * counts. */
static void pair_bootstrap_many(const bootstrap_work *work, size_t row, size_t column,
                                double *sum, double *square) {
  const double w = work->rows->weights[row];
  const pc_rng rng = {work->seed, PAIR_BOOTSTRAP_STREAM +
                                      ((uint64_t)(work->first + column) << 24) +
                                      PAIR_BOOTSTRAP_COPIES};
  *sum = w <= PAIR_BOOTSTRAP_POISSON
             ? (double)pc_rng_poisson(&rng, 2 * row, w)
             : fmax(floor(w + sqrt(w) * pc_rng_normal(&rng, 2 * row) + 0.5), 0.0);
  const double met = *sum * fmax(*sum - 1.0, 0.0) / w;
  *square = *sum + fmax(met + sqrt(2.0 * met) * pc_rng_normal(&rng, 2 * row + 1), 0.0);
}

/* Sums of the counts of all copies of a row, and of squared counts, in all columns. */
static void pair_bootstrap_row(const bootstrap_work *work, size_t row, double sum[PC_MIX_WIDTH],
                               double square[PC_MIX_WIDTH]) {
  const double w = work->rows->weights[row];
  float copy[PC_MIX_WIDTH];
  memset(sum, 0, PC_MIX_WIDTH * sizeof *sum);
  memset(square, 0, PC_MIX_WIDTH * sizeof *square);
  for (size_t b = 0; w > PAIR_BOOTSTRAP_COPIES && b < PC_MIX_WIDTH; b++)
    pair_bootstrap_many(work, row, b, &sum[b], &square[b]);
  for (size_t c = 0; w <= PAIR_BOOTSTRAP_COPIES && c < (size_t)w; c++) {
    pair_bootstrap_copy(work, row, c, copy);
    for (size_t b = 0; b < PC_MIX_WIDTH; b++) {
      sum[b] += (double)copy[b];
      square[b] += (double)copy[b] * (double)copy[b];
    }
  }
}

/* Computes v of all rows.  selves: the contribution of pairs of copies of the same row, half of
 * (v^2 minus the sum of the squared centred counts of the copies). */
static void pair_bootstrap_draw(const bootstrap_work *work, double *selves) {
  const pc_pair_rows *rows = work->rows;
  double mean[PC_MIX_WIDTH] = {0.0}, total = 0.0;
  double sum[PC_MIX_WIDTH], square[PC_MIX_WIDTH];
  for (size_t i = 0; i < rows->count; i++) {
    pair_bootstrap_row(work, i, sum, square);
    total += rows->weights[i];
    for (size_t b = 0; b < PC_MIX_WIDTH; b++) {
      work->counts[i * PC_MIX_WIDTH + b] = (float)sum[b];
      mean[b] += sum[b];
    }
  }
  for (size_t i = 0; i < rows->count; i++) {
    float *v = work->counts + i * PC_MIX_WIDTH;
    const double w = rows->weights[i], self = w > 1 ? pc_skce_self(rows, i) : 0.0;
    if (w > 1)
      pair_bootstrap_row(work, i, sum, square);
    for (size_t b = 0; b < PC_MIX_WIDTH; b++) {
      const double m = mean[b] / total, all = (w > 1 ? sum[b] : (double)v[b]) - w * m;
      v[b] = (float)all;
      if (w > 1)
        selves[b] += 0.5 * self * (all * all - (square[b] - 2.0 * m * sum[b] + w * m * m));
    }
  }
}

/* ---- pairs ---- */

/* h of the pairs of two packs; of a pack with itself, only above the diagonal. */
static void pair_bootstrap_tile(const bootstrap_work *work, size_t a, size_t b,
                                float tile[PC_PACK_PAIRS]) {
  const pc_pair_form *form = work->form;
  const size_t classes = work->rows->classes;
  const pc_pair_pack left = pc_pair_pack_at(work->rows, a);
  const pc_pair_pack right = pc_pair_pack_at(work->rows, b);
  double far[PC_PACK_PAIRS], dots[PC_PACK_PAIRS];
  pc_kernels_best()->pair->distances(form, classes, &left, &right, far);
  pc_kernels_best()->pair->dots(classes, left.probs, right.probs, dots);
  for (size_t p = 0; p < PC_PACK_PAIRS; p++) {
    const double d = form->tv         ? form->gaussian ? far[p] * far[p] : far[p]
                             : form->gaussian ? far[p]
                                      : sqrt(far[p]);
    far[p] = pc_lane_exp(-form->factor * d);
  }
  for (size_t r = 0; r < PC_LANES; r++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const size_t y = (size_t)left.labels[r], z = (size_t)right.labels[l];
      const double inner = (y == z ? 1.0 : 0.0) - left.probs[z * PC_LANES + r] -
                           right.probs[y * PC_LANES + l] + dots[r * PC_LANES + l];
      tile[r * PC_LANES + l] = a == b && l <= r ? 0.0F : (float)(far[r * PC_LANES + l] * inner);
    }
}

static void pair_bootstrap_pack(const bootstrap_work *work, size_t a, double *sums) {
  float tile[PC_PACK_PAIRS], left[PC_LANES * PC_MIX_WIDTH];
  memset(left, 0, sizeof left);
  for (size_t b = a; b < pc_pair_pack_count(work->rows); b++) {
    pair_bootstrap_tile(work, a, b, tile);
    pc_kernels_best()->pair->mix(tile, work->counts + b * PC_LANES * PC_MIX_WIDTH, left);
  }
  const float *own = work->counts + a * PC_LANES * PC_MIX_WIDTH;
  for (size_t r = 0; r < PC_LANES; r++)
    for (size_t b = 0; b < PC_MIX_WIDTH; b++)
      sums[b] += (double)own[r * PC_MIX_WIDTH + b] * (double)left[r * PC_MIX_WIDTH + b];
}

static pcal_status pair_bootstrap_task(void *user, size_t index, size_t worker,
                                       pcal_error *err) {
  (void)worker;
  (void)err;
  const bootstrap_work *work = user;
  const size_t all = pc_pair_pack_count(work->rows), first = index * PAIR_BOOTSTRAP_PACKS;
  for (size_t a = first; a < first + PAIR_BOOTSTRAP_PACKS && a < all; a++)
    pair_bootstrap_pack(work, a, work->sums + index * PC_MIX_WIDTH);
  return PCAL_OK;
}

/* ---- entry point ---- */

static pcal_status pair_bootstrap_columns(const pcal_env *env, bootstrap_work *work,
                                          double *columns, pcal_error *err) {
  const pc_pair_rows *rows = work->rows;
  const size_t packs = pc_pair_pack_count(rows);
  const size_t tasks = (packs + PAIR_BOOTSTRAP_PACKS - 1) / PAIR_BOOTSTRAP_PACKS;
  const double cost =
      (5.0 + 0.1 * (double)rows->classes) * (double)rows->count * (double)rows->count;
  memset(work->counts, 0, packs * PC_LANES * PC_MIX_WIDTH * sizeof *work->counts);
  memset(work->sums, 0, tasks * PC_MIX_WIDTH * sizeof *work->sums);
  memset(columns, 0, PC_MIX_WIDTH * sizeof *columns);
  pair_bootstrap_draw(work, columns);
  PC_TRY(pc_run_with_progress(env, "drawing pairs again", tasks, cost, pair_bootstrap_task,
                              work, err));
  for (size_t t = 0; t < tasks; t++)
    for (size_t b = 0; b < PC_MIX_WIDTH; b++)
      columns[b] += work->sums[t * PC_MIX_WIDTH + b];
  return PCAL_OK;
}

pcal_status pc_pair_bootstrap(const pcal_env *env, const pc_pair_form *form,
                              const pc_pair_rows *rows, size_t replicas, double *values,
                              pcal_error *err) {
  const size_t packs = pc_pair_pack_count(rows);
  const size_t tasks = (packs + PAIR_BOOTSTRAP_PACKS - 1) / PAIR_BOOTSTRAP_PACKS;
  bootstrap_work work = {.form = form, .rows = rows, .seed = env->seed};
  double columns[PC_MIX_WIDTH];
  work.counts = pc_alloc_raw(env, packs * PC_LANES, PC_MIX_WIDTH * sizeof *work.counts);
  work.sums = pc_alloc_raw(env, tasks, PC_MIX_WIDTH * sizeof *work.sums);
  pcal_status status = work.counts == NULL || work.sums == NULL
                           ? pc_fail_memory(err, "drawing pairs again")
                           : PCAL_OK;
  for (; work.first < replicas && status == PCAL_OK; work.first += PC_MIX_WIDTH) {
    const size_t left = replicas - work.first;
    status = pair_bootstrap_columns(env, &work, columns, err);
    if (status == PCAL_OK)
      memcpy(values + work.first, columns,
             (left < PC_MIX_WIDTH ? left : PC_MIX_WIDTH) * sizeof *values);
  }
  pc_free(env, work.counts);
  pc_free(env, work.sums);
  return status;
}
