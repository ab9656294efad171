/* Top scores in buckets: the bodies of the kernels pc_score_buckets_all, pc_score_split_all and
 * pc_score_filter_all.
 *
 * The score of a row is 1 / |total|.  As in curve/bucket_sums.c, u = trunc(2^61 score), its bucket is
 * b = u / 2^47, and a bucket holds for each outcome the number of rows and the sum of u - b 2^47, here
 * in two words.  All sums are integers, so that any number of blocks gives the bits of the CPU.
 *
 * A block counts the rows of one chunk whose scores lie in one slice of the axis, in shared memory, and
 * then adds its buckets to those of all blocks.  Bits above the lower 32 of a sum are carried into the
 * next number as they appear.
 *
 * Later passes look at targets only, as curve/bucket_tally.c: their rows are added up in parts in the
 * same way, or listed: threads count theirs in a block, and the block then reserves room for all.
 *
 * Edge cases:
 *   1. score 1 has a bucket of its own, in the last slice.
 *   2. rows of other slices are recognized by their total, before the division, with a margin for its
 *      rounding.
 *   3. more scores than room: they are only counted.
 *   4. totals below 1 are not counted: a row that pc_row_sums found invalid has no total, and the host
 *      drops the buckets of its batch.
 * Cost: eight reads of all totals, mostly from the cache, and three additions for each row; later passes
 * one read for each PC_SCORE_BUCKETS_SLICE parts, and one for a list.
 *
 * This header is plain C, as softmax_rows_body.h: tests call the phases thread by thread. */
#ifndef PC_SCORE_BUCKETS_BODY_H
#define PC_SCORE_BUCKETS_BODY_H

#include <math.h>

#include "base/float_bits.h"
#include "device/gpu_layer.h"
#include "device/score_buckets.h"

/* A bucket in shared memory; [hit]. */
typedef struct pc_score_bucket {
  uint32_t rows; /* misses; hits in the upper half */
  uint32_t low[2], high[2];
} pc_score_bucket;

typedef struct pc_score_buckets_shared {
  pc_score_bucket bucket[PC_SCORE_BUCKETS_SLICE + 1];
} pc_score_buckets_shared;

#define PC_SCORE_BUCKETS_MARGIN 0x1p-40

static inline uint64_t pc_score_buckets_units(double total) {
  return (uint64_t)(int64_t)(1.0 / fabs(total) * 0x1p61);
}

/* First phase. */
static inline void pc_score_buckets_begin(uint32_t thread, pc_score_buckets_shared *shared) {
  uint32_t *zero = (uint32_t *)(void *)shared;
  const uint32_t words = (uint32_t)(sizeof *shared / sizeof *zero);
  for (uint32_t i = thread; i < words; i += PC_SCORE_BUCKETS_THREADS)
    zero[i] = 0;
}

/* Adds a row: `rest` is its score, less that at which the bucket or its target begins. */
static inline void pc_score_bucket_add(pc_score_bucket *at, uint64_t rest, uint32_t hit) {
  const uint32_t carry = pc_gpu_add_carry_32(&at->low[hit], (uint32_t)rest);
  const uint32_t high = (uint32_t)(rest >> 32) + carry;
  pc_gpu_add_32(&at->rows, hit ? 1u << 16 : 1u);
  if (high != 0)
    pc_gpu_add_32(&at->high[hit], high);
}

/* The rows of one chunk. */
typedef struct pc_score_range {
  uint64_t begin, end;
} pc_score_range;

static inline pc_score_range pc_score_range_of(uint64_t rows, uint32_t chunks, uint64_t chunk) {
  const uint64_t each = (rows + chunks - 1) / chunks, begin = chunk * each;
  const uint64_t left = rows > begin ? rows - begin : 0;
  const pc_score_range range = {begin, begin + (left < each ? left : each)};
  return range;
}

static inline void pc_score_buckets_put(pc_score_buckets_shared *shared, uint64_t units,
                                        uint32_t first, uint32_t hit) {
  const uint64_t bucket = units >> PC_SCORE_BUCKETS_SHIFT;
  const int is_last = first == PC_SCORE_BUCKETS_SLICE * (PC_SCORE_BUCKETS_SLICES - 1);
  const uint32_t place = (uint32_t)bucket - first;
  if (bucket >= first && place < PC_SCORE_BUCKETS_SLICE + (is_last ? 1u : 0u))
    pc_score_bucket_add(&shared->bucket[place], units - (bucket << PC_SCORE_BUCKETS_SHIFT),
                        hit);
}

/* Second phase: the rows of the block. */
static inline void pc_score_buckets_add(const pc_score_buckets *buckets, uint32_t block,
                                        uint32_t thread, pc_score_buckets_shared *shared) {
  const uint32_t slice = block % PC_SCORE_BUCKETS_SLICES;
  const pc_score_range range =
      pc_score_range_of(buckets->rows, buckets->chunks, block / PC_SCORE_BUCKETS_SLICES);
  const double slices = PC_SCORE_BUCKETS_SLICES;
  const double least = slice + 1 == PC_SCORE_BUCKETS_SLICES
                           ? 1.0
                           : slices / (slice + 1) * (1 - PC_SCORE_BUCKETS_MARGIN);
  const double most = slice == 0 ? INFINITY : slices / slice * (1 + PC_SCORE_BUCKETS_MARGIN);
  PC_GPU_UNROLL(4)
  for (uint64_t row = range.begin + thread; row < range.end; row += PC_SCORE_BUCKETS_THREADS) {
    const double total = buckets->totals[row], size = fabs(total);
    if (size >= least && size <= most) /* edge case 2 */
      pc_score_buckets_put(shared, pc_score_buckets_units(total),
                           slice * PC_SCORE_BUCKETS_SLICE, total > 0);
  }
}

/* Adds the first `count` buckets of the block to those of all blocks, from `first` on. */
static inline void pc_score_buckets_write(uint64_t *all, uint32_t first, uint32_t count,
                                          uint32_t thread,
                                          const pc_score_buckets_shared *shared) {
  for (uint32_t b = thread; b < count; b += PC_SCORE_BUCKETS_THREADS) {
    const pc_score_bucket *at = &shared->bucket[b];
    PC_GPU_UNROLL(2)
    for (uint32_t hit = 0; hit < 2; hit++) {
      uint64_t *words = all + (2 * (uint64_t)(first + b) + hit) * PC_SCORE_BUCKETS_WORDS;
      const uint64_t rows = hit ? at->rows >> 16 : at->rows & 0xffff;
      if (rows == 0)
        continue;
      if (at->low[hit] != 0)
        pc_gpu_add_64(&words[PC_SCORE_BUCKETS_LOW], at->low[hit]);
      pc_gpu_add_64(&words[PC_SCORE_BUCKETS_HIGH],
                    (rows << PC_SCORE_BUCKETS_ROWS) + at->high[hit]);
    }
  }
}

/* Last phase. */
static inline void pc_score_buckets_publish(const pc_score_buckets *buckets, uint32_t block,
                                            uint32_t thread,
                                            const pc_score_buckets_shared *shared) {
  const uint32_t slice = block % PC_SCORE_BUCKETS_SLICES;
  pc_score_buckets_write(
      buckets->words, slice * PC_SCORE_BUCKETS_SLICE,
      PC_SCORE_BUCKETS_SLICE + (slice + 1 == PC_SCORE_BUCKETS_SLICES ? 1 : 0), thread, shared);
}

/* ---- Targets ---- */

#define PC_SCORE_NO_TARGET UINT32_MAX

/* The index of the target that holds a score, or PC_SCORE_NO_TARGET. */
static inline uint32_t pc_score_find(const pc_score_targets *targets, double score) {
  const uint32_t bucket = (uint32_t)(score * 0x1p14);
  if ((targets->wanted[bucket / 32] >> bucket % 32 & 1) == 0)
    return PC_SCORE_NO_TARGET;
  uint32_t low = targets->reach[bucket], high = targets->reach[bucket + 1];
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (targets->list[middle].high < score)
      low = middle + 1;
    else
      high = middle;
  }
  return low < targets->target_count && targets->list[low].low <= score &&
                 targets->list[low].high >= score
             ? low
             : PC_SCORE_NO_TARGET;
}

static inline uint32_t pc_score_part(const pc_score_targets *targets,
                                     const pc_score_target *target, double score) {
  if (target->action == PC_SCORE_CELLS)
    return target->first + (uint32_t)((int64_t)(score * targets->cells) -
                                      (int64_t)(target->low * targets->cells));
  return target->first +
         (uint32_t)((pc_double_bits(score) - pc_double_bits(target->low)) >> target->shift);
}

/* ---- Adding up parts: the first and last phases are those above ---- */

static inline void pc_score_split_row(const pc_score_targets *targets, uint32_t first,
                                      double total, pc_score_buckets_shared *shared) {
  const double score = 1.0 / fabs(total);
  const uint32_t t = pc_score_find(targets, score);
  if (t == PC_SCORE_NO_TARGET || targets->list[t].action == PC_SCORE_KEEP)
    return;
  const uint32_t place = pc_score_part(targets, &targets->list[t], score) - first;
  if (place < PC_SCORE_BUCKETS_SLICE)
    pc_score_bucket_add(&shared->bucket[place],
                        pc_score_buckets_units(total) - targets->list[t].units, total > 0);
}

static inline void pc_score_split_add(const pc_score_targets *targets, uint32_t block,
                                      uint32_t thread, pc_score_buckets_shared *shared) {
  const uint32_t slices = pc_score_split_slices(targets);
  const pc_score_range range =
      pc_score_range_of(targets->rows, targets->chunks, block / slices);
  const uint32_t first = block % slices * PC_SCORE_BUCKETS_SLICE;
  for (uint64_t row = range.begin + thread; row < range.end;
       row += PC_SCORE_SPLIT_EACH * PC_SCORE_BUCKETS_THREADS) {
    double total[PC_SCORE_SPLIT_EACH]; /* loaded together: additions would order the loads */
    PC_GPU_UNROLL(8)
    for (uint32_t i = 0; i < PC_SCORE_SPLIT_EACH; i++) {
      const uint64_t at = row + i * PC_SCORE_BUCKETS_THREADS;
      total[i] = targets->totals[at < range.end ? at : row];
    }
    PC_GPU_UNROLL(8)
    for (uint32_t i = 0; i < PC_SCORE_SPLIT_EACH; i++)
      if (row + i * PC_SCORE_BUCKETS_THREADS < range.end)
        pc_score_split_row(targets, first, total[i], shared);
  }
}

static inline void pc_score_split_publish(const pc_score_targets *targets, uint32_t block,
                                          uint32_t thread,
                                          const pc_score_buckets_shared *shared) {
  const uint32_t first = block % pc_score_split_slices(targets) * PC_SCORE_BUCKETS_SLICE;
  const uint32_t left = targets->parts - first;
  pc_score_buckets_write(targets->words, first,
                         left < PC_SCORE_BUCKETS_SLICE ? left : PC_SCORE_BUCKETS_SLICE, thread,
                         shared);
}

/* ---- Listing scores ---- */

typedef struct pc_score_filter_shared {
  uint64_t base; /* of the block in `found` */
  uint32_t count;
} pc_score_filter_shared;

/* A thread: the places of its rows in the block, or PC_SCORE_FILTER_NONE. */
typedef struct pc_score_filter_thread {
  uint32_t place[PC_SCORE_FILTER_EACH];
} pc_score_filter_thread;

#define PC_SCORE_FILTER_NONE UINT32_MAX

static inline uint64_t pc_score_filter_row(uint32_t block, uint32_t thread, uint32_t i) {
  return ((uint64_t)block * PC_SCORE_FILTER_EACH + i) * PC_SCORE_FILTER_THREADS + thread;
}

/* First phase. */
static inline void pc_score_filter_begin(uint32_t thread, pc_score_filter_shared *shared) {
  if (thread == 0)
    shared->count = 0;
}

/* Second phase. */
static inline void pc_score_filter_look(const pc_score_targets *targets, uint32_t block,
                                        uint32_t thread, pc_score_filter_shared *shared,
                                        pc_score_filter_thread *mine) {
  PC_GPU_UNROLL(8)
  for (uint32_t i = 0; i < PC_SCORE_FILTER_EACH; i++) {
    const uint64_t row = pc_score_filter_row(block, thread, i);
    mine->place[i] = PC_SCORE_FILTER_NONE;
    if (row >= targets->rows)
      continue;
    const uint32_t t = pc_score_find(targets, 1.0 / fabs(targets->totals[row]));
    if (t != PC_SCORE_NO_TARGET && targets->list[t].action == PC_SCORE_KEEP)
      mine->place[i] = pc_gpu_count_32(&shared->count);
  }
}

/* Third phase. */
static inline void pc_score_filter_reserve(const pc_score_targets *targets, uint32_t thread,
                                           pc_score_filter_shared *shared) {
  if (thread == 0 && shared->count > 0)
    shared->base = pc_gpu_take_64(targets->count, shared->count);
}

/* Last phase. */
static inline void pc_score_filter_write(const pc_score_targets *targets, uint32_t block,
                                         uint32_t thread, const pc_score_filter_shared *shared,
                                         const pc_score_filter_thread *mine) {
  PC_GPU_UNROLL(8)
  for (uint32_t i = 0; i < PC_SCORE_FILTER_EACH; i++)
    if (mine->place[i] != PC_SCORE_FILTER_NONE && shared->base + mine->place[i] < targets->room)
      targets->found[shared->base + mine->place[i]] =
          targets->totals[pc_score_filter_row(block, thread, i)];
}

#endif
