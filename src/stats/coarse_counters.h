/* The counters of a first pass by equal width (coarse_tally.h): two additions next to each
 * other for each float.  They merge in any order to the same bits. */
#ifndef PC_COARSE_COUNTERS_H
#define PC_COARSE_COUNTERS_H

#include "kernels/cuts.h"
#include "stats/segment.h"

#define PC_COARSE_BUCKETS 16384
#define PC_COARSE_STRETCHES (PC_COARSE_BUCKETS + 3) /* with what lies below and beyond */

/* Rows that a bucket can hold. */
#define PC_COARSE_COUNTERS_ROWS ((uint64_t)1 << 20)

#define PC_COARSE_COUNTERS_ONE ((uint64_t)1 << 43) /* a row in `offset` */
#define PC_COARSE_COUNTERS_FINE 24                 /* bits of units below those of offsets */
#define PC_COARSE_COUNTERS_BUCKET 47               /* from units of scores to the bucket */
#define PC_COARSE_COUNTERS_SQUARE 21               /* bits dropped from squares of offsets */

typedef struct pc_coarse_counters {
  pc_cut_addend cells[2 * (PC_COARSE_BUCKETS + 1)]; /* 2 * bucket + hit */
  uint64_t fine[2 * (PC_COARSE_BUCKETS + 1)];
  pc_segment outside[2]; /* below the buckets and beyond */
  uint64_t room;         /* for rows, whatever bucket they lie in; there may be more */
} pc_coarse_counters;

/* How floats are to be counted that lie in buckets, but not in the first. */
extern const pc_cut_offsets pc_coarse_counters_offsets;

void pc_coarse_counters_clear(pc_coarse_counters *counters);

/* Any row that lies in a bucket: its score in units of 2^-61 and the square of it in units of
 * 2^-53, truncated. */
static inline void pc_coarse_counters_add(pc_coarse_counters *counters, uint64_t units,
                                          uint64_t square, int32_t hit) {
  const uint64_t bucket = units >> PC_COARSE_COUNTERS_BUCKET;
  const uint64_t fine = units % ((uint64_t)1 << PC_COARSE_COUNTERS_FINE);
  const uint64_t offset = (units >> PC_COARSE_COUNTERS_FINE) - (bucket << 23);
  const size_t place = 2 * (size_t)bucket + (size_t)hit;
  counters->cells[place].offset += PC_COARSE_COUNTERS_ONE + offset;
  counters->cells[place].square += square - bucket * ((bucket << 25) + (offset << 3));
  counters->fine[place] += fine;
}

/* For how many rows there is room, whatever bucket they lie in: a little less than there is. */
uint64_t pc_coarse_counters_room(const pc_coarse_counters *counters);

/* Can `from` be merged into `into`? */
int pc_coarse_counters_addable(const pc_coarse_counters *into, const pc_coarse_counters *from);
void pc_coarse_counters_merge(pc_coarse_counters *into, const pc_coarse_counters *from);

/* What was counted in a stretch: a bucket, or below them all, or beyond. */
void pc_coarse_counters_read(const pc_coarse_counters *counters, size_t stretch,
                             pc_segment *out);

/* The largest score in a bucket. */
double pc_coarse_bucket_high(size_t bucket);

#endif
