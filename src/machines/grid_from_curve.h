/* Fills a grid from the bucket curve of the same view, so that rows need not be added to both. */
#ifndef PC_GRID_FROM_CURVE_H
#define PC_GRID_FROM_CURVE_H

#include "curve/bucket_curve.h"
#include "machines/machine.h"

#define PC_GRID_FROM_CURVE_BINS_MAX 100 /* finer grids would split too many segments */
#define PC_GRID_FROM_CURVE_ENDS_MAX (2 * PC_GRID_FROM_CURVE_BINS_MAX + 6)

/* True if the state of a need can be filled from a curve. */
int pc_grid_can_fill_from_curve(const pc_need *need);

/* Writes the highest score of each cell but the last, ascending, and returns how many: at most
 * PC_GRID_FROM_CURVE_ENDS_MAX if pc_grid_can_fill_from_curve.  ends NULL: only counts. */
size_t pc_grid_cell_ends(const void *state, double *ends);

/* Adds the rows of a curve with buckets of equal width; the result has the bits that the rows
 * would give.  No segment lies in two cells. */
void pc_grid_fill_from_curve(void *state, const pc_bucket_curve *curve);

#endif
