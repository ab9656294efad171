/* The tally of one worker in one pass over rows, for a bucket curve (bucket_curve.h).
 *
 * The first pass sorts scores into buckets.  By default these are PC_BUCKETS + 1 buckets of
 * width 2^-14 from score 0 on, one below and one above; or buckets by the bits of the scores.
 * Later passes look only at targets: they store the scores inside a target, or count them in
 * sub-buckets.
 *
 * Weights are whole.  Tallies merge in any order to the same bits. */
#ifndef PC_BUCKET_TALLY_H
#define PC_BUCKET_TALLY_H

#include "base/memory.h"
#include "curve/bucket_layout.h"
#include "curve/bucket_splits.h"
#include "curve/bucket_sums.h"
#include "curve/kept_scores.h"
#include "curve/logit_sums.h"
#include "curve/score_key.h"
#include "data/lazy_labels.h"
#include "data/rows.h"

/* What a later pass does with the rows of a target. */
typedef enum pc_refine_action {
  PC_REFINE_NOTHING,
  PC_REFINE_KEEP,  /* stores their scores */
  PC_REFINE_SPLIT, /* adds them up in sub-buckets, which become segments */
  PC_REFINE_CELLS, /* the same; sub-buckets are cells (point_masses.h) */
  PC_REFINE_COUNT  /* counts them in sub-buckets that are each one float32 */
} pc_refine_action;

/* The scores from low to high. */
typedef struct pc_refine_target {
  size_t segment; /* of the bucket curve that contains the target */
  double low, high;
  pc_refine_action action;
  unsigned shift;      /* sub-bucket of a score = (key of the score - key of low) >> shift */
  size_t first, parts; /* sub-buckets first .. first + parts - 1 of the tally's `counts` for
                          PC_REFINE_COUNT, else of its `segments` */
} pc_refine_target;

#define PC_REFINE_POINTS_MAX 8

/* The targets of a later pass, ascending, and points of logistic regressions.  Zeroed: none. */
typedef struct pc_refine_targets {
  const pcal_env *env;
  pc_bucket_layout layout;
  pc_refine_target *list;
  size_t count;
  size_t split, counted; /* sub-buckets in all: in `segments`, and in `counts` */
  unsigned level;        /* of cells */
  pc_logit_point points[PC_REFINE_POINTS_MAX]; /* at which all scores are summed */
  size_t point_count;
  uint8_t *wanted; /* by bucket: true if a target overlaps it */
  uint32_t *reach; /* by bucket: the first target that ends in it or after it */
} pc_refine_targets;

/* The sub-bucket of a score inside its target, counted from 0. */
size_t pc_refine_sub_bucket(const pc_refine_targets *targets, const pc_refine_target *target,
                            double score);

typedef struct pc_bucket_tally {
  const pcal_env *env;
  pc_bucket_layout layout;
  const pc_refine_targets *targets; /* NULL in the first pass */
  void *block;                      /* memory of `sums` */
  pc_bucket_sums *sums;             /* first pass by equal width only */
  pc_bucket_splits *splits;         /* the same; NULL: no bucket is split */
  pc_segment *segments;             /* first pass: buckets, allocated when needed; later passes:
                                       sub-buckets */
  uint64_t *counts;                 /* of sub-buckets: [2 * sub-bucket + hit] */
  pc_kept_scores kept[2];           /* stored scores by outcome */
  pc_logit_sums *logits;            /* one for each point of the targets */
} pc_bucket_tally;

/* A tally of a pass over `targets`; NULL: of a first pass by equal width. */
PC_CHECKED pcal_status pc_bucket_tally_new(const pcal_env *env,
                                           const pc_refine_targets *targets,
                                           pc_bucket_tally *out, pcal_error *err);
/* The same for a later pass, but its sub-buckets must be emptied before use, which several threads
 * can do: sub-buckets `begin` to `end` - 1. */
PC_CHECKED pcal_status pc_bucket_tally_new_unset(const pcal_env *env,
                                                 const pc_refine_targets *targets,
                                                 pc_bucket_tally *out, pcal_error *err);
void pc_bucket_tally_empty(pc_bucket_tally *tally, size_t begin, size_t end);
/* Splits buckets of a first pass by equal width, before its first row: no segment will hold
 * both scores <= ends[i] and scores > ends[i].  Ends beyond PC_BUCKET_SPLITS_MAX are
 * ignored. */
PC_CHECKED pcal_status pc_bucket_tally_split(pc_bucket_tally *tally, const double *ends,
                                             size_t count, pcal_error *err);
/* A tally of a first pass. */
PC_CHECKED pcal_status pc_bucket_tally_new_layout(const pcal_env *env,
                                                  const pc_bucket_layout *layout,
                                                  pc_bucket_tally *out, pcal_error *err);
/* A first pass over scores in [low, high], with at most `buckets` buckets by bits.  squares: as in
 * pc_bucket_layout. */
PC_CHECKED pcal_status pc_bucket_tally_new_range(const pcal_env *env, double low, double high,
                                                 size_t buckets, int squares,
                                                 pc_bucket_tally *out, pcal_error *err);
/* An empty tally that can be merged into `other`. */
PC_CHECKED pcal_status pc_bucket_tally_new_like(const pc_bucket_tally *other,
                                                pc_bucket_tally *out, pcal_error *err);
void pc_bucket_tally_free(pc_bucket_tally *tally);
void pc_bucket_tally_clear(pc_bucket_tally *tally); /* removes rows, keeps memory */

/* Adds rows: score[i] with outcome hit[i]. */
PC_CHECKED pcal_status pc_bucket_tally_add(pc_bucket_tally *tally, const double *score,
                                           const uint8_t *hit, size_t count, pcal_error *err);
/* The same for rows with whole weights. */
PC_CHECKED pcal_status pc_bucket_tally_add_weighted(pc_bucket_tally *tally, const double *score,
                                                    const uint8_t *hit, const double *weight,
                                                    size_t count, pcal_error *err);
/* Adds the rows of a segment to bucket or sub-bucket `index`. */
PC_CHECKED pcal_status pc_bucket_tally_join_segment(pc_bucket_tally *tally, size_t index,
                                                    const pc_segment *segment, pcal_error *err);
/* Adds rows that all have the outcome `hit`. */
PC_CHECKED pcal_status pc_bucket_tally_add_column(pc_bucket_tally *tally, const double *score,
                                                  size_t count, int hit, pcal_error *err);
/* True if a later pass stores the scores of all targets.  pc_bucket_tally_keep adds a row to such
 * a pass; its score must lie in a target. */
int pc_bucket_tally_keeps(const pc_bucket_tally *tally);
PC_CHECKED pcal_status pc_bucket_tally_keep(pc_bucket_tally *tally, double score, int hit,
                                            pcal_error *err);
/* Adds plain rows (data/rows.h) to a first pass by equal width. */
PC_CHECKED pcal_status pc_bucket_tally_add_stored(pc_bucket_tally *tally,
                                                  const pc_stored_rows *rows, pcal_error *err);
/* A later pass over stored rows [begin, begin + count) of a batch.  Label 1 is a hit, label 0 a
 * miss; rows with other labels are skipped. */
PC_CHECKED pcal_status pc_bucket_tally_scan_stored(pc_bucket_tally *tally,
                                                   const pcal_batch *batch,
                                                   const pc_lazy_labels *labels, size_t begin,
                                                   size_t count, pcal_error *err);

/* pc_bucket_tally_prepare allocates the memory for merging the same two tallies; the merge then
 * cannot fail.  Tallies of first passes must have the same splits. */
PC_CHECKED pcal_status pc_bucket_tally_prepare(pc_bucket_tally *into,
                                               const pc_bucket_tally *from, pcal_error *err);
void pc_bucket_tally_merge(pc_bucket_tally *into, const pc_bucket_tally *from);
/* The same for a later pass in two steps, the first of which several threads can do:
 * sub-buckets `begin` to `end` - 1 of `segments`; then all else. */
void pc_bucket_tally_merge_segments(pc_bucket_tally *into, const pc_bucket_tally *from,
                                    size_t begin, size_t end);
void pc_bucket_tally_merge_rest(pc_bucket_tally *into, const pc_bucket_tally *from);

/* The buckets of a first pass that are not split, or the sub-buckets of a later pass that become
 * segments; some of them without rows. */
size_t pc_bucket_tally_bucket_count(const pc_bucket_tally *tally);
pc_segment pc_bucket_tally_segment(const pc_bucket_tally *tally, size_t index);

/* Copies all segments of a first pass that have rows, ascending, and returns how many: at most
 * pc_bucket_tally_segments_max. */
size_t pc_bucket_tally_segments_max(const pc_bucket_tally *tally);
size_t pc_bucket_tally_read_segments(const pc_bucket_tally *tally, pc_segment *out);

#endif
