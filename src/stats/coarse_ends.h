/* Buckets of a first pass (coarse_tally.h) that are cut from the first row on, so that no later
 * pass has to: their rows go to segments of their own. */
#ifndef PC_COARSE_ENDS_H
#define PC_COARSE_ENDS_H

#include "core/memory.h"
#include "stats/segment.h"

#define PC_COARSE_ENDS_MAX 128 /* more would make the first pass slow */

typedef struct pc_coarse_ends {
  size_t count;
  double at[PC_COARSE_ENDS_MAX];     /* ascending */
  size_t bucket[PC_COARSE_ENDS_MAX]; /* of each, not falling */
  /* Rows of its bucket up to each end, but beyond the one before; and of the last in a bucket
   * those beyond it. */
  pc_segment below[PC_COARSE_ENDS_MAX], above[PC_COARSE_ENDS_MAX];
  uint8_t cut[]; /* by bucket: does an end lie in it? */
} pc_coarse_ends;

PC_CHECKED pcal_status pc_coarse_ends_new(const pcal_env *env, size_t buckets,
                                          pc_coarse_ends **out, pcal_error *err);

/* Adds an end, while there are no rows; nothing happens when there is no room for it. */
void pc_coarse_ends_insert(pc_coarse_ends *ends, double at, size_t bucket);
void pc_coarse_ends_clear(pc_coarse_ends *ends); /* of rows */

/* Adds a row that lies in a cut bucket. */
void pc_coarse_ends_add(pc_coarse_ends *ends, size_t bucket, double score, int hit);
void pc_coarse_ends_merge(pc_coarse_ends *into, const pc_coarse_ends *from);

/* Copies the segments of a cut bucket that have rows, in ascending order, and returns how many
 * they are.  *next is the first end that is not in a bucket before it, and moves on. */
size_t pc_coarse_ends_read(const pc_coarse_ends *ends, size_t bucket, size_t *next,
                           pc_segment *out);

#endif
