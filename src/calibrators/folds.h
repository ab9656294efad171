/* Folds for cross-validation: every row belongs to one. */
#ifndef PC_FOLDS_H
#define PC_FOLDS_H

#include "io/source.h"

#define PC_FOLDS_MAX 100

/* Of any `count` successive rows that begin at a multiple of it, each fold has one, in an order
 * drawn anew; the fold of a row depends on nothing but its index and the seed. */
typedef struct pc_folds {
  uint64_t seed;
  size_t count; /* 1 to PC_FOLDS_MAX; 1: all rows are in fold 0 */
} pc_folds;

size_t pc_fold_of(const pc_folds *folds, uint64_t row);

#define PC_ANY_GROUP UINT32_MAX

/* A source with the rows of `base` that are not in a fold, as doubles: what a fit may see of
 * them. */
typedef struct pc_fold_source {
  pcal_source *source;
  const pcal_env *env;
  pc_folds folds;
  size_t left_out;
  int inside;           /* only the rows of that fold instead; 0 when opened */
  uint32_t group;       /* only rows of this one; PC_ANY_GROUP when opened */
  size_t columns, room; /* of the buffers, in rows */
  double *scores, *targets, *weights;
  int32_t *labels;
  uint32_t *groups;
  uint64_t *ids;
} pc_fold_source;

/* The environment outlives it.  Close it in any case; a zeroed one is fine. */
PC_CHECKED pcal_status pc_fold_source_open(pcal_source *base, const pc_folds *folds,
                                           size_t left_out, const pcal_env *env,
                                           pc_fold_source *out, pcal_error *err);
void pc_fold_source_close(pc_fold_source *training);

/* A row of a batch as doubles. */
void pc_batch_row(const pcal_batch *batch, size_t row, double *out);

/* Rows of as many columns that a step of a derived source should take. */
size_t pc_derived_window(size_t columns);

#endif
