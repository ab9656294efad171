/* A curve stored as segments, for data with too many rows to sort or to keep in memory.
 *
 * The first pass divides the score axis into buckets (bucket_tally.h) and keeps, for each, its
 * rows, its hits and exact sums of their scores.  Later passes look only at the segments that a
 * metric wants to know score by score:
 *   1. if few rows lie in them, their scores are stored and sorted;
 *   2. else, if all scores are float32 and few float32 exist there, each float32 is counted;
 *   3. else they are divided again, by the bits of the scores.  Each pass narrows a segment at
 *      least 2^k-fold, so that after a few passes every segment is a single score, whatever the
 *      data.
 * Segments can also be split at given scores, or divided at the borders of cells, in one
 * pass. */
#ifndef PC_BUCKET_CURVE_H
#define PC_BUCKET_CURVE_H

#include "curve/bucket_tally.h"
#include "curve/curve_table.h"
#include "curve/refine_targets.h"

/* Limits of a later pass, over all workers: sub-buckets that are counted; scores stored. */
#define PC_REFINE_COUNTED_MAX ((size_t)1 << 18)
#define PC_REFINE_KEPT_MAX ((size_t)1 << 18)

typedef struct pc_bucket_curve {
  const pcal_env *env;
  pc_bucket_layout layout;
  pc_segment *segments; /* with rows, ascending */
  size_t count;
  uint64_t total;        /* rows */
  int counted_only;      /* segments have rows and bounds; hits and sums come with the next pass
                       (class_sums.h) */
  pc_logit_sums *logits; /* sums at the points of earlier passes */
  size_t logit_count;
} pc_bucket_curve;

/* Copies a curve without sums at points; freed with pc_bucket_curve_free. */
PC_CHECKED pcal_status pc_bucket_curve_copy(const pc_bucket_curve *curve, pc_bucket_curve *out,
                                            pcal_error *err);
/* Builds a curve from the tally of a first pass; freed with pc_bucket_curve_free. */
PC_CHECKED pcal_status pc_bucket_curve_new(const pcal_env *env, const pc_bucket_tally *tally,
                                           pc_bucket_curve *out, pcal_error *err);
/* Requires that all scores are 16-bit floats.  Marks each segment at or above 2^-4 as the
 * single score that it holds: there a bucket of equal width has at most one such float. */
void pc_bucket_curve_close_float16(pc_bucket_curve *curve);
void pc_bucket_curve_free(pc_bucket_curve *curve);

/* What the next pass must resolve. */
typedef struct pc_refine_request {
  /* By segment: 0, or, if it must be known score by score, n >= 1: it asks for 2^n
   * sub-buckets. */
  const uint8_t *wanted;
  const double *ends; /* ascending scores: no segment may hold both scores <= ends[i] and
                            scores > ends[i] */
  size_t end_count;
  uint64_t keep_limit; /* store scores if at most this many rows lie in wanted segments; usually
                          PC_REFINE_KEPT_MAX */
  size_t split_limit; /* about how many sub-buckets the pass may count, divided in proportion to
                          `wanted`; segments above those for which there is room wait for a later
                          pass.  0: no limit, and all targets get the same number */
  int all_float32;    /* every score is a float32 */
  size_t workers;     /* each with a tally of its own */
} pc_refine_request;

/* The number of segments that contain an end, with scores on both sides. */
size_t pc_bucket_curve_count_cut(const pc_bucket_curve *curve, const double *ends,
                                 size_t end_count);

/* The targets of the next pass; freed with pc_refine_targets_free. */
PC_CHECKED pcal_status pc_bucket_curve_targets(const pc_bucket_curve *curve,
                                               const pc_refine_request *request,
                                               pc_refine_targets *out, pcal_error *err);
/* Targets for segments that cross a border of cells of width 2^-level (point_masses.h), from the
 * lowest on, until they have `most` cells; SIZE_MAX: for all such segments. */
PC_CHECKED pcal_status pc_bucket_curve_cell_targets(const pc_bucket_curve *curve,
                                                    unsigned level, size_t most,
                                                    pc_refine_targets *out, pcal_error *err);

/* Replaces the targeted segments by the segments that a pass has found in them.  On failure the
 * curve is unchanged; PCAL_IO: the rows differ from those of earlier passes. */
PC_CHECKED pcal_status pc_bucket_curve_refine(pc_bucket_curve *curve,
                                              const pc_bucket_tally *tally, pcal_error *err);

/* Takes the sums at the points of a pass.  PCAL_IO: the rows differ from those of earlier
 * passes. */
PC_CHECKED pcal_status pc_bucket_curve_take_logits(pc_bucket_curve *curve,
                                                   const pc_bucket_tally *tally,
                                                   pcal_error *err);

/* Joins neighbouring segments that are not marked in `kept`, and moves the marks to the segments
 * that are left. */
void pc_bucket_curve_merge(pc_bucket_curve *curve, uint8_t *kept);
/* Gives back memory that the segments no longer need. */
PC_CHECKED pcal_status pc_bucket_curve_shrink(pc_bucket_curve *curve, pcal_error *err);

/* The curve as a table of segments, which borrows them: valid until the curve changes. */
pc_curve_table pc_bucket_curve_table(const pc_bucket_curve *curve);

/* The same, but the table takes over the segments; the curve becomes empty. */
pc_curve_table pc_bucket_curve_take_table(pc_bucket_curve *curve);

#endif
