/* The targets of a later pass over a bucket curve (bucket_tally.h): building them, and their
 * bytes.
 *
 * Saved, in this order:
 *   level of cells (u8);
 *   number of points (u8);
 *   points (logit_sums.h);
 *   number of targets (varint);
 *   for each target:
 *     distance of its low score from the high score before (varint);
 *     distance of its high from its low score (varint);
 *     action (u8);
 *     shift (u8).
 * Distances are in keys of pc_score_key, which begin at 0.  Segments of the curve are not saved:
 * only the process that has the curve needs them. */
#ifndef PC_REFINE_TARGETS_H
#define PC_REFINE_TARGETS_H

#include "base/codec.h"
#include "curve/bucket_tally.h"

/* An empty list with room for `count` targets; freed with pc_refine_targets_free. */
PC_CHECKED pcal_status pc_refine_targets_new(const pcal_env *env,
                                             const pc_bucket_layout *layout, size_t count,
                                             pc_refine_targets *out, pcal_error *err);
void pc_refine_targets_free(pc_refine_targets *targets); /* or zeroed ones */

/* Appends a target, above all others, and reserves its sub-buckets. */
void pc_refine_targets_append(pc_refine_targets *targets, pc_refine_target target);

/* Fills `wanted` and `reach`, after the last target. */
void pc_refine_targets_index(pc_refine_targets *targets);

/* Memory of the targets and of one tally over them, without kept scores; 0 without targets. */
uint64_t pc_refine_targets_bytes(const pc_refine_targets *targets);

/* Zeroed targets are saved too. */
void pc_encode_refine_targets(pc_encoder *out, const pc_refine_targets *targets);
/* Invalid bytes, or targets with very many sub-buckets, fail the decoder.  layout: of the first
 * pass. The caller frees *out, also on failure. */
PC_CHECKED pcal_status pc_decode_refine_targets(pc_decoder *in, const pcal_env *env,
                                                const pc_bucket_layout *layout,
                                                pc_refine_targets *out, pcal_error *err);

#endif
