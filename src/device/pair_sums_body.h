/* Sums of the SKCE over pairs of rows: the body of the kernels pc_pair_sums_strips and
 * pc_pair_sums_packs.
 *
 * Formula, edge cases and order of every sum are those of kernels/pair_tile.c and
 * kernels/pair_kernels.c, so that the bits are those of the CPU:
 *   1. a strip is some packs of 16 rows.  Each row of a later pack is paired with the rows of the
 *      strip before it, in their order; the sums of the 16 rows are folded to one number.
 *   2. the pairs inside a pack are added one by one, with distances from differences.
 *   3. distances too small for inner products come from differences.
 *   4. these numbers are added to the limbs of their strip exactly, so that blocks may come in any
 *      order.  The host rounds the sum of each strip.
 *   5. rows that fill the last pack have the weight 0, and the last pack is on the left of no other.
 * Cost: for each pair 2 K operations, a root and about 30 operations for the exponential.
 *
 * This header is plain C, as softmax_rows_body.h: tests call the phases thread by thread. */
#ifndef PC_PAIR_SUMS_BODY_H
#define PC_PAIR_SUMS_BODY_H

#include "device/gpu_sums.h"
#include "device/pair_sums.h"
#include "kernels/lane_math.h"

/* Memory that the threads of a block share: weighted sums of rows. */
typedef struct pc_pair_sums_shared {
  double term[PC_PAIR_SUMS_THREADS * PC_PAIR_SUMS_OWN];
} pc_pair_sums_shared;

static inline const double *pc_pair_sums_pack(const pc_pair_sums *sums, uint32_t pack) {
  return sums->probs + (uint64_t)pack * sums->classes * PC_PAIR_SUMS_LANES;
}

/* ---- One pair; p and q are columns of packs ---- */

static inline double pc_pair_sums_half_square(uint32_t classes, const double *p,
                                              const double *q) {
  double sum = 0.0;
  for (uint32_t c = 0; c < classes; c++) {
    const double gap = p[c * PC_PAIR_SUMS_LANES] - q[c * PC_PAIR_SUMS_LANES];
    sum += gap * gap;
  }
  return 0.5 * sum;
}

static inline double pc_pair_sums_variation(uint32_t classes, const double *p,
                                            const double *q) {
  double sum = 0.0;
  for (uint32_t c = 0; c < classes; c++)
    sum += fabs(p[c * PC_PAIR_SUMS_LANES] - q[c * PC_PAIR_SUMS_LANES]);
  return 0.5 * sum;
}

/* As pair_far: halves is the sum of the halves of both rows. */
static inline double pc_pair_sums_far(const pc_pair_sums *sums, const double *p,
                                      const double *q, double halves, double dot) {
  if (sums->form.tv) {
    const double variation = pc_pair_sums_variation(sums->classes, p, q);
    return sums->form.gaussian ? variation * variation : variation;
  }
  double u = halves - dot;
  if (!(u >= sums->form.close))
    u = pc_pair_sums_half_square(sums->classes, p, q);
  return sums->form.gaussian ? u : sqrt(u);
}

/* As pair_tile_one. */
static inline double pc_pair_sums_one(const pc_pair_sums *sums, const double *p,
                                      const double *q, uint32_t y, uint32_t z) {
  double square = 0.0, variation = 0.0, dot = 0.0;
  for (uint32_t c = 0; c < sums->classes; c++) {
    const double left = p[c * PC_PAIR_SUMS_LANES], right = q[c * PC_PAIR_SUMS_LANES];
    const double gap = left - right;
    square += gap * gap;
    variation += fabs(gap);
    dot += left * right;
  }
  const double far = sums->form.tv ? 0.5 * variation : sqrt(0.5 * square);
  const double x = -sums->form.factor * (!sums->form.gaussian ? far
                                         : sums->form.tv      ? far * far
                                                              : 0.5 * square);
  return pc_lane_exp(x) * (dot - (q[y * PC_PAIR_SUMS_LANES] +
                                  (p[z * PC_PAIR_SUMS_LANES] - (y == z ? 1.0 : 0.0))));
}

/* ---- Strips ---- */

/* The right rows of a thread. */
typedef struct pc_pair_sums_right {
  const double *q; /* column of the first of them */
  double halves[PC_PAIR_SUMS_OWN], sum[PC_PAIR_SUMS_OWN];
  uint32_t label[PC_PAIR_SUMS_OWN];
} pc_pair_sums_right;

/* Adds the pair of a left row with one of them. */
static inline void pc_pair_sums_term(const pc_pair_sums *sums, const double *p, uint64_t row,
                                     uint32_t own, double dot, pc_pair_sums_right *right) {
  const uint32_t y = (uint32_t)sums->labels[row], z = right->label[own];
  const double *q = right->q + own;
  const double far = pc_pair_sums_far(sums, p, q, right->halves[own] + sums->halves[row], dot);
  const double x = far * -sums->form.factor;
  const double kernel = sums->form.near ? pc_lane_exp_near(x) : pc_lane_exp(x);
  const double shift = p[z * PC_PAIR_SUMS_LANES] - (y == z ? 1.0 : 0.0);
  double term = kernel * (dot - (q[y * PC_PAIR_SUMS_LANES] + shift));
  if (sums->form.weighted)
    term *= sums->weights[row];
  right->sum[own] += term;
}

/* Adds the pairs with PC_PAIR_SUMS_ROWS rows of a left pack, from `row` on; p is their column. */
static inline void pc_pair_sums_four(const pc_pair_sums *sums, const double *p, uint64_t row,
                                     pc_pair_sums_right *right) {
  double dot[PC_PAIR_SUMS_ROWS][PC_PAIR_SUMS_OWN] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
  const double *left = p, *q = right->q;
  PC_GPU_UNROLL(2)
  for (uint32_t c = 0; c < sums->classes; c++) {
    double a[2], b[2], own[2];
    pc_gpu_load_two(left, a);
    pc_gpu_load_two(left + 2, b);
    pc_gpu_load_two(q, own);
    PC_GPU_UNROLL(2)
    for (int o = 0; o < PC_PAIR_SUMS_OWN; o++) {
      dot[0][o] += a[0] * own[o];
      dot[1][o] += a[1] * own[o];
      dot[2][o] += b[0] * own[o];
      dot[3][o] += b[1] * own[o];
    }
    left += PC_PAIR_SUMS_LANES;
    q += PC_PAIR_SUMS_LANES;
  }
  PC_GPU_UNROLL(4)
  for (uint32_t r = 0; r < PC_PAIR_SUMS_ROWS; r++)
    PC_GPU_UNROLL(2)
  for (uint32_t o = 0; o < PC_PAIR_SUMS_OWN; o++)
    pc_pair_sums_term(sums, p + r, row + r, o, dot[r][o], right);
}

/* The right pack of a thread; one that is not there is sums->packs or more. */
static inline uint32_t pc_pair_sums_right_pack(const pc_pair_sums *sums, uint32_t block,
                                               uint32_t thread) {
  return block % pc_pair_sums_groups(sums) * PC_PAIR_SUMS_PACKS +
         thread / (PC_PAIR_SUMS_LANES / PC_PAIR_SUMS_OWN);
}

static inline uint32_t pc_pair_sums_strip(const pc_pair_sums *sums, uint32_t block) {
  return sums->first_strip + block / pc_pair_sums_groups(sums);
}

/* First phase: the sums of the rows of a thread. */
static inline void pc_pair_sums_add(const pc_pair_sums *sums, uint32_t block, uint32_t thread,
                                    pc_pair_sums_shared *shared) {
  const uint32_t first = pc_pair_sums_strip(sums, block) * sums->strip_packs;
  const uint32_t b = pc_pair_sums_right_pack(sums, block, thread);
  const uint32_t lane = thread % (PC_PAIR_SUMS_LANES / PC_PAIR_SUMS_OWN) * PC_PAIR_SUMS_OWN;
  const uint32_t last = b < first + sums->strip_packs ? b : first + sums->strip_packs;
  const uint64_t at = (uint64_t)b * PC_PAIR_SUMS_LANES + lane;
  pc_pair_sums_right right;
  if (b >= sums->packs || b <= first)
    return;
  right.q = pc_pair_sums_pack(sums, b) + lane;
  PC_GPU_UNROLL(2)
  for (uint32_t o = 0; o < PC_PAIR_SUMS_OWN; o++) {
    right.halves[o] = sums->halves[at + o];
    right.label[o] = (uint32_t)sums->labels[at + o];
    right.sum[o] = 0.0;
  }
  for (uint32_t a = first; a < last; a++)
    for (uint32_t r = 0; r < PC_PAIR_SUMS_LANES; r += PC_PAIR_SUMS_ROWS)
      pc_pair_sums_four(sums, pc_pair_sums_pack(sums, a) + r,
                        (uint64_t)a * PC_PAIR_SUMS_LANES + r, &right);
  PC_GPU_UNROLL(2)
  for (uint32_t o = 0; o < PC_PAIR_SUMS_OWN; o++)
    shared->term[thread * PC_PAIR_SUMS_OWN + o] = sums->weights[at + o] * right.sum[o];
}

static inline uint64_t *pc_pair_sums_limbs_of(const pc_pair_sums *sums, uint32_t strip) {
  return sums->limbs + (uint64_t)strip * PC_PAIR_SUMS_LIMBS;
}

/* Second phase: the first thread of each right pack folds its sums, as pair_tile_fold. */
static inline void pc_pair_sums_publish(const pc_pair_sums *sums, uint32_t block,
                                        uint32_t thread, pc_pair_sums_shared *shared) {
  const uint32_t strip = pc_pair_sums_strip(sums, block);
  const uint32_t b = pc_pair_sums_right_pack(sums, block, thread);
  double *term = shared->term + thread * PC_PAIR_SUMS_OWN;
  if (thread % (PC_PAIR_SUMS_LANES / PC_PAIR_SUMS_OWN) != 0 || b >= sums->packs ||
      b <= strip * sums->strip_packs)
    return;
  for (uint32_t width = PC_PAIR_SUMS_LANES / 2; width > 0; width /= 2)
    for (uint32_t l = 0; l < width; l++)
      term[l] += term[l + width];
  pc_gpu_add_whole(pc_pair_sums_limbs_of(sums, strip), term[0]);
}

/* ---- Pairs inside a pack, as pc_skce_tile ---- */

/* First phase: the pairs of a row with the later ones. */
static inline void pc_pair_sums_inside(const pc_pair_sums *sums, uint32_t block,
                                       uint32_t thread, pc_pair_sums_shared *shared) {
  const uint64_t i = (uint64_t)block * PC_PAIR_SUMS_THREADS + thread;
  const uint64_t first = i / PC_PAIR_SUMS_LANES * PC_PAIR_SUMS_LANES;
  const uint64_t last =
      first + PC_PAIR_SUMS_LANES < sums->rows ? first + PC_PAIR_SUMS_LANES : sums->rows;
  double sum = 0.0;
  if (i >= sums->rows)
    return;
  const double *pack = pc_pair_sums_pack(sums, (uint32_t)(i / PC_PAIR_SUMS_LANES));
  for (uint64_t j = i + 1; j < last; j++)
    sum += sums->weights[j] *
           pc_pair_sums_one(sums, pack + i % PC_PAIR_SUMS_LANES, pack + j % PC_PAIR_SUMS_LANES,
                            (uint32_t)sums->labels[i], (uint32_t)sums->labels[j]);
  shared->term[thread] = sums->weights[i] * sum;
}

/* Second phase: the first thread of a pack adds them up. */
static inline void pc_pair_sums_publish_inside(const pc_pair_sums *sums, uint32_t block,
                                               uint32_t thread,
                                               const pc_pair_sums_shared *shared) {
  const uint64_t i = (uint64_t)block * PC_PAIR_SUMS_THREADS + thread;
  double total = 0.0;
  if (i >= sums->rows || thread % PC_PAIR_SUMS_LANES != 0)
    return;
  for (uint32_t l = 0; l < PC_PAIR_SUMS_LANES && i + l < sums->rows; l++)
    total += shared->term[thread + l];
  pc_gpu_add_whole(
      pc_pair_sums_limbs_of(sums, (uint32_t)(i / PC_PAIR_SUMS_LANES) / sums->strip_packs),
      total);
}

#endif
