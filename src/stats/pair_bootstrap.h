/* The law of a sum over pairs when nothing is wrong, by drawing rows again. */
#ifndef PC_PAIR_BOOTSTRAP_H
#define PC_PAIR_BOOTSTRAP_H

#include "base/executor.h"
#include "kernels/pair_kernels.h"

/* With h_ij = k(p_i, p_j) <e_{y_i} - p_i, e_{y_j} - p_j> and v_i = n_i - mean(n), n_i ~
 * Poisson(1) for each row: values[b] = sum over i < j of v_i v_j h_ij for replica b, which is
 * the centred statistic of rows drawn again.  A row of weight w is w rows; weights are whole.
 * The draws are those of the environment's seed. */
PC_CHECKED pcal_status pc_pair_bootstrap(const pcal_env *env, const pc_pair_form *form,
                                         const pc_pair_rows *rows, size_t replicas,
                                         double *values, pcal_error *err);

#endif
