/* A curve known in segments: exact sums over stretches of the score axis, resolved to single
 * scores only where a metric asks for it.
 *
 * The first pass sorts scores into buckets, 2^14 of equal width unless told otherwise, and
 * keeps for each bucket how many rows, how many hits, the exact sums of their scores, and the
 * smallest and largest score. A bucket whose smallest and largest score agree is a single score
 * already.  Later passes look only at wanted segments: when few rows lie in them their scores
 * are kept and sorted, else the segments are divided again, by the bits of the scores: each
 * pass narrows a segment at least 2^k-fold, so that after a few passes every segment is a
 * single score, whatever the data.  Segments can also be divided at the borders of cells.
 *
 * Rows have no weights here.  Everything merges in any order to the same bits. */
#ifndef PC_COARSE_H
#define PC_COARSE_H

#include "core/sum.h"
#include "stats/curve_table.h"

#define PC_COARSE_BUCKETS 16384
#define PC_COARSE_FINE ((size_t)1 << 17) /* buckets of a later pass at the most */
#define PC_COARSE_KEEP ((size_t)1 << 20) /* rows kept at the most, over all workers */

/* One cache line. */
typedef struct pc_segment {
  uint64_t rows, hits;
  pc_fixed score, hit_score; /* sums of scores, over all rows and over hits */
  double low, high;          /* smallest and largest score seen */
} pc_segment;

/* How the first pass sorts scores into buckets: by equal width over [0, 1], or by the bits of
 * the scores from `base` on; what lies outside goes to the first or the last. */
typedef struct pc_coarse_ruler {
  int by_bits;
  uint64_t base;
  unsigned shift;
  size_t count; /* buckets */
  size_t fine;  /* buckets of a later pass at the most */
} pc_coarse_ruler;

/* What is known so far: segments with rows, in ascending order. */
typedef struct pc_coarse {
  const pcal_env *env;
  pc_coarse_ruler ruler;
  pc_segment *segments;
  size_t count;
  uint64_t total;
} pc_coarse;

/* What to look at in the next pass; zeroed: nothing. */
typedef struct pc_coarse_targets {
  const pcal_env *env;
  pc_coarse_ruler ruler;
  size_t count;
  size_t *segment; /* which segment of the coarse curve */
  double *low, *high;
  unsigned *shift; /* bits dropped from the offset of a score inside its target */
  size_t *first;   /* first sub-bucket of each target; first[count] is their number */
  uint8_t *wanted; /* by bucket of the first pass: does a target lie in it? */
  int keep;        /* keep scores instead of dividing */
  unsigned level;  /* not 0: divide at the borders of cells of this level, not by bits */
} pc_coarse_targets;

/* What one worker gathers in a pass: buckets, or kept scores by outcome. */
typedef struct pc_coarse_tally {
  const pcal_env *env;
  pc_coarse_ruler ruler;
  const pc_coarse_targets *targets; /* NULL in the first pass */
  pc_segment *buckets;
  size_t bucket_count;
  double *kept[2];
  size_t kept_count[2], kept_capacity[2];
} pc_coarse_tally;

PC_CHECKED pcal_status pc_coarse_tally_new(const pcal_env *env,
                                           const pc_coarse_targets *targets,
                                           pc_coarse_tally *out, pcal_error *err);
/* A first pass for one of many curves: fewer buckets the more there are, by bits, since scores
 * of single classes are small. */
PC_CHECKED pcal_status pc_coarse_tally_part(const pcal_env *env, size_t parts,
                                            pc_coarse_tally *out, pcal_error *err);
/* A first pass over scores known to lie in [low, high]: at most `buckets` of them by bits. */
PC_CHECKED pcal_status pc_coarse_tally_range(const pcal_env *env, double low, double high,
                                             size_t buckets, pc_coarse_tally *out,
                                             pcal_error *err);
/* A tally that can be merged into another one. */
PC_CHECKED pcal_status pc_coarse_tally_like(const pc_coarse_tally *other, pc_coarse_tally *out,
                                            pcal_error *err);
void pc_coarse_tally_free(pc_coarse_tally *tally);
void pc_coarse_tally_clear(pc_coarse_tally *tally);
PC_CHECKED pcal_status pc_coarse_tally_add(pc_coarse_tally *tally, const double *score,
                                           const uint8_t *hit, size_t count, pcal_error *err);
/* The same for scores that all came true (hit 1) or did not. */
PC_CHECKED pcal_status pc_coarse_tally_column(pc_coarse_tally *tally, const double *score,
                                              size_t count, int hit, pcal_error *err);
/* Room is made first (prepare), so that the merge cannot fail. */
PC_CHECKED pcal_status pc_coarse_tally_prepare(pc_coarse_tally *into,
                                               const pc_coarse_tally *from, pcal_error *err);
void pc_coarse_tally_merge(pc_coarse_tally *into, const pc_coarse_tally *from);

/* From the first pass to a coarse curve. */
PC_CHECKED pcal_status pc_coarse_new(const pcal_env *env, const pc_coarse_tally *tally,
                                     pc_coarse *out, pcal_error *err);
void pc_coarse_free(pc_coarse *coarse);

/* Targets for the segments marked in `wanted` (one mark for each segment).  Scores are kept
 * when at most keep_limit rows lie in them, PC_COARSE_KEEP as a rule. */
PC_CHECKED pcal_status pc_coarse_aim(const pc_coarse *coarse, const uint8_t *wanted,
                                     uint64_t keep_limit, pc_coarse_targets *out,
                                     pcal_error *err);
/* Targets for the segments that reach over borders of cells of width 2^-level
 * (point_masses.h): afterwards none does. */
PC_CHECKED pcal_status pc_coarse_aim_cells(const pc_coarse *coarse, unsigned level,
                                           pc_coarse_targets *out, pcal_error *err);
void pc_coarse_targets_free(pc_coarse_targets *targets);

/* Puts what a pass over targets has found in their place; on failure nothing changes. */
PC_CHECKED pcal_status pc_coarse_refine(pc_coarse *coarse, const pc_coarse_tally *tally,
                                        pcal_error *err);

/* The curve as a table whose entries may be segments. */
PC_CHECKED pcal_status pc_coarse_table(const pc_coarse *coarse, pc_curve_table *out,
                                       pcal_error *err);

#endif
