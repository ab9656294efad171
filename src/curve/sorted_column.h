/* The scores of one outcome, before and after sorting. */
#ifndef PC_SORTED_COLUMN_H
#define PC_SORTED_COLUMN_H

#include "base/memory.h"

/* Scores of rows with one outcome, in any order.  weight NULL: all weights are 1. */
typedef struct pc_outcome_column {
  const double *score, *weight;
  size_t count;
} pc_outcome_column;

/* The same entries in their canonical order: ascending scores, equal scores by ascending
 * weight, -0 stored as 0. */
typedef struct pc_sorted_column {
  double *score, *weight; /* weight NULL: all weights are 1 */
  size_t count;
} pc_sorted_column;

/* Copies and sorts a column; freed with pc_sorted_column_free. */
PC_CHECKED pcal_status pc_sorted_column_new(const pcal_env *env, const pc_outcome_column *from,
                                            pc_sorted_column *out, pcal_error *err);
/* Sorts a column in place.  It must not hold -0. */
PC_CHECKED pcal_status pc_sorted_column_sort(const pcal_env *env, pc_sorted_column *column,
                                             pcal_error *err);
void pc_sorted_column_free(const pcal_env *env, pc_sorted_column *column);

#endif
