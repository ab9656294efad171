/* Rows of probabilities in packs of PC_LANES, for loops over pairs. */
#ifndef PC_PAIR_ROWS_H
#define PC_PAIR_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/row_kernels.h"

/* All arrays are padded to whole packs with copies of the last row, of weight 0. */
typedef struct pc_pair_rows {
  size_t count, classes;
  double *probs;   /* [pack][class][lane] */
  double *halves;  /* half the squared length of each row */
  double *weights; /* how often each row occurs */
  int32_t *labels;
  double reach, reach_tv; /* upper bounds of distances: Euclidean, total variation */
} pc_pair_rows;

/* Bytes of a block for `capacity` rows, at any alignment; 0 on overflow. */
size_t pc_pair_rows_bytes(size_t capacity, size_t classes);

/* An empty set of rows in a block of that size, which the caller owns. */
pc_pair_rows pc_pair_rows_in(void *block, size_t capacity, size_t classes);

/* Appends a row; `probs` has one number for each class. */
void pc_pair_rows_add(pc_pair_rows *rows, const double *probs, int32_t label, double weight);

/* Pads the last pack and fills halves and reach; no rows may be added afterwards. */
void pc_pair_rows_close(pc_pair_rows *rows);

static inline size_t pc_pair_pack_count(const pc_pair_rows *rows) {
  return (rows->count + PC_LANES - 1) / PC_LANES;
}

/* Pointer to the probability of a class; the next class is PC_LANES further. */
static inline const double *pc_pair_prob(const pc_pair_rows *rows, size_t row, size_t class) {
  return rows->probs + (row / PC_LANES * rows->classes + class) * PC_LANES + row % PC_LANES;
}

#endif
