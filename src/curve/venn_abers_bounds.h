/* What isotonic regression says about a new score if its outcome were known. */
#ifndef PC_VENN_ABERS_BOUNDS_H
#define PC_VENN_ABERS_BOUNDS_H

#include "curve/curve_table.h"

/* A value from an entry of a table on, up to the next step's. */
typedef struct pc_venn_abers_step {
  size_t entry;
  double value;
} pc_venn_abers_step;

/* For a table with at least one entry, scores s_0 < s_1 < ...:  `upper` is at entry i the
 * fitted value at a new row that came true, with a score in (s_{i-1}, s_i]; behind the last
 * entry it is 1.  `lower` is that at a new row that did not, with a score in [s_i, s_{i+1});
 * before the first entry it is 0.  Both rise from step to step and begin at entry 0. */
typedef struct pc_venn_abers_bounds {
  pc_venn_abers_step *lower, *upper;
  size_t lower_count, upper_count;
} pc_venn_abers_bounds;

PC_CHECKED pcal_status pc_venn_abers_bounds_new(const pcal_env *env,
                                                const pc_curve_table *table,
                                                pc_venn_abers_bounds *out, pcal_error *err);
void pc_venn_abers_bounds_free(const pcal_env *env, pc_venn_abers_bounds *venn);

#endif
