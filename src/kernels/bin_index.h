/* Where scores lie among cuts, in whole units: one portable source, compiled once
 * for each instruction set (row_kernels.h), all variants with the same bits. */
#ifndef PC_BIN_INDEX_H
#define PC_BIN_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define PC_BIN_INDEX_ROWS 512

/* Even cuts, and what is added up of the distances to them. */
typedef struct pc_bin_offset_rule {
  float buckets, units; /* powers of 2: so many make 1 */
  uint64_t one;         /* added to every offset: it counts rows */
  unsigned square;      /* bits to drop from squares of offsets */
} pc_bin_offset_rule;

/* Of one row. */
typedef struct pc_bin_offset {
  uint64_t offset, square;
} pc_bin_offset;

/* Of each row. */
typedef struct pc_bin_index_rows {
  int32_t cell[PC_BIN_INDEX_ROWS]; /* cuts below the score */
  int64_t score[PC_BIN_INDEX_ROWS],
      square[PC_BIN_INDEX_ROWS]; /* in units, truncated towards 0 */
} pc_bin_index_rows;

typedef struct pc_bin_index_kernels {
  const char *name;
  /* Up to PC_BIN_INDEX_ROWS scores; `units` of them make 1.  A score on a cut is not above it.  The
   * time goes with the number of cuts. */
  void (*place)(const double *score, size_t count, double units, const double *cuts,
                size_t cut_count, pc_bin_index_rows *out);
  /* Among even cuts i / buckets, a power of 2: 0 below the first, `buckets` from 1 on.  A score
   * on a cut is above it. */
  void (*even_f32)(const float *score, size_t count, int32_t buckets, int32_t *out);
  void (*even_f64)(const double *score, size_t count, int32_t buckets, int32_t *out);
  /* Scores in [0, 1] with labels of 0 or 1; any others are taken as such, so that places are
   * valid even if the rows change meanwhile.  The place of a row is 2 * bucket + label; its
   * offset is the distance of the score to the cut below it in units, truncated. */
  void (*offsets_f32)(const float *score, const int32_t *label, size_t count,
                      const pc_bin_offset_rule *rule, uint32_t *place, pc_bin_offset *out);
} pc_bin_index_kernels;

extern const pc_bin_index_kernels pc_bin_index_kernels_portable;

/* As pc_row_kernels_at and pc_row_kernels_best. */
const pc_bin_index_kernels *pc_bin_index_kernels_at(size_t index);
const pc_bin_index_kernels *pc_bin_index_kernels_best(void);

#endif
