/* Densities of probability vectors by Dirichlet kernels, each row left out of its own.
 *
 * The kernel at row j with bandwidth h, seen from row i:
 *   log k_ij = <log p_i, p_j> / h - log B(p_j / h + 1),
 * log B(a) = sum_c log Gamma(a_c) - log Gamma(sum_c a_c).  A probability of 0 under a kernel
 * whose own is 0 too counts as 0 log 0 = 0; under any other it shuts the kernel out. */
#ifndef PC_DIRICHLET_KDE_H
#define PC_DIRICHLET_KDE_H

#include "base/executor.h"
#include "kernels/pair_rows.h"

typedef struct pc_dirichlet_kde {
  const pcal_env *env;
  const pc_pair_rows *rows; /* whole weights, two rows at least */
  double total;             /* sum of weights */
  double *logs;             /* of the probabilities, laid out like them */
  const double *probs; /* as kernels see them: none below 0, no positive one below 2^-200 */
  double *own;         /* the same where they are not those of the rows, or NULL */
} pc_dirichlet_kde;

PC_CHECKED pcal_status pc_dirichlet_kde_new(const pcal_env *env, const pc_pair_rows *rows,
                                            double total, pc_dirichlet_kde *out,
                                            pcal_error *err);
void pc_dirichlet_kde_free(pc_dirichlet_kde *dirichlet);

/* out[b]: the mean over rows of the log density that the others give it, with bandwidth
 * bandwidths[b]; -inf when a row is shut out of all others.  Computes <log p_i, p_j> once. */
PC_CHECKED pcal_status pc_dirichlet_kde_likelihood(const pc_dirichlet_kde *dirichlet,
                                                   const double *bandwidths, size_t count,
                                                   double *out, pcal_error *err);

/* The mean over rows of sum_c |r_ic - p_ic|^power, r_i the mean of the other rows' labels
 * weighted by their kernels; -1 when a row is shut out of all others. */
PC_CHECKED pcal_status pc_dirichlet_kde_error(const pc_dirichlet_kde *dirichlet,
                                              double bandwidth, double power, double *out,
                                              pcal_error *err);

#endif
