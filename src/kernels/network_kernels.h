/* Layers of small networks for blocks of rows, and functions of their outputs.  A kernel table: see
 * dispatch.h.
 *
 * Blocks are stored by columns: number c of row r is at [c * stride + r], where stride is the
 * number of rows rounded up to whole vectors.  Numbers of rows that are not there are finite, and
 * their slopes and weights are 0.
 *
 * Gradients are kept in PC_NETWORK_LANES sums for each parameter, [parameter][lane]: rows r with
 * the same r % PC_NETWORK_LANES are in the same sum.  pc_network_fold adds the lanes. */
#ifndef PC_NETWORK_KERNELS_H
#define PC_NETWORK_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define PC_NETWORK_LANES ((size_t)8)

/* `rows` rounded up to whole vectors. */
static inline size_t pc_network_stride(size_t rows) {
  return (rows + PC_NETWORK_LANES - 1) / PC_NETWORK_LANES * PC_NETWORK_LANES;
}

/* The sum of the lanes of one parameter. */
static inline double pc_network_fold(const double *lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

typedef struct pc_network_kernels {
  /* to[j] = offset[j] + sum_i from[i] w[i][j] for all rows, in the order of i; w is in x out,
   * the offsets follow it.  rectified: the maximum of that and 0. */
  void (*layer)(const double *w, size_t in, size_t out, const double *from, size_t stride,
                int rectified, double *to);
  /* Adds sum_r from[i][r] slope[j][r] to the lanes of w[i][j] and, behind them, sum_r slope[j][r]
   * to those of the offsets. */
  void (*gradient)(const double *from, size_t in, size_t out, const double *slope,
                   size_t stride, double *lanes);
  /* to[i] = sum_j slope[j] w[i][j] for all rows, in the order of j; 0 where values[i] is not
   * above 0, unless values is NULL. */
  void (*slope)(const double *w, size_t in, size_t out, const double *slope, size_t stride,
                const double *values, double *to);
  /* losses[r] = -log of the softmax of row r at class places[r]; scores become the derivatives
   * of weights[r] losses[r].  stride is at most PC_NETWORK_ROWS. */
  void (*softmax)(double *scores, size_t classes, size_t stride, const uint32_t *places,
                  const double *weights, double *losses);
  /* rise = derivative of log(1 + exp(u)); u becomes log(1 + exp(u)). */
  void (*softplus)(double *u, size_t count, double *rise);
  /* scores[j] = sum over i >= j of gaps[i] factors[i] for j < classes - 1; the last score is
   * 0. */
  void (*stretch)(const double *gaps, const double *factors, size_t classes, size_t stride,
                  double *scores);
  /* The derivatives by u, of which rise[j] is that of factors[j], from those by the scores. */
  void (*stretch_slope)(const double *slopes, const double *gaps, const double *rise,
                        size_t classes, size_t stride, double *out);
} pc_network_kernels;

/* Most rows of a block. */
#define PC_NETWORK_ROWS ((size_t)256)

#endif
