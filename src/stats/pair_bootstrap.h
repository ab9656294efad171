/* The null distribution of a sum over pairs of rows, by the bootstrap. */
#ifndef PC_PAIR_BOOTSTRAP_H
#define PC_PAIR_BOOTSTRAP_H

#include "base/executor.h"
#include "kernels/pair_kernels.h"

/* With h_ij = k(p_i, p_j) <e_{y_i} - p_i, e_{y_j} - p_j>, n_i ~ Poisson(1) for each row and
 * v_i = n_i - mean(n):
 *   values[b] = sum over i < j of v_i v_j h_ij   in replica b,
 * the centred statistic of resampled rows.  A row of weight w is w rows; weights are whole.
 * Draws depend on the seed of the environment. */
PC_CHECKED pcal_status pc_pair_bootstrap(const pcal_env *env, const pc_pair_form *form,
                                         const pc_pair_rows *rows, size_t replicas,
                                         double *values, pcal_error *err);

#endif
