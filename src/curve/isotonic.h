/* Isotonic regression of outcomes on scores, by pooling adjacent violators. */
#ifndef PC_ISOTONIC_H
#define PC_ISOTONIC_H

#include "curve/curve_table.h"

/* Neighbouring scores that share one fitted value, hits / weight. */
typedef struct pc_isotonic_block {
  double low, high; /* lowest and highest score */
  double weight, hits;
} pc_isotonic_block;

/* Blocks by ascending scores; their fitted values ascend strictly. */
typedef struct pc_isotonic {
  pc_isotonic_block *blocks;
  size_t count, capacity;
} pc_isotonic;

double pc_isotonic_value(const pc_isotonic_block *block);

/* Fits a table of scores or segments; freed with pc_isotonic_free.  Equal scores are one entry,
 * so ties are averaged before pooling. */
PC_CHECKED pcal_status pc_isotonic_fit(const pcal_env *env, const pc_curve_table *table,
                                       pc_isotonic *out, pcal_error *err);
/* The same from two sorted columns, without building a table. */
PC_CHECKED pcal_status pc_isotonic_fit_columns(const pcal_env *env,
                                               const pc_sorted_column *misses,
                                               const pc_sorted_column *hits, pc_isotonic *out,
                                               pcal_error *err);
void pc_isotonic_free(const pcal_env *env, pc_isotonic *fit);

#endif
