/* A sorted view of scores and outcomes: one entry for each distinct score.
 *
 * Everything computed from it depends on the data only, not on the order of rows: entries are
 * sorted, equal scores are joined, and a whole weight w is the same as w rows. */
#ifndef PC_CURVE_TABLE_H
#define PC_CURVE_TABLE_H

#include "core/memory.h"

typedef struct pc_curve_table {
  size_t count;
  double *score;  /* ascending, distinct */
  double *weight; /* rows with that score */
  double *hits;   /* those that came true */
  double total;   /* sum of weights */
} pc_curve_table;

/* Scores of rows that came true or did not, with weights or NULL for ones. */
typedef struct pc_outcome_column {
  const double *score, *weight;
  size_t count;
} pc_outcome_column;

/* Builds the table; the columns are not changed. */
PC_CHECKED pcal_status pc_curve_table_new(const pcal_env *env, const pc_outcome_column *misses,
                                          const pc_outcome_column *hits, pc_curve_table *out,
                                          pcal_error *err);
void pc_curve_table_free(const pcal_env *env, pc_curve_table *table);

/* The largest distance between the cumulated scores and the cumulated outcomes over all
 * distinct scores, and where: sum over {score <= at} of (score - outcome), not yet divided by
 * the total weight. */
typedef struct pc_gap {
  double value; /* signed: positive when scores exceed outcomes */
  double at;    /* the score at which it is reached; NaN for an empty table */
} pc_gap;

pc_gap pc_curve_table_gap(const pc_curve_table *table);

#endif
