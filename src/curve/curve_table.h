/* A curve: the scores of a view in ascending order, with their outcomes.
 *
 * One type in three forms, so that a metric is written once:
 *   PC_CURVE_SCORES    an entry for each distinct score.  Any weights.
 *   PC_CURVE_SEGMENTS  an entry for each segment (segment.h), which may hold several scores.
 *                      Built where sorting or storing every score would cost too much
 *                      (bucket_curve.h, curve_resolve.h); exact for a metric once its `wants`
 *                      marks no open entry.
 *   PC_CURVE_REPLICA   one bootstrap replica of sorted scores, as sums before ranges of them
 *                      (curve_prefix.h).  Only equal-mass and adaptive bins, the gap, and point
 *                      masses in cells can be computed from it.
 *
 * Everything computed from a curve depends on the rows only, not on their order: entries are
 * sorted, equal scores are joined, and a row of whole weight w equals w rows. */
#ifndef PC_CURVE_TABLE_H
#define PC_CURVE_TABLE_H

#include "curve/curve_prefix.h"
#include "curve/logit_sums.h"
#include "curve/segment.h"
#include "curve/sorted_column.h"

typedef enum pc_curve_form {
  PC_CURVE_SCORES,
  PC_CURVE_SEGMENTS,
  PC_CURVE_REPLICA
} pc_curve_form;

typedef struct pc_curve_table {
  pc_curve_form form;
  size_t count; /* entries; of a replica: ranges */
  double total; /* sum of weights */

  /* PC_CURVE_SCORES: columns in two blocks, which begin at `score` and at `hits`. */
  double *score;  /* ascending, distinct */
  double *weight; /* of the rows with that score */
  double *hits;   /* weight of those that are hits */

  /* PC_CURVE_SEGMENTS */
  const pc_segment *segments;
  pc_segment *owned_segments;  /* segments, if the table frees them; NULL: borrowed */
  const pc_logit_sums *logits; /* sums of logistic regressions over all scores; borrowed */
  size_t logit_count;
  const pcal_env *team; /* whose threads may read the segments; NULL: the caller alone */

  /* PC_CURVE_REPLICA */
  const pc_curve_prefix *prefix; /* borrowed */
} pc_curve_table;

/* ---- entries, of tables of scores and of segments ---- */

static inline double pc_curve_table_low(const pc_curve_table *table, size_t entry) {
  return table->form == PC_CURVE_SCORES ? table->score[entry] : table->segments[entry].low;
}

static inline double pc_curve_table_high(const pc_curve_table *table, size_t entry) {
  return table->form == PC_CURVE_SCORES ? table->score[entry] : table->segments[entry].high;
}

static inline double pc_curve_table_weight(const pc_curve_table *table, size_t entry) {
  return table->form == PC_CURVE_SCORES ? table->weight[entry]
                                        : (double)table->segments[entry].rows;
}

static inline double pc_curve_table_hits(const pc_curve_table *table, size_t entry) {
  return table->form == PC_CURVE_SCORES ? table->hits[entry]
                                        : (double)table->segments[entry].hits;
}

/* The exact sum of the scores of an entry: over all its rows, and over its hits. */
pc_fixed pc_curve_table_score_sum(const pc_curve_table *table, size_t entry);
pc_fixed pc_curve_table_hit_sum(const pc_curve_table *table, size_t entry);
/* The sum of the squared scores of an entry, each truncated to a multiple of 2^-53.  Tables of
 * segments have it only if a metric has asked for it (PC_MOMENT_SQUARE). */
pc_fixed pc_curve_table_square_sum(const pc_curve_table *table, size_t entry);

/* True if an entry may hold more than one score. */
static inline int pc_curve_table_open(const pc_curve_table *table, size_t entry) {
  return pc_curve_table_low(table, entry) < pc_curve_table_high(table, entry);
}

/* ---- tables of scores ---- */

/* An empty table with room for `entries` entries. */
PC_CHECKED pcal_status pc_curve_table_room(const pcal_env *env, size_t entries,
                                           pc_curve_table *out, pcal_error *err);

/* Sorts and joins two columns, which are not changed. */
PC_CHECKED pcal_status pc_curve_table_new(const pcal_env *env, const pc_outcome_column *misses,
                                          const pc_outcome_column *hits, pc_curve_table *out,
                                          pcal_error *err);
/* Joins two sorted columns. */
PC_CHECKED pcal_status pc_curve_table_join(const pcal_env *env, const pc_sorted_column *misses,
                                           const pc_sorted_column *hits, pc_curve_table *out,
                                           pcal_error *err);

/* Frees a table of any form, or a zeroed one. */
void pc_curve_table_free(const pcal_env *env, pc_curve_table *table);

#endif
