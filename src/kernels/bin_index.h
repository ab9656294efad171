/* Bin indices of scores, and scores as integer multiples of a unit.  A kernel table: see
 * dispatch.h. */
#ifndef PC_BIN_INDEX_H
#define PC_BIN_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define PC_BIN_INDEX_ROWS 512

/* Buckets of equal width 1 / buckets, and the scale of the distances to their lower ends. */
typedef struct pc_bin_offset_rule {
  float buckets, units; /* powers of 2: buckets in [0, 1], units in a distance of 1 */
  uint64_t one;         /* added to every offset; it counts rows */
  unsigned square;      /* low bits to drop from squared offsets */
} pc_bin_offset_rule;

/* One row: `one` plus the distance to the lower end of its bucket, and that distance
 * squared. */
typedef struct pc_bin_offset {
  uint64_t offset, square;
} pc_bin_offset;

/* Buckets for the scores of single classes, most of them small.  Positive scores below 1 are in
 * PC_CLASS_PIECES pieces; in each, all powers of 2 have equally many buckets.  Bucket 0: scores
 * below 0; 1: the score 0; from 2 on: the pieces; `one`: the score 1; one + 1: scores above 1. */
#define PC_CLASS_PIECES 3
typedef struct pc_class_bucket_rule {
  /* The lowest score of each piece, a power of 2; smaller positive scores are in the first
   * bucket of the first piece. */
  double base[PC_CLASS_PIECES];
  unsigned shift[PC_CLASS_PIECES]; /* bits that are dropped from those of a score */
  uint64_t first[PC_CLASS_PIECES]; /* the first bucket of each piece */
  uint64_t one;
} pc_class_bucket_rule;

/* Cells of equal width 1 / cells.  The first cell has units of its own (class_column_sums.h). */
typedef struct pc_class_cell_rule {
  double cells;
  double most;   /* upper bound on score * cells, half a cell beyond the last cut */
  double last;   /* scores up to this are in the first cell */
  double anchor; /* whose last bit is the unit of the first cell */
  double units;  /* in 1, for the other cells */
  int32_t near;  /* stands for the cell of a score so close to a cut that it is uncertain */
} pc_class_cell_rule;

/* For each row: */
typedef struct pc_bin_index_rows {
  int32_t cell[PC_BIN_INDEX_ROWS]; /* number of cuts below the score */
  int64_t score[PC_BIN_INDEX_ROWS],
      square[PC_BIN_INDEX_ROWS]; /* score and score^2 in units, truncated towards 0 */
} pc_bin_index_rows;

typedef struct pc_bin_index_kernels {
  /* Up to PC_BIN_INDEX_ROWS scores; units: number of units in 1.  A score equal to a cut is not
   * above it.  The time is proportional to the number of cuts. */
  void (*place)(const double *score, size_t count, double units, const double *cuts,
                size_t cut_count, pc_bin_index_rows *out);
  /* out[i] = floor(score[i] * buckets), clamped to 0 .. buckets; buckets is a power of 2. */
  void (*even_f32)(const float *score, size_t count, int32_t buckets, int32_t *out);
  void (*even_f64)(const double *score, size_t count, int32_t buckets, int32_t *out);
  /* For scores in [0, 1] and labels 0 or 1: place[i] = 2 * bucket + label, and the offset in
   * units, truncated.  Other values are clamped, so that places are valid even if another
   * thread changes the rows. */
  void (*offsets_f32)(const float *score, const int32_t *label, size_t count,
                      const pc_bin_offset_rule *rule, uint32_t *place, pc_bin_offset *out);
  /* The same for doubles.  The square is that of the score in units of 2^-53, truncated, less what
   * follows from bucket and offset; fine: the bits of the score below a unit, down to 2^-61.
   * Returns all bits that are set in some of them.  Units are 2^-37, buckets 2^14. */
  uint64_t (*offsets_f64)(const double *score, const int32_t *label, size_t count,
                          const pc_bin_offset_rule *rule, uint32_t *place, pc_bin_offset *out,
                          uint64_t *fine);
  /* The buckets of a rule; NaN counts as 0. */
  void (*class_buckets)(const double *score, size_t count, const pc_class_bucket_rule *rule,
                        uint16_t *out);
  /* The cells of a rule, and scores as numbers of units: rounded to nearest in the first cell,
   * else truncated. */
  void (*class_cells)(const double *score, size_t count, const pc_class_cell_rule *rule,
                      int32_t *cell, int64_t *units);
} pc_bin_index_kernels;

#endif
