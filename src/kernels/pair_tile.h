/* Sums of the SKCE over pairs of rows: for a tile by a plain loop, for strips of packs by
 * kernels. */
#ifndef PC_PAIR_TILE_H
#define PC_PAIR_TILE_H

#include "base/sum.h"
#include "kernels/pair_kernels.h"

/* sum over i in [i0, i1), j in [j0, j1), i < j of
 *   w_i w_j k(p_i, p_j) <e_{y_i} - p_i, e_{y_j} - p_j>,
 * added in a fixed order, with distances from differences. */
double pc_skce_tile(const pc_pair_form *form, const pc_pair_rows *rows, size_t i0, size_t i1,
                    size_t j0, size_t j1);

/* |e_y - p|^2 of row i: the pair of a row with a copy of itself. */
double pc_skce_self(const pc_pair_rows *rows, size_t i);

/* Adds the same sum over the rows i of packs [first, end) and all j > i. */
void pc_skce_strip(const pc_pair_form *form, const pc_pair_rows *rows, size_t first, size_t end,
                   pc_sum *sum);

#endif
