/* Grids truncate scores to units of 2^-53, curves to 2^-61: the sum of what lies between, the
 * `rest` of a segment, is subtracted. */
#include "machines/grid_from_curve.h"

#include <math.h>

#include "machines/grid_cells.h"

_Static_assert((int64_t)PC_SEGMENT_SQUARE_ONE == (int64_t)PC_GRID_ONE,
               "squares have the units of grids");

int pc_grid_can_fill_from_curve(const pc_need *need) {
  const unsigned known = PC_MOMENT_SQUARE;
  return need->machine == PC_GRID && need->grid.bins <= PC_GRID_FROM_CURVE_BINS_MAX &&
         need->grid.rule != PC_EDGES_GUO && (need->grid.moments & ~known) == 0 &&
         need->grid.threshold <= 0 && !need->view.by_label &&
         !pc_view_is_every_class(&need->view);
}

size_t pc_grid_cell_ends(const void *state, double *ends) {
  const pc_grid_state *grid = state;
  const pc_partition *cells = &grid->cells;
  for (size_t i = 0; ends != NULL && i < cells->cut_count; i++)
    ends[i] = cells->closed_right ? cells->cuts[i] : nextafter(cells->cuts[i], -INFINITY);
  return cells->cut_count;
}

void pc_grid_fill_from_curve(void *state, const pc_bucket_curve *curve) {
  pc_grid_state *grid = state;
  for (size_t i = 0; i < curve->count; i++) {
    const pc_segment *from = &curve->segments[i];
    const size_t index = pc_partition_find(&grid->cells, from->low);
    grid->cell[index].count += from->rows;
    grid->cell[index].hits += from->hits;
    grid->cell[index].score.units += from->score.units - from->rest;
    if (grid->square != NULL)
      grid->square[index].units += from->square * pc_grid_widen(1);
  }
}
