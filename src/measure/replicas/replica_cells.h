/* Replicas of curves of many rows, on cells (score_cells.h).
 *
 * In one process they are tallied first, as rounds do (replica_tally.h), and evaluated from the
 * tally.  For comparisons with another model, and for intervals of fewer than PC_RARER_ENOUGH
 * rows of the rarer outcome, which need single rows, one process evaluates replicas on all
 * scores.
 *
 * What cells hide of a value, it minus the value of the data on cells, is added to the values of
 * replicas, so that they can be compared with it.  The same for grids of very many rows, whose
 * lattice (row_moments.h) is coarse. */
#ifndef PC_REPLICA_CELLS_H
#define PC_REPLICA_CELLS_H

#include "measure/replicas/replica_tally.h"
#include "measure/results.h"

/* Zeroed: none. */
typedef struct pc_replica_cells {
  const pcal_env *env; /* outlives it */
  pc_score_cell_lists lists;
  pc_replica_tally tally;
} pc_replica_cells;

/* True if the curves of `total` rows in one process are evaluated on cells. */
int pc_replica_cells_apply(const pc_replica_views *views, double total);

/* Draws the replicas of all curves of a plan that have cells.  Freed with
 * pc_replica_cells_free, also on failure. */
PC_CHECKED pcal_status pc_replica_cells_new(const pcal_env *env, const pc_measure_plan *plan,
                                            const pc_kept_rows *rows, pc_replica_cells *out,
                                            pcal_error *err);
void pc_replica_cells_free(pc_replica_cells *cells);

/* Why there are no replicas of an entry; NULL: there are. */
const char *pc_replica_cells_lack(const pc_replica_views *views, size_t entry);

/* The tally with the replicas of an entry on cells; NULL: they are evaluated on all scores. */
const pc_replica_tally *pc_replica_cells_tally(const pc_replica_views *views, size_t entry);

/* As pc_replicas_measure, with views; entries on cells from their tally.  Plain values have
 * what cells hide. */
PC_CHECKED pcal_status pc_replica_cells_measure(const pcal_env *env,
                                                const pc_replica_request *request,
                                                double *values, pcal_error *err);

/* The number that rounds the scores of an entry; 0: they are not rounded. */
double pc_replica_cells_lattice(const pc_replica_views *views, size_t entry);
/* Values of replicas of an entry that differ by less are equal. */
double pc_replica_cells_slack(const pc_replica_views *views, size_t entry);

/* What cells hide: hidden[entry * PC_REPLICA_VALUES + series], 0 for other entries. */
PC_CHECKED pcal_status pc_replica_cells_hidden(const pcal_env *env, pc_replica_views *views,
                                               const pc_result_record *records, double *hidden,
                                               pcal_error *err);

#endif
