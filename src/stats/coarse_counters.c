/* The first pass adds a row to its bucket b with three additions modulo 2^64; what overflows is
 * known from where the bucket lies.  With u = trunc(2^61 s) for a score s and n rows:
 *   sum     sum of u
 *   rough   sum of 2^40 + trunc(u / 2^37)
 *   square  sum of trunc(2^53 s^2)
 * trunc(u / 2^37) is b 2^10 and less than 2^10 more, so that n = trunc(rough / (2^40 + b 2^10))
 * and the rest of this division give the sum H of all trunc(u / 2^37); of fewer than 2^15 rows
 * H is below 2^40, and there is nothing to divide.  The sum of u lies less than n 2^37 above
 * 2^37 H.
 * The square of a score is b^2 2^25 + b o / 2^21 + o^2 / 2^69, o = u - b 2^47, in units of
 * 2^-53; the last term is below 2^25 and rounding moves all of it by less than 4: the sum of
 * squares lies in an interval of length n (2^25 + 8) that n and the sum of u tell.
 * All this holds up to 2^24 - 2^10 rows; then the counters are emptied into segments. */
#include "stats/coarse_counters.h"

#include <string.h>

#define COARSE_COUNTERS_FEW ((uint64_t)1 << 15) /* rows */

void pc_coarse_counters_clear(pc_coarse_counters *counters) {
  memset(counters, 0, sizeof *counters);
  counters->outside[0] = counters->outside[1] = pc_segment_none;
}

/* The next double towards 0 from a score that is not 0. */
static double coarse_counters_before(double score) {
  return pc_double_of(pc_bits_of(score) - 1);
}

double pc_coarse_bucket_high(size_t bucket) {
  return coarse_counters_before((double)(bucket + 1) / PC_COARSE_BUCKETS);
}

/* Rows of one outcome in a bucket: their number and the sum of their scores. */
static uint64_t coarse_counters_sum_read(const pc_coarse_sums *sums, int hit, uint64_t bucket,
                                         pc_fixed *score) {
  const uint64_t least = bucket << (PC_COARSE_COUNTERS_BUCKET - PC_COARSE_COUNTERS_ROUGH),
                 step = PC_COARSE_COUNTERS_ONE + least;
  uint64_t rows = sums->rough[hit] / PC_COARSE_COUNTERS_ONE;
  uint64_t rough = sums->rough[hit] % PC_COARSE_COUNTERS_ONE;
  if (rows >= COARSE_COUNTERS_FEW) {
    rows = sums->rough[hit] / step;
    rough = rows * least + sums->rough[hit] % step;
  }
  const pc_uint128 below = (pc_uint128)rough << PC_COARSE_COUNTERS_ROUGH;
  score->units = (pc_int128)(below + (sums->sum[hit] - (uint64_t)below));
  return rows;
}

/* The sum of squares of a bucket whose other sums are known. */
static pc_int128 coarse_counters_square_read(uint64_t square, uint64_t bucket,
                                             const pc_segment *sums) {
  const pc_int128 b = (pc_int128)bucket, rows = (pc_int128)sums->rows;
  const pc_int128 inside = sums->score.units - (rows * b << 47);
  const pc_int128 least = (rows * b * b << 25) + (b * inside >> 21) - (rows << 2);
  return least + (pc_int128)(square - (uint64_t)least);
}

/* Scores below 2^-61 in size have 0 units, whatever their sign. */
static double coarse_counters_bucket_low(size_t bucket) {
  return bucket == 0 ? coarse_counters_before(-0x1p-61) : (double)bucket / PC_COARSE_BUCKETS;
}

static void coarse_counters_bucket_read(const pc_coarse_counters *counters, size_t bucket,
                                        pc_segment *out) {
  const pc_coarse_sums *sums = &counters->sums[bucket];
  pc_fixed misses, hits;
  const uint64_t missed = coarse_counters_sum_read(sums, 0, bucket, &misses);
  out->hits = coarse_counters_sum_read(sums, 1, bucket, &hits);
  out->rows = missed + out->hits;
  out->hit_score.units = hits.units;
  out->score.units = misses.units + hits.units;
  out->square = coarse_counters_square_read(counters->square[bucket], bucket, out);
  out->low = coarse_counters_bucket_low(bucket);
  out->high = pc_coarse_bucket_high(bucket);
  if (out->rows == 0)
    *out = pc_segment_none;
}

void pc_coarse_counters_read(const pc_coarse_counters *counters, size_t stretch,
                             pc_segment *out) {
  if (stretch == 0 || stretch + 1 == PC_COARSE_STRETCHES)
    *out = counters->outside[stretch != 0];
  else
    coarse_counters_bucket_read(counters, stretch - 1, out);
}

void pc_coarse_counters_merge(pc_coarse_counters *into, const pc_coarse_counters *from) {
  for (size_t b = 0; b <= PC_COARSE_BUCKETS; b++) {
    for (int hit = 0; hit < 2; hit++) {
      into->sums[b].sum[hit] += from->sums[b].sum[hit];
      into->sums[b].rough[hit] += from->sums[b].rough[hit];
    }
    into->square[b] += from->square[b];
  }
  pc_segment_join(&into->outside[0], &from->outside[0]);
  pc_segment_join(&into->outside[1], &from->outside[1]);
  into->rows += from->rows;
}
