/* The rows of one replica, written out for metrics that read whole rows. */
#ifndef PC_REPLICA_ROWS_H
#define PC_REPLICA_ROWS_H

#include "machines/machine.h"

/* Zero it, then set the first three fields. */
/* Terms of proper scores that depend on the label of a row. */
typedef struct pc_row_terms {
  double true_gap, others_square, log_true; /* as in pc_rows */
} pc_row_terms;

typedef struct pc_replica_rows {
  const pc_kept_rows *kept; /* the rows to copy from */
  const pc_layout *layout;
  int needs_row_terms; /* fill true_gap, others_square and log_true, for sums of row values */
  size_t room;         /* rows that fit */
  int same_rows; /* row i of every replica is row i of the data, with weight 1: only labels change,
                    and what depends on them is kept until they do */
  double *weights, *probs, *score, *top, *true_gap, *others_square, *log_true;
  uint64_t *ids;
  int32_t *labels, *top_label;
  pc_row_terms
      *first; /* if same_rows: for the label pc_draw_first; true_gap is NaN if unknown */
} pc_replica_rows;

/* Makes room for `count` rows; discards the rows that were there. */
PC_CHECKED pcal_status pc_replica_rows_reserve(const pcal_env *env, pc_replica_rows *rows,
                                               size_t count, pcal_error *err);
void pc_replica_rows_free(const pcal_env *env, pc_replica_rows *rows);

/* Copies kept row `row` to position `at`, with another weight and label. */
void pc_replica_rows_put(pc_replica_rows *rows, size_t row, size_t at, double weight,
                         int32_t label);
/* If same_rows: the same for all rows whose label changes. */
void pc_replica_rows_relabel(pc_replica_rows *rows, const int32_t *labels);
/* Replaces the target of position `at`; regression only. */
void pc_replica_rows_put_target(pc_replica_rows *rows, size_t at, double target);

/* Positions 0 .. count - 1 as rows, borrowed. */
pc_rows pc_replica_rows_view(const pc_replica_rows *rows, size_t count);

#endif
