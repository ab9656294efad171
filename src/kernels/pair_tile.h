/* Sums over a tile of pairs of rows. */
#ifndef PC_PAIR_TILE_H
#define PC_PAIR_TILE_H

#include <stddef.h>
#include <stdint.h>

/* Rows of probabilities with labels and how often each row occurs. */
typedef struct pc_pair_rows {
  size_t count, classes;
  const double *probs; /* count x classes */
  const int32_t *labels;
  const double *weights;
} pc_pair_rows;

/* sum over i in [i0, i1), j in [j0, j1), i < j of
 *   w_i w_j exp(-|p_i - p_j|_2) <e_{y_i} - p_i, e_{y_j} - p_j>,
 * in a fixed order of additions. */
double pc_skce_tile(const pc_pair_rows *rows, size_t i0, size_t i1, size_t j0, size_t j1);

/* |e_y - p|^2 of row i: the pair of a row with a copy of itself. */
double pc_skce_self(const pc_pair_rows *rows, size_t i);

#endif
