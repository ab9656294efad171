/* The first pass adds a row to its bucket b, of width 2^-14.  With u = trunc(2^61 s) for a
 * score s, o = trunc(u / 2^24) - b 2^23 and f = u mod 2^24 the counters are
 *
 * - offset, the sum of 2^43 + o;
 * - square, the sum of trunc(2^53 s^2) - (b^2 2^25 + 8 b o);
 * - fine, the sum of f.
 *
 * s is b 2^-14 + o 2^-37 and f 2^-61 more, and o is less than 2^23: up to 2^20 rows n are
 * counted above the sum of their o, and all sums are known from these:
 *
 * - that of u is n b 2^47 + 2^24 (sum of o) + fine;
 * - that of trunc(2^53 s^2) is n b^2 2^25 + 8 b (sum of o) + square.
 *
 * A float32 from 2^-14 on is a multiple of 2^-37: f is 0, and what it adds to `square` is
 * trunc(o^2 / 2^21).  So floats outside the first bucket take one addition of two numbers that
 * lie next to each other.  When a bucket could be full all are emptied into segments. */
#include "curve/bucket_sums.h"

#include <string.h>

const pc_bin_offset_rule pc_bucket_sums_offsets = {PC_BUCKETS, 0x1p37F, PC_BUCKET_SUMS_ONE,
                                                   PC_BUCKET_SUMS_SQUARE};

void pc_bucket_sums_clear(pc_bucket_sums *counters) {
  memset(counters, 0, sizeof *counters);
  counters->outside[0] = counters->outside[1] = pc_segment_none;
  counters->room = PC_BUCKET_SUMS_ROWS;
}

/* Rows that no bucket has more of: less than twice those of the fullest. */
static uint64_t coarse_counters_most(const pc_bucket_sums *counters) {
  uint64_t any = 0;
  for (size_t place = 0; place < 2 * (PC_BUCKETS + 1); place++)
    any |= counters->cells[place].offset;
  return any / PC_BUCKET_SUMS_ONE;
}

uint64_t pc_bucket_sums_room(const pc_bucket_sums *counters) {
  const uint64_t most = coarse_counters_most(counters);
  return most < PC_BUCKET_SUMS_ROWS ? PC_BUCKET_SUMS_ROWS - most : 0;
}

int pc_bucket_sums_addable(const pc_bucket_sums *into, const pc_bucket_sums *from) {
  return coarse_counters_most(from) <= pc_bucket_sums_room(into);
}

/* The next double towards 0 from a score that is not 0. */
static double coarse_counters_before(double score) {
  return pc_double_from_bits(pc_double_bits(score) - 1);
}

double pc_bucket_high(size_t bucket) {
  return coarse_counters_before((double)(bucket + 1) / PC_BUCKETS);
}

/* Adds the rows of one outcome in a bucket. */
static void coarse_counters_outcome_read(const pc_bucket_sums *counters, size_t bucket,
                                         size_t hit, pc_segment *out) {
  const pc_bin_offset *cell = &counters->cells[2 * bucket + hit];
  const pc_int128 b = (pc_int128)bucket;
  const pc_int128 rows = (pc_int128)(cell->offset / PC_BUCKET_SUMS_ONE);
  const pc_int128 offset = (pc_int128)(cell->offset % PC_BUCKET_SUMS_ONE);
  const pc_int128 score = (rows * b << PC_BUCKET_SUMS_BUCKET) +
                          (offset << PC_BUCKET_SUMS_FINE) +
                          (pc_int128)counters->fine[2 * bucket + hit];
  out->rows += (uint64_t)rows;
  out->score.units += score;
  out->square += (rows * b * b << 25) + (b * offset << 3) + (int64_t)cell->square;
  if (hit) {
    out->hits = (uint64_t)rows;
    out->hit_score.units = score;
  }
}

/* Scores below 2^-61 in size have 0 units, whatever their sign. */
static double coarse_counters_bucket_low(size_t bucket) {
  return bucket == 0 ? coarse_counters_before(-0x1p-61) : (double)bucket / PC_BUCKETS;
}

static void coarse_counters_bucket_read(const pc_bucket_sums *counters, size_t bucket,
                                        pc_segment *out) {
  *out = pc_segment_none;
  coarse_counters_outcome_read(counters, bucket, 0, out);
  coarse_counters_outcome_read(counters, bucket, 1, out);
  if (out->rows == 0)
    return;
  out->low = coarse_counters_bucket_low(bucket);
  out->high = pc_bucket_high(bucket);
}

void pc_bucket_sums_read(const pc_bucket_sums *counters, size_t stretch, pc_segment *out) {
  if (stretch == 0 || stretch + 1 == PC_BUCKETS_AND_OUTSIDE)
    *out = counters->outside[stretch != 0];
  else
    coarse_counters_bucket_read(counters, stretch - 1, out);
}

void pc_bucket_sums_merge(pc_bucket_sums *into, const pc_bucket_sums *from) {
  for (size_t place = 0; place < 2 * (PC_BUCKETS + 1); place++) {
    into->cells[place].offset += from->cells[place].offset;
    into->cells[place].square += from->cells[place].square;
    into->fine[place] += from->fine[place];
  }
  pc_segment_join(&into->outside[0], &from->outside[0]);
  pc_segment_join(&into->outside[1], &from->outside[1]);
  into->room = 0; /* as far as is known */
}
