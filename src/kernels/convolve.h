/* Convolution of evenly spaced values.  A kernel table: see dispatch.h. */
#ifndef PC_CONVOLVE_H
#define PC_CONVOLVE_H

#include <stddef.h>

typedef struct pc_convolve_kernels {
  /* out[i] = sum over k < taps of in[i + k] * weight[k], for i < count, in the order of k.
   * `in` has count + taps - 1 values. */
  void (*convolve)(const double *in, const double *weight, size_t taps, size_t count,
                   double *out);
} pc_convolve_kernels;

#endif
