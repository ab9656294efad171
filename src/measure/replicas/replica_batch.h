/* A batch of replicas that are evaluated together: one walk over the sorted scores adds up
 * ranges of them for all replicas of the batch; curves (curve/curve_prefix.h) are resolved
 * inside a range only where that matters. */
#ifndef PC_REPLICA_BATCH_H
#define PC_REPLICA_BATCH_H

#include "kernels/replica_sum_kernels.h"
#include "measure/replicas/score_ranges.h"

/* True if the entries of a slot with entries[e] != 0 (NULL: all) can be evaluated in batches:
 * any grid; curves if weights are whole and every metric names what it needs of a curve. */
int pc_replica_batch_applies(const pc_measure_plan *plan, size_t slot, const uint8_t *entries,
                             const pc_kept_rows *rows);

/* True if the replicas of an entry can be evaluated at gap points. */
int pc_replica_has_points(const pc_measure_plan *plan, size_t entry, const pc_kept_rows *rows);

/* The data without resampling: the sums that a replica has, and the weight of each row. */
typedef struct pc_replica_base {
  double *sums; /* [kind][range] */
  double *tilt; /* sums of pc_gap_tilt by range; of curves before each range, then the total */
  double *gap;  /* of curves: gaps before each range, then the total */
  double *size, *tilt_size; /* of curves: sums of |gap| and of tilts by range */
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
  double *cells;  /* scratch for ranges->by_row, and room for its columns; or NULL */
  int added;      /* the sums are those of an earlier batch */
  pc_evidence evidence;
  pc_curve_prefix *prefix; /* of each part of a curve */
  pc_prefix_gaps *gaps;    /* of each part, for gap points of a curve; else NULL */
  double *gap_sums;   /* with gaps: gaps before each range, sums of |gap| by range, spare */
  size_t gap_lane;    /* the replica of gap_sums; PC_REPLICA_LANES: none */
  double *class_gaps; /* scratch for gap points with ranges->of_class: [range + 1][replica] */
  pc_smooth_ladder *ladder;
  pc_mass_bin_cache *mass_bins;
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
  const uint8_t
      *hits; /* with labels: of each row, a bit for each replica that drew the class of
                            the natural view */
  const double *columns; /* pc_replica_columns_add with these weights; NULL: not added up yet */
} pc_batch_draws;

/* Adds up all ranges for PC_REPLICA_LANES replicas.  sorted: NULL for ranges->by_row, here
 * and below. */
void pc_replica_batch_add(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                          const pc_batch_draws *drawn, pc_replica_batch *batch);

/* Fills batch->evidence for one replica, `lane`; total: its sum of weights.  Valid until the
 * next call. */
void pc_replica_batch_select(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                             const pc_batch_draws *drawn, size_t lane, double total,
                             pc_replica_batch *batch);

/* The bins of a grid from the sums of a replica, [kind][bin]; three: only the first three kinds are
 * there. */
void pc_replica_bins(const double *sums, size_t count, int three, pc_bin *bins);
/* The same at a gap point, from the sums of the replica (total: its weight) and of the data;
 * tilt and tilt_mean as in pc_replica_base. */
typedef struct pc_replica_pair {
  const double *drawn, *base, *tilt;
  double drawn_total, base_total, tilt_mean;
} pc_replica_pair;
void pc_replica_bins_at_point(const pc_replica_pair *sums, size_t count,
                              const pc_gap_point *point, pc_bin *bins);

/* Gaps before each range of a curve, and bounds on the sums of |gap| in it, from the sums of
 * one replica or of the data: [kind][step], the last element of each kind being the total. */
void pc_replica_gap_sums(const double *sums, size_t step, int three, double *gap, double *size);

/* Fills batch->evidence of a grid with ranges->of_class or by_row for the labels of one
 * replica: weights and scores are those of the data, hits are counted row by row. */
void pc_replica_batch_count(const pc_score_ranges *ranges, const pc_replica_base *base,
                            const pc_replica_draw *drawn, pc_replica_batch *batch);

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
                                                       const pc_score_ranges *ranges,
                                                       pc_replica_batch *batch,
                                                       pcal_error *err);
void pc_replica_batch_select_point(const pc_sorted_view *sorted, const pc_score_ranges *ranges,
                                   const pc_replica_base *base, const float *weights,
                                   size_t lane, double total, const pc_gap_point *point,
                                   pc_replica_batch *batch);

#endif
