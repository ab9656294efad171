/* What isotonic regression says about a new score if its outcome were known. */
#ifndef PC_VENN_H
#define PC_VENN_H

#include "stats/curve_table.h"

/* For a table with at least one entry, scores s_0 < s_1 < ...:  upper[i] is the fitted value at
 * a new row that came true, with a score in (s_{i-1}, s_i]; behind the last entry it is 1.
 * lower[i] is that at a new row that did not, with a score in [s_i, s_{i+1}); before the first
 * entry it is 0.  Both do not fall with i. */
PC_CHECKED pcal_status pc_venn_bounds(const pcal_env *env, const pc_curve_table *table,
                                      double *lower, double *upper, pcal_error *err);

#endif
