/* The hot loops over pairs of rows: one portable source, compiled once for each instruction
 * set, all variants with the same bits.  The PC_LANES rows of one pack meet those of another,
 * all with all. */
#ifndef PC_PAIR_KERNELS_H
#define PC_PAIR_KERNELS_H

#include "kernels/pair_rows.h"

#define PC_PACK_PAIRS (PC_LANES * PC_LANES)
#define PC_MIX_WIDTH 128 /* columns that a tile is multiplied with at once */

/* A kernel on probability vectors: exp(-d/s) or exp(-(d/s)^2 / 2), d a distance. */
typedef struct pc_pair_form {
  int tv;        /* total variation, else Euclidean */
  int gaussian;  /* else exponential */
  int near;      /* no exponent is below -1.5 */
  int weighted;  /* not all weights are 1 */
  double factor; /* the exponent is -factor times sqrt(u), u, TV or TV^2, u = |p - q|^2 / 2 */
  double close;  /* below this, u is taken from differences */
} pc_pair_form;

/* For the pairs of these rows.
 *
 * Accuracy: u comes from inner products, off by about e = (4 + sqrt K) 2^-52, where that moves
 * the exponent by less than 2^-40, and from direct differences elsewhere: equal rows are at
 * distance 0. */
pc_pair_form pc_pair_form_make(int tv, int gaussian, double scale, const pc_pair_rows *rows);

/* One pack of rows. */
typedef struct pc_pair_pack {
  const double *probs; /* [class][lane] */
  const double *halves, *weights;
  const int32_t *labels;
  int32_t label; /* of all lanes, or -1 */
} pc_pair_pack;

pc_pair_pack pc_pair_pack_at(const pc_pair_rows *rows, size_t index);

typedef struct pc_pair_kernels {
  const char *name;
  /* sums[l] += sum over rows r of the left pack of w_r k(p_r, q_l) <e_{y_r} - p_r, e_{z_l} -
   * q_l>: the weights of the right pack are the caller's. */
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
   * for the rows r whose bit is set in `rows` and which have no x above their peak, to
   * 2e-14 + 2e-16 |x|; what is not above exp(-60) is left out.  Returns the bits of those that
   * have. */
  unsigned (*dirichlet)(const double *dots, double scale, const double *offset,
                        const double *peak, unsigned rows, double *sums);
  /* A tile of numbers, [row of the left pack][lane of the right], times PC_MIX_WIDTH columns of
   * the right rows, added to those of the left: left[r][b] += sum_l tile[r][l] right[l][b], in
   * the order of the lanes. */
  void (*mix)(const float *tile, const float *right, float *left);
} pc_pair_kernels;

extern const pc_pair_kernels pc_pair_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_pair_kernels *pc_pair_kernels_at(size_t index);
const pc_pair_kernels *pc_pair_kernels_best(void);

#endif
