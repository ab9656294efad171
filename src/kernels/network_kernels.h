/* Layers of small networks for blocks of rows, and functions of their outputs.  A kernel table: see
 * dispatch.h.
 *
 * Every sum runs in the order of inputs, rows or classes, so bits do not depend on the block. */
#ifndef PC_NETWORK_KERNELS_H
#define PC_NETWORK_KERNELS_H

#include <stddef.h>

typedef struct pc_network_kernels {
  /* to[r][j] = offset[j] + sum_i from[r][i] w[i][j]; w is in x out, the offsets follow it.
   * rectified: the maximum of that and 0. */
  void (*layer)(const double *w, size_t in, size_t out, const double *from, size_t rows,
                int rectified, double *to);
  /* gradient[i][j] += sum_r from[r][i] slope[r][j]; behind it, for the offsets, sum_r
   * slope[r][j]. */
  void (*gradient)(const double *from, size_t in, size_t out, const double *slope, size_t rows,
                   double *gradient);
  /* to[r][i] = sum_j slope[r][j] w[i][j], as pc_dot; 0 where values[r][i] is not above 0, unless
   * values is NULL. */
  void (*slope)(const double *w, size_t in, size_t out, const double *slope, size_t rows,
                const double *values, double *to);
  /* Softmax of each row, in place; norms[r] as pc_softmax_row returns it. */
  void (*softmax)(double *scores, size_t classes, size_t rows, double *norms);
  /* rise = derivative of log(1 + exp(u)); u becomes log(1 + exp(u)). */
  void (*softplus)(double *u, size_t count, double *rise);
} pc_network_kernels;

#endif
