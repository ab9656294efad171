/* Formula, with m = max u, t_k = exp(u_k - m), S = sum t_k:
 *   p_k = t_k / S
 *   -log p_y = log S - (u_y - m)
 *   p_y - 1 = -(S - t_y) / S
 * A term x is rounded to the lattice as (x + big) - big, where an ulp of big is a lattice step:
 * rounded to nearest, ties to even, independent of the sum.
 *
 * Edge cases:
 *  1. the largest term is exactly 1 and left out of the sum, so that losses and residuals close
 *     to 0 keep their digits.
 *  2. terms below exp(-708) are 0.
 *  3. u_y - m below -1e300 counts as -1e300.
 *
 * Cost: map() takes 2 operations for each multiplication, outer() 4 (6 with weights); one exp
 * for each class of a row. */
#include "kernels/linear_kernels.h"

#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/transpose.h"
#include "kernels/variant.h"

#define LINEAR_BIG (0x1.8p52 * PC_LATTICE)
#define LINEAR_BIG_BITS UINT64_C(0x4098000000000000)
#define LINEAR_LOSS_MAX 1e300

/* Two rows at a time, so that w is loaded half as often; four features at a time, so that sums
 * are loaded a quarter as often. */
static void linear_map_pair(const double *restrict w, const double *restrict b,
                            const double *restrict x, size_t inputs, size_t stride,
                            double *restrict first, double *restrict second) {
  const double *y = x + inputs;
  size_t j = 0;
  for (size_t k = 0; k < stride; k++)
    first[k] = second[k] = b[k];
  for (; j + 4 <= inputs; j += 4, w += 4 * stride) {
    const double *w1 = w + stride, *w2 = w1 + stride, *w3 = w2 + stride;
    const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    const double y0 = y[j], y1 = y[j + 1], y2 = y[j + 2], y3 = y[j + 3];
    for (size_t k = 0; k < stride; k++) {
      first[k] = (((first[k] + x0 * w[k]) + x1 * w1[k]) + x2 * w2[k]) + x3 * w3[k];
      second[k] = (((second[k] + y0 * w[k]) + y1 * w1[k]) + y2 * w2[k]) + y3 * w3[k];
    }
  }
  for (; j < inputs; j++, w += stride)
    for (size_t k = 0; k < stride; k++) {
      first[k] += x[j] * w[k];
      second[k] += y[j] * w[k];
    }
}

static void linear_map(const double *w, const double *b, const double *x, size_t inputs,
                       size_t stride, double *out) {
  for (size_t r = 0; r < PC_LINEAR_ROWS; r += 2)
    linear_map_pair(w, b, x + r * inputs, inputs, stride, out + r * stride,
                    out + (r + 1) * stride);
}

static void linear_scale(const double *restrict w, const double *restrict b,
                         const double *restrict x, size_t count, double *restrict out) {
  for (size_t k = 0; k < count; k++)
    out[k] = b[k] + x[k] * w[k];
}

static double linear_fold(double lanes[PC_LINEAR_LANES]) {
  for (size_t width = PC_LINEAR_LANES / 2; width > 0; width /= 2)
    for (size_t l = 0; l < width; l++)
      lanes[l] += lanes[l + width];
  return lanes[0];
}

static double linear_max(const double *u, size_t count) {
  double top[PC_LINEAR_LANES], best = u[0];
  const size_t whole = count / PC_LINEAR_LANES * PC_LINEAR_LANES;
  for (size_t l = 0; l < PC_LINEAR_LANES; l++)
    top[l] = u[0];
  for (size_t k = 0; k < whole; k += PC_LINEAR_LANES)
    for (size_t l = 0; l < PC_LINEAR_LANES; l++)
      top[l] = u[k + l] > top[l] ? u[k + l] : top[l];
  for (size_t k = whole; k < count; k++)
    best = u[k] > best ? u[k] : best;
  for (size_t l = 0; l < PC_LINEAR_LANES; l++)
    best = top[l] > best ? top[l] : best;
  return best;
}

/* The sum of `stride` terms without the largest; those after the last class are 0. */
static double linear_sum(const double *restrict u, size_t stride, double max,
                         const double *restrict terms) {
  double sum[PC_LINEAR_LANES] = {0.0}, same[PC_LINEAR_LANES] = {0.0};
  for (size_t k = 0; k < stride; k += PC_LINEAR_LANES)
    for (size_t l = 0; l < PC_LINEAR_LANES; l++) {
      const double below = u[k + l] < max ? 1.0 : 0.0;
      sum[l] += below * terms[k + l];
      same[l] += 1.0 - below;
    }
  return linear_fold(sum) + (linear_fold(same) - 1.0);
}

/* The largest of `stride` entries. */
static double linear_top(const double *u, size_t stride) {
  double top[PC_LINEAR_LANES];
  for (size_t l = 0; l < PC_LINEAR_LANES; l++)
    top[l] = u[l];
  for (size_t k = PC_LINEAR_LANES; k < stride; k += PC_LINEAR_LANES)
    for (size_t l = 0; l < PC_LINEAR_LANES; l++)
      top[l] = u[k + l] > top[l] ? u[k + l] : top[l];
  for (size_t width = PC_LINEAR_LANES / 2; width > 0; width /= 2)
    for (size_t l = 0; l < width; l++)
      top[l] = top[l + width] > top[l] ? top[l + width] : top[l];
  return top[0];
}

/* The sums of linear_sum for a block whose rows are lanes, in the same order. */
static inline void linear_sum_columns(const double *restrict gaps, const double *restrict terms,
                                      size_t count, double *restrict rest) {
  double sums[PC_LINEAR_LANES][PC_LINEAR_BLOCK], same[PC_LINEAR_BLOCK] = {0.0};
  for (size_t k = 0; k < count; k++)
    for (size_t r = 0; r < PC_LINEAR_BLOCK; r++) {
      const double below = gaps[k * PC_LINEAR_BLOCK + r] < 0.0 ? 1.0 : 0.0;
      sums[k][r] = below * terms[k * PC_LINEAR_BLOCK + r];
      same[r] += 1.0 - below;
    }
  for (size_t width = PC_LINEAR_LANES / 2; width > 0; width /= 2)
    for (size_t l = 0; l + width < count && l < width; l++)
      for (size_t r = 0; r < PC_LINEAR_BLOCK; r++)
        sums[l][r] += sums[l + width][r];
  for (size_t r = 0; r < PC_LINEAR_BLOCK; r++)
    rest[r] = sums[0][r] + (same[r] - 1.0);
}

/* linear_residuals for a whole block of rows of PC_LINEAR_LANES numbers, with the same bits:
 * rows are lanes, so that nothing is added across a vector. */
static void linear_residuals_narrow(const double *restrict u, size_t count,
                                    const size_t *labels, double *restrict p,
                                    double *restrict residual, double *restrict loss) {
  enum { ROWS = PC_LINEAR_BLOCK, CELLS = PC_LINEAR_LANES * PC_LINEAR_BLOCK };
  double gaps[CELLS], terms[CELLS], max[ROWS], rest[ROWS], scale[ROWS];
  pc_transpose_f64(u, ROWS, PC_LINEAR_LANES, gaps);
  for (size_t r = 0; r < ROWS; r++)
    max[r] = gaps[r];
  for (size_t k = 1; k < count; k++)
    for (size_t r = 0; r < ROWS; r++)
      max[r] = gaps[k * ROWS + r] > max[r] ? gaps[k * ROWS + r] : max[r];
  for (size_t k = 0; k < count; k++)
    for (size_t r = 0; r < ROWS; r++)
      gaps[k * ROWS + r] -= max[r];
  for (size_t i = 0; i < count * ROWS; i++)
    terms[i] = pc_lane_exp(gaps[i]);
  for (size_t i = count * ROWS; i < CELLS; i++)
    terms[i] = 0.0;
  linear_sum_columns(gaps, terms, count, rest);
  for (size_t r = 0; r < ROWS; r++) {
    const double gap = gaps[labels[r] * ROWS + r];
    const double others = gap < 0.0 ? 1.0 + (rest[r] - terms[labels[r] * ROWS + r]) : rest[r];
    scale[r] = 1.0 / (1.0 + rest[r]);
    max[r] = -(others * scale[r]); /* the residual of the label */
    loss[r] = -(gap < -LINEAR_LOSS_MAX ? -LINEAR_LOSS_MAX : gap);
  }
  for (size_t k = 0; k < count; k++)
    for (size_t r = 0; r < ROWS; r++)
      terms[k * ROWS + r] *= scale[r];
  pc_transpose_f64(terms, PC_LINEAR_LANES, ROWS, p);
  memcpy(residual, p, CELLS * sizeof *p);
  for (size_t r = 0; r < ROWS; r++) {
    residual[r * PC_LINEAR_LANES + labels[r]] = max[r];
    loss[r] = pc_lane_log1p(rest[r]) + loss[r];
  }
}

static void linear_residuals(double *restrict u, size_t count, size_t stride, size_t rows,
                             const size_t *labels, double *restrict p,
                             double *restrict residual, double *restrict loss) {
  if (stride == PC_LINEAR_LANES && rows == PC_LINEAR_BLOCK) {
    linear_residuals_narrow(u, count, labels, p, residual, loss);
    return;
  }
  double max[PC_LINEAR_BLOCK], rest[PC_LINEAR_BLOCK];
  const double low = -1.7e308;
  for (size_t r = 0; r < rows; r++) {
    for (size_t k = count; k < stride; k++)
      u[r * stride + k] = low;
    max[r] = linear_top(u + r * stride, stride);
    for (size_t k = 0; k < stride; k++)
      p[r * stride + k] = u[r * stride + k] - max[r];
  }
  for (size_t i = 0; i < rows * stride; i++)
    p[i] = pc_lane_exp(p[i]);
  for (size_t r = 0; r < rows; r++)
    rest[r] = linear_sum(u + r * stride, stride, max[r], p + r * stride);
  for (size_t r = 0; r < rows; r++) {
    double *terms = p + r * stride, *out = residual + r * stride;
    const double gap = u[r * stride + labels[r]] - max[r], term = terms[labels[r]];
    const double scale = 1.0 / (1.0 + rest[r]);
    const double others = gap < 0.0 ? 1.0 + (rest[r] - term) : rest[r];
    for (size_t k = 0; k < stride; k++) {
      terms[k] *= scale;
      out[k] = terms[k];
    }
    out[labels[r]] = -(others * scale);
    loss[r] = -(gap < -LINEAR_LOSS_MAX ? -LINEAR_LOSS_MAX : gap);
  }
  for (size_t r = 0; r < rows; r++)
    loss[r] = pc_lane_log1p(rest[r]) + loss[r];
}

static void linear_softmax(const double *u, size_t count, double *out) {
  const double max = linear_max(u, count);
  double sum[PC_LINEAR_LANES] = {0.0};
  size_t k = 0;
  for (; k + PC_LINEAR_LANES <= count; k += PC_LINEAR_LANES)
    for (size_t l = 0; l < PC_LINEAR_LANES; l++) {
      out[k + l] = pc_lane_exp(u[k + l] - max);
      sum[l] += out[k + l];
    }
  for (size_t l = 0; k < count; k++, l++) {
    out[k] = pc_lane_exp(u[k] - max);
    sum[l] += out[k];
  }
  const double scale = 1.0 / linear_fold(sum);
  for (k = 0; k < count; k++)
    out[k] *= scale;
}

static inline double linear_lattice(double x) {
  return (x + LINEAR_BIG) - LINEAR_BIG;
}

/* Explicit vectors, whose sums stay in registers over all rows. */
#define LINEAR_VECTOR 8
typedef double linear_vector
    __attribute__((vector_size(LINEAR_VECTOR * sizeof(double)), aligned(8), may_alias));

typedef uint64_t linear_steps
    __attribute__((vector_size(LINEAR_VECTOR * sizeof(uint64_t)), aligned(8), may_alias));
typedef int64_t linear_whole
    __attribute__((vector_size(LINEAR_VECTOR * sizeof(int64_t)), aligned(8), may_alias));

static inline const linear_vector *linear_at(const double *x) {
  return (const linear_vector *)(const void *)x;
}

/* x + LINEAR_BIG has the bits of LINEAR_BIG plus x in lattice steps, so that the terms of four
 * rows are added as integers. */
static void linear_outer_plain(double *restrict sums, const double *a, size_t pitch,
                               const double *v, size_t inputs, size_t stride) {
  const double *v1 = v + stride, *v2 = v1 + stride, *v3 = v2 + stride;
  for (size_t i = 0; i < inputs; i++, a++, sums += stride) {
    const double a0 = a[0], a1 = a[pitch], a2 = a[2 * pitch], a3 = a[3 * pitch];
    for (size_t k = 0; k < stride; k += LINEAR_VECTOR) {
      const linear_steps steps = ((linear_steps)(a0 * *linear_at(v + k) + LINEAR_BIG) +
                                  (linear_steps)(a1 * *linear_at(v1 + k) + LINEAR_BIG)) +
                                 ((linear_steps)(a2 * *linear_at(v2 + k) + LINEAR_BIG) +
                                  (linear_steps)(a3 * *linear_at(v3 + k) + LINEAR_BIG));
      /* at most four: still of the exponent of LINEAR_BIG */
      const linear_vector four = (linear_vector)(steps - 3 * LINEAR_BIG_BITS) - LINEAR_BIG;
      *(linear_vector *)(void *)(sums + k) += four;
    }
  }
}

static void linear_outer_weighted(double *restrict sums, const double *a, size_t pitch,
                                  const double *v, size_t inputs, size_t stride,
                                  const double *weights) {
  for (size_t i = 0; i < inputs; i++, a++, sums += stride)
    for (size_t r = 0; r < PC_LINEAR_ROWS; r++) {
      const double factor = a[r * pitch], weight = weights[r];
      const double *row = v + r * stride;
      for (size_t k = 0; k < stride; k++)
        sums[k] += linear_lattice(weight * linear_lattice(factor * row[k]));
    }
}

static void linear_outer(double *sums, const double *a, size_t pitch, const double *v,
                         size_t inputs, size_t stride, const double *weights) {
  if (weights == NULL)
    linear_outer_plain(sums, a, pitch, v, inputs, stride);
  else
    linear_outer_weighted(sums, a, pitch, v, inputs, stride, weights);
}

#define LINEAR_LATTICE(x) (((x) + LINEAR_BIG) - LINEAR_BIG)

/* Adds a vector of steps for columns j .. j + 7 to row i of a triangle. */
static inline void linear_upper_store(double *row, size_t i, size_t j,
                                      const linear_steps *steps) {
  const linear_whole whole = (linear_whole)*steps;
  const linear_vector sum = __builtin_convertvector(whole, linear_vector) * PC_LATTICE;
  if (j >= i)
    *(linear_vector *)(void *)(row + (j - i)) += sum;
  else
    for (size_t l = i - j; l < LINEAR_VECTOR; l++)
      row[j + l - i] += sum[l];
}

/* Sums of columns j .. j + 7 for `here` inputs from i on, at most four.  x + LINEAR_BIG has the
 * bits of LINEAR_BIG plus x in lattice steps, so that terms are added as integers. */
static inline void linear_upper_four(double *sums, const double *scaled, size_t stride,
                                     const double *const *x, size_t i, size_t here, size_t j,
                                     size_t count) {
  linear_steps s0 = {0}, s1 = s0, s2 = s0, s3 = s0;
  const double *a = scaled + i;
  for (size_t r = 0; r < count; r++, a += stride) {
    const linear_vector b = *linear_at(x[r] + j);
    s0 += (linear_steps)(a[0] * b + LINEAR_BIG);
    s1 += (linear_steps)(a[1] * b + LINEAR_BIG);
    s2 += (linear_steps)(a[2] * b + LINEAR_BIG);
    s3 += (linear_steps)(a[3] * b + LINEAR_BIG);
  }
  const linear_steps four[] = {s0, s1, s2, s3};
  for (size_t n = 0; n < here; n++) {
    const linear_steps steps = four[n] - count * LINEAR_BIG_BITS;
    linear_upper_store(sums + n * stride, i + n, j, &steps);
  }
}

static inline void linear_upper_plain(double *sums, const double *const *x, size_t inputs,
                                      size_t stride, size_t count, const double *scaled) {
  for (size_t i = 0; i < inputs; i += 4)
    for (size_t j = i / LINEAR_VECTOR * LINEAR_VECTOR; j < inputs; j += LINEAR_VECTOR)
      linear_upper_four(sums + i * stride, scaled, stride, x, i,
                        inputs - i < 4 ? inputs - i : 4, j, count);
}

static inline void linear_upper_weighted(double *sums, const double *a, size_t stride,
                                         const double *const *x, size_t j, size_t count,
                                         const double *weights) {
  linear_vector sum = *linear_at(sums);
  for (size_t r = 0; r < count; r++, a += stride) {
    const linear_vector one = a[0] * *linear_at(x[r] + j);
    const linear_vector weighed = weights[r] * LINEAR_LATTICE(one);
    sum += LINEAR_LATTICE(weighed);
  }
  *(linear_vector *)(void *)sums = sum;
}

static void linear_upper(double *sums, const double *const *x, size_t inputs, size_t stride,
                         const double *factors, size_t count, const double *weights,
                         double *scaled) {
  for (size_t r = 0; r < count; r++)
    for (size_t j = 0; j < inputs; j += LINEAR_VECTOR)
      *(linear_vector *)(void *)(scaled + r * stride + j) = factors[r] * *linear_at(x[r] + j);
  if (weights == NULL) {
    linear_upper_plain(sums, x, inputs, stride, count, scaled);
    return;
  }
  for (size_t i = 0; i < inputs; i++, sums += stride)
    for (size_t j = i; j < inputs; j += LINEAR_VECTOR)
      linear_upper_weighted(sums + (j - i), scaled + i, stride, x, j, count, weights);
}

static void linear_add(double *restrict sums, const double *a, const double *v, size_t count,
                       double weight) {
  for (size_t k = 0; v == NULL && k < count; k++)
    sums[k] += linear_lattice(weight * linear_lattice(a[k]));
  for (size_t k = 0; v != NULL && k < count; k++)
    sums[k] += linear_lattice(weight * linear_lattice(a[k] * v[k]));
}

static void linear_accumulate(double *restrict sums, double factor, const double *restrict v,
                              size_t count, double weight) {
  for (size_t k = 0; weight == 1.0 && k < count; k++)
    sums[k] += linear_lattice(factor * v[k]);
  for (size_t k = 0; weight != 1.0 && k < count; k++)
    sums[k] += linear_lattice(weight * linear_lattice(factor * v[k]));
}

static void linear_logistic(const double *restrict margin, const double *restrict target,
                            size_t count, double *restrict residual, double *restrict spread,
                            double *restrict loss) {
  for (size_t k = 0; k < count; k++) {
    const double m = margin[k], t = target[k];
    const double small = pc_lane_exp(m < 0.0 ? m : -m), sum = 1.0 + small, less = small / sum;
    residual[k] = m < 0.0 ? less - t : (1.0 - t) - less;
    spread[k] = less / sum;
    loss[k] = pc_lane_log1p(small) + ((m < 0.0 ? 0.0 : m) - t * m);
  }
}

static double linear_dot(const double *restrict a, const double *restrict b, size_t count) {
  double sum[PC_LINEAR_LANES] = {0.0};
  size_t k = 0;
  for (; k + PC_LINEAR_LANES <= count; k += PC_LINEAR_LANES)
    for (size_t l = 0; l < PC_LINEAR_LANES; l++)
      sum[l] += a[k + l] * b[k + l];
  for (size_t l = 0; k < count; k++, l++)
    sum[l] += a[k] * b[k];
  return linear_fold(sum);
}

const pc_linear_kernels PC_VARIANT_TABLE(pc_linear_kernels) = {
    .map = linear_map,
    .scale = linear_scale,
    .residuals = linear_residuals,
    .softmax = linear_softmax,
    .outer = linear_outer,
    .upper = linear_upper,
    .add = linear_add,
    .accumulate = linear_accumulate,
    .logistic = linear_logistic,
    .dot = linear_dot,
};
