/* The scores of misses and hits, divided by ranges of the score axis.
 *
 * A later pass over many sub-buckets (bucket_curve.h) is fast if neighbouring scores come one after
 * the other: the sub-buckets of a range fit the cache, and workers that take whole ranges share one
 * tally, since no two of them meet in a sub-bucket. */
#ifndef PC_SCORE_PARTITION_H
#define PC_SCORE_PARTITION_H

#include "curve/bucket_curve.h"

#define PC_SCORE_RANGES 64

typedef struct pc_score_partition {
  double *score; /* misses, then hits; within each by range, in any order within a range */
  size_t begin[2][PC_SCORE_RANGES + 1]; /* [hit][range], in `score`; then the end */
  double low[PC_SCORE_RANGES],
      high[PC_SCORE_RANGES]; /* lowest and highest score of a range; unset without any */
} pc_score_partition;

/* Copies the scores of both columns, with all threads of the environment.  Ranges consist of whole
 * buckets of the curve, with about as many rows each.  Freed with pc_score_partition_free. */
PC_CHECKED pcal_status pc_score_partition_new(const pcal_env *env,
                                              const pc_outcome_column *const columns[2],
                                              const pc_bucket_curve *curve,
                                              pc_score_partition *out, pcal_error *err);
void pc_score_partition_free(const pcal_env *env, pc_score_partition *partition);

#endif
