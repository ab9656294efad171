/* The grid machine for very many parts, of which few have scores beyond their first cell: two
 * rows of a million classes.  Only parts with such scores have cells; the sums of first cells
 * are column sums (grid_cells.h).  The evidence gives the same bits as that of the grid machine.
 * A state becomes an ordinary grid when rows have weights, or when there are many of them: its
 * memory stays in proportion to the rows. */
#ifndef PC_MACHINE_GRID_SPARSE_H
#define PC_MACHINE_GRID_SPARSE_H

#include "machines/machine.h"

extern const pc_machine pc_machine_grid_sparse;

/* True for grids of more than a million cells that only count, without moments and threshold. */
int pc_grid_is_sparse(const pc_need *need, const pc_layout *layout);

#endif
