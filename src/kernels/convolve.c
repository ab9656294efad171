/* Convolution: see convolve.h.  Products are not fused and sums have a fixed order, so all
 * variants give the same bits. */
#include "kernels/convolve.h"

#include "kernels/variant.h"

#define CONVOLVE_WIDTH 32 /* sums kept in registers */

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

const pc_convolve_kernels PC_VARIANT_TABLE(pc_convolve_kernels) = {
    .convolve = convolve,
};
