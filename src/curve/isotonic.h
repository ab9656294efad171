/* Isotonic regression of outcomes on scores: pool adjacent violators. */
#ifndef PC_ISOTONIC_H
#define PC_ISOTONIC_H

#include "curve/curve_table.h"

/* Neighbouring scores with one fitted value, hits / weight. */
typedef struct pc_isotonic_block {
  double low, high; /* the smallest and the largest score */
  double weight, hits;
} pc_isotonic_block;

/* Blocks in ascending order of scores; their values are ascending and distinct. */
typedef struct pc_isotonic {
  pc_isotonic_block *blocks;
  size_t count, capacity;
} pc_isotonic;

double pc_isotonic_value(const pc_isotonic_block *block);

/* Fits a table of single scores (not a coarse one).  Equal scores are one entry of the table,
 * so ties are averaged before anything is pooled. */
PC_CHECKED pcal_status pc_isotonic_fit(const pcal_env *env, const pc_curve_table *table,
                                       pc_isotonic *out, pcal_error *err);
/* The same from sorted columns, without a table in between. */
PC_CHECKED pcal_status pc_isotonic_fit_columns(const pcal_env *env,
                                               const pc_sorted_column *misses,
                                               const pc_sorted_column *hits, pc_isotonic *out,
                                               pcal_error *err);
void pc_isotonic_free(const pcal_env *env, pc_isotonic *fit);

#endif
