/* Evidence of several replicas at once: one walk over sorted scores adds up ranges of them; of
 * curves (curve/curve_prefix.h) only the ranges that matter are looked at score by score. */
#ifndef PC_REPLICA_BATCH_H
#define PC_REPLICA_BATCH_H

#include "kernels/replica_sum_kernels.h"
#include "measure/measure_plan.h"
#include "measure/replicas/sorted_view.h"

/* Ranges of the sorted scores of a slot, the same for all replicas: the bins of a grid, or
 * segments of a curve, which split no ties and, where a metric joins scores in cells, lie
 * inside cells of PC_PREFIX_LEVEL. */
typedef struct pc_score_ranges {
  size_t count;
  size_t *begin, *end; /* of curves begin also has the end of the last */
  size_t *part;        /* the first range of each part, and the end */
  double *hit;         /* of each score: did it come true? */
  int in_cells;        /* a metric joins scores in cells */
  uint32_t *cells;     /* then as pc_curve_prefix says, part after part */
} pc_score_ranges;

/* Are the weights of all rows whole, as the floats that replicas have, and not too large? */
int pc_kept_weights_whole(const pc_kept_rows *rows);

/* Can it be had for the chosen entries of a slot (NULL: all)?  Of curves where every one of
 * these metrics says what it wants to know, and weights are whole. */
int pc_replica_batch_applies(const pc_measure_plan *plan, size_t slot, const uint8_t *entries,
                             const pc_kept_rows *rows);

PC_CHECKED pcal_status pc_score_ranges_new(const pcal_env *env, const pc_measure_plan *plan,
                                           size_t slot, const pc_sorted_view *sorted,
                                           const int32_t *labels, pc_score_ranges *out,
                                           pcal_error *err);
void pc_score_ranges_free(const pcal_env *env, pc_score_ranges *ranges);

/* The data themselves: the same sums as of a replica, and the weight of each row. */
typedef struct pc_replica_base {
  double *sums; /* [what][range] */
  double *tilt; /* [range]: sums of pc_gap_tilt; of curves before each range, and the totals */
  float *weight;
  double total;
  double tilt_mean; /* of all rows and parts */
} pc_replica_base;

/* Gaps (sums of score - outcome) that a model with a known error could show: those of the data
 * times `own`, the deviation of a replica's gaps from the data's times `noise`, and gaps as
 * if all log-odds were shifted, `shift` in the mean of all rows.  Weights and scores stay those of the data. */
typedef struct pc_gap_point {
  double own, noise, shift;
} pc_gap_point;

/* Room of one worker for a slot. */
typedef struct pc_replica_batch {
  double *sums; /* [lane][what][range]; of curves before each range of a part, and its totals */
  int three;    /* of a range only the first three sums are known */
  pc_evidence evidence;
  pc_curve_prefix *prefix; /* of each part of a curve */
  pc_prefix_gaps *gaps;    /* of each part, for gap points of a curve; else NULL */
} pc_replica_batch;

PC_CHECKED pcal_status pc_replica_batch_new(const pcal_env *env, const pc_measure_plan *plan,
                                            size_t slot, const pc_sorted_view *sorted,
                                            const pc_score_ranges *ranges,
                                            pc_replica_batch *out, pcal_error *err);
void pc_replica_batch_free(const pcal_env *env, pc_replica_batch *lanes);

/* Adds up all ranges under PC_REPLICA_LANES sets of weights: weights[row][lane]. */
void pc_replica_batch_add(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                          const float *weights, pc_replica_batch *lanes);

/* The evidence of one of them, total its sum of weights; it is good until the next one. */
void pc_replica_batch_select(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                             const float *weights, size_t lane, double total,
                             pc_replica_batch *lanes);

/* Fills the base for a slot; room for gap points; the evidence of one of the replicas there. */
PC_CHECKED pcal_status pc_replica_base_new(const pcal_env *env, const pc_measure_plan *plan,
                                           size_t slot, const pc_sorted_view *sorted,
                                           const pc_score_ranges *ranges,
                                           const pc_kept_rows *rows, pc_replica_base *out,
                                           pcal_error *err);
void pc_replica_base_free(const pcal_env *env, pc_replica_base *base);
PC_CHECKED pcal_status pc_replica_batch_reserve_points(const pcal_env *env,
                                                       const pc_sorted_view *sorted,
                                                       pc_replica_batch *lanes,
                                                       pcal_error *err);
void pc_replica_batch_select_point(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                                   const pc_replica_base *base, const float *weights,
                                   size_t lane, double total, const pc_gap_point *point,
                                   pc_replica_batch *lanes);

#endif
