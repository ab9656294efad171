/* Scores at which buckets of a first pass (bucket_tally.h) are split while rows are counted, so
 * that no later pass has to split them there.  The rows of a split bucket go to segments of
 * their own. */
#ifndef PC_BUCKET_SPLITS_H
#define PC_BUCKET_SPLITS_H

#include "base/memory.h"
#include "curve/segment.h"

#define PC_BUCKET_SPLITS_MAX 128 /* more would slow the first pass down */

typedef struct pc_bucket_splits {
  size_t count;
  double at[PC_BUCKET_SPLITS_MAX];        /* ascending */
  size_t bucket[PC_BUCKET_SPLITS_MAX];    /* that holds at[i] */
  pc_segment below[PC_BUCKET_SPLITS_MAX]; /* rows of bucket[i] in (at[i - 1], at[i]] */
  pc_segment above[PC_BUCKET_SPLITS_MAX]; /* rows above at[i]; used for the last split of a
                                             bucket only */
  uint8_t is_split[];                     /* by bucket */
} pc_bucket_splits;

PC_CHECKED pcal_status pc_bucket_splits_new(const pcal_env *env, size_t buckets,
                                            pc_bucket_splits **out, pcal_error *err);

/* Adds a split, before the first row.  Does nothing if there are already PC_BUCKET_SPLITS_MAX
 * splits. */
void pc_bucket_splits_insert(pc_bucket_splits *splits, double at, size_t bucket);
void pc_bucket_splits_clear(pc_bucket_splits *splits); /* removes rows, keeps splits */

/* Adds a row to a bucket that is split. */
void pc_bucket_splits_add(pc_bucket_splits *splits, size_t bucket, double score, int hit);
void pc_bucket_splits_merge(pc_bucket_splits *into, const pc_bucket_splits *from);

/* Copies the segments of a split bucket that have rows, ascending, and returns how many.  *next
 * is the first split at or after the bucket; it is moved past the bucket. */
size_t pc_bucket_splits_read(const pc_bucket_splits *splits, size_t bucket, size_t *next,
                             pc_segment *out);

#endif
