/* One sorted column from many unsorted pieces. */
#ifndef PC_PARALLEL_SORT_H
#define PC_PARALLEL_SORT_H

#include "curve/sorted_column.h"

/* Concatenates and sorts pieces of a column, with all threads of the environment; the pieces
 * are not changed.  All pieces have weights or none has; no score may be -0.  The result equals
 * that of pc_sorted_column_new on the concatenation. */
PC_CHECKED pcal_status pc_parallel_sort(const pcal_env *env, const pc_outcome_column *pieces,
                                        size_t piece_count, pc_sorted_column *out,
                                        pcal_error *err);
/* The same on the calling thread alone. */
PC_CHECKED pcal_status pc_single_thread_sort(const pcal_env *env,
                                             const pc_outcome_column *pieces,
                                             size_t piece_count, pc_sorted_column *out,
                                             pcal_error *err);

#endif
