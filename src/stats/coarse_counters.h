/* The counters of a first pass by equal width (coarse_tally.h): three additions for each row.
 * They merge in any order to the same bits. */
#ifndef PC_COARSE_COUNTERS_H
#define PC_COARSE_COUNTERS_H

#include "stats/segment.h"

#define PC_COARSE_BUCKETS 16384
#define PC_COARSE_STRETCHES (PC_COARSE_BUCKETS + 3) /* with what lies below and beyond */

/* Rows that counters can hold; then they are to be read and cleared. */
#define PC_COARSE_COUNTERS_ROWS (((uint64_t)1 << 24) - 1024)

#define PC_COARSE_COUNTERS_ONE ((uint64_t)1 << 40) /* a row in `rough` */
#define PC_COARSE_COUNTERS_ROUGH 37
#define PC_COARSE_COUNTERS_BUCKET 47 /* from units of scores to the bucket */

/* By outcome. */
typedef struct pc_coarse_sums {
  uint64_t sum[2], rough[2];
} pc_coarse_sums;

typedef struct pc_coarse_counters {
  pc_coarse_sums sums[PC_COARSE_BUCKETS + 1];
  uint64_t square[PC_COARSE_BUCKETS + 1];
  pc_segment outside[2]; /* below the buckets and beyond */
  uint64_t rows;         /* in the counters */
} pc_coarse_counters;

void pc_coarse_counters_clear(pc_coarse_counters *counters);

/* A row that lies in a bucket: its score in units of 2^-61 and the square of it in units of
 * 2^-53, truncated.  It is not counted in `rows`. */
static inline void pc_coarse_counters_add(pc_coarse_counters *counters, uint64_t units,
                                          uint64_t square, int32_t hit) {
  const uint64_t bucket = units >> PC_COARSE_COUNTERS_BUCKET;
  pc_coarse_sums *sums = &counters->sums[bucket];
  sums->sum[hit] += units;
  sums->rough[hit] += PC_COARSE_COUNTERS_ONE + (units >> PC_COARSE_COUNTERS_ROUGH);
  counters->square[bucket] += square;
}

void pc_coarse_counters_merge(pc_coarse_counters *into, const pc_coarse_counters *from);

/* What was counted in a stretch: a bucket, or below them all, or beyond. */
void pc_coarse_counters_read(const pc_coarse_counters *counters, size_t stretch,
                             pc_segment *out);

/* The largest score in a bucket. */
double pc_coarse_bucket_high(size_t bucket);

#endif
