/* The tally of one curve in one pass (bucket_tally.h) as it travels between processes: only the
 * buckets that have rows, and the stored scores, sorted and equal ones joined: the bytes do not
 * depend on the order of merges.
 *
 * Saved, in this order:
 *   whether there are squares (u8; 2: of hits too);
 *   number of buckets (varint);
 *   for each bucket (varints; scores in keys of pc_score_key, which begin at 0):
 *     distance of its index from the one before;
 *     rows;
 *     hits;
 *     distance of its low score from the high score before;
 *     distance of its high from its low score, less that of the segment before;
 *     sum of scores (in units of 2^-61);
 *     sum of scores of hits (in units of 2^-61);
 *     with squares: sum of squared scores (in units of 2^-53);
 *     with squares of hits: the same over hits;
 *   for misses, then for hits:
 *     number of stored scores (varint);
 *     whether weights follow (u8);
 *     the scores (doubles);
 *     the weights (varints);
 *   number of sums of logistic regressions (u8);
 *   these sums (logit_sums.h).
 * Sums of a bucket are saved as distances from the sums of scores that lie evenly between low and
 * high. */
#ifndef PC_SPARSE_TALLY_H
#define PC_SPARSE_TALLY_H

#include "base/codec.h"
#include "curve/bucket_tally.h"

#define PC_SPARSE_TALLY_ROWS_MAX ((uint64_t)1 << 62)

typedef struct pc_sparse_tally {
  const pcal_env *env;
  int squares; /* segments have sums of squared scores; 2: of hits too */
  size_t count;
  uint64_t *index;      /* of the bucket or sub-bucket, ascending */
  pc_segment *segments; /* with rows */
  pc_kept_scores kept[2];
  size_t logit_count;
  pc_logit_sums *logits; /* sums at the points of the request */
} pc_sparse_tally;

/* Copies a tally; freed with pc_sparse_tally_free. */
PC_CHECKED pcal_status pc_sparse_tally_new(const pcal_env *env, const pc_bucket_tally *tally,
                                           pc_sparse_tally *out, pcal_error *err);
void pc_sparse_tally_free(pc_sparse_tally *sparse); /* or a zeroed one */

/* All rows in buckets, and all stored scores, by weight. */
pc_uint128 pc_sparse_tally_rows(const pc_sparse_tally *sparse);

/* Adds the rows of `from`.  PCAL_DATA: they are too many to be added up, or the tallies
 * have other squares or points. */
PC_CHECKED pcal_status pc_sparse_tally_merge(pc_sparse_tally *into, const pc_sparse_tally *from,
                                             pcal_error *err);

/* Adds the rows to a tally without rows.  *fits: 0 if an index does not exist there, or squares or
 * points differ; nothing is added then. */
PC_CHECKED pcal_status pc_sparse_tally_fill(const pc_sparse_tally *sparse,
                                            pc_bucket_tally *tally, int *fits, pcal_error *err);

void pc_encode_sparse_tally(pc_encoder *out, const pc_sparse_tally *sparse);
/* Invalid bytes fail the decoder.  The caller frees *out, also on failure. */
PC_CHECKED pcal_status pc_decode_sparse_tally(pc_decoder *in, const pcal_env *env,
                                              pc_sparse_tally *out, pcal_error *err);

#endif
