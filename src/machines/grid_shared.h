/* Two grids over every class of a row that share one pass.
 *
 * Both grids agree except for scores exactly on an edge.  The first grid, whose first cell ends
 * lower, sees all rows.  A score that the second grid puts into another cell is added to the
 * second grid at once, and recorded in `differing`, in the cell of the first.  In the end
 *   second = first - differing + scores added directly to the second
 * with the same bits as if it had seen all rows. */
#ifndef PC_GRID_SHARED_H
#define PC_GRID_SHARED_H

#include "machines/machine.h"

/* True if a grid with need `second` can be filled from a grid with need `first` that also has
 * the moments of `second`. */
int pc_grid_can_share(const pc_need *first, const pc_need *second);

/* Couples two empty states.  From now on only the first is updated, with unweighted rows.
 * need: the need of the first. */
PC_CHECKED pcal_status pc_grid_share(const pcal_env *env, void *first, void *second,
                                     const pc_need *need, const pc_layout *layout,
                                     pcal_error *err);

/* Fills the second state and separates the two. */
void pc_grid_unshare(const pcal_env *env, void *first, void *second);

#endif
