/* A batch of replicas that are evaluated together: one walk over the sorted scores adds up
 * ranges of them for all replicas of the batch; curves (curve/curve_prefix.h) are resolved
 * inside a range only where that matters. */
#ifndef PC_REPLICA_BATCH_H
#define PC_REPLICA_BATCH_H

#include "kernels/replica_sum_kernels.h"
#include "measure/measure_plan.h"
#include "measure/replicas/sorted_view.h"

/* Ranges of the sorted scores of a slot, the same for all replicas: the bins of a grid, or
 * short ranges of a curve.  Ranges of a curve split no ties; if a metric joins scores in cells,
 * each lies in one cell of PC_PREFIX_LEVEL. */
typedef struct pc_score_ranges {
  size_t count;
  size_t *begin, *end; /* of a curve begin[count] is the end of the last range */
  size_t *part;        /* first range of each part, then `count` */
  double *hit;         /* of each score: 1.0 if it is a hit, else 0.0 */
  int in_cells;        /* a metric joins scores in cells */
  uint32_t *cells;     /* if in_cells: [part][cell], see pc_curve_prefix */
  uint16_t *of_class; /* of a grid over every class: [row][class], 1 + its range, or 0 if it has
                          none; NULL unless pc_score_ranges_index was called */
  size_t rows, classes;
} pc_score_ranges;

/* True if the weights of all rows are whole numbers that floats represent. */
int pc_kept_weights_whole(const pc_kept_rows *rows);

/* True if every distinct row stands for one copy. */
int pc_kept_rows_single(const pc_kept_rows *rows);
/* True if every distinct row has weight 1. */
int pc_kept_rows_unit(const pc_kept_rows *rows);

/* True if the entries of a slot with entries[e] != 0 (NULL: all) can be evaluated in batches:
 * any grid; curves if weights are whole and every metric names what it needs of a curve. */
int pc_replica_batch_applies(const pc_measure_plan *plan, size_t slot, const uint8_t *entries,
                             const pc_kept_rows *rows);

PC_CHECKED pcal_status pc_score_ranges_new(const pcal_env *env, const pc_measure_plan *plan,
                                           size_t slot, const pc_sorted_view *sorted,
                                           const int32_t *labels, pc_score_ranges *out,
                                           pcal_error *err);
/* Prepares batches that differ only in the labels of rows of weight 1: hits are then counted row
 * by row.  Does nothing unless the slot is a grid over every class without moments. */
PC_CHECKED pcal_status pc_score_ranges_index(const pcal_env *env, const pc_need *need,
                                             const pc_kept_rows *rows,
                                             const pc_sorted_view *sorted,
                                             pc_score_ranges *ranges, pcal_error *err);
void pc_score_ranges_free(const pcal_env *env, pc_score_ranges *ranges);

/* The data without resampling: the sums that a replica has, and the weight of each row. */
typedef struct pc_replica_base {
  double *sums; /* [kind][range] */
  double *tilt; /* sums of pc_gap_tilt by range; of curves before each range, then the total */
  float *weight;
  double total;
  double tilt_mean; /* of all rows and parts */
} pc_replica_base;

/* Gaps (sums of score - outcome) that a model with a known error could show:
 *   own * (gaps of the data) + noise * (gaps of the replica - gaps of the data) + gaps of a
 *   shift of all log-odds whose mean over all rows is `shift`.
 * Weights and scores are those of the data. */
typedef struct pc_gap_point {
  double own, noise, shift;
} pc_gap_point;

/* The memory of one worker for a slot. */
typedef struct pc_replica_batch {
  double *sums;   /* [replica][kind][range]; of curves before each range, then the total */
  int three;      /* only the first three kinds of sums are filled */
  uint32_t *hits; /* scratch for ranges->of_class: [range + 1][replica]; or NULL */
  int added;      /* the sums are those of an earlier batch */
  pc_evidence evidence;
  pc_curve_prefix *prefix; /* of each part of a curve */
  pc_prefix_gaps *gaps;    /* of each part, for gap points of a curve; else NULL */
} pc_replica_batch;

PC_CHECKED pcal_status pc_replica_batch_new(const pcal_env *env, const pc_measure_plan *plan,
                                            size_t slot, const pc_sorted_view *sorted,
                                            const pc_score_ranges *ranges,
                                            pc_replica_batch *out, pcal_error *err);
void pc_replica_batch_free(const pcal_env *env, pc_replica_batch *batch);

/* The rows of PC_REPLICA_LANES replicas: [row][replica]. */
typedef struct pc_batch_draws {
  const float *weights;
  const int32_t *labels; /* NULL: those of the data */
} pc_batch_draws;

/* Adds up all ranges for PC_REPLICA_LANES replicas. */
void pc_replica_batch_add(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                          const pc_batch_draws *drawn, pc_replica_batch *batch);

/* Fills batch->evidence for one replica, `lane`; total: its sum of weights.  Valid until the
 * next call. */
void pc_replica_batch_select(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                             const pc_batch_draws *drawn, size_t lane, double total,
                             pc_replica_batch *batch);

/* The sums of the data; memory for gap points; and the evidence of one replica at a gap
 * point. */
PC_CHECKED pcal_status pc_replica_base_new(const pcal_env *env, const pc_measure_plan *plan,
                                           size_t slot, const pc_sorted_view *sorted,
                                           const pc_score_ranges *ranges,
                                           const pc_kept_rows *rows, pc_replica_base *out,
                                           pcal_error *err);
void pc_replica_base_free(const pcal_env *env, pc_replica_base *base);
PC_CHECKED pcal_status pc_replica_batch_reserve_points(const pcal_env *env,
                                                       const pc_sorted_view *sorted,
                                                       pc_replica_batch *batch,
                                                       pcal_error *err);
void pc_replica_batch_select_point(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                                   const pc_replica_base *base, const float *weights,
                                   size_t lane, double total, const pc_gap_point *point,
                                   pc_replica_batch *batch);

#endif
