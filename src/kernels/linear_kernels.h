/* Linear maps and softmax of rows, and sums over rows on a lattice.  A kernel table: see
 * dispatch.h.
 *
 * A sum on the lattice rounds each term to a multiple of PC_LATTICE.  Such sums are exact while
 * their absolute value is at most PC_LATTICE_FULL, so their bits do not depend on the order of
 * the rows, and a row of whole weight w equals w rows.  The absolute value of a term must be at
 * most 1 before weighting, and weights at most PC_LATTICE_HEAVY.
 *
 * Arrays over classes have length `stride`, a multiple of PC_LINEAR_LANES.  Rows come in blocks
 * of PC_LINEAR_ROWS, the last of which is padded with zeros. */
#ifndef PC_LINEAR_KERNELS_H
#define PC_LINEAR_KERNELS_H

#include <stddef.h>

#define PC_LINEAR_LANES 16
#define PC_LINEAR_ROWS 4
#define PC_LINEAR_BLOCK 16 /* most rows of residuals */
#define PC_LATTICE 0x1p-42
#define PC_LATTICE_FULL 0x1p10
#define PC_LATTICE_HEAVY 0x1p8

/* `count` rounded up to a multiple of PC_LINEAR_LANES. */
static inline size_t pc_linear_stride(size_t count) {
  return (count + PC_LINEAR_LANES - 1) / PC_LINEAR_LANES * PC_LINEAR_LANES;
}

typedef struct pc_linear_kernels {
  /* out[r][k] = b[k] + sum_j x[r][j] w[j][k] for a block of rows.  w is inputs x stride; rows
   * of x have length `inputs`, those of out `stride`. */
  void (*map)(const double *w, const double *b, const double *x, size_t inputs, size_t stride,
              double *out);
  /* out[k] = b[k] + x[k] w[k]. */
  void (*scale)(const double *w, const double *b, const double *x, size_t count, double *out);
  /* For at most PC_LINEAR_BLOCK rows, p = softmax(u), where u is finite: the loss -log p[label], at
   * most 1e300, p, and residual[k] = p[k] - [k = label].  Rows have length stride; after the last
   * class u is overwritten, and p and residual are 0. */
  void (*residuals)(double *u, size_t count, size_t stride, size_t rows, const size_t *labels,
                    double *p, double *residual, double *loss);
  /* out = softmax(u) for `count` classes; out may be u. */
  void (*softmax)(const double *u, size_t count, double *out);
  /* sums[i][k] += weights[r] a[r][i] v[r][k] over a block of rows, i < inputs, on the lattice;
   * rows of a are `pitch` apart, those of v and sums `stride`; weights NULL: all 1. */
  void (*outer)(double *sums, const double *a, size_t pitch, const double *v, size_t inputs,
                size_t stride, const double *weights);
  /* sums[i][j - i] += weights[r] (factors[r] x[r][i]) x[r][j] over `count` rows, i <= j < inputs,
   * on the lattice: an upper triangle, each row from its diagonal on.  x: addresses of rows, each
   * readable for PC_LINEAR_LANES numbers of at most 1 after its inputs; rows of sums are `stride`
   * apart, and their ends may be overwritten.  scaled: scratch for count x stride numbers. */
  void (*upper)(double *sums, const double *const *x, size_t inputs, size_t stride,
                const double *factors, size_t count, const double *weights, double *scaled);
  /* sums[k] += weight a[k] v[k] on the lattice, for one row; v NULL: all 1. */
  void (*add)(double *sums, const double *a, const double *v, size_t count, double weight);
  /* sums[k] += weight factor v[k] on the lattice, for one row. */
  void (*accumulate)(double *sums, double factor, const double *v, size_t count, double weight);
  /* For p = 1 / (1 + exp(-margin)): residual = p - target, spread = p (1 - p), and the loss
   * log(1 + exp(margin)) - target margin. */
  void (*logistic)(const double *margin, const double *target, size_t count, double *residual,
                   double *spread, double *loss);
  /* sum of a[k] b[k]. */
  double (*dot)(const double *a, const double *b, size_t count);
} pc_linear_kernels;

#endif
