/* Formula, with d_j = z_j - max z, t_j = exp(beta d_j), S = sum t_j, m_k = sum t_j d_j^k / S:
 *   log:    L = log S - beta d_y
 *           L' = m_1 - d_y
 *           further derivatives: the cumulants of d, from the second on
 *   Brier, with a_k = sum t_j^2 d_j^k / S^2, p = t_y / S, c = d_y - m_1, v = m_2 - m_1^2:
 *           B = (1 - p)^2 + sum of p_j^2 over j != y
 *           B' = 2 (a_1 - a_0 m_1 - p c)
 *           B'' = 2 (2 (a_2 - a_1 m_1) - 2 m_1 (a_1 - a_0 m_1) - a_0 v - p c^2 + p v)
 *
 * Edge cases:
 *  1. the largest term is exactly 1 and left out of the sums, so that losses close to 0 keep
 *     their digits.
 *  2. terms below 2^-1022.5 are 0, also for d_j = -inf.
 *  3. d_y below -1e300 counts as -1e300, so that all results are finite.
 *
 * Accuracy: relative error of a term 1e-14 plus beta |d_j| ulp.
 * Cost: one exp for each score, and one more for beta = 1.
 *
 * Sums over the classes have a fixed order, so that vectors do not change bits: PC_LANES
 * partial sums, or class after class for narrow rows, which have one row in each lane.  Each
 * step is a loop of its own, because the chain of dependent operations of a single loop would
 * exceed what processors can look ahead. */
#include "kernels/temperature_kernels.h"

#include <math.h>
#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/row_kernels.h"
#include "kernels/temperature_cumulants.h"
#include "kernels/transpose.h"
#include "kernels/variant.h"
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TEMPERATURE_HAS_AVX512
#include "kernels/temperature_avx512.h"
#else
#include "kernels/temperature_portable.h"
#endif

#define TEMPERATURE_TILE 512          /* at least PC_NARROW_CLASSES * PC_LANES */
#define TEMPERATURE_NOTHING (-1023.0) /* exponent of 2 whose term is 0 */

/* Part of a row: y_j = beta log2(e) d_j and t_j = 2^y_j. */
typedef struct temperature_tile {
  size_t whole; /* a multiple of PC_LANES; padding has the term 0 */
  double power[TEMPERATURE_TILE], term[TEMPERATURE_TILE];
} temperature_tile;

/* rest: sums of t_j without the largest; one: the same for beta = 1; moment: sums of t_j y_j^k
 * from k = 1 on, and for the Brier score, from the third on, of t_j^2 y_j^k for k = 0, 1, 2. */
typedef struct temperature_lanes {
  double rest[PC_LANES], one[PC_LANES], moment[PC_TEMPERATURE_SLOPES][PC_LANES];
} temperature_lanes;

static void temperature_exponentiate(temperature_tile *tile) {
  double *restrict term = tile->term;
  const double *restrict power = tile->power;
  for (size_t i = 0; i < tile->whole; i++)
    term[i] = pc_lane_exp2(power[i]);
}

/* Sums for the Brier score. */
static void temperature_add_squares(const temperature_tile *restrict at,
                                    temperature_lanes *restrict lanes) {
  for (size_t j = 0; j < at->whole; j += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++) {
      const double y = at->power[j + l], term = at->term[j + l], first = term * y;
      const double square = term * term, square_first = square * y;
      lanes->rest[l] += term;
      lanes->moment[0][l] += first;
      lanes->moment[1][l] += first * y;
      lanes->moment[2][l] += square;
      lanes->moment[3][l] += square_first;
      lanes->moment[4][l] += square_first * y;
    }
}

static double temperature_fold(const double lanes[PC_LANES]) {
  double eight[8], four[4];
  for (size_t l = 0; l < 8; l++)
    eight[l] = lanes[l] + lanes[l + 8];
  for (size_t l = 0; l < 4; l++)
    four[l] = eight[l] + eight[l + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/* Adds the lanes up into the first. */
static void temperature_fold_all(temperature_lanes *lanes) {
  lanes->rest[0] = temperature_fold(lanes->rest);
  lanes->one[0] = temperature_fold(lanes->one);
  for (size_t k = 0; k < PC_TEMPERATURE_SLOPES; k++)
    lanes->moment[k][0] = temperature_fold(lanes->moment[k]);
}

#if defined(TEMPERATURE_HAS_AVX512)

#define TEMPERATURE_LOG_SUMS(kind, plain)                                                 \
  do {                                                                                    \
    if (score == PC_TEMPERATURE_LOG)                                                      \
      avx512_sum(kind, scores, count, top, max, scale, lanes->rest, NULL, lanes->moment); \
    else                                                                                  \
      avx512_sum(kind, scores, count, top, max, scale, lanes->rest, lanes->one,           \
                 lanes->moment);                                                          \
  } while (0)

#else

_Static_assert(sizeof(portable_sums) == sizeof(temperature_lanes), "the same sums");

#define TEMPERATURE_LOG_SUMS(kind, plain)                                              \
  do {                                                                                 \
    portable_sums sums;                                                                \
    plain(scores, count, top, max, scale, score == PC_TEMPERATURE_LOG_AND_ONE, &sums); \
    memcpy(lanes, &sums, sizeof sums);                                                 \
  } while (0)

#endif

/* Sums for the log score. */
static void temperature_log_f32(pc_temperature_score score, const float *scores, size_t count,
                                size_t top, double max, double scale,
                                temperature_lanes *lanes) {
  TEMPERATURE_LOG_SUMS(AVX512_FLOATS, portable_sum_f32);
}

static void temperature_log_f64(pc_temperature_score score, const double *scores, size_t count,
                                size_t top, double max, double scale,
                                temperature_lanes *lanes) {
  if (top < count)
    TEMPERATURE_LOG_SUMS(AVX512_DOUBLES, portable_sum_f64);
  else
    TEMPERATURE_LOG_SUMS(AVX512_ROWS, portable_sum_f64);
}

static void temperature_push(pc_temperature_score score, const temperature_lanes *lanes,
                             double gap, pc_temperature_block *block) {
  const size_t at = block->count++;
  block->gap[at] = gap;
  block->loss[at] = lanes->rest[0];
  if (score == PC_TEMPERATURE_LOG_AND_ONE)
    block->one[at] = lanes->one[0];
  for (size_t k = 0; k < PC_TEMPERATURE_SLOPES; k++)
    block->slope[k][at] = lanes->moment[k][0];
}

/* Used by the template, defined after it. */
static void temperature_take_lanes(pc_temperature_score score, double beta,
                                   pc_temperature_block *block);
static int temperature_wide_f32(const float *scores, size_t count, double beta, float *out);
static int temperature_wide_f64(const double *scores, size_t count, double beta, double *out);

#define NUMBER float
#define NAMED(name) name##_f32
#include "kernels/temperature_template.h"
#undef NAMED
#undef NUMBER

#define NUMBER double
#define NAMED(name) name##_f64
#include "kernels/temperature_template.h"
#undef NAMED
#undef NUMBER

/* Sums of the collected narrow rows; lanes without a row have zeros, and their results are
 * unused. */
static void temperature_take_lanes(pc_temperature_score score, double beta,
                                   pc_temperature_block *block) {
  const size_t first = (block->count - 1) / PC_LANES * PC_LANES;
  temperature_lanes sums;
  for (size_t l = block->count - first; l < PC_LANES; l++)
    for (size_t j = 0; j < block->classes; j++)
      block->lanes[j * PC_LANES + l] = 0.0;
  const size_t cells = block->classes * PC_LANES;
  temperature_sum_f64(score, block->lanes, cells, cells, 0.0, beta * PC_LANE_LOG2_E, &sums);
  memcpy(block->loss + first, sums.rest, sizeof sums.rest);
  if (score == PC_TEMPERATURE_LOG_AND_ONE)
    memcpy(block->one + first, sums.one, sizeof sums.one);
  for (size_t k = 0; k < PC_TEMPERATURE_SLOPES; k++)
    memcpy(block->slope[k] + first, sums.moment[k], sizeof sums.moment[k]);
}

/* d_y, at least -1e300 (3). */
static inline double temperature_gap(const pc_temperature_block *block, size_t i) {
  return block->gap[i] < -PC_TEMPERATURE_GAP_MAX ? -PC_TEMPERATURE_GAP_MAX : block->gap[i];
}

static void temperature_finish_log(double beta, pc_temperature_block *block) {
  const double back = 1.0 / (beta * PC_LANE_LOG2_E);
  for (size_t i = 0; i < block->count; i++) {
    double mean[PC_TEMPERATURE_SLOPES], factor = 1.0 / (1.0 + block->loss[i]);
    for (size_t k = 0; k < PC_TEMPERATURE_SLOPES; k++) {
      factor *= back;
      mean[k] = block->slope[k][i] * factor;
    }
    pc_temperature_cumulants(mean);
    block->slope[0][i] = mean[0] - temperature_gap(block, i);
    for (size_t k = 1; k < PC_TEMPERATURE_SLOPES; k++)
      block->slope[k][i] = mean[k];
  }
  for (size_t i = 0; i < block->count; i++)
    block->loss[i] = pc_lane_log1p(block->loss[i]) - beta * temperature_gap(block, i);
}

static void temperature_finish_one(pc_temperature_block *block) {
  for (size_t i = 0; i < block->count; i++)
    block->one[i] = pc_lane_log1p(block->one[i]) - temperature_gap(block, i);
}

static void temperature_finish_brier(double beta, pc_temperature_block *block) {
  const double back = 1.0 / (beta * PC_LANE_LOG2_E);
  for (size_t i = 0; i < block->count; i++) {
    const double gap = temperature_gap(block, i), rest = block->loss[i];
    const double sum = 1.0 + rest, norm = sum * sum, squares = block->slope[2][i];
    const double term = gap < 0.0 ? pc_lane_exp(beta * gap) : 1.0;
    const double others = gap < 0.0 ? 1.0 + (rest - term) : rest;
    const double square = gap < 0.0 ? 1.0 + (squares - term * term) : squares;
    const double m1 = block->slope[0][i] * back / sum;
    const double v = block->slope[1][i] * back * back / sum - m1 * m1;
    const double a0 = (1.0 + squares) / norm, a1 = block->slope[3][i] * back / norm;
    const double a2 = block->slope[4][i] * back * back / norm, p = term / sum;
    const double c = term == 0.0 ? 0.0 : gap - m1;
    block->loss[i] = others / sum * (others / sum) + square / norm;
    block->slope[0][i] = 2.0 * (a1 - a0 * m1 - p * c);
    block->slope[1][i] =
        2.0 * (2.0 * (a2 - a1 * m1) - 2.0 * m1 * (a1 - a0 * m1) - a0 * v - p * c * c + p * v);
  }
}

static void temperature_finish(pc_temperature_score score, double beta,
                               pc_temperature_block *block) {
  if (block->count % PC_LANES != 0 && block->classes <= PC_NARROW_CLASSES)
    temperature_take_lanes(score, beta, block);
  if (score == PC_TEMPERATURE_BRIER)
    temperature_finish_brier(beta, block);
  else
    temperature_finish_log(beta, block);
  if (score == PC_TEMPERATURE_LOG_AND_ONE)
    temperature_finish_one(block);
}

static int temperature_wide_f64(const double *scores, size_t count, double beta, double *out) {
  int finite;
  const double max = temperature_max_f64(scores, count, &finite);
  const double share = 1.0 / temperature_terms_f64(scores, count, max, beta, out);
  for (size_t j = 0; j < count; j++)
    out[j] *= share;
  return 1;
}

static int temperature_wide_f32(const float *scores, size_t count, double beta, float *out) {
  double terms[PC_TEMPERATURE_FLOATS];
  int finite;
  const double max = (double)temperature_max_f32(scores, count, &finite);
  if (!finite)
    return 0;
  const double share = 1.0 / temperature_terms_f32(scores, count, max, beta, terms);
  for (size_t j = 0; j < count; j++)
    out[j] = (float)(terms[j] * share);
  return 1;
}

static void temperature_softmax(const double *scores, size_t rows, size_t count, double beta,
                                double *out) {
  (void)temperature_softmax_f64(scores, rows, count, beta, out);
}

static void temperature_moments(const double *restrict gaps, size_t classes, size_t rows,
                                double beta, double *restrict norm, double *restrict mean,
                                double *restrict variance) {
  const double far = -708.0;
  for (size_t r = 0; r < rows; r++)
    norm[r] = mean[r] = variance[r] = 0.0;
  for (size_t c = 0; c < classes; c++, gaps += rows)
    for (size_t r = 0; r < rows; r++) {
      const double x = beta * gaps[r], term = pc_lane_exp(x);
      const double gap = x < far ? 0.0 : gaps[r];
      norm[r] += term;
      mean[r] += term * gap;
      variance[r] += term * gap * gap;
    }
  for (size_t r = 0; r < rows; r++) {
    const double sum = norm[r], middle = mean[r] / sum;
    norm[r] = pc_lane_log(sum);
    mean[r] = middle;
    variance[r] = variance[r] / sum - middle * middle;
  }
}

const pc_temperature_kernels PC_VARIANT_TABLE(pc_temperature_kernels) = {
    .add_f32 = temperature_add_f32,
    .add_f64 = temperature_add_f64,
    .finish = temperature_finish,
    .softmax = temperature_softmax,
    .softmax_floats = temperature_softmax_f32,
    .moments = temperature_moments,
};
