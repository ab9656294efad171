#include "machines/grid_cells.h"

#include <math.h>
#include <string.h>

void pc_grid_free(const pcal_env *env, pc_grid_state *grid) {
  if (grid == NULL)
    return;
  pc_grid_free(env, grid->differing);
  pc_free(env, grid->cell_map);
  pc_partition_free(env, &grid->cells);
  pc_free(env, grid->cell);
  pc_free(env, grid->mass);
  pc_free(env, grid->square);
  pc_free(env, grid->score_hit);
  pc_free(env, grid->logs);
  pc_free(env, grid->columns.sums.score);
  pc_free(env, grid->columns.sums.square);
  pc_free(env, grid->columns.sums.kept);
  pc_free(env, grid);
}

static size_t grid_total(const pc_grid_state *grid) {
  return grid->part_count * grid->cell_count;
}

static void grid_zero(void *block, size_t count, size_t size) {
  if (block != NULL)
    memset(block, 0, count * size);
}

void pc_grid_clear_columns(pc_grid_columns *columns) {
  grid_zero(columns->sums.score, columns->count, sizeof(uint64_t));
  grid_zero(columns->sums.square, columns->count, sizeof(uint64_t));
  grid_zero(columns->sums.kept, columns->count, sizeof(uint64_t));
  columns->pending = 0;
}

void pc_grid_clear(pc_grid_state *grid) {
  grid_zero(grid->cell, grid_total(grid), sizeof *grid->cell);
  grid_zero(grid->mass, grid_total(grid), sizeof *grid->mass);
  grid_zero(grid->square, grid_total(grid), sizeof *grid->square);
  grid_zero(grid->score_hit, grid_total(grid), sizeof *grid->score_hit);
  grid_zero(grid->logs, grid_total(grid), sizeof *grid->logs);
  pc_grid_clear_columns(&grid->columns);
  grid->columns.rows = 0;
  if (grid->differing != NULL)
    pc_grid_clear(grid->differing);
}

/* ---- making ---- */

/* Chooses the smallest anchor 1.5 * 2^-s (see kernels/class_column_sums.h) with anchor / 3 at
 * least every score of the first cell.  A grid without cuts has one cell, whose scores may
 * exceed 1 by rounding. */
static void grid_anchor(const pc_partition *cells, pc_grid_columns *columns) {
  const double end = cells->cut_count == 0 ? INFINITY : cells->cuts[0];
  int s = end <= 0.5 ? 0 : -2;
  while (s >= 0 && s < 9 && end <= ldexp(0.5, -(s + 1)))
    s++;
  columns->rule.last = cells->closed_right || end == INFINITY ? end : nextafter(end, -1.0);
  columns->rule.anchor = ldexp(1.5, -s);
  columns->shift = (unsigned)(9 - s);
}

static pcal_status grid_make_columns(const pcal_env *env, pc_grid_state *grid, size_t classes,
                                     pcal_error *err) {
  pc_grid_columns *columns = &grid->columns;
  columns->count = classes;
  grid_anchor(&grid->cells, columns);
  columns->rule.above = grid->threshold > 0 ? grid->threshold : -INFINITY;
  columns->sums.score = pc_alloc(env, classes, sizeof(uint64_t));
  if (grid->square != NULL)
    columns->sums.square = pc_alloc(env, classes, sizeof(uint64_t));
  if (grid->threshold > 0)
    columns->sums.kept = pc_alloc(env, classes, sizeof(uint64_t));
  if (columns->sums.score == NULL || (grid->square != NULL && columns->sums.square == NULL) ||
      (grid->threshold > 0 && columns->sums.kept == NULL))
    return pc_fail_memory(err, "preparing bins");
  return PCAL_OK;
}

/* places: parts that have cells; SIZE_MAX: all. */
static pcal_status grid_make(const pcal_env *env, const pc_need *need, const pc_layout *layout,
                             size_t places, pc_grid_state *grid, pcal_error *err) {
  PC_TRY(pc_partition_new(env, need->grid.rule, need->grid.bins, &grid->cells, err));
  grid->cell_count = grid->cells.cut_count + 1;
  grid->part_count = pc_view_parts(&need->view, layout);
  grid->threshold = need->grid.threshold;
  const int squares = (need->grid.moments & PC_MOMENT_SQUARE) != 0;
  const int hits = (need->grid.moments & PC_MOMENT_HIT) != 0;
  const size_t total = places == SIZE_MAX ? grid_total(grid) : places * grid->cell_count;
  const int logs = (need->grid.moments & PC_MOMENT_LOG) != 0;
  const size_t size = sizeof *grid->cell + (size_t)(squares + hits) * sizeof *grid->square +
                      (size_t)logs * sizeof *grid->logs;
  if (grid->part_count > 1)
    PC_TRY(pc_check_memory_limit_of(env, total * size, "keeping the bins of all classes takes",
                                    "ask for fewer bins", err));
  grid->cell = pc_alloc(env, total, sizeof *grid->cell);
  grid->square = squares ? pc_alloc(env, total, sizeof *grid->square) : NULL;
  grid->score_hit = hits ? pc_alloc(env, total, sizeof *grid->score_hit) : NULL;
  grid->logs = logs ? pc_alloc(env, total, sizeof *grid->logs) : NULL;
  if (grid->cell == NULL || (squares && grid->square == NULL) ||
      (hits && grid->score_hit == NULL) || (logs && grid->logs == NULL))
    return pc_fail_memory(err, "preparing bins");
  return pc_view_is_every_class(&need->view)
             ? grid_make_columns(env, grid, layout->classes, err)
             : PCAL_OK;
}

pcal_status pc_grid_new_places(const pcal_env *env, const pc_need *need,
                               const pc_layout *layout, size_t places, pc_grid_state **out,
                               pcal_error *err) {
  pc_grid_state *grid = pc_alloc(env, 1, sizeof *grid);
  if (grid == NULL)
    return pc_fail_memory(err, "preparing bins");
  const pcal_status status = grid_make(env, need, layout, places, grid, err);
  if (status != PCAL_OK) {
    pc_grid_free(env, grid);
    return status;
  }
  *out = grid;
  return PCAL_OK;
}

pcal_status pc_grid_new(const pcal_env *env, const pc_need *need, const pc_layout *layout,
                        pc_grid_state **out, pcal_error *err) {
  return pc_grid_new_places(env, need, layout, SIZE_MAX, out, err);
}

pcal_status pc_grid_allow_weights(const pcal_env *env, pc_grid_state *grid, pcal_error *err) {
  if (grid->mass == NULL)
    grid->mass = pc_alloc(env, grid_total(grid), sizeof *grid->mass);
  return grid->mass == NULL ? pc_fail_memory(err, "preparing bins") : PCAL_OK;
}

/* ---- adding ---- */

void pc_grid_add(pc_grid_state *grid, size_t index, double score, double square, int hit) {
  const pc_int128 units = pc_grid_widen(pc_grid_units(score));
  pc_grid_cell *cell = &grid->cell[index];
  cell->count++;
  cell->hits += (uint64_t)hit;
  cell->score.units += units;
  if (grid->square != NULL)
    grid->square[index].units += pc_grid_widen(pc_grid_units(square));
  if (grid->score_hit != NULL && hit)
    grid->score_hit[index].units += units;
}

void pc_grid_add_weighted(pc_grid_state *grid, size_t index, double score, double square,
                          int hit, double weight) {
  pc_fixed_add_weighted(&grid->mass[index].weight, weight, 1.0);
  pc_fixed_add_weighted(&grid->cell[index].score, weight, score);
  if (grid->square != NULL)
    pc_fixed_add_weighted(&grid->square[index], weight, square);
  if (!hit)
    return;
  pc_fixed_add_weighted(&grid->mass[index].hits, weight, 1.0);
  if (grid->score_hit != NULL)
    pc_fixed_add_weighted(&grid->score_hit[index], weight, score);
}

/* ---- reading and joining ---- */

pc_fixed pc_grid_whole(uint64_t count) {
  return (pc_fixed){(pc_int128)count * pc_fixed_units(1.0)};
}

/* Adds the pending sum of a column to the sums of its first cell. */
static void grid_add_pending(const pc_grid_columns *columns, size_t column, pc_grid_sums *sums,
                             uint64_t *count) {
  sums->score.units += pc_grid_pending_sum(columns, columns->sums.score, column).units;
  if (columns->sums.square != NULL)
    sums->square.units += pc_grid_pending_sum(columns, columns->sums.square, column).units;
  if (columns->sums.kept != NULL)
    *count += columns->sums.kept[column];
}

/* Number of scores in the first cell of a part, for unweighted rows and a grid over every
 * class.  The first cell has no counter; its count is the number of scores minus the counts of
 * the other cells. */
static uint64_t grid_first_count(const pc_grid_state *grid, size_t part) {
  const size_t per_part = grid->columns.count / grid->part_count;
  uint64_t count = grid->columns.rows * per_part;
  for (size_t c = 1; c < grid->cell_count; c++)
    count -= grid->cell[part * grid->cell_count + c].count;
  return count;
}

pc_grid_sums pc_grid_read(const pc_grid_state *grid, size_t index) {
  const pc_grid_columns *columns = &grid->columns;
  const pc_grid_cell *cell = &grid->cell[index];
  const size_t part = index / grid->cell_count, per_part = columns->count / grid->part_count;
  uint64_t count = cell->count;
  pc_grid_sums sums = {.score = cell->score, .hits = pc_grid_whole(cell->hits)};
  if (grid->square != NULL)
    sums.square = grid->square[index];
  if (grid->score_hit != NULL)
    sums.score_hit = grid->score_hit[index];
  if (columns->count > 0 && index % grid->cell_count == 0) {
    count = columns->sums.kept == NULL ? grid_first_count(grid, part) : count;
    for (size_t j = 0; j < per_part; j++)
      grid_add_pending(columns, part * per_part + j, &sums, &count);
  }
  sums.weight = pc_grid_whole(count);
  if (grid->mass != NULL) {
    sums.weight.units += grid->mass[index].weight.units;
    sums.hits.units += grid->mass[index].hits.units;
  }
  return sums;
}

static void grid_join(pc_fixed *into, const pc_fixed *from, size_t count) {
  for (size_t i = 0; into != NULL && i < count; i++)
    into[i].units += from[i].units;
}

void pc_grid_add_columns(pc_grid_state *into, const pc_grid_columns *from) {
  const size_t per_part = from->count / into->part_count;
  for (size_t j = 0; j < from->count; j++) {
    const size_t index = j / per_part * into->cell_count;
    pc_grid_sums sums = {.score = into->cell[index].score};
    if (into->square != NULL)
      sums.square = into->square[index];
    grid_add_pending(from, j, &sums, &into->cell[index].count);
    into->cell[index].score = sums.score;
    if (into->square != NULL)
      into->square[index] = sums.square;
  }
}

void pc_grid_flush_columns(pc_grid_state *grid) {
  pc_grid_add_columns(grid, &grid->columns);
  pc_grid_clear_columns(&grid->columns);
}

void pc_grid_merge(pc_grid_state *into, const pc_grid_state *from) {
  const size_t total = grid_total(into);
  for (size_t i = 0; i < total; i++) {
    into->cell[i].count += from->cell[i].count;
    into->cell[i].hits += from->cell[i].hits;
    into->cell[i].score.units += from->cell[i].score.units;
  }
  for (size_t i = 0; from->mass != NULL && i < total; i++) {
    into->mass[i].weight.units += from->mass[i].weight.units;
    into->mass[i].hits.units += from->mass[i].hits.units;
  }
  grid_join(into->square, from->square, total);
  grid_join(into->score_hit, from->score_hit, total);
  for (size_t i = 0; into->logs != NULL && i < total; i++)
    pc_grid_logs_join(&into->logs[i], &from->logs[i]);
  if (from->columns.pending > 0)
    pc_grid_add_columns(into, &from->columns);
  into->columns.rows += from->columns.rows;
  if (from->differing != NULL)
    pc_grid_merge(into->differing, from->differing);
}
