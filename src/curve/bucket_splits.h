/* Buckets of a first pass (bucket_tally.h) that are cut from the first row on, so that no later
 * pass has to: their rows go to segments of their own. */
#ifndef PC_BUCKET_SPLITS_H
#define PC_BUCKET_SPLITS_H

#include "base/memory.h"
#include "curve/segment.h"

#define PC_BUCKET_SPLITS_MAX 128 /* more would make the first pass slow */

typedef struct pc_bucket_splits {
  size_t count;
  double at[PC_BUCKET_SPLITS_MAX];     /* ascending */
  size_t bucket[PC_BUCKET_SPLITS_MAX]; /* of each, not falling */
  /* Rows of its bucket up to each end, but beyond the one before; and of the last in a bucket
   * those beyond it. */
  pc_segment below[PC_BUCKET_SPLITS_MAX], above[PC_BUCKET_SPLITS_MAX];
  uint8_t cut[]; /* by bucket: does an end lie in it? */
} pc_bucket_splits;

PC_CHECKED pcal_status pc_bucket_splits_new(const pcal_env *env, size_t buckets,
                                            pc_bucket_splits **out, pcal_error *err);

/* Adds an end, while there are no rows; nothing happens when there is no room for it. */
void pc_bucket_splits_insert(pc_bucket_splits *ends, double at, size_t bucket);
void pc_bucket_splits_clear(pc_bucket_splits *ends); /* of rows */

/* Adds a row that lies in a cut bucket. */
void pc_bucket_splits_add(pc_bucket_splits *ends, size_t bucket, double score, int hit);
void pc_bucket_splits_merge(pc_bucket_splits *into, const pc_bucket_splits *from);

/* Copies the segments of a cut bucket that have rows, in ascending order, and returns how many
 * they are.  *next is the first end that is not in a bucket before it, and moves on. */
size_t pc_bucket_splits_read(const pc_bucket_splits *ends, size_t bucket, size_t *next,
                             pc_segment *out);

#endif
