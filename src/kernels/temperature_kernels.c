/* Formula, d_j = z_j - max z, t_j = exp(beta d_j), S = sum t_j, m_k = sum t_j d_j^k / S:
 *   log:    L = log S - beta d_y;   L' = m_1 - d_y;   the next derivatives are the cumulants of
 *           d from the second on.
 *   Brier:  with a_k = sum t_j^2 d_j^k / S^2, p = t_y / S, c = d_y - m_1, v = m_2 - m_1^2:
 *           B = (1 - p)^2 + sum of p_j^2 over j != y;   B' = 2 (a_1 - a_0 m_1 - p c);
 *           B'' = 2 (2 (a_2 - a_1 m_1) - 2 m_1 (a_1 - a_0 m_1) - a_0 v - p c^2 + p v).
 * Edge cases: (1) the largest term is exactly 1 and kept out of the sums, so that losses near 0
 * keep their digits; (2) terms below 2^-1022.5 count as 0, whatever their d_j, also -inf;
 * (3) a d_y beyond -1e300 counts as -1e300: everything stays finite.
 * Accuracy: a term to 1e-14 and beta |d_j| ulp.   Cost: one exp for each score, and one more
 * for beta = 1.
 *
 * The sums over the classes have a fixed order, of PC_LANES partial sums or, in narrow rows,
 * one after the other with a row in each lane, so that compilers may use vectors without
 * changing bits.  Each step has a loop of its own: a single one has longer chains of dependent
 * operations than processors look ahead. */
#include "kernels/temperature_kernels.h"

#include <math.h>
#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/row_kernels.h"
#include "kernels/transpose.h"
#include "kernels/variant.h"
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TEMPERED_IN_EIGHTS
#include "kernels/temperature_avx512.h"
#else
#include "kernels/temperature_portable.h"
#endif

#define TEMPERED_TILE 512          /* at least PC_NARROW_CLASSES * PC_LANES */
#define TEMPERED_NOTHING (-1023.0) /* as a power of 2: the term is 0 */
#define TEMPERED_GAP_MAX 1e300

/* Part of a row: y_j = beta log2(e) d_j and t_j = 2^y_j. */
typedef struct tempered_tile {
  size_t whole; /* a multiple of PC_LANES; what is filled up has the term 0 */
  double power[TEMPERED_TILE], term[TEMPERED_TILE];
} tempered_tile;

/* Sums of t_j without the largest, and of those for beta = 1; of t_j y_j^k, k = 1 ..; for the
 * Brier score of t_j^2 y_j^k, k = 0 .. 2, from the third moment on. */
typedef struct tempered_lanes {
  double rest[PC_LANES], one[PC_LANES], moment[PC_TEMPERATURE_SLOPES][PC_LANES];
} tempered_lanes;

/* The score at `gone`, if there is one, counts nothing. */
#define TEMPERED_FILL(name, type)                                                 \
  static void name(const type *restrict z, size_t count, size_t gone, double max, \
                   double scale, tempered_tile *restrict out) {                   \
    const double lowest = pc_lane_exp2_lowest(scale);                             \
    for (size_t i = 0; i < count; i++) {                                          \
      const double y = ((double)z[i] - max) * scale;                              \
      out->power[i] = y < lowest ? lowest : y;                                    \
    }                                                                             \
    for (out->whole = count; out->whole % PC_LANES != 0; out->whole++)            \
      out->power[out->whole] = TEMPERED_NOTHING;                                  \
    if (gone < count)                                                             \
      out->power[gone] = TEMPERED_NOTHING;                                        \
  }

TEMPERED_FILL(tempered_fill_f32, float)
TEMPERED_FILL(tempered_fill_f64, double)

static void tempered_exponentiate(tempered_tile *tile) {
  double *restrict term = tile->term;
  const double *restrict power = tile->power;
  for (size_t i = 0; i < tile->whole; i++)
    term[i] = pc_lane_exp2(power[i]);
}

/* What the Brier score needs. */
static void tempered_add_squares(const tempered_tile *restrict at,
                                 tempered_lanes *restrict lanes) {
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

static double tempered_fold(const double lanes[PC_LANES]) {
  double eight[8], four[4];
  for (size_t l = 0; l < 8; l++)
    eight[l] = lanes[l] + lanes[l + 8];
  for (size_t l = 0; l < 4; l++)
    four[l] = eight[l] + eight[l + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

/* Sums over the lanes, into the first. */
static void tempered_fold_all(tempered_lanes *lanes) {
  lanes->rest[0] = tempered_fold(lanes->rest);
  lanes->one[0] = tempered_fold(lanes->one);
  for (size_t k = 0; k < PC_TEMPERATURE_SLOPES; k++)
    lanes->moment[k][0] = tempered_fold(lanes->moment[k]);
}

#if defined(TEMPERED_IN_EIGHTS)

#define TEMPERED_LOG_SUMS(kind, plain)                                                    \
  do {                                                                                    \
    if (wish == PC_TEMPERATURE_LOG)                                                       \
      eights_sum(kind, scores, count, top, max, scale, lanes->rest, NULL, lanes->moment); \
    else                                                                                  \
      eights_sum(kind, scores, count, top, max, scale, lanes->rest, lanes->one,           \
                 lanes->moment);                                                          \
  } while (0)

#else

_Static_assert(sizeof(plain_sums) == sizeof(tempered_lanes), "the same sums");

#define TEMPERED_LOG_SUMS(kind, plain)                                                \
  do {                                                                                \
    plain_sums sums;                                                                  \
    plain(scores, count, top, max, scale, wish == PC_TEMPERATURE_LOG_AND_ONE, &sums); \
    memcpy(lanes, &sums, sizeof sums);                                                \
  } while (0)

#endif

/* All of this for the log score. */
static void tempered_log_f32(pc_temperature_score wish, const float *scores, size_t count,
                             size_t top, double max, double scale, tempered_lanes *lanes) {
  TEMPERED_LOG_SUMS(EIGHTS_FLOATS, plain_sum_f32);
}

static void tempered_log_f64(pc_temperature_score wish, const double *scores, size_t count,
                             size_t top, double max, double scale, tempered_lanes *lanes) {
  if (top < count)
    TEMPERED_LOG_SUMS(EIGHTS_DOUBLES, plain_sum_f64);
  else
    TEMPERED_LOG_SUMS(EIGHTS_ROWS, plain_sum_f64);
}

/* Terms of the scores of a row but the one at `top`, part by part, folded; without a top, what
 * is in each lane is a row of its own. */
#define TEMPERED_SUM(name, fill, log_sums, type)                                             \
  static void name(pc_temperature_score wish, const type *scores, size_t count, size_t top,  \
                   double max, double scale, tempered_lanes *lanes) {                        \
    tempered_tile tile;                                                                      \
    if (wish != PC_TEMPERATURE_BRIER) {                                                      \
      log_sums(wish, scores, count, top, max, scale, lanes);                                 \
      return;                                                                                \
    }                                                                                        \
    memset(lanes, 0, sizeof *lanes);                                                         \
    for (size_t begin = 0; begin < count; begin += TEMPERED_TILE) {                          \
      const size_t left = count - begin, here = left < TEMPERED_TILE ? left : TEMPERED_TILE; \
      fill(scores + begin, here, top - begin, max, scale, &tile);                            \
      tempered_exponentiate(&tile);                                                          \
      tempered_add_squares(&tile, lanes);                                                    \
    }                                                                                        \
    if (top < count)                                                                         \
      tempered_fold_all(lanes);                                                              \
  }

TEMPERED_SUM(tempered_sum_f32, tempered_fill_f32, tempered_log_f32, float)
TEMPERED_SUM(tempered_sum_f64, tempered_fill_f64, tempered_log_f64, double)

static void tempered_push(pc_temperature_score wish, const tempered_lanes *lanes, double gap,
                          pc_temperature_block *block) {
  const size_t at = block->count++;
  block->gap[at] = gap;
  block->loss[at] = lanes->rest[0];
  if (wish == PC_TEMPERATURE_LOG_AND_ONE)
    block->one[at] = lanes->one[0];
  for (size_t k = 0; k < PC_TEMPERATURE_SLOPES; k++)
    block->slope[k][at] = lanes->moment[k][0];
}

/* Sums of the narrow rows in the lanes, the last of the block; lanes without a row count as
 * rows of zeros, which nobody asks for. */
static void tempered_take_lanes(pc_temperature_score wish, double beta,
                                pc_temperature_block *block) {
  const size_t first = (block->count - 1) / PC_LANES * PC_LANES;
  tempered_lanes sums;
  for (size_t l = block->count - first; l < PC_LANES; l++)
    for (size_t j = 0; j < block->classes; j++)
      block->lanes[j * PC_LANES + l] = 0.0;
  const size_t cells = block->classes * PC_LANES;
  tempered_sum_f64(wish, block->lanes, cells, cells, 0.0, beta * PC_LANE_LOG2_E, &sums);
  memcpy(block->loss + first, sums.rest, sizeof sums.rest);
  if (wish == PC_TEMPERATURE_LOG_AND_ONE)
    memcpy(block->one + first, sums.one, sizeof sums.one);
  for (size_t k = 0; k < PC_TEMPERATURE_SLOPES; k++)
    memcpy(block->slope[k] + first, sums.moment[k], sizeof sums.moment[k]);
}

/* The term of the largest is 0: it is kept out of the sums. */
#define TEMPERED_WAIT(name, type)                                                             \
  static void name(const type *scores, size_t top, double max, pc_temperature_block *block) { \
    double *lane = block->lanes + block->count % PC_LANES;                                    \
    for (size_t j = 0; j < block->classes; j++)                                               \
      lane[j * PC_LANES] = (double)scores[j] - max;                                           \
    lane[top * PC_LANES] = -INFINITY;                                                         \
  }

TEMPERED_WAIT(tempered_wait_f32, float)
TEMPERED_WAIT(tempered_wait_f64, double)

#define TEMPERED_ADD(name, sum, wait, type)                                                 \
  static void name(pc_temperature_score wish, const type *scores, size_t count, size_t top, \
                   size_t label, double beta, pc_temperature_block *block) {                \
    const double max = (double)scores[top], scale = beta * PC_LANE_LOG2_E;                  \
    tempered_lanes lanes;                                                                   \
    block->classes = count;                                                                 \
    if (count <= PC_NARROW_CLASSES) {                                                       \
      wait(scores, top, max, block);                                                        \
      block->gap[block->count++] = (double)scores[label] - max;                             \
      if (block->count % PC_LANES == 0)                                                     \
        tempered_take_lanes(wish, beta, block);                                             \
      return;                                                                               \
    }                                                                                       \
    sum(wish, scores, count, top, max, scale, &lanes);                                      \
    tempered_push(wish, &lanes, (double)scores[label] - max, block);                        \
  }

TEMPERED_ADD(tempered_add_f32, tempered_sum_f32, tempered_wait_f32, float)
TEMPERED_ADD(tempered_add_f64, tempered_sum_f64, tempered_wait_f64, double)

/* Cumulants 2 to 6 by way of central moments, in place: the mean stays where it is. */
static inline void tempered_cumulants(double m[6]) {
  const double a = m[0], a2 = a * a, a3 = a2 * a, a4 = a2 * a2;
  const double c2 = m[1] - a2, c3 = m[2] - 3.0 * a * m[1] + 2.0 * a3;
  const double c4 = m[3] - 4.0 * a * m[2] + 6.0 * a2 * m[1] - 3.0 * a4;
  const double c5 = m[4] - 5.0 * a * m[3] + 10.0 * a2 * m[2] - 10.0 * a3 * m[1] + 4.0 * a4 * a;
  const double c6 = m[5] - 6.0 * a * m[4] + 15.0 * a2 * m[3] - 20.0 * a3 * m[2] +
                    15.0 * a4 * m[1] - 5.0 * a4 * a2;
  m[1] = c2;
  m[2] = c3;
  m[3] = c4 - 3.0 * c2 * c2;
  m[4] = c5 - 10.0 * c3 * c2;
  m[5] = c6 - 15.0 * c4 * c2 - 10.0 * c3 * c3 + 30.0 * c2 * c2 * c2;
}

/* d_y as it counts. */
static inline double tempered_gap(const pc_temperature_block *block, size_t i) {
  return block->gap[i] < -TEMPERED_GAP_MAX ? -TEMPERED_GAP_MAX : block->gap[i];
}

static void tempered_finish_log(double beta, pc_temperature_block *block) {
  const double back = 1.0 / (beta * PC_LANE_LOG2_E);
  for (size_t i = 0; i < block->count; i++) {
    double mean[PC_TEMPERATURE_SLOPES], factor = 1.0 / (1.0 + block->loss[i]);
    for (size_t k = 0; k < PC_TEMPERATURE_SLOPES; k++) {
      factor *= back;
      mean[k] = block->slope[k][i] * factor;
    }
    tempered_cumulants(mean);
    block->slope[0][i] = mean[0] - tempered_gap(block, i);
    for (size_t k = 1; k < PC_TEMPERATURE_SLOPES; k++)
      block->slope[k][i] = mean[k];
  }
  for (size_t i = 0; i < block->count; i++)
    block->loss[i] = pc_lane_log1p(block->loss[i]) - beta * tempered_gap(block, i);
}

static void tempered_finish_one(pc_temperature_block *block) {
  for (size_t i = 0; i < block->count; i++)
    block->one[i] = pc_lane_log1p(block->one[i]) - tempered_gap(block, i);
}

static void tempered_finish_brier(double beta, pc_temperature_block *block) {
  const double back = 1.0 / (beta * PC_LANE_LOG2_E);
  for (size_t i = 0; i < block->count; i++) {
    const double gap = tempered_gap(block, i), rest = block->loss[i];
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

static void tempered_finish(pc_temperature_score wish, double beta,
                            pc_temperature_block *block) {
  if (block->count % PC_LANES != 0 && block->classes <= PC_NARROW_CLASSES)
    tempered_take_lanes(wish, beta, block);
  if (wish == PC_TEMPERATURE_BRIER)
    tempered_finish_brier(beta, block);
  else
    tempered_finish_log(beta, block);
  if (wish == PC_TEMPERATURE_LOG_AND_ONE)
    tempered_finish_one(block);
}

/* The largest; are all numbers finite?  Not when their sum overflows. */
#define TEMPERED_MAX(name, type)                                     \
  static type name(const type *scores, size_t count, int *finite) {  \
    type most[PC_LANES], sum[PC_LANES] = {0};                        \
    for (size_t l = 0; l < PC_LANES; l++)                            \
      most[l] = scores[0];                                           \
    size_t j = 0;                                                    \
    for (; j + PC_LANES <= count; j += PC_LANES)                     \
      for (size_t l = 0; l < PC_LANES; l++) {                        \
        most[l] = scores[j + l] > most[l] ? scores[j + l] : most[l]; \
        sum[l] += scores[j + l];                                     \
      }                                                              \
    for (; j < count; j++) {                                         \
      most[0] = scores[j] > most[0] ? scores[j] : most[0];           \
      sum[0] += scores[j];                                           \
    }                                                                \
    for (size_t l = 1; l < PC_LANES; l++) {                          \
      most[0] = most[l] > most[0] ? most[l] : most[0];               \
      sum[0] += sum[l];                                              \
    }                                                                \
    *finite = sum[0] - sum[0] == 0;                                  \
    return most[0];                                                  \
  }

TEMPERED_MAX(tempered_max_f32, float)
TEMPERED_MAX(tempered_max_f64, double)

/* Terms of a row, which may take the place of its scores, and their sum. */
#define TEMPERED_TERMS(name, type)                                                             \
  static double name(const type *scores, size_t count, double max, double beta, double *out) { \
    const double lowest = pc_lane_exp_lowest(beta);                                            \
    double sum[PC_LANES] = {0.0}, reduced[TEMPERED_TILE], scale[TEMPERED_TILE];                \
    for (size_t begin = 0; begin < count; begin += TEMPERED_TILE) {                            \
      const size_t left = count - begin, here = left < TEMPERED_TILE ? left : TEMPERED_TILE;   \
      size_t whole = here;                                                                     \
      for (size_t i = 0; i < here; i++) {                                                      \
        const double x = beta * ((double)scores[begin + i] - max);                             \
        reduced[i] = pc_lane_exp_reduce(x < lowest ? lowest : x, &scale[i]);                   \
      }                                                                                        \
      for (; whole % PC_LANES != 0; whole++)                                                   \
        reduced[whole] = scale[whole] = 0.0;                                                   \
      for (size_t j = 0; j < whole; j += PC_LANES)                                             \
        for (size_t l = 0; l < PC_LANES; l++) {                                                \
          reduced[j + l] = pc_lane_exp_finish(reduced[j + l], scale[j + l]);                   \
          sum[l] += reduced[j + l];                                                            \
        }                                                                                      \
      memcpy(out + begin, reduced, here * sizeof *out);                                        \
    }                                                                                          \
    return tempered_fold(sum);                                                                 \
  }

TEMPERED_TERMS(tempered_terms_f32, float)
TEMPERED_TERMS(tempered_terms_f64, double)

static int tempered_wide_f64(const double *scores, size_t count, double beta, double *out) {
  int finite;
  const double max = tempered_max_f64(scores, count, &finite);
  const double share = 1.0 / tempered_terms_f64(scores, count, max, beta, out);
  for (size_t j = 0; j < count; j++)
    out[j] *= share;
  return 1;
}

static int tempered_wide_f32(const float *scores, size_t count, double beta, float *out) {
  double terms[PC_TEMPERATURE_FLOATS];
  int finite;
  const double max = (double)tempered_max_f32(scores, count, &finite);
  if (!finite)
    return 0;
  const double share = 1.0 / tempered_terms_f32(scores, count, max, beta, terms);
  for (size_t j = 0; j < count; j++)
    out[j] = (float)(terms[j] * share);
  return 1;
}

/* PC_LANES rows of at most PC_NARROW_CLASSES scores, one in each lane.  Are the scores finite?
 * Not when their sum overflows. */
#define TEMPERED_NARROW(name, turn, type)                                               \
  static int name(const type *scores, size_t count, double beta, type *out) {           \
    double term[PC_NARROW_CLASSES * PC_LANES], scale[PC_NARROW_CLASSES * PC_LANES];     \
    type turned[PC_NARROW_CLASSES * PC_LANES], max[PC_LANES], all[PC_LANES] = {0};      \
    double sum[PC_LANES] = {0.0};                                                       \
    const double lowest = pc_lane_exp_lowest(beta);                                     \
    turn(scores, PC_LANES, count, turned);                                              \
    for (size_t l = 0; l < PC_LANES; l++)                                               \
      max[l] = (type)-INFINITY;                                                         \
    for (size_t j = 0; j < count; j++)                                                  \
      for (size_t l = 0; l < PC_LANES; l++) {                                           \
        max[l] = turned[j * PC_LANES + l] > max[l] ? turned[j * PC_LANES + l] : max[l]; \
        all[l] += turned[j * PC_LANES + l];                                             \
      }                                                                                 \
    for (size_t j = 0; j < count; j++)                                                  \
      for (size_t l = 0; l < PC_LANES; l++) {                                           \
        const size_t at = j * PC_LANES + l;                                             \
        const double x = beta * ((double)turned[at] - (double)max[l]);                  \
        term[at] = pc_lane_exp_reduce(x < lowest ? lowest : x, &scale[at]);             \
      }                                                                                 \
    for (size_t j = 0; j < count; j++)                                                  \
      for (size_t l = 0; l < PC_LANES; l++) {                                           \
        const size_t at = j * PC_LANES + l;                                             \
        term[at] = pc_lane_exp_finish(term[at], scale[at]);                             \
        sum[l] += term[at];                                                             \
      }                                                                                 \
    for (size_t l = 0; l < PC_LANES; l++)                                               \
      sum[l] = 1.0 / sum[l];                                                            \
    for (size_t j = 0; j < count; j++)                                                  \
      for (size_t l = 0; l < PC_LANES; l++)                                             \
        turned[j * PC_LANES + l] = (type)(term[j * PC_LANES + l] * sum[l]);             \
    turn(turned, count, PC_LANES, out);                                                 \
    type odd = 0;                                                                       \
    for (size_t l = 0; l < PC_LANES; l++)                                               \
      odd += all[l] - all[l];                                                           \
    return odd == 0;                                                                    \
  }

TEMPERED_NARROW(tempered_narrow_f32, pc_transpose_f32, float)
TEMPERED_NARROW(tempered_narrow_f64, pc_transpose_f64, double)

/* Of fewer narrow rows than lanes the first one stands in for those that are not there. */
#define TEMPERED_SOFTMAX(name, wide, narrow, type)                                         \
  static int name(const type *scores, size_t rows, size_t count, double beta, type *out) { \
    int good = 1;                                                                          \
    if (count > PC_NARROW_CLASSES) {                                                       \
      for (size_t i = 0; i < rows && good; i++)                                            \
        good = wide(scores + i * count, count, beta, out + i * count);                     \
      return good;                                                                         \
    }                                                                                      \
    const size_t whole = rows / PC_LANES * PC_LANES;                                       \
    for (size_t i = 0; i < whole; i += PC_LANES)                                           \
      good &= narrow(scores + i * count, count, beta, out + i * count);                    \
    if (whole == rows)                                                                     \
      return good;                                                                         \
    type block[PC_NARROW_CLASSES * PC_LANES];                                              \
    memcpy(block, scores + whole * count, (rows - whole) * count * sizeof *block);         \
    for (size_t l = rows - whole; l < PC_LANES; l++)                                       \
      memcpy(block + l * count, scores + whole * count, count * sizeof *block);            \
    good &= narrow(block, count, beta, block);                                             \
    memcpy(out + whole * count, block, (rows - whole) * count * sizeof *out);              \
    return good;                                                                           \
  }

TEMPERED_SOFTMAX(tempered_softmax_f32, tempered_wide_f32, tempered_narrow_f32, float)
TEMPERED_SOFTMAX(tempered_softmax_f64, tempered_wide_f64, tempered_narrow_f64, double)

static void tempered_softmax(const double *scores, size_t rows, size_t count, double beta,
                             double *out) {
  (void)tempered_softmax_f64(scores, rows, count, beta, out);
}

const pc_temperature_kernels PC_VARIANT_TABLE(pc_temperature_kernels) = {
    .name = PC_VARIANT_NAME,
    .add_f32 = tempered_add_f32,
    .add_f64 = tempered_add_f64,
    .finish = tempered_finish,
    .softmax = tempered_softmax,
    .softmax_floats = tempered_softmax_f32,
};
