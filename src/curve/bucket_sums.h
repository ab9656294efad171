/* The counters of a first pass by equal width (bucket_tally.h): two additions next to each
 * other for each float.  They merge in any order to the same bits. */
#ifndef PC_BUCKET_SUMS_H
#define PC_BUCKET_SUMS_H

#include "curve/segment.h"
#include "kernels/bin_index.h"

#define PC_BUCKETS 16384
#define PC_BUCKETS_AND_OUTSIDE (PC_BUCKETS + 3) /* with what lies below and beyond */

/* Rows that a bucket can hold. */
#define PC_BUCKET_SUMS_ROWS ((uint64_t)1 << 20)

#define PC_BUCKET_SUMS_ONE ((uint64_t)1 << 43) /* a row in `offset` */
#define PC_BUCKET_SUMS_FINE 24                 /* bits of units below those of offsets */
#define PC_BUCKET_SUMS_BUCKET 47               /* from units of scores to the bucket */
#define PC_BUCKET_SUMS_SQUARE 21               /* bits dropped from squares of offsets */

typedef struct pc_bucket_sums {
  pc_bin_offset cells[2 * (PC_BUCKETS + 1)]; /* 2 * bucket + hit */
  uint64_t fine[2 * (PC_BUCKETS + 1)];
  pc_segment outside[2]; /* below the buckets and beyond */
  uint64_t room;         /* for rows, whatever bucket they lie in; there may be more */
} pc_bucket_sums;

/* How floats are to be counted that lie in buckets, but not in the first. */
extern const pc_bin_offset_rule pc_bucket_sums_offsets;

void pc_bucket_sums_clear(pc_bucket_sums *counters);

/* Any row that lies in a bucket: its score in units of 2^-61 and the square of it in units of
 * 2^-53, truncated. */
static inline void pc_bucket_sums_add(pc_bucket_sums *counters, uint64_t units, uint64_t square,
                                      int32_t hit) {
  const uint64_t bucket = units >> PC_BUCKET_SUMS_BUCKET;
  const uint64_t fine = units % ((uint64_t)1 << PC_BUCKET_SUMS_FINE);
  const uint64_t offset = (units >> PC_BUCKET_SUMS_FINE) - (bucket << 23);
  const size_t place = 2 * (size_t)bucket + (size_t)hit;
  counters->cells[place].offset += PC_BUCKET_SUMS_ONE + offset;
  counters->cells[place].square += square - bucket * ((bucket << 25) + (offset << 3));
  counters->fine[place] += fine;
}

/* For how many rows there is room, whatever bucket they lie in: a little less than there is. */
uint64_t pc_bucket_sums_room(const pc_bucket_sums *counters);

/* Can `from` be merged into `into`? */
int pc_bucket_sums_addable(const pc_bucket_sums *into, const pc_bucket_sums *from);
void pc_bucket_sums_merge(pc_bucket_sums *into, const pc_bucket_sums *from);

/* What was counted in a stretch: a bucket, or below them all, or beyond. */
void pc_bucket_sums_read(const pc_bucket_sums *counters, size_t stretch, pc_segment *out);

/* The largest score in a bucket. */
double pc_bucket_high(size_t bucket);

#endif
