/* Venn-Abers bounds: the isotonic regression value of a new score, once with the new row as a
 * miss and once as a hit. */
#ifndef PC_VENN_ABERS_BOUNDS_H
#define PC_VENN_ABERS_BOUNDS_H

#include "curve/curve_table.h"

/* A value that holds from `entry` up to the entry of the next step. */
typedef struct pc_venn_abers_step {
  size_t entry;
  double value;
} pc_venn_abers_step;

/* For a table with scores s_0 < s_1 < ...:
 *   upper at entry i: the fitted value of a new hit with a score in (s_{i-1}, s_i]; 1 above the
 *     last score;
 *   lower at entry i: the fitted value of a new miss with a score in [s_i, s_{i+1}); 0 below
 *     the first score.
 * Both begin at entry 0 and rise from step to step. */
typedef struct pc_venn_abers_bounds {
  pc_venn_abers_step *lower, *upper;
  size_t lower_count, upper_count;
} pc_venn_abers_bounds;

/* The table is one of scores and not empty. */
PC_CHECKED pcal_status pc_venn_abers_bounds_new(const pcal_env *env,
                                                const pc_curve_table *table,
                                                pc_venn_abers_bounds *out, pcal_error *err);
void pc_venn_abers_bounds_free(const pcal_env *env, pc_venn_abers_bounds *venn);

#endif
