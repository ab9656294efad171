/* Counters of a first pass over buckets of equal width (bucket_tally.h).  Adding a float costs
 * two additions to adjacent numbers in memory.  Counters merge in any order to the same
 * bits. */
#ifndef PC_BUCKET_SUMS_H
#define PC_BUCKET_SUMS_H

#include "curve/segment.h"
#include "kernels/bin_index.h"

#define PC_BUCKETS 16384 /* of width 2^-14, from 0 to 1 */
#define PC_BUCKETS_AND_OUTSIDE \
  (PC_BUCKETS + 3) /* and buckets for score 1, for scores below 0 and for scores above 1 */

/* Most rows that the counters of a bucket can hold. */
#define PC_BUCKET_SUMS_ROWS ((uint64_t)1 << 20)

/* Layout of the counters; the formulas are in bucket_sums.c. */
#define PC_BUCKET_SUMS_ONE ((uint64_t)1 << 43) /* one row in `offset` */
#define PC_BUCKET_SUMS_FINE 24                 /* bits of a score below the unit of offsets */
#define PC_BUCKET_SUMS_BUCKET 47               /* shift from units of scores to the bucket */
#define PC_BUCKET_SUMS_SQUARE 21               /* bits dropped from squares of offsets */
#define PC_BUCKET_SUMS_REST 28                 /* bits of `fine` for sums of its lowest 8 */

typedef struct pc_bucket_sums {
  pc_bin_offset cells[2 * (PC_BUCKETS + 1)]; /* [2 * bucket + hit] */
  uint64_t fine[2 * (PC_BUCKETS + 1)];
  pc_segment outside[2]; /* rows below all buckets, and above */
  uint64_t room;         /* lower bound on the rows that still fit, whatever their bucket */
} pc_bucket_sums;

/* The rule by which kernels compute the addends of floats outside the first bucket. */
extern const pc_bin_offset_rule pc_bucket_sums_offsets;

void pc_bucket_sums_clear(pc_bucket_sums *sums);

/* What a row adds to `fine`, from the bits of its score below the unit of offsets. */
static inline uint64_t pc_bucket_sums_fine(uint64_t bits) {
  return bits >> 8 << PC_BUCKET_SUMS_REST | (bits & 255);
}

/* Adds a row that lies in a bucket: its score in units of 2^-61, its square in units of
 * 2^-53. */
static inline void pc_bucket_sums_add(pc_bucket_sums *sums, uint64_t units, uint64_t square,
                                      int32_t hit) {
  const uint64_t bucket = units >> PC_BUCKET_SUMS_BUCKET;
  const uint64_t fine = units % ((uint64_t)1 << PC_BUCKET_SUMS_FINE);
  const uint64_t offset = (units >> PC_BUCKET_SUMS_FINE) - (bucket << 23);
  const size_t place = 2 * (size_t)bucket + (size_t)hit;
  sums->cells[place].offset += PC_BUCKET_SUMS_ONE + offset;
  sums->cells[place].square += square - bucket * ((bucket << 25) + (offset << 3));
  sums->fine[place] += pc_bucket_sums_fine(fine);
}

/* Lower bound on the number of rows that still fit, whatever their bucket. */
uint64_t pc_bucket_sums_room(const pc_bucket_sums *sums);

/* True if `from` can be merged into `into` without overflow. */
int pc_bucket_sums_addable(const pc_bucket_sums *into, const pc_bucket_sums *from);
void pc_bucket_sums_merge(pc_bucket_sums *into, const pc_bucket_sums *from);

/* The rows of one bucket as a segment.  index 0: below all buckets; PC_BUCKETS_AND_OUTSIDE - 1:
 * above; else bucket index - 1. */
void pc_bucket_sums_read(const pc_bucket_sums *sums, size_t index, pc_segment *out);

/* The highest score of a bucket. */
double pc_bucket_high(size_t bucket);

#endif
