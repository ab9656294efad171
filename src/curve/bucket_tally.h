/* What one worker gathers for a coarse curve (bucket_curve.h): stretches of the score axis, what the
 * next pass aims at, and the tally of a pass.
 *
 * The first pass sorts scores into buckets: as a rule PC_BUCKETS + 1 of width 2^-14 from
 * 0 on, and everything below and beyond them; or buckets by the bits of the scores.  Later
 * passes look only at targets, whose scores are kept, or whose rows are counted in sub-buckets.
 *
 * Rows have no weights here.  Everything merges in any order to the same bits. */
#ifndef PC_BUCKET_TALLY_H
#define PC_BUCKET_TALLY_H

#include "base/memory.h"
#include "curve/bucket_splits.h"
#include "curve/bucket_sums.h"
#include "data/lazy_labels.h"
#include "data/rows.h"

/* How the first pass sorts scores into buckets: by equal width, or by the bits of the scores
 * from `base` on; what lies outside goes to the first or the last. */
typedef struct pc_bucket_layout {
  int by_bits;
  uint64_t base;
  unsigned shift;
  size_t count; /* buckets */
  size_t fine;  /* sub-buckets of a later pass, about, over all workers */
} pc_bucket_layout;

/* What a later pass does with the rows of a target. */
typedef enum pc_refine_action {
  PC_REFINE_NOTHING, /* no target at all */
  PC_REFINE_KEEP,    /* keeps their scores */
  PC_REFINE_SPLIT,   /* adds them up in sub-buckets */
  PC_REFINE_CELLS,   /* the same, where sub-buckets are cells (point_masses.h) */
  PC_REFINE_COUNT    /* counts them: every sub-bucket is one float32 */
} pc_refine_action;

/* Scores from low to high. */
typedef struct pc_refine_target {
  size_t segment; /* of the coarse curve, which the target is or is part of */
  double low, high;
  pc_refine_action fate;
  unsigned shift;      /* bits dropped from the distance to low gives the sub-bucket */
  size_t first, parts; /* sub-buckets, among those that are counted or among the others */
} pc_refine_target;

/* What to look at in a later pass, in ascending order; zeroed: nothing. */
typedef struct pc_refine_targets {
  const pcal_env *env;
  pc_bucket_layout ruler;
  pc_refine_target *list;
  size_t count;
  size_t split, counted; /* sub-buckets that are added up, and that are counted */
  unsigned level;        /* of cells */
  uint8_t *wanted;       /* by bucket: does a target lie in it? */
  uint32_t *reach;       /* by bucket: the first target that ends in it or behind it */
} pc_refine_targets;

/* Scores in ascending order (0 without a sign) as whole numbers in ascending order. */
static inline uint64_t pc_score_key(double score) {
  const uint64_t bits = pc_double_bits(score);
  return bits ^ ((bits >> 63) != 0 ? UINT64_MAX : (uint64_t)1 << 63);
}

/* The bucket of a score. */
static inline size_t pc_bucket_of(const pc_bucket_layout *ruler, double score) {
  if (ruler->by_bits) {
    const uint64_t key = pc_score_key(score);
    const uint64_t at = key < ruler->base ? 0 : (key - ruler->base) >> ruler->shift;
    return at < ruler->count ? (size_t)at : ruler->count - 1;
  }
  const double place = score * PC_BUCKETS, some = place > 0 ? place : 0;
  return (size_t)(some < PC_BUCKETS ? some : PC_BUCKETS);
}

/* The sub-bucket of a score inside its target. */
size_t pc_refine_sub_bucket(const pc_refine_targets *targets, const pc_refine_target *target,
                            double score);

/* Bits to drop so that the keys of scores in [low, high] fit `room` buckets. */
unsigned pc_bucket_shift(double low, double high, size_t room);

typedef struct pc_bucket_tally {
  const pcal_env *env;
  pc_bucket_layout ruler;
  const pc_refine_targets *targets; /* NULL in the first pass */
  void *block;                      /* that the counters lie in */
  pc_bucket_sums *counters;         /* of a first pass by equal width */
  pc_bucket_splits *ends;           /* the same; NULL: no bucket is cut */
  pc_segment *segments;             /* of the first pass, once needed; sub-buckets */
  uint64_t *counts;                 /* of sub-buckets: [2 * part + hit] */
  double *kept[2];                  /* scores by outcome */
  size_t kept_count[2], kept_capacity[2];
  int64_t rest; /* of a first pass by equal width: what scores have below 2^-53, summed in units
                   of 2^-61 */
} pc_bucket_tally;

PC_CHECKED pcal_status pc_bucket_tally_new(const pcal_env *env,
                                           const pc_refine_targets *targets,
                                           pc_bucket_tally *out, pcal_error *err);
/* Lets a first pass by equal width, before its first row, cut buckets at ends: no segment then
 * has scores <= end and scores > end.  Ends for which there is no room are left out. */
PC_CHECKED pcal_status pc_bucket_tally_split(pc_bucket_tally *tally, const double *ends,
                                             size_t count, pcal_error *err);
/* A first pass for one of many curves: fewer buckets the more there are, by bits, since scores
 * of single classes are small. */
PC_CHECKED pcal_status pc_bucket_tally_new_part(const pcal_env *env, size_t parts,
                                                pc_bucket_tally *out, pcal_error *err);
/* A first pass over scores known to lie in [low, high]: at most `buckets` of them by bits. */
PC_CHECKED pcal_status pc_bucket_tally_new_range(const pcal_env *env, double low, double high,
                                                 size_t buckets, pc_bucket_tally *out,
                                                 pcal_error *err);
/* A tally that can be merged into another one. */
PC_CHECKED pcal_status pc_bucket_tally_new_like(const pc_bucket_tally *other,
                                                pc_bucket_tally *out, pcal_error *err);
void pc_bucket_tally_free(pc_bucket_tally *tally);
void pc_bucket_tally_clear(pc_bucket_tally *tally);
PC_CHECKED pcal_status pc_bucket_tally_add(pc_bucket_tally *tally, const double *score,
                                           const uint8_t *hit, size_t count, pcal_error *err);
/* The same for scores that all came true (hit 1) or did not. */
PC_CHECKED pcal_status pc_bucket_tally_add_column(pc_bucket_tally *tally, const double *score,
                                                  size_t count, int hit, pcal_error *err);
/* A first pass by equal width over plain rows. */
PC_CHECKED pcal_status pc_bucket_tally_add_stored(pc_bucket_tally *tally,
                                                  const pc_stored_rows *rows, pcal_error *err);
/* Later passes over stored rows [begin, begin + count) of a batch: rows of label 1 are hits,
 * rows of label 0 are not, and rows of other labels do not count. */
PC_CHECKED pcal_status pc_bucket_tally_scan_stored(pc_bucket_tally *tally,
                                                   const pcal_batch *batch,
                                                   const pc_lazy_labels *feed, size_t begin,
                                                   size_t count, pcal_error *err);
/* Room is made first (prepare), so that the merge cannot fail.  First passes have the same
 * ends. */
PC_CHECKED pcal_status pc_bucket_tally_prepare(pc_bucket_tally *into,
                                               const pc_bucket_tally *from, pcal_error *err);
void pc_bucket_tally_merge(pc_bucket_tally *into, const pc_bucket_tally *from);

/* What a first pass has found in stretches that are not cut, which may be without rows. */
size_t pc_bucket_tally_bucket_count(const pc_bucket_tally *tally);
pc_segment pc_bucket_tally_segment(const pc_bucket_tally *tally, size_t index);

/* Copies all segments that have rows, in ascending order, and returns how many they are: at
 * most pc_bucket_tally_segments_max. */
size_t pc_bucket_tally_segments_max(const pc_bucket_tally *tally);
size_t pc_bucket_tally_read_segments(const pc_bucket_tally *tally, pc_segment *out);

#endif
