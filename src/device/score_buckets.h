/* Arguments of the kernels of score_buckets_body.h: top scores of rows, which pc_row_sums left on the
 * GPU, counted in buckets; and those in chosen buckets, found again. */
#ifndef PC_SCORE_BUCKETS_H
#define PC_SCORE_BUCKETS_H

#include <stdint.h>

#define PC_SCORE_BUCKETS 16385    /* PC_BUCKETS of width 2^-14, and one for score 1 */
#define PC_SCORE_BUCKETS_SHIFT 47 /* from units of 2^-61 to the bucket */
#define PC_SCORE_BUCKETS_THREADS 512
#define PC_SCORE_BUCKETS_SLICES 8    /* parts of the score axis, each with its own blocks */
#define PC_SCORE_BUCKETS_SLICE 2048  /* buckets of a slice; the last one has one more */
#define PC_SCORE_BUCKETS_CHUNK 65024 /* most rows of a block: 127 for each thread */

/* Addresses are of the GPU. */
typedef struct pc_score_buckets {
  const double *totals; /* row_total of pc_row_sums: 1 / score, negative if the row is no hit */
  uint64_t rows;        /* below 2^24 */
  uint64_t *words; /* out: PC_SCORE_BUCKETS_WORDS for [2 * bucket + hit]; they begin as 0 */
  uint32_t chunks; /* of rows */
} pc_score_buckets;

/* Scores of a bucket in units of 2^-61, without the bucket itself: their sum is
 * LOW + 2^32 (HIGH mod 2^40); HIGH / 2^40 is their number. */
enum { PC_SCORE_BUCKETS_LOW, PC_SCORE_BUCKETS_HIGH, PC_SCORE_BUCKETS_WORDS };
#define PC_SCORE_BUCKETS_ROWS 40 /* bits of HIGH below the number of rows */

/* Chunks for a number of rows, if possible `wanted`: enough for all multiprocessors, few enough that the
 * sums of blocks are seldom written. */
static inline uint32_t pc_score_chunks(uint64_t rows, uint64_t wanted) {
  const uint64_t least = (rows + PC_SCORE_BUCKETS_CHUNK - 1) / PC_SCORE_BUCKETS_CHUNK;
  const uint64_t most =
      (rows + PC_SCORE_BUCKETS_THREADS * 8 - 1) / (PC_SCORE_BUCKETS_THREADS * 8);
  return (uint32_t)(least > wanted ? least : most < wanted ? most : wanted);
}

static inline uint32_t pc_score_buckets_chunks(uint64_t rows, uint32_t multiprocessors) {
  return pc_score_chunks(rows, (multiprocessors + 1) / 2);
}

/* ---- Later passes ---- */

enum {
  PC_SCORE_KEEP,  /* the scores of a target are listed */
  PC_SCORE_SPLIT, /* they are added up in parts, by their bits */
  PC_SCORE_CELLS  /* the same; parts are cells of equal width */
};

/* The scores from low to high, inside one bucket. */
typedef struct pc_score_target {
  double low, high;
  uint64_t units; /* of low, 2^-61 each */
  uint32_t action, shift;
  uint32_t first; /* part */
  uint32_t unused;
} pc_score_target;

/* Part of a score in PC_SCORE_SPLIT: first + ((bits of the score - bits of low) >> shift), in
 * PC_SCORE_CELLS: first + trunc(score cells) - trunc(low cells). */
typedef struct pc_score_targets {
  const double *totals;
  uint64_t rows;
  const pc_score_target *list; /* ascending */
  const uint32_t
      *reach; /* by bucket, and one more: the first target that ends in it or after it */
  const uint32_t *wanted; /* a bit for each bucket: a target overlaps it */
  uint32_t target_count;
  double cells;    /* 2^level, of PC_SCORE_CELLS */
  double *found;   /* out: totals of rows in targets of PC_SCORE_KEEP, in any order */
  uint64_t *count; /* out: their number, also if it exceeds the room; begins as 0 */
  uint64_t room;   /* of `found` */
  uint64_t
      *words; /* out: as those of pc_score_buckets, for [2 * part + hit]; scores less `units` */
  uint32_t parts;  /* in all */
  uint32_t chunks; /* of rows, for the kernel that adds up */
} pc_score_targets;

#define PC_SCORE_MASK ((PC_SCORE_BUCKETS + 31) / 32)
#define PC_SCORE_FILTER_THREADS 256
#define PC_SCORE_FILTER_EACH 8 /* rows of a thread */
#define PC_SCORE_SPLIT_EACH 8  /* rows of a thread at once */

static inline uint64_t pc_score_filter_blocks(uint64_t rows) {
  const uint64_t each = PC_SCORE_FILTER_THREADS * PC_SCORE_FILTER_EACH;
  return (rows + each - 1) / each;
}

/* Groups of PC_SCORE_BUCKETS_SLICE parts, each with its own blocks. */
static inline uint32_t pc_score_split_slices(const pc_score_targets *targets) {
  return (targets->parts + PC_SCORE_BUCKETS_SLICE - 1) / PC_SCORE_BUCKETS_SLICE;
}

/* Chunks of rows for the kernel that adds up: two blocks for each multiprocessor. */
static inline uint32_t pc_score_split_chunks(uint64_t rows, uint32_t multiprocessors) {
  return pc_score_chunks(rows, 2 * (uint64_t)multiprocessors);
}

#endif
