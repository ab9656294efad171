/* Rows of probabilities laid out for pairs: PC_LANES of them side by side make a pack. */
#ifndef PC_PAIR_ROWS_H
#define PC_PAIR_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/row_kernels.h"

/* All arrays are filled up to whole packs with copies of the last row that occur 0 times. */
typedef struct pc_pair_rows {
  size_t count, classes;
  double *probs;   /* [pack][class][lane] */
  double *halves;  /* half the squared length of each row */
  double *weights; /* how often each row occurs */
  int32_t *labels;
  double reach, reach_tv; /* no two rows are farther apart: Euclidean, total variation */
} pc_pair_rows;

/* Bytes of a block for so many rows, of any alignment; 0 when they are too many. */
size_t pc_pair_rows_bytes(size_t capacity, size_t classes);

/* No rows yet, in a block of that size. */
pc_pair_rows pc_pair_rows_in(void *block, size_t capacity, size_t classes);

/* Appends a row; `probs` has one number for each class. */
void pc_pair_rows_add(pc_pair_rows *rows, const double *probs, int32_t label, double weight);

/* Fills the last pack, the lengths and the reach; nothing may be added any more. */
void pc_pair_rows_close(pc_pair_rows *rows);

static inline size_t pc_pair_pack_count(const pc_pair_rows *rows) {
  return (rows->count + PC_LANES - 1) / PC_LANES;
}

/* Probability of a class; that of the next class is PC_LANES further on. */
static inline const double *pc_pair_prob(const pc_pair_rows *rows, size_t row, size_t class) {
  return rows->probs + (row / PC_LANES * rows->classes + class) * PC_LANES + row % PC_LANES;
}

#endif
