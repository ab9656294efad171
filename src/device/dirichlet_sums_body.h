/* Sums of Dirichlet kernels over all other rows: the body of the kernels pc_dirichlet_sums_density and
 * pc_dirichlet_sums_labels.
 *
 * Formula and order of every sum are those of stats/dirichlet_kde.c and kernels/pair_kernels.c, so that the
 * bits are those of the CPU.  A thread has one row and one bandwidth and takes all packs of 16 rows in
 * their order:
 *   1. 16 sums, one for each place in a pack, are relative to the largest exponent so far; a larger
 *      one rescales them.
 *   2. kernels below e^-60 times the largest so far are left out.
 *   3. a row is not its own neighbour; its w - 1 copies are.
 *   4. density: the log of the sum.  labels: the sums of each class, and the largest exponent; the host
 *      adds the copies and computes the error.
 *   5. packs whose rows have several labels are added to their classes one by one.
 * Cost: N^2 pairs of 2 K operations for each bandwidth, and about 20 for each kernel that is not left out.
 *
 * This header is plain C, as softmax_rows_body.h: tests call it thread by thread. */
#ifndef PC_DIRICHLET_SUMS_BODY_H
#define PC_DIRICHLET_SUMS_BODY_H

#include <float.h>
#include <math.h>

#include "device/dirichlet_sums.h"
#include "device/gpu_layer.h"
#include "kernels/lane_math.h"

#define DIRICHLET_SUMS_NOTHING (-60.0) /* PAIR_NOTHING */
#define DIRICHLET_SUMS_SHUT (-1e200)   /* DIRICHLET_SHUT */

/* The row and bandwidth of a thread, and its sums. */
typedef struct pc_dirichlet_thread {
  uint64_t row;
  uint32_t pack, lane, scale;
  double peak, sums[PC_DIRICHLET_SUMS_LANES];
  double *classes; /* of the row, or NULL */
} pc_dirichlet_thread;

/* As pair_exp_rough. */
static inline double pc_dirichlet_exp(double x) {
  const double shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52;
  const double r = x - (shifted - 0x1.8p52) * 0x1.62e42fefa39efp-1, r2 = r * r;
  const double even = r2 * 0x1.6c1c38ee699b2p-28 + 0x1.5555554ad39e9p-17;
  const double odd = r2 * 0x1.11168895b9a13p-22 + 0x1.5555554051dc2p-12;
  const double eighth =
      (r2 * (r2 * even + 0x1.00000000000a2p-7) + 1.0) + r * (r2 * odd + 0x1.0000000000286p-3);
  const double quarter = eighth * eighth, half = quarter * quarter;
  const double scale = pc_double_from_bits((pc_double_bits(shifted) + 1023) << 52);
  return x > DIRICHLET_SUMS_NOTHING ? (half * half) * scale : 0.0;
}

/* Returns 0 if the thread has nothing to do. */
static inline int pc_dirichlet_begin(const pc_dirichlet_sums *sums, uint64_t task,
                                     pc_dirichlet_thread *mine) {
  const uint64_t scale = task / sums->row_count;
  mine->scale = (uint32_t)scale;
  mine->row = sums->first_row + task % sums->row_count;
  mine->pack = (uint32_t)(mine->row / PC_DIRICHLET_SUMS_LANES);
  mine->lane = (uint32_t)(mine->row % PC_DIRICHLET_SUMS_LANES);
  mine->peak = -DBL_MAX;
  mine->classes =
      sums->classes == NULL ? NULL : sums->classes + mine->row * sums->classes_count;
  PC_GPU_UNROLL(16)
  for (uint32_t l = 0; l < PC_DIRICHLET_SUMS_LANES; l++)
    mine->sums[l] = 0.0;
  return scale < sums->scale_count && mine->row < sums->rows;
}

static inline const double *pc_dirichlet_offsets(const pc_dirichlet_sums *sums,
                                                 const pc_dirichlet_thread *mine) {
  return sums->offsets + (uint64_t)mine->scale * sums->packs * PC_DIRICHLET_SUMS_LANES;
}

/* As dirichlet_raise. */
static inline void pc_dirichlet_raise(const pc_dirichlet_sums *sums, double peak,
                                      pc_dirichlet_thread *mine) {
  const double factor = pc_lane_exp(mine->peak - peak);
  mine->peak = peak;
  PC_GPU_UNROLL(16)
  for (uint32_t l = 0; l < PC_DIRICHLET_SUMS_LANES; l++)
    mine->sums[l] *= factor;
  for (uint32_t c = 0; mine->classes != NULL && c < sums->classes_count; c++)
    mine->classes[c] *= factor;
}

/* As dirichlet_fold. */
static inline double pc_dirichlet_fold(pc_dirichlet_thread *mine) {
  double folded[PC_DIRICHLET_SUMS_LANES / 2];
  PC_GPU_UNROLL(8)
  for (uint32_t l = 0; l < 8; l++)
    folded[l] = mine->sums[l] + mine->sums[l + 8];
  PC_GPU_UNROLL(4)
  for (uint32_t l = 0; l < 4; l++)
    folded[l] += folded[l + 4];
  PC_GPU_UNROLL(16)
  for (uint32_t l = 0; l < PC_DIRICHLET_SUMS_LANES; l++)
    mine->sums[l] = 0.0;
  return (folded[0] + folded[2]) + (folded[1] + folded[3]);
}

/* Adds the kernels of pack j, as dirichlet_meet. */
static inline void pc_dirichlet_meet(const pc_dirichlet_sums *sums, uint32_t j,
                                     pc_dirichlet_thread *mine) {
  const uint64_t pack = (uint64_t)sums->classes_count * PC_DIRICHLET_SUMS_LANES;
  const double *logs = sums->logs + mine->pack * pack + mine->lane;
  const double *probs = sums->probs + j * pack, scale = sums->scale[mine->scale];
  const double *offset =
      pc_dirichlet_offsets(sums, mine) + (uint64_t)j * PC_DIRICHLET_SUMS_LANES;
  double x[PC_DIRICHLET_SUMS_LANES] = {0}, largest = -INFINITY;
  for (uint32_t c = 0; c < sums->classes_count; c++) {
    const double log = logs[c * PC_DIRICHLET_SUMS_LANES];
    PC_GPU_UNROLL(16)
    for (uint32_t l = 0; l < PC_DIRICHLET_SUMS_LANES; l++)
      x[l] += log * probs[c * PC_DIRICHLET_SUMS_LANES + l];
  }
  PC_GPU_UNROLL(16)
  for (uint32_t l = 0; l < PC_DIRICHLET_SUMS_LANES; l++) {
    const int own = (j == mine->pack) & (l == mine->lane);
    x[l] = (own ? -INFINITY : x[l]) * scale + offset[l];
    largest = x[l] > largest ? x[l] : largest;
  }
  if (largest - mine->peak > 0.0)
    pc_dirichlet_raise(sums, largest, mine);
  if (!(largest - mine->peak > DIRICHLET_SUMS_NOTHING))
    return;
  PC_GPU_UNROLL(16)
  for (uint32_t l = 0; l < PC_DIRICHLET_SUMS_LANES; l++)
    mine->sums[l] += pc_dirichlet_exp(x[l] - mine->peak);
}

/* As dirichlet_copies. */
static inline double pc_dirichlet_copies(const pc_dirichlet_sums *sums,
                                         const pc_dirichlet_thread *mine) {
  const uint64_t pack = (uint64_t)sums->classes_count * PC_DIRICHLET_SUMS_LANES;
  const uint64_t at = mine->pack * pack + mine->lane;
  const double w = sums->weights[mine->row];
  double dot = 0.0;
  if (w < 2.0)
    return -INFINITY;
  for (uint64_t c = 0; c < pack; c += PC_DIRICHLET_SUMS_LANES)
    dot += sums->logs[at + c] * sums->probs[at + c];
  return (dot * sums->scale[mine->scale] + pc_dirichlet_offsets(sums, mine)[mine->row]) +
         pc_lane_log((w - 1.0) / w);
}

/* The log density of the rows around a row, as dirichlet_log_density. */
static inline void pc_dirichlet_density(const pc_dirichlet_sums *sums, uint64_t task) {
  pc_dirichlet_thread mine;
  if (!pc_dirichlet_begin(sums, task, &mine))
    return;
  for (uint32_t j = 0; j < sums->packs; j++)
    pc_dirichlet_meet(sums, j, &mine);
  const double copies = pc_dirichlet_copies(sums, &mine);
  if (copies > mine.peak)
    pc_dirichlet_raise(sums, copies, &mine);
  const double sum = pc_dirichlet_fold(&mine) + pc_lane_exp(copies - mine.peak);
  const uint64_t place =
      (uint64_t)mine.scale * sums->packs * PC_DIRICHLET_SUMS_LANES + mine.row;
  sums->values[place] =
      mine.peak < DIRICHLET_SUMS_SHUT ? -INFINITY : mine.peak + pc_lane_log(sum);
}

/* The sums of each class around a row, and the exponent that they are relative to. */
static inline void pc_dirichlet_labels(const pc_dirichlet_sums *sums, uint64_t task) {
  pc_dirichlet_thread mine;
  int32_t label = -1;
  if (!pc_dirichlet_begin(sums, task, &mine))
    return;
  for (uint32_t j = 0; j < sums->packs; j++) {
    const int32_t *labels = sums->labels + (uint64_t)j * PC_DIRICHLET_SUMS_LANES;
    if (sums->pack_labels[j] != label && label >= 0)
      mine.classes[label] += pc_dirichlet_fold(&mine);
    label = sums->pack_labels[j];
    pc_dirichlet_meet(sums, j, &mine);
    PC_GPU_UNROLL(16)
    for (uint32_t l = 0; l < PC_DIRICHLET_SUMS_LANES; l++)
      if (label < 0) {
        mine.classes[labels[l]] += mine.sums[l];
        mine.sums[l] = 0.0;
      }
  }
  if (label >= 0)
    mine.classes[label] += pc_dirichlet_fold(&mine);
  sums->values[mine.row] = mine.peak;
}

#endif
