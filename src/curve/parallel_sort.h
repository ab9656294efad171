/* One sorted column from many parts, by all workers. */
#ifndef PC_PARALLEL_SORT_H
#define PC_PARALLEL_SORT_H

#include "curve/curve_table.h"

/* Joins and sorts; the parts are not changed.  All have weights or none has, and none holds -0.
 * The result is that of pc_sorted_column_new on the whole. */
PC_CHECKED pcal_status pc_parallel_sort(const pcal_env *env, const pc_outcome_column *parts,
                                        size_t part_count, pc_sorted_column *out,
                                        pcal_error *err);
/* The same on this thread alone. */
PC_CHECKED pcal_status pc_single_thread_sort(const pcal_env *env,
                                             const pc_outcome_column *parts, size_t part_count,
                                             pc_sorted_column *out, pcal_error *err);

#endif
