/* Loops over pairs of rows: each of the PC_LANES rows of one pack with each row of another.  A
 * kernel table: see dispatch.h. */
#ifndef PC_PAIR_KERNELS_H
#define PC_PAIR_KERNELS_H

#include "kernels/pair_rows.h"

#define PC_PACK_PAIRS (PC_LANES * PC_LANES)
#define PC_MIX_WIDTH 128 /* columns that a tile is multiplied by at once */

/* A kernel on probability vectors: exp(-d/s) or exp(-(d/s)^2 / 2), d a distance. */
typedef struct pc_pair_form {
  int tv;        /* total variation, else Euclidean */
  int gaussian;  /* else exponential */
  int near;      /* no exponent is below -1.5 */
  int weighted;  /* not all weights are 1 */
  double factor; /* exponent = -factor times sqrt(u), u, TV or TV^2, where u = |p - q|^2 / 2 */
  double close;  /* below this, u is computed from differences */
} pc_pair_form;

/* The form for the pairs of these rows.
 *
 * Accuracy: u comes from inner products, with an error of about (4 + sqrt K) 2^-52, where that
 * changes the exponent by less than 2^-40; otherwise from differences, so that equal rows have
 * distance 0. */
pc_pair_form pc_pair_form_make(int tv, int gaussian, double scale, const pc_pair_rows *rows);

/* One pack of rows. */
typedef struct pc_pair_pack {
  const double *probs; /* [class][lane] */
  const double *halves, *weights;
  const int32_t *labels;
  int32_t label; /* of all lanes if they are equal, else -1 */
} pc_pair_pack;

pc_pair_pack pc_pair_pack_at(const pc_pair_rows *rows, size_t index);

typedef struct pc_pair_kernels {
  /* sums[l] += sum over rows r of the left pack of w_r k(p_r, q_l) <e_{y_r} - p_r, e_{z_l} -
   * q_l>.  The caller applies the weights of the right pack. */
  void (*skce)(const pc_pair_form *form, size_t classes, const pc_pair_pack *left,
               const pc_pair_pack *right, double *sums);
  /* out[r * PC_LANES + l] = u or TV of a pair; only tv and close of the form matter. */
  void (*distances)(const pc_pair_form *form, size_t classes, const pc_pair_pack *left,
                    const pc_pair_pack *right, double *out);
  /* A tile of a matrix product: out[r * PC_LANES + l] = <left row r, right row l>, both
   * [class][lane]. */
  void (*dots)(size_t classes, const double *left, const double *right, double *out);
  /* out[l] = log Gamma(sum_c a_c) - sum_c log Gamma(a_c), a_c = inverse * max(0, p_c) + 1 for
   * the probabilities p of lane l. */
  void (*dirichlet_norm)(size_t classes, const double *probs, double inverse, double *out);
  /* sums[r * PC_LANES + l] += exp(x - peak[r]), x = scale * dots[r * PC_LANES + l] + offset[l],
   * for the rows r whose bit is set in `rows` and which have no x above their peak.  Relative
   * error 2e-14 + 2e-16 |x|; terms up to exp(-60) are left out.  Returns the bits of the rows
   * that have an x above their peak. */
  unsigned (*dirichlet)(const double *dots, double scale, const double *offset,
                        const double *peak, unsigned rows, double *sums);
  /* left[r][b] += sum over lanes l of tile[r][l] right[l][b], for PC_MIX_WIDTH columns b, in
   * the order of the lanes. */
  void (*mix)(const float *tile, const float *right, float *left);
} pc_pair_kernels;

#endif
