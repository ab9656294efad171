#include "machines/grid_shared.h"

#include "machines/grid_cells.h"

/* A score in the middle of a cell, on which all edge rules agree. */
static double grid_shared_inside(const pc_partition *cells, size_t cell) {
  const double low = cell == 0 ? 0.0 : cells->cuts[cell - 1];
  const double high = cell == cells->cut_count ? 1.0 : cells->cuts[cell];
  return 0.5 * (low + high);
}

static int grid_shared_ascends(pc_edge_rule first, pc_edge_rule second) {
  return (first == PC_EDGES_OWN_ONE || first == PC_EDGES_NETCAL || first == PC_EDGES_LEFT) &&
         second == PC_EDGES_RIGHT;
}

int pc_grid_can_share(const pc_need *first, const pc_need *second) {
  return first->machine == PC_GRID && second->machine == PC_GRID &&
         pc_view_is_every_class(&first->view) && first->view.kind == second->view.kind &&
         first->view.by_label == second->view.by_label &&
         first->grid.bins == second->grid.bins && first->grid.bins > 1 &&
         first->grid.threshold <= 0 && second->grid.threshold <= 0 &&
         ((first->grid.moments | second->grid.moments) & PC_MOMENT_LOG) == 0 &&
         grid_shared_ascends(first->grid.rule, second->grid.rule);
}

pcal_status pc_grid_share(const pcal_env *env, void *first, void *second, const pc_need *need,
                          const pc_layout *layout, pcal_error *err) {
  pc_grid_state *one = first, *two = second;
  PC_TRY(pc_grid_new(env, need, layout, &two->differing, err));
  two->cell_map = pc_alloc_raw(env, one->cell_count, sizeof *two->cell_map);
  if (two->cell_map == NULL)
    return pc_fail_memory(err, "preparing bins");
  for (size_t c = 0; c < one->cell_count; c++)
    two->cell_map[c] = pc_partition_find(&two->cells, grid_shared_inside(&one->cells, c));
  one->follower = two;
  return PCAL_OK;
}

static void grid_shared_fixed(pc_fixed *into, const pc_fixed *from, const pc_fixed *differing) {
  if (into != NULL)
    into->units += from->units - differing->units;
}

static void grid_shared_fill(const pc_grid_state *one, pc_grid_state *two, size_t part,
                             size_t cell) {
  const size_t from = part * one->cell_count + cell;
  const size_t into = part * two->cell_count + two->cell_map[cell];
  const pc_grid_state *differing = two->differing;
  two->cell[into].count += one->cell[from].count - differing->cell[from].count;
  two->cell[into].hits += one->cell[from].hits - differing->cell[from].hits;
  grid_shared_fixed(&two->cell[into].score, &one->cell[from].score,
                    &differing->cell[from].score);
  if (two->square != NULL)
    grid_shared_fixed(&two->square[into], &one->square[from], &differing->square[from]);
  if (two->score_hit != NULL)
    grid_shared_fixed(&two->score_hit[into], &one->score_hit[from],
                      &differing->score_hit[from]);
}

void pc_grid_unshare(const pcal_env *env, void *first, void *second) {
  pc_grid_state *one = first, *two = second;
  pc_grid_flush_columns(one);
  for (size_t p = 0; p < one->part_count; p++)
    for (size_t c = 0; c < one->cell_count; c++)
      grid_shared_fill(one, two, p, c);
  pc_grid_free(env, two->differing);
  two->differing = NULL;
  one->follower = NULL;
}
