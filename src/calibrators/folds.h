/* Folds for cross-validation: every row belongs to exactly one. */
#ifndef PC_FOLDS_H
#define PC_FOLDS_H

#include "base/arena.h"
#include "data/rows.h"
#include "io/source.h"

#define PC_FOLDS_MAX 100

/* Each block of `count` successive rows (from a multiple of `count`) has one row of each fold,
 * in random order.  The fold of a row depends only on its index and the seed. */
typedef struct pc_folds {
  uint64_t seed;
  size_t count; /* 1 to PC_FOLDS_MAX; 1: all rows are in fold 0 */
  int by_group; /* the fold of a row is that of the index of its group: groups stay together */
} pc_folds;

size_t pc_fold_of(const pc_folds *folds, uint64_t row);

/* The folds of one block of rows, which its rows share.  Zeroed: of none. */
typedef struct pc_fold_block {
  int known;
  uint64_t first; /* its first row */
  unsigned char order[PC_FOLDS_MAX];
} pc_fold_block;

/* The same as pc_fold_of, from the last block if the row is in it. */
size_t pc_fold_in_block(const pc_folds *folds, pc_fold_block *block, uint64_t row);

/* The fold of a row of a batch; with folds->by_group the batch has groups. */
size_t pc_fold_of_row(const pc_folds *folds, pc_fold_block *block, const pcal_batch *batch,
                      size_t row);

#define PC_ANY_GROUP UINT32_MAX

/* A source with some rows of another source, as doubles: all rows outside a fold, to fit on, or
 * the rows of the fold, to judge on. */
typedef struct pc_fold_source {
  pcal_source *source;
  pc_folds folds;
  size_t fold;
  pc_fold_block block;  /* of the last row that was looked at */
  int inside;           /* 1: the rows of the fold; 0 (after opening): all others */
  uint32_t group;       /* only rows of this group; PC_ANY_GROUP after opening */
  size_t columns, rows; /* of a window */
  pc_arena arena;       /* holds the source and the arrays of a window: */
  double *scores, *targets, *weights;
  int32_t *labels;
  uint32_t *groups;
  uint64_t *ids;
} pc_fold_source;

/* `base` must outlive the new source.  Close it also after a failure. */
PC_CHECKED pcal_status pc_fold_source_open(pcal_source *base, const pc_folds *folds,
                                           size_t fold, const pcal_env *env,
                                           pc_fold_source *out, pcal_error *err);
void pc_fold_source_close(pc_fold_source *source); /* a zeroed one is allowed */

#endif
