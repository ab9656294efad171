/* Formula, d_j = z_j - max z, t_j = exp(beta d_j), S = sum t_j, m_k = sum t_j d_j^k / S:
 *   log:    L = log S - beta d_y;   L' = m_1 - d_y;   L'', L''', L'''' = cumulants 2 to 4.
 *   Brier:  with a_k = sum t_j^2 d_j^k / S^2, p = t_y / S, c = d_y - m_1, v = m_2 - m_1^2:
 *           B = (1 - p)^2 + sum of p_j^2 over j != y;   B' = 2 (a_1 - a_0 m_1 - p c);
 *           B'' = 2 (2 (a_2 - a_1 m_1) - 2 m_1 (a_1 - a_0 m_1) - a_0 v - p c^2 + p v).
 * Edge cases: (1) the largest term is exactly 1 and kept out of the sums, so that losses near 0
 * keep their digits; (2) terms below exp(-708) count as 0, whatever their d_j, also -inf;
 * (3) a d_y beyond -1e300 counts as -1e300: everything stays finite.
 * Accuracy: a few ulp of the largest term.   Cost: one exp for each score.
 *
 * The sums over the classes have a fixed order of TEMPERED_LANES partial sums, so that
 * compilers may use vectors without changing bits. */
#include "kernels/tempered.h"

#include <math.h>

#include "kernels/lane_math.h"

#define TEMPERED_LANES 8
#define TEMPERED_FAR (-708.0)
#define TEMPERED_GAP_MAX 1e300

typedef struct tempered_sums {
  double rest;      /* sum of t_j without the largest */
  double moment[4]; /* sums of t_j d_j^k, k = 1 .. 4 */
  double square[3]; /* sums of t_j^2 d_j^k, k = 0 .. 2, the largest left out of the first */
} tempered_sums;

static double tempered_max(const double *scores, size_t count) {
  double top[TEMPERED_LANES];
  for (size_t l = 0; l < TEMPERED_LANES; l++)
    top[l] = scores[0];
  size_t j = 0;
  for (; j + TEMPERED_LANES <= count; j += TEMPERED_LANES)
    for (size_t l = 0; l < TEMPERED_LANES; l++)
      top[l] = scores[j + l] > top[l] ? scores[j + l] : top[l];
  for (; j < count; j++)
    top[0] = scores[j] > top[0] ? scores[j] : top[0];
  for (size_t l = 1; l < TEMPERED_LANES; l++)
    top[0] = top[l] > top[0] ? top[l] : top[0];
  return top[0];
}

static double tempered_fold(const double lanes[TEMPERED_LANES]) {
  const double a = (lanes[0] + lanes[4]) + (lanes[2] + lanes[6]);
  const double b = (lanes[1] + lanes[5]) + (lanes[3] + lanes[7]);
  return a + b;
}

/* TEMPERED_LANES scores of a row; `term` is 0 for those equal to the largest, which
 * `same` counts. */
typedef struct tempered_block {
  double term[TEMPERED_LANES], gap[TEMPERED_LANES], same[TEMPERED_LANES];
} tempered_block;

static inline void tempered_fill(const double *scores, double max, double beta,
                                 tempered_block *out) {
  for (size_t l = 0; l < TEMPERED_LANES; l++) {
    const double gap = scores[l] - max, power = beta * gap;
    const double term = pc_lane_exp(power);
    out->same[l] = gap < 0.0 ? 0.0 : 1.0;
    out->term[l] = gap < 0.0 ? term : 0.0;
    out->gap[l] = power < TEMPERED_FAR ? 0.0 : gap;
  }
}

/* Fewer scores than lanes: the others count as -inf. */
static void tempered_fill_rest(const double *scores, size_t count, double max, double beta,
                               tempered_block *out) {
  double padded[TEMPERED_LANES];
  for (size_t l = 0; l < TEMPERED_LANES; l++)
    padded[l] = l < count ? scores[l] : -INFINITY;
  tempered_fill(padded, max, beta, out);
}

typedef struct tempered_lanes {
  double same[TEMPERED_LANES], rest[TEMPERED_LANES];
  double moment[4][TEMPERED_LANES], square[3][TEMPERED_LANES];
} tempered_lanes;

/* What the log score needs. */
static inline void tempered_add_moments(const tempered_block *at, tempered_lanes *lanes) {
  for (size_t l = 0; l < TEMPERED_LANES; l++) {
    const double first = at->term[l] * at->gap[l], second = first * at->gap[l];
    const double third = second * at->gap[l];
    lanes->same[l] += at->same[l];
    lanes->rest[l] += at->term[l];
    lanes->moment[0][l] += first;
    lanes->moment[1][l] += second;
    lanes->moment[2][l] += third;
    lanes->moment[3][l] += third * at->gap[l];
  }
}

/* What the Brier score needs. */
static inline void tempered_add_squares(const tempered_block *at, tempered_lanes *lanes) {
  for (size_t l = 0; l < TEMPERED_LANES; l++) {
    const double first = at->term[l] * at->gap[l];
    const double square = at->term[l] * at->term[l], square_first = square * at->gap[l];
    lanes->same[l] += at->same[l];
    lanes->rest[l] += at->term[l];
    lanes->moment[0][l] += first;
    lanes->moment[1][l] += first * at->gap[l];
    lanes->square[0][l] += square;
    lanes->square[1][l] += square_first;
    lanes->square[2][l] += square_first * at->gap[l];
  }
}

static void tempered_fold_all(const tempered_lanes *lanes, tempered_sums *out) {
  const double ties = tempered_fold(lanes->same) - 1.0;
  out->rest = tempered_fold(lanes->rest) + ties;
  for (size_t k = 0; k < 4; k++)
    out->moment[k] = tempered_fold(lanes->moment[k]);
  for (size_t k = 0; k < 3; k++)
    out->square[k] = tempered_fold(lanes->square[k]) + (k == 0 ? ties : 0.0);
}

static void tempered_moments(const double *scores, size_t count, double max, double beta,
                             tempered_sums *out) {
  tempered_lanes lanes = {{0}, {0}, {{0}}, {{0}}};
  tempered_block at;
  size_t j = 0;
  for (; j + TEMPERED_LANES <= count; j += TEMPERED_LANES) {
    tempered_fill(scores + j, max, beta, &at);
    tempered_add_moments(&at, &lanes);
  }
  if (j < count) {
    tempered_fill_rest(scores + j, count - j, max, beta, &at);
    tempered_add_moments(&at, &lanes);
  }
  tempered_fold_all(&lanes, out);
}

static void tempered_squares(const double *scores, size_t count, double max, double beta,
                             tempered_sums *out) {
  tempered_lanes lanes = {{0}, {0}, {{0}}, {{0}}};
  tempered_block at;
  size_t j = 0;
  for (; j + TEMPERED_LANES <= count; j += TEMPERED_LANES) {
    tempered_fill(scores + j, max, beta, &at);
    tempered_add_squares(&at, &lanes);
  }
  if (j < count) {
    tempered_fill_rest(scores + j, count - j, max, beta, &at);
    tempered_add_squares(&at, &lanes);
  }
  tempered_fold_all(&lanes, out);
}

static void tempered_log(const tempered_sums *sums, double gap, double beta, pc_tempered *out) {
  const double sum = 1.0 + sums->rest;
  const double m1 = sums->moment[0] / sum, m2 = sums->moment[1] / sum;
  const double m3 = sums->moment[2] / sum, m4 = sums->moment[3] / sum, m1m1 = m1 * m1;
  out->loss = pc_lane_log1p(sums->rest) - beta * gap;
  out->slope[0] = m1 - gap;
  out->slope[1] = m2 - m1m1;
  out->slope[2] = m3 - 3.0 * m1 * m2 + 2.0 * m1 * m1m1;
  out->slope[3] = m4 - 4.0 * m1 * m3 - 3.0 * m2 * m2 + 12.0 * m1m1 * m2 - 6.0 * m1m1 * m1m1;
}

static void tempered_brier(const tempered_sums *sums, double gap, double beta,
                           pc_tempered *out) {
  const double power = beta * gap, sum = 1.0 + sums->rest, norm = sum * sum;
  const double term = gap < 0.0 ? pc_lane_exp(power) : 1.0;
  const double others = gap < 0.0 ? 1.0 + (sums->rest - term) : sums->rest;
  const double square = gap < 0.0 ? 1.0 + (sums->square[0] - term * term) : sums->square[0];
  const double m1 = sums->moment[0] / sum, v = sums->moment[1] / sum - m1 * m1;
  const double a0 = (1.0 + sums->square[0]) / norm, a1 = sums->square[1] / norm;
  const double a2 = sums->square[2] / norm, p = term / sum;
  const double c = power < TEMPERED_FAR ? 0.0 : gap - m1;
  out->loss = others / sum * (others / sum) + square / norm;
  out->slope[0] = 2.0 * (a1 - a0 * m1 - p * c);
  out->slope[1] =
      2.0 * (2.0 * (a2 - a1 * m1) - 2.0 * m1 * (a1 - a0 * m1) - a0 * v - p * c * c + p * v);
  out->slope[2] = out->slope[3] = 0.0;
}

static void tempered_row(pc_tempered_objective objective, const double *scores, size_t count,
                         size_t label, double beta, pc_tempered *out) {
  tempered_sums sums;
  const double max = tempered_max(scores, count);
  out->gap = scores[label] - max;
  const double gap = fmax(scores[label] - max, -TEMPERED_GAP_MAX);
  if (objective == PC_TEMPERED_LOG) {
    tempered_moments(scores, count, max, beta, &sums);
    tempered_log(&sums, gap, beta, out);
  } else {
    tempered_squares(scores, count, max, beta, &sums);
    tempered_brier(&sums, gap, beta, out);
  }
}

static void tempered_softmax(const double *scores, size_t count, double beta, double *out) {
  const double max = tempered_max(scores, count);
  double sum = 0.0;
  for (size_t j = 0; j < count; j++) {
    out[j] = pc_lane_exp(beta * (scores[j] - max));
    sum += out[j];
  }
  for (size_t j = 0; j < count; j++)
    out[j] /= sum;
}

#define TEMPERED_JOIN(a, b) a##b
#define TEMPERED_NAME(variant) TEMPERED_JOIN(pc_tempered_kernels_, variant)
#define TEMPERED_TEXT(variant) TEMPERED_QUOTE(variant)
#define TEMPERED_QUOTE(text) #text

const pc_tempered_kernels TEMPERED_NAME(PC_VARIANT) = {
    .name = TEMPERED_TEXT(PC_VARIANT),
    .row = tempered_row,
    .softmax = tempered_softmax,
};
