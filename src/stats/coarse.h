/* A curve known in segments: exact sums over stretches of the score axis, resolved to single
 * scores only where a metric asks for it.
 *
 * The first pass divides the axis into stretches (coarse_tally.h) and keeps for each how many
 * rows and hits it holds and the exact sums of their scores.  Later passes look only at wanted
 * segments.  When few rows lie in them their scores are kept and sorted; else, when all scores
 * are float32 and few of these lie in the segments, each is counted; else the segments are
 * divided again, by the bits of the scores: each pass narrows a segment at least 2^k-fold, so
 * that after a few passes every segment is a single score, whatever the data.  Segments may
 * also be cut at given scores, or divided at the borders of cells, which takes one pass. */
#ifndef PC_COARSE_H
#define PC_COARSE_H

#include "stats/coarse_tally.h"
#include "stats/curve_table.h"

/* Limits of a later pass over all workers: sub-buckets that are counted; rows that are kept. */
#define PC_COARSE_SINGLES ((size_t)1 << 18)
#define PC_COARSE_KEPT ((size_t)1 << 18)

/* What is known so far: segments with rows, in ascending order.  A score lies between the low
 * and the high of its segment; only where both are equal it is known that they occur. */
typedef struct pc_coarse {
  const pcal_env *env;
  pc_coarse_ruler ruler;
  pc_segment *segments;
  size_t count;
  uint64_t total;
  int64_t rest; /* of the tally */
} pc_coarse;

/* From the first pass to a coarse curve. */
PC_CHECKED pcal_status pc_coarse_new(const pcal_env *env, const pc_coarse_tally *tally,
                                     pc_coarse *out, pcal_error *err);
void pc_coarse_free(pc_coarse *coarse);

/* What the next pass has to find out. */
typedef struct pc_coarse_wish {
  const uint8_t *wanted; /* for each segment: is it to be known score by score? */
  const double *ends;    /* ascending: no segment may hold scores <= end and scores > end */
  size_t end_count;
  uint64_t keep_limit; /* scores are kept when wanted segments have at most so many rows:
                          PC_COARSE_KEPT as a rule */
  int narrow;          /* every score is a float32 */
  size_t workers;      /* that will each have a tally */
} pc_coarse_wish;

/* Segments that lie on both sides of an end. */
size_t pc_coarse_cuts(const pc_coarse *coarse, const double *ends, size_t end_count);

PC_CHECKED pcal_status pc_coarse_aim(const pc_coarse *coarse, const pc_coarse_wish *wish,
                                     pc_coarse_targets *out, pcal_error *err);
/* Targets for the segments that reach over borders of cells of width 2^-level
 * (point_masses.h): afterwards none does. */
PC_CHECKED pcal_status pc_coarse_aim_cells(const pc_coarse *coarse, unsigned level,
                                           pc_coarse_targets *out, pcal_error *err);
void pc_coarse_targets_free(pc_coarse_targets *targets);

/* Puts what a pass over targets has found in their place; on failure nothing changes.  Fails
 * with PCAL_IO when the pass has not found the rows of the passes before. */
PC_CHECKED pcal_status pc_coarse_refine(pc_coarse *coarse, const pc_coarse_tally *tally,
                                        pcal_error *err);

/* The curve as a table whose entries may be segments; it lives until the curve changes and need
 * not be freed. */
pc_curve_table pc_coarse_table(const pc_coarse *coarse);

/* The same table, which takes the place of the curve: it is to be freed, and the curve not. */
pc_curve_table pc_coarse_give(pc_coarse *coarse);

#endif
