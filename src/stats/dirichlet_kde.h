/* Kernel density estimates of probability vectors with Dirichlet kernels, leaving each row out
 * of its own density.
 *
 * The kernel at row j with bandwidth h, evaluated at row i:
 *   log k_ij = <log p_i, p_j> / h - log B(p_j / h + 1)
 *   log B(a) = sum_c log Gamma(a_c) - log Gamma(sum_c a_c)
 * 0 log 0 is 0: a probability of 0 in both rows adds nothing.  If p_ic = 0 and p_jc > 0, k_ij
 * is
 * 0. */
#ifndef PC_DIRICHLET_KDE_H
#define PC_DIRICHLET_KDE_H

#include "base/executor.h"
#include "device/device.h"
#include "kernels/pair_rows.h"

typedef struct pc_dirichlet_kde {
  const pcal_env *env;
  const pc_pair_rows *rows; /* whole weights, at least two rows */
  double total;             /* sum of weights */
  double *logs;             /* log probabilities, in the layout of rows->probs */
  const double *probs;      /* as used in kernels: none below 0, no positive one below 2^-200 */
  double *own; /* owned copy behind `probs` if they differ from rows->probs, else NULL */
  pc_device_queue queue; /* of the device that compares the rows, or none */
} pc_dirichlet_kde;

PC_CHECKED pcal_status pc_dirichlet_kde_new(const pcal_env *env, const pc_pair_rows *rows,
                                            double total, const pc_device_queue *queue,
                                            pc_dirichlet_kde *out, pcal_error *err);
/* True if the device compares the rows. */
int pc_dirichlet_kde_on_device(const pc_dirichlet_kde *dirichlet);
void pc_dirichlet_kde_free(pc_dirichlet_kde *dirichlet);

/* out[b][row]: log w_j - log B(p_j / h + 1) for h = bandwidths[b], which may be infinite; -inf for
 * rows of weight 0.  Rows are padded to whole packs. */
PC_CHECKED pcal_status pc_dirichlet_kde_offsets(const pc_dirichlet_kde *dirichlet,
                                                const double *bandwidths, size_t count,
                                                double *out, pcal_error *err);

/* out[b]: the mean over rows of the log density at the row given by all other rows, with
 * bandwidth bandwidths[b]; -inf if all kernels are 0 at some row.  <log p_i, p_j> is computed
 * once. */
PC_CHECKED pcal_status pc_dirichlet_kde_likelihood(const pc_dirichlet_kde *dirichlet,
                                                   const double *bandwidths, size_t count,
                                                   double *out, pcal_error *err);

/* The mean over rows of sum_c |r_ic - p_ic|^power, r_i the mean of the labels of all other
 * rows, weighted by their kernels; -1 if all kernels are 0 at some row. */
PC_CHECKED pcal_status pc_dirichlet_kde_error(const pc_dirichlet_kde *dirichlet,
                                              double bandwidth, double power, double *out,
                                              pcal_error *err);

#endif
