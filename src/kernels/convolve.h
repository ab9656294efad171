/* Convolution of evenly spaced values: one portable source, compiled once for each instruction
 * set (row_kernels.h). */
#ifndef PC_CONVOLVE_H
#define PC_CONVOLVE_H

#include <stddef.h>

typedef struct pc_convolve_kernels {
  const char *name;
  /* out[i] = sum over k < taps of in[i + k] * weight[k], for i < count; `in` has
   * count + taps - 1 values.  Terms are added in the order of k. */
  void (*convolve)(const double *in, const double *weight, size_t taps, size_t count,
                   double *out);
} pc_convolve_kernels;

extern const pc_convolve_kernels pc_convolve_kernels_portable;

/* As pc_row_kernels_at and pc_row_kernels_best. */
const pc_convolve_kernels *pc_convolve_kernels_at(size_t index);
const pc_convolve_kernels *pc_convolve_kernels_best(void);

#endif
