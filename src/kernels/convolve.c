/* Convolution: see convolve.h.  Products are not fused and sums have a fixed order, so all
 * variants give the same bits. */
#include "kernels/convolve.h"

#include <math.h>
#include <string.h>

#include "kernels/variant.h"

#define CONVOLVE_WIDTH (PC_CONVOLVE_PAD + 1) /* sums kept in registers */

static void convolve_block(const double *restrict in, const double *restrict weight,
                           size_t taps, double *restrict out) {
  double sum[CONVOLVE_WIDTH] = {0.0};
  for (size_t k = 0; k < taps; k++)
    for (size_t i = 0; i < CONVOLVE_WIDTH; i++)
      sum[i] += in[i + k] * weight[k];
  for (size_t i = 0; i < CONVOLVE_WIDTH; i++)
    out[i] = sum[i];
}

static void convolve(const double *in, const double *weight, size_t taps, size_t count,
                     double *out) {
  const size_t whole = count / CONVOLVE_WIDTH * CONVOLVE_WIDTH;
  for (size_t i = 0; i < whole; i += CONVOLVE_WIDTH)
    convolve_block(in + i, weight, taps, out + i);
  for (size_t i = whole; i < count; i++) {
    double sum = 0.0;
    for (size_t k = 0; k < taps; k++)
      sum += in[i + k] * weight[k];
    out[i] = sum;
  }
}

/* Explicit vectors, because compilers would vectorise the loop over inputs. */
typedef double convolve_vector
    __attribute__((vector_size(8 * sizeof(double)), aligned(8), may_alias));
#define CONVOLVE_VECTORS (CONVOLVE_WIDTH / 8)

/* One block of sums over the filled inputs from `begin` to `end`, all of them near the block.
 * Weights beyond the taps are 0 and leave the sums as they are. */
static void convolve_filled_block(const double *in, const int32_t *filled, size_t begin,
                                  size_t end, const double *mirrored,
                                  convolve_vector sum[CONVOLVE_VECTORS]) {
  convolve_vector all[CONVOLVE_VECTORS] = {{0.0}};
  for (size_t j = begin; j < end; j++) {
    const convolve_vector *weight = (const void *)(mirrored - filled[j]);
    for (size_t v = 0; v < CONVOLVE_VECTORS; v++)
      all[v] += in[filled[j]] * weight[v];
  }
  for (size_t v = 0; v < CONVOLVE_VECTORS; v++)
    sum[v] = all[v];
}

static void convolve_filled(const double *in, const int32_t *filled, size_t filled_count,
                            const double *mirrored, size_t taps, size_t count, double *out) {
  for (size_t i = 0, begin = 0, end = 0; i < count; i += CONVOLVE_WIDTH) {
    convolve_vector sum[CONVOLVE_VECTORS];
    while (begin < filled_count && (size_t)filled[begin] < i)
      begin++;
    while (end < filled_count && (size_t)filled[end] < i + CONVOLVE_WIDTH + taps - 1)
      end++;
    convolve_filled_block(in, filled, begin, end, mirrored + (PC_CONVOLVE_PAD + taps - 1 + i),
                          sum);
    memcpy(out + i, sum,
           sizeof *out * (count - i < CONVOLVE_WIDTH ? count - i : CONVOLVE_WIDTH));
  }
}

static void convolve_blend(const double *const parts[3], const double factor[3], size_t count,
                           double *restrict out) {
  const double *restrict x = parts[0], *restrict y = parts[1], *restrict z = parts[2];
  const double a = factor[0], b = factor[1], c = factor[2];
  for (size_t i = 0; i < count; i++)
    out[i] = a * x[i] + b * y[i] + c * z[i];
}

#define CONVOLVE_LANES 8

/* The trapezoidal rule converges fast for smooth functions without slope at the ends; |f| has
 * kinks at the zeros of f.  The Euler-Maclaurin formula on both sides of a kink at the part t
 * of an interval adds B(t) |f'|, B(t) = t^2 - t + 1/6, with the slope of that interval. */
static double convolve_absolute_integral(const double *values, size_t count) {
  double sum[CONVOLVE_LANES] = {0.0}, all = 0.0;
  for (size_t i = 0; i < count; i += CONVOLVE_LANES)
    for (size_t k = 0; k < CONVOLVE_LANES; k++) {
      const double left = values[i + k], right = values[i + k + 1];
      const double a = fabs(left), b = fabs(right), both = a + b;
      const double kink = both * (1.0 / 6) - a * b / (both > 0.0 ? both : 1.0);
      sum[k] += 0.5 * both + (left * right < 0.0 ? kink : 0.0);
    }
  for (size_t k = 0; k < CONVOLVE_LANES; k++)
    all += sum[k];
  return all;
}

const pc_convolve_kernels PC_VARIANT_TABLE(pc_convolve_kernels) = {
    .convolve = convolve,
    .convolve_filled = convolve_filled,
    .blend = convolve_blend,
    .absolute_integral = convolve_absolute_integral,
};
