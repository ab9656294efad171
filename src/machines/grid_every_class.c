/* Every class of a row as a score of a grid.
 *
 * Fewer than M classes of a row can have more than 1/M, so nearly all scores lie in the first
 * cell of their class.  They are summed column by column in integers, rounded to a unit u that
 * the first edge decides: u = 2^-54 for 15 bins, never above 2^-50, 2^-61 from 1024 bins on.
 * Only scores beyond the first cell, and that of the true class, are looked at one by one. */
#include "base/float_bits.h"
#include "machines/grid_cells.h"

#define GRID_SPREAD_STEP 128 /* columns summed before scores beyond the cell are looked for */

pc_fixed pc_grid_pending_sum(const pc_grid_columns *columns, const uint64_t *sums,
                             size_t column) {
  const uint64_t base = columns->waiting * pc_double_bits(columns->rule.anchor);
  const uint64_t units = sums[column] - base;
  const pc_int128 with_sign = units >> 63 != 0 ? -(pc_int128)(0 - units) : (pc_int128)units;
  return (pc_fixed){with_sign * ((pc_int128)1 << columns->shift)};
}

/* What the sum of a column, or else a single score, makes of a number. */
static double grid_spread_round(const pc_grid_state *grid, size_t cell, double value) {
  const double anchor = grid->columns.rule.anchor;
  return cell == 0 ? (value + anchor) - anchor : pc_grid_truncate(value);
}

static int grid_spread_counts(const pc_grid_state *grid, double score) {
  return grid->columns.sums.kept == NULL || score > grid->threshold;
}

static size_t grid_spread_part(const pc_grid_state *grid, size_t class_index) {
  return grid->part_count == 1 ? 0 : class_index;
}

/* A score that the twin has in another cell; 0 when it has not. */
static int grid_spread_differs(const pc_grid_state *grid, double score, size_t cell,
                               size_t *other) {
  if (grid->twin == NULL)
    return 0;
  *other = pc_partition_find(&grid->twin->cells, score);
  return *other != grid->twin->from[cell];
}

/* Such a score goes to its cell there.  The first cell is not counted, and its sums round. */
static void grid_spread_tell(const pc_grid_state *grid, size_t part, double score, size_t cell,
                             size_t other) {
  pc_grid_state *twin = grid->twin;
  const size_t index = part * twin->cell_count + other;
  pc_grid_add(twin->away, part * grid->cell_count + cell, score, score * score, 0);
  if (other > 0) {
    pc_grid_add(twin, index, score, score * score, 0);
    return;
  }
  pc_fixed_add(&twin->cell[index].score, grid_spread_round(twin, 0, score));
  if (twin->square != NULL)
    pc_fixed_add(&twin->square[index], grid_spread_round(twin, 0, score * score));
}

/* Scores beyond the first cell among columns [begin, begin + count); there are `beyond`. */
static void grid_spread_single(pc_grid_state *grid, const double *scores, size_t begin,
                               size_t beyond) {
  for (size_t j = begin; beyond > 0; j++) {
    if (!(scores[j] > grid->columns.rule.last))
      continue;
    beyond--;
    if (!grid_spread_counts(grid, scores[j]))
      continue;
    const size_t cell = pc_partition_find(&grid->cells, scores[j]);
    const size_t part = grid_spread_part(grid, j);
    size_t other;
    pc_grid_add(grid, part * grid->cell_count + cell, scores[j], scores[j] * scores[j], 0);
    if (grid_spread_differs(grid, scores[j], cell, &other))
      grid_spread_tell(grid, part, scores[j], cell, other);
  }
}

static void grid_spread_hit_in(pc_grid_state *grid, size_t index, double rounded) {
  grid->cell[index].hits++;
  if (grid->score_hit != NULL)
    pc_fixed_add(&grid->score_hit[index], rounded);
}

/* The true class once more: it came true. */
static void grid_spread_hit(pc_grid_state *grid, const double *scores, size_t label) {
  const double score = scores[label];
  if (!grid_spread_counts(grid, score))
    return;
  const size_t cell = pc_partition_find(&grid->cells, score);
  const size_t part = grid_spread_part(grid, label), index = part * grid->cell_count + cell;
  const double rounded = grid_spread_round(grid, cell, score);
  size_t other;
  grid_spread_hit_in(grid, index, rounded);
  if (!grid_spread_differs(grid, score, cell, &other))
    return;
  grid_spread_hit_in(grid->twin->away, index, rounded);
  grid_spread_hit_in(grid->twin, part * grid->twin->cell_count + other,
                     grid_spread_round(grid->twin, other, score));
}

static void grid_spread_row(pc_grid_state *grid, const pc_class_column_kernels *kernels,
                            const double *scores, size_t label) {
  pc_grid_columns *columns = &grid->columns;
  if (columns->waiting == PC_CLASS_COLUMN_ROWS)
    pc_grid_flush_columns(grid);
  columns->waiting++;
  columns->rows++;
  if (grid->twin != NULL)
    grid->twin->columns.rows++;
  for (size_t begin = 0; begin < columns->count; begin += GRID_SPREAD_STEP) {
    const size_t left = columns->count - begin;
    const pc_class_column_sums sums = {
        columns->sums.score + begin,
        columns->sums.square == NULL ? NULL : columns->sums.square + begin,
        columns->sums.kept == NULL ? NULL : columns->sums.kept + begin};
    const size_t beyond =
        kernels->add(scores + begin, left < GRID_SPREAD_STEP ? left : GRID_SPREAD_STEP,
                     &columns->rule, &sums);
    grid_spread_single(grid, scores, begin, beyond);
  }
  grid_spread_hit(grid, scores, label);
}

static void grid_spread_weighted(pc_grid_state *grid, const double *scores, size_t label,
                                 double weight) {
  for (size_t j = 0; j < grid->columns.count; j++) {
    const double score = scores[j];
    if (!grid_spread_counts(grid, score))
      continue;
    const size_t cell = pc_partition_find(&grid->cells, score);
    const size_t index = grid_spread_part(grid, j) * grid->cell_count + cell;
    pc_grid_add_weighted(grid, index, grid_spread_round(grid, cell, score),
                         grid_spread_round(grid, cell, score * score), j == label, weight);
  }
}

pcal_status pc_grid_add_every_class(const pcal_env *env, pc_grid_state *grid,
                                    const pc_rows *rows, pcal_error *err) {
  const pc_class_column_kernels *kernels = pc_class_column_kernels_best();
  if (rows->weights != NULL)
    PC_TRY(pc_grid_allow_weights(env, grid, err));
  for (size_t i = 0; i < rows->count; i++) {
    const double *scores = rows->probs + i * rows->classes;
    const size_t label = (size_t)rows->labels[i];
    const unsigned copies = pc_grid_copies(rows->weights, i);
    for (unsigned copy = 0; copy < copies; copy++)
      grid_spread_row(grid, kernels, scores, label);
    if (copies == 0)
      grid_spread_weighted(grid, scores, label, rows->weights[i]);
  }
  return PCAL_OK;
}
