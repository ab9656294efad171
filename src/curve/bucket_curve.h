/* A curve known in segments: exact sums over stretches of the score axis, resolved to single
 * scores only where a metric asks for it.
 *
 * The first pass divides the axis into stretches (bucket_tally.h) and keeps for each how many
 * rows and hits it holds and the exact sums of their scores.  Later passes look only at wanted
 * segments.  When few rows lie in them their scores are kept and sorted; else, when all scores
 * are float32 and few of these lie in the segments, each is counted; else the segments are
 * divided again, by the bits of the scores: each pass narrows a segment at least 2^k-fold, so
 * that after a few passes every segment is a single score, whatever the data.  Segments may
 * also be cut at given scores, or divided at the borders of cells, which takes one pass. */
#ifndef PC_BUCKET_CURVE_H
#define PC_BUCKET_CURVE_H

#include "curve/bucket_tally.h"
#include "curve/curve_table.h"

/* Limits of a later pass over all workers: sub-buckets that are counted; rows that are kept. */
#define PC_REFINE_COUNTED_MAX ((size_t)1 << 18)
#define PC_REFINE_KEPT_MAX ((size_t)1 << 18)

/* What is known so far: segments with rows, in ascending order.  A score lies between the low
 * and the high of its segment; only where both are equal it is known that they occur. */
typedef struct pc_bucket_curve {
  const pcal_env *env;
  pc_bucket_layout ruler;
  pc_segment *segments;
  size_t count;
  uint64_t total;
  int64_t rest; /* of the tally */
} pc_bucket_curve;

/* From the first pass to a coarse curve. */
PC_CHECKED pcal_status pc_bucket_curve_new(const pcal_env *env, const pc_bucket_tally *tally,
                                           pc_bucket_curve *out, pcal_error *err);
void pc_bucket_curve_free(pc_bucket_curve *coarse);

/* What the next pass has to find out. */
typedef struct pc_refine_request {
  const uint8_t *wanted; /* for each segment: is it to be known score by score? */
  const double *ends;    /* ascending: no segment may hold scores <= end and scores > end */
  size_t end_count;
  uint64_t keep_limit; /* scores are kept when wanted segments have at most so many rows:
                          PC_REFINE_KEPT_MAX as a rule */
  int narrow;          /* every score is a float32 */
  size_t workers;      /* that will each have a tally */
} pc_refine_request;

/* Segments that lie on both sides of an end. */
size_t pc_bucket_curve_count_cut(const pc_bucket_curve *coarse, const double *ends,
                                 size_t end_count);

PC_CHECKED pcal_status pc_bucket_curve_targets(const pc_bucket_curve *coarse,
                                               const pc_refine_request *wish,
                                               pc_refine_targets *out, pcal_error *err);
/* Targets for the segments that reach over borders of cells of width 2^-level
 * (point_masses.h): afterwards none does. */
PC_CHECKED pcal_status pc_bucket_curve_cell_targets(const pc_bucket_curve *coarse,
                                                    unsigned level, pc_refine_targets *out,
                                                    pcal_error *err);
void pc_refine_targets_free(pc_refine_targets *targets);

/* Puts what a pass over targets has found in their place; on failure nothing changes.  Fails
 * with PCAL_IO when the pass has not found the rows of the passes before. */
PC_CHECKED pcal_status pc_bucket_curve_refine(pc_bucket_curve *coarse,
                                              const pc_bucket_tally *tally, pcal_error *err);

/* The curve as a table whose entries may be segments; it lives until the curve changes and need
 * not be freed. */
pc_curve_table pc_bucket_curve_table(const pc_bucket_curve *coarse);

/* The same table, which takes the place of the curve: it is to be freed, and the curve not. */
pc_curve_table pc_bucket_curve_take_table(pc_bucket_curve *coarse);

#endif
