/* Evaluates metrics of sorted scores on the cells of a tally (score_cells.h): a curve of one
 * score for each cell, the mean of the data there, with the sums of one replica. */
#ifndef PC_REPLICA_TALLY_CURVE_H
#define PC_REPLICA_TALLY_CURVE_H

#include "measure/replicas/replica_tally.h"

/* Zeroed: empty. */
typedef struct pc_tally_curve {
  const pcal_env *env; /* outlives it */
  const pc_tally_slot *cells;
  pc_sorted_view sorted; /* a score for each cell */
  pc_score_ranges ranges;
  pc_replica_base base;
  pc_replica_batch batch; /* its first replica is the one that is evaluated */
} pc_tally_curve;

/* total: weight of the data; tilt_mean as in pc_replica_base.  Freed with pc_tally_curve_free,
 * also on failure. */
PC_CHECKED pcal_status pc_tally_curve_new(const pcal_env *env, const pc_measure_plan *plan,
                                          const pc_tally_slot *cells, double total,
                                          double tilt_mean, pc_tally_curve *out,
                                          pcal_error *err);
void pc_tally_curve_free(pc_tally_curve *curve);

/* Takes the sums of a replica, [kind][cell]. */
void pc_tally_curve_take(pc_tally_curve *curve, const double *sums);
/* Fills curve->batch.evidence; total: the weight of the replica. */
void pc_tally_curve_select(pc_tally_curve *curve, double total);
void pc_tally_curve_select_point(pc_tally_curve *curve, double total,
                                 const pc_gap_point *point);

#endif
