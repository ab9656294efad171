/* The first pass of bucket curves (bucket_curve.h) of every class at once: rows counted in
 * buckets.
 *
 * All curves of a chunk of rows are counted together, class by class, in two bytes for each
 * bucket, so that the counters of hundreds of classes stay in the cache.  Hits and sums of scores
 * are left to the second pass (class_sums.h), which knows the few ranges that matter.
 *
 * Rows have no weights.  Counts merge in any order. */
#ifndef PC_CLASS_COUNTS_H
#define PC_CLASS_COUNTS_H

#include "curve/bucket_curve.h"
#include "kernels/bin_index.h"

#define PC_CLASS_COUNTS_CLASSES_MAX 4096

typedef struct pc_class_counts {
  const pcal_env *env;
  size_t classes;
  pc_class_bucket_rule rule;
  uint16_t *recent; /* [class][bucket]: of the last `pending` rows */
  size_t pending;
  uint64_t *counts; /* the same for all rows before; NULL: there are none */
  uint16_t *bucket; /* scratch: the buckets of some rows */
  size_t bucket_capacity;
} pc_class_counts;

/* The buckets for a number of classes: the more classes, the fewer buckets. */
pc_class_bucket_rule pc_class_bucket_rule_for(size_t classes);
size_t pc_class_bucket_count(const pc_class_bucket_rule *rule);
/* The lowest and the highest score of a bucket. */
double pc_class_bucket_low(const pc_class_bucket_rule *rule, size_t bucket);
double pc_class_bucket_high(const pc_class_bucket_rule *rule, size_t bucket);

/* Rows whose buckets are computed together. */
size_t pc_class_block_rows(size_t classes);

/* classes: at most PC_CLASS_COUNTS_CLASSES_MAX. */
PC_CHECKED pcal_status pc_class_counts_new(const pcal_env *env, size_t classes,
                                           pc_class_counts *out, pcal_error *err);
void pc_class_counts_free(pc_class_counts *counts); /* or zeroed ones */
void pc_class_counts_clear(pc_class_counts *counts);

PC_CHECKED pcal_status pc_class_counts_add(pc_class_counts *counts, const pc_rows *rows,
                                           pcal_error *err);

/* Adds rows that a device has counted: [class][bucket]. */
PC_CHECKED pcal_status pc_class_counts_join(pc_class_counts *counts, const uint32_t *cells,
                                            pcal_error *err);

/* pc_class_counts_prepare allocates what the merge of the same two needs; the merge then cannot
 * fail. */
PC_CHECKED pcal_status pc_class_counts_prepare(pc_class_counts *into,
                                               const pc_class_counts *from, pcal_error *err);
void pc_class_counts_merge(pc_class_counts *into, const pc_class_counts *from);

/* The curve of a class, counted_only; freed with pc_bucket_curve_free. */
PC_CHECKED pcal_status pc_class_counts_curve(const pcal_env *env, const pc_class_counts *counts,
                                             size_t class_index, pc_bucket_curve *out,
                                             pcal_error *err);

#endif
