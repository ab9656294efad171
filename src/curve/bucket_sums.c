/* With a score s in bucket b of width 2^-14,
 *   u = trunc(2^61 s),   o = trunc(u / 2^24) - b 2^23,   f = u mod 2^24
 * so that s = b 2^-14 + o 2^-37 + f 2^-61 and o < 2^23.  A bucket holds
 *   offset   sum of 2^43 + o
 *   square   sum of trunc(2^53 s^2) - (b^2 2^25 + 8 b o)
 *   fine     sum of 2^28 trunc(f / 2^8) + f mod 2^8
 * For up to 2^20 rows the upper bits of `offset` are their number n, the lower 43 bits the sum
 * of o, and
 *   sum of u                 = n b 2^47 + 2^24 (sum of o) + (sum of f)
 *   sum of trunc(2^53 s^2)   = n b^2 2^25 + 8 b (sum of o) + square
 * The sum of f mod 2^8, the parts of scores below 2^-53, is that of the lower 28 bits of `fine`.
 * A float32 from 2^-14 on is a multiple of 2^-37: f is 0 and it adds trunc(o^2 / 2^21) to
 * `square`.  So a float outside the first bucket takes two additions to neighbouring numbers, a
 * double three.
 * Before a bucket overflows, all counters are emptied into segments. */
#include "curve/bucket_sums.h"

#include <string.h>

const pc_bin_offset_rule pc_bucket_sums_offsets = {PC_BUCKETS, 0x1p37F, PC_BUCKET_SUMS_ONE,
                                                   PC_BUCKET_SUMS_SQUARE};

void pc_bucket_sums_clear(pc_bucket_sums *sums) {
  memset(sums, 0, sizeof *sums);
  sums->outside[0] = sums->outside[1] = pc_segment_none;
  sums->room = PC_BUCKET_SUMS_ROWS;
}

/* Upper bound on the fullest bucket, less than twice its rows. */
static uint64_t bucket_sums_most(const pc_bucket_sums *sums) {
  uint64_t any = 0;
  for (size_t place = 0; place < 2 * (PC_BUCKETS + 1); place++)
    any |= sums->cells[place].offset;
  return any / PC_BUCKET_SUMS_ONE;
}

uint64_t pc_bucket_sums_room(const pc_bucket_sums *sums) {
  const uint64_t most = bucket_sums_most(sums);
  return most < PC_BUCKET_SUMS_ROWS ? PC_BUCKET_SUMS_ROWS - most : 0;
}

/* Upper bound on the fullest bucket, without reading the buckets. */
static uint64_t bucket_sums_used(const pc_bucket_sums *sums) {
  return PC_BUCKET_SUMS_ROWS - sums->room;
}

int pc_bucket_sums_addable(const pc_bucket_sums *into, const pc_bucket_sums *from) {
  return bucket_sums_used(from) <= into->room ||
         bucket_sums_most(from) <= pc_bucket_sums_room(into);
}

/* The next double towards 0 from a score that is not 0. */
static double bucket_sums_before(double score) {
  return pc_double_from_bits(pc_double_bits(score) - 1);
}

double pc_bucket_high(size_t bucket) {
  return bucket_sums_before((double)(bucket + 1) / PC_BUCKETS);
}

/* Adds the rows of one outcome in a bucket to *out. */
static void bucket_sums_outcome_read(const pc_bucket_sums *sums, size_t bucket, size_t hit,
                                     pc_segment *out) {
  const pc_bin_offset *cell = &sums->cells[2 * bucket + hit];
  const pc_int128 b = (pc_int128)bucket;
  const pc_int128 rows = (pc_int128)(cell->offset / PC_BUCKET_SUMS_ONE);
  const pc_int128 offset = (pc_int128)(cell->offset % PC_BUCKET_SUMS_ONE);
  const uint64_t fine = sums->fine[2 * bucket + hit];
  const uint64_t rest = fine % ((uint64_t)1 << PC_BUCKET_SUMS_REST);
  const pc_int128 score = (rows * b << PC_BUCKET_SUMS_BUCKET) +
                          (offset << PC_BUCKET_SUMS_FINE) +
                          (pc_int128)((fine >> PC_BUCKET_SUMS_REST << 8) + rest);
  out->rows += (uint64_t)rows;
  out->score.units += score;
  out->rest += (pc_int128)rest;
  const pc_int128 square = (rows * b * b << 25) + (b * offset << 3) + (int64_t)cell->square;
  out->square += square;
  if (hit) {
    out->hit_square = square;
    out->hits = (uint64_t)rows;
    out->hit_score.units = score;
  }
}

/* Bucket 0 also holds negative scores above -2^-61, which have 0 units. */
static double bucket_sums_bucket_low(size_t bucket) {
  return bucket == 0 ? bucket_sums_before(-0x1p-61) : (double)bucket / PC_BUCKETS;
}

static void bucket_sums_bucket_read(const pc_bucket_sums *sums, size_t bucket,
                                    pc_segment *out) {
  *out = pc_segment_none;
  bucket_sums_outcome_read(sums, bucket, 0, out);
  bucket_sums_outcome_read(sums, bucket, 1, out);
  if (out->rows == 0)
    return;
  out->low = bucket_sums_bucket_low(bucket);
  out->high = pc_bucket_high(bucket);
}

void pc_bucket_sums_read(const pc_bucket_sums *sums, size_t index, pc_segment *out) {
  if (index == 0 || index + 1 == PC_BUCKETS_AND_OUTSIDE)
    *out = sums->outside[index != 0];
  else
    bucket_sums_bucket_read(sums, index - 1, out);
}

void pc_bucket_sums_merge(pc_bucket_sums *into, const pc_bucket_sums *from) {
  for (size_t place = 0; place < 2 * (PC_BUCKETS + 1); place++) {
    into->cells[place].offset += from->cells[place].offset;
    into->cells[place].square += from->cells[place].square;
    into->fine[place] += from->fine[place];
  }
  pc_segment_join(&into->outside[0], &from->outside[0]);
  pc_segment_join(&into->outside[1], &from->outside[1]);
  /* 0: not known, and computed when rows are added */
  into->room -= bucket_sums_used(from) < into->room ? bucket_sums_used(from) : into->room;
}
