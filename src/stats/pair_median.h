/* The median distance between rows. */
#ifndef PC_PAIR_MEDIAN_H
#define PC_PAIR_MEDIAN_H

#include "base/executor.h"
#include "kernels/pair_rows.h"

/* The exact median of the distances (Euclidean, or total variation if tv) over all pairs i < j;
 * a row of weight w is w rows.  For an even number of pairs, halfway between the middle two.
 * Weights are whole; at least two rows. */
PC_CHECKED pcal_status pc_pair_median(const pcal_env *env, const pc_pair_rows *rows, int tv,
                                      double *out, pcal_error *err);

#endif
