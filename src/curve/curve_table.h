/* A sorted view of scores and outcomes: one entry for each distinct score.
 *
 * Everything computed from it depends on the data only, not on the order of rows: entries are
 * sorted, equal scores are joined, and a whole weight w is the same as w rows. */
#ifndef PC_CURVE_TABLE_H
#define PC_CURVE_TABLE_H

#include "base/memory.h"
#include "curve/curve_prefix.h"
#include "curve/segment.h"

typedef struct pc_curve_table {
  size_t count;
  double *score;  /* ascending, distinct; the block of all three begins here */
  double *weight; /* rows with that score */
  double *hits;   /* those that came true */
  double total;   /* sum of weights */
  /* In place of the columns in a coarse table (bucket_curve.h): an entry may then have several
   * scores. Borrowed, or the same as owned. */
  const pc_segment *segments;
  pc_segment *owned;
  /* In place of entries in a replica: count is that of its ranges.  Only bins of equal mass,
   * adaptive bins, gaps and point masses in cells that hold whole ranges are known of it. */
  const pc_curve_prefix *prefix;
} pc_curve_table;

/* Both kinds of tables. */
static inline double pc_curve_table_low(const pc_curve_table *table, size_t entry) {
  return table->segments == NULL ? table->score[entry] : table->segments[entry].low;
}

static inline double pc_curve_table_high(const pc_curve_table *table, size_t entry) {
  return table->segments == NULL ? table->score[entry] : table->segments[entry].high;
}

static inline double pc_curve_table_weight(const pc_curve_table *table, size_t entry) {
  return table->segments == NULL ? table->weight[entry] : (double)table->segments[entry].rows;
}

static inline double pc_curve_table_hits(const pc_curve_table *table, size_t entry) {
  return table->segments == NULL ? table->hits[entry] : (double)table->segments[entry].hits;
}

/* The exact sum of the scores of an entry. */
pc_fixed pc_curve_table_score_sum(const pc_curve_table *table, size_t entry);

/* The same over those of its rows that came true. */
pc_fixed pc_curve_table_hit_sum(const pc_curve_table *table, size_t entry);

/* May the entry have more than one score? */
int pc_curve_table_open(const pc_curve_table *table, size_t entry);

/* Scores of rows that came true or did not, with weights or NULL for ones. */
typedef struct pc_outcome_column {
  const double *score, *weight;
  size_t count;
} pc_outcome_column;

/* A copy of a column in the one order that its entries have: ascending, equal scores by weight,
 * -0 as 0. */
typedef struct pc_sorted_column {
  double *score, *weight; /* weight NULL for ones */
  size_t count;
} pc_sorted_column;

PC_CHECKED pcal_status pc_sorted_column_new(const pcal_env *env, const pc_outcome_column *from,
                                            pc_sorted_column *out, pcal_error *err);
/* Puts the entries of a column, -0 already as 0, into that order where they stand. */
PC_CHECKED pcal_status pc_sorted_column_sort(const pcal_env *env, pc_sorted_column *column,
                                             pcal_error *err);
void pc_sorted_column_free(const pcal_env *env, pc_sorted_column *column);

/* A table without entries that has room for some, in one block. */
PC_CHECKED pcal_status pc_curve_table_room(const pcal_env *env, size_t entries,
                                           pc_curve_table *out, pcal_error *err);

/* Builds the table; the columns are not changed. */
PC_CHECKED pcal_status pc_curve_table_new(const pcal_env *env, const pc_outcome_column *misses,
                                          const pc_outcome_column *hits, pc_curve_table *out,
                                          pcal_error *err);
/* The same from columns that are sorted. */
PC_CHECKED pcal_status pc_curve_table_join(const pcal_env *env, const pc_sorted_column *misses,
                                           const pc_sorted_column *hits, pc_curve_table *out,
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

/* Marks the open entries inside which the gap could be larger than anything known; 0 when there
 * are none, so that pc_curve_table_gap is exact. */
size_t pc_curve_table_gap_wants(const pc_curve_table *table, uint8_t *wanted);

#endif
