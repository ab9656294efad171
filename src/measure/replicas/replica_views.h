/* What all replicas of the same rows share: sorted scores, their ranges, and the sums of the
 * data.  Slots with the same view share their sorted scores. */
#ifndef PC_REPLICA_VIEWS_H
#define PC_REPLICA_VIEWS_H

#include "measure/replicas/replica_batch.h"

typedef struct pc_replica_views {
  pcal_env env;  /* of a single thread */
  pcal_env team; /* the same with all threads, for the calls that prepare a slot */
  const pc_measure_plan *plan;
  const pc_kept_rows *rows;             /* or NULL */
  const struct pc_replica_tally *tally; /* of rows elsewhere (replica_tally.h); or NULL */
  const pc_score_cell_lists *cells;     /* curves that are added up in cells; or NULL */
  const struct pc_replica_cells
      *coarse;          /* replicas of curves on cells (replica_cells.h); or NULL */
  const double *hidden; /* pc_replica_cells_hidden; or NULL */
  int on_rows;          /* replicas are evaluated on all scores for now, not on `coarse` */
  unsigned bits;        /* of the lattice of grids (row_moments.h) */
  const pc_sorted_view **sorted; /* by slot; NULL: not sorted yet, or added up row by row */
  pc_sorted_view *owned;         /* by slot; empty if another slot has the same view */
  pc_score_ranges *ranges;       /* by slot */
  pc_replica_base *base;         /* by slot */
  /* Sums of whole classes in the bootstrap replicas, which several requests draw: */
  double *columns;        /* of each batch, see pc_replica_columns_add; or NULL */
  uint8_t *columns_known; /* of each batch: its columns are filled */
  size_t column_batches;
} pc_replica_views;

/* plan and rows must outlive the views.  rows NULL: the caller sets the tally. */
PC_CHECKED pcal_status pc_replica_views_new(const pcal_env *env, const pc_measure_plan *plan,
                                            const pc_kept_rows *rows, pc_replica_views *out,
                                            pcal_error *err);
void pc_replica_views_free(pc_replica_views *views);

/* The number that rounds the scores of a slot; 0: they are not rounded. */
double pc_replica_views_lattice(const pc_replica_views *views, size_t slot);

/* True if a slot is a grid that is added up row by row (replica_class_bins.h), not sorted. */
int pc_replica_views_by_row(const pc_replica_views *views, size_t slot);

/* Prepare a slot; nothing is done twice.  Each includes those before it, and not the index. */
PC_CHECKED pcal_status pc_replica_views_sort(pc_replica_views *views, size_t slot,
                                             pcal_error *err);
PC_CHECKED pcal_status pc_replica_views_divide(pc_replica_views *views, size_t slot,
                                               pcal_error *err);
PC_CHECKED pcal_status pc_replica_views_index(pc_replica_views *views, size_t slot,
                                              pcal_error *err);
/* All of that: index too if it is wanted, and the sums of the data. */
PC_CHECKED pcal_status pc_replica_views_ready(pc_replica_views *views, size_t slot, int data,
                                              int index, pcal_error *err);
/* Evidence of a sorted slot that is refilled for each replica. */
PC_CHECKED pcal_status pc_replica_views_evidence(const pc_replica_views *views, size_t slot,
                                                 pc_replica_evidence *out, pcal_error *err);
PC_CHECKED pcal_status pc_replica_views_add_data(pc_replica_views *views, size_t slot,
                                                 pcal_error *err);

/* Makes room for the columns of bootstrap replicas, unless they would be more numbers than
 * the rows have. */
void pc_replica_views_keep_columns(pc_replica_views *views, size_t batches);
/* The columns of a batch, added up with its weights if they are not kept; into `room` if they
 * are not to be kept.  Each batch is asked for by one thread at a time. */
const double *pc_replica_views_columns(const pc_replica_views *views, int keep, size_t batch,
                                       const float *weights, double *room);

#endif
