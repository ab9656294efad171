/* Convolution, sums and integrals of evenly spaced values.  A kernel table: see dispatch.h. */
#ifndef PC_CONVOLVE_H
#define PC_CONVOLVE_H

#include <stddef.h>
#include <stdint.h>

#define PC_CONVOLVE_PAD 31 /* zeros on each side of the weights of convolve_filled */

typedef struct pc_convolve_kernels {
  /* out[i] = sum over k < taps of in[i + k] * weight[k], for i < count, in the order of k.
   * `in` has count + taps - 1 values. */
  void (*convolve)(const double *in, const double *weight, size_t taps, size_t count,
                   double *out);

  /* The same, bit by bit, for inputs of which many are 0.  filled: the indices of the others,
   * ascending.  mirrored: the weights in reverse order, with PC_CONVOLVE_PAD zeros before and
   * after them.  Inputs are finite. */
  void (*convolve_filled)(const double *in, const int32_t *filled, size_t filled_count,
                          const double *mirrored, size_t taps, size_t count, double *out);

  /* out[i] = factor[0] * parts[0][i] + factor[1] * parts[1][i] + factor[2] * parts[2][i]. */
  void (*blend)(const double *const parts[3], const double factor[3], size_t count,
                double *out);

  /* The integral of |f| from node 0 to node `count`, a multiple of 8, in units of the distance
   * of two nodes.  f is smooth, with slope 0 at both ends; values: at the nodes. */
  double (*absolute_integral)(const double *values, size_t count);
} pc_convolve_kernels;

#endif
