/* Two grids of every class of a row, kept as one.
 *
 * Where their cells differ in nothing but scores on an edge, what one of them holds is what the
 * other holds but for these few.  The first, whose first cell ends first, sees the rows; of
 * scores that the second has in another cell it tells: the second adds them to its own, and
 * keeps what they are in the cells of the first.  In the end it is filled with all the others.
 * The bits are those that its rows would give. */
#ifndef PC_GRID_SHARED_H
#define PC_GRID_SHARED_H

#include "machines/machine.h"

/* Can the second need be filled from a state of the first, which has its moments too? */
int pc_grid_can_share(const pc_need *first, const pc_need *second);

/* Joins two empty states: from now on only the first is to be updated, without weights. */
PC_CHECKED pcal_status pc_grid_share(const pcal_env *env, void *first, void *second,
                                     const pc_need *need, const pc_layout *layout,
                                     pcal_error *err);

/* Fills the second; the pair is then two states like any other. */
void pc_grid_unshare(const pcal_env *env, void *first, void *second);

#endif
