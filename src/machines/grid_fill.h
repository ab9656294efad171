/* Grids filled from a coarse curve (stats/coarse.h) of float32 instead of from rows. */
#ifndef PC_GRID_FILL_H
#define PC_GRID_FILL_H

#include "machines/machine.h"
#include "stats/coarse.h"

#define PC_GRID_FILL_BINS 100 /* finer grids cut too many segments */
#define PC_GRID_FILL_ENDS (2 * PC_GRID_FILL_BINS + 6)

/* Can the state of a need be filled so? */
int pc_grid_fillable(const pc_need *need);

/* The largest scores of all cells but the last, ascending; ends may be NULL.  Returns how many
 * there are, at most PC_GRID_FILL_ENDS where the grid can be filled so. */
size_t pc_grid_ends(const void *state, double *ends);

/* Adds a curve by equal width, all of whose scores are float32 and of which no segment lies in
 * two cells: the bits that its rows would give. */
void pc_grid_fill(void *state, const pc_coarse *curve);

#endif
