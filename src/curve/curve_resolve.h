/* Columns of scores in memory to a table that is resolved only where it has to be. */
#ifndef PC_CURVE_RESOLVE_H
#define PC_CURVE_RESOLVE_H

#include "curve/bucket_curve.h"

/* Marks the entries of a coarse table that must be known score by score, and returns how many
 * it added; 0: the table will do. */
typedef size_t (*pc_curve_wants)(const void *user, const pc_curve_table *table,
                                 uint8_t *wanted);

/* As pc_curve_table_new, but entries may be segments of scores (bucket_curve.h) that nobody wants to
 * know in full: a few looks at each score, by all threads of the environment, in place of a
 * sort.  Columns with weights, and short ones, are sorted. */
PC_CHECKED pcal_status pc_curve_resolve(const pcal_env *env, const pc_outcome_column *misses,
                                        const pc_outcome_column *hits, pc_curve_wants wants,
                                        const void *user, pc_curve_table *out, pcal_error *err);

#endif
