/* The second pass of bucket curves of every class: hits and exact sums of scores of the segments
 * that the first pass has counted (class_counts.h), while the scores in wanted segments go to the
 * tally of their class (bucket_tally.h). */
#ifndef PC_CLASS_SUMS_H
#define PC_CLASS_SUMS_H

#include "curve/class_counts.h"

/* The segment of each bucket; shared by all workers. */
typedef struct pc_class_segments {
  const pcal_env *env;
  size_t classes;
  pc_class_bucket_rule rule;
  uint16_t *segment; /* [class][bucket]: its number in the class, PC_CLASS_WANTED added if it is
                        a target */
  size_t *first;  /* of each class: its first segment among those of all; then their number */
  uint8_t *keeps; /* by class: scores in targets are stored (pc_bucket_tally_keeps) */
} pc_class_segments;

#define PC_CLASS_WANTED 0x8000U

/* curves, targets: one for each class.  Segments end where buckets end. */
PC_CHECKED pcal_status pc_class_segments_new(const pcal_env *env, size_t classes,
                                             pc_bucket_curve *const *curves,
                                             const pc_refine_targets *targets,
                                             pc_class_segments *out, pcal_error *err);
void pc_class_segments_free(pc_class_segments *segments); /* or zeroed ones */

typedef struct pc_class_hits {
  pc_fixed score;
  uint64_t rows;
} pc_class_hits;

/* The sums of one worker, by segment. */
typedef struct pc_class_sums {
  const pcal_env *env;
  const pc_class_segments *segments;
  pc_fixed *score;
  pc_class_hits *hits;
  uint16_t *bucket; /* scratch: the buckets of some rows */
  uint16_t *found;  /* scratch: scores in wanted segments */
} pc_class_sums;

PC_CHECKED pcal_status pc_class_sums_new(const pcal_env *env, const pc_class_segments *segments,
                                         pc_class_sums *out, pcal_error *err);
void pc_class_sums_free(pc_class_sums *sums); /* or zeroed ones */

/* tallies: one for each class. */
PC_CHECKED pcal_status pc_class_sums_add(pc_class_sums *sums, const pc_rows *rows,
                                         pc_bucket_tally *tallies, pcal_error *err);

/* Adds the sums of a class to the segments of its curve. */
void pc_class_sums_read(const pc_class_sums *sums, size_t class_index, pc_bucket_curve *curve);

#endif
