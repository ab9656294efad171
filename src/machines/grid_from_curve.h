/* Grids filled from a coarse curve (curve/bucket_curve.h) of float32 instead of from rows. */
#ifndef PC_GRID_FROM_CURVE_H
#define PC_GRID_FROM_CURVE_H

#include "curve/bucket_curve.h"
#include "machines/machine.h"

#define PC_GRID_FROM_CURVE_BINS_MAX 100 /* finer grids cut too many segments */
#define PC_GRID_FROM_CURVE_ENDS_MAX (2 * PC_GRID_FROM_CURVE_BINS_MAX + 6)

/* Can the state of a need be filled so? */
int pc_grid_can_fill_from_curve(const pc_need *need);

/* The largest scores of all cells but the last, ascending; ends may be NULL.  Returns how many
 * there are, at most PC_GRID_FROM_CURVE_ENDS_MAX where the grid can be filled so. */
size_t pc_grid_cell_ends(const void *state, double *ends);

/* Adds a curve by equal width, all of whose scores are float32 and of which no segment lies in
 * two cells: the bits that its rows would give. */
void pc_grid_fill_from_curve(void *state, const pc_bucket_curve *curve);

#endif
