/* Adds every class of a row to a grid.
 *
 * Fewer than M classes of a row can have a probability above 1/M, so nearly all scores lie in
 * the first cell of their class.  They are summed column by column in integers, rounded to a
 * unit u that depends on the first edge: u = 2^-54 for 15 bins, never above 2^-50, 2^-61 from
 * 1024 bins on.  Only scores beyond the first cell, and that of the true class, are handled one
 * by one. */
#include <math.h>
#include <string.h>

#include "base/float_bits.h"
#include "kernels/dispatch.h"
#include "machines/grid_cells.h"

#define EVERY_CLASS_STEP \
  128 /* columns summed before looking for scores beyond the first cell */

pc_fixed pc_grid_pending_sum(const pc_grid_columns *columns, const uint64_t *sums,
                             size_t column) {
  const uint64_t base = columns->pending * pc_double_bits(columns->rule.anchor);
  const uint64_t units = sums[column] - base;
  const pc_int128 with_sign = units >> 63 != 0 ? -(pc_int128)(0 - units) : (pc_int128)units;
  return (pc_fixed){with_sign * ((pc_int128)1 << columns->shift)};
}

/* Rounds a number as column sums do (cell 0) or as single scores are (other cells). */
static double every_class_round(const pc_grid_state *grid, size_t cell, double value) {
  const double anchor = grid->columns.rule.anchor;
  return cell == 0 ? (value + anchor) - anchor : pc_grid_truncate(value);
}

static int every_class_counts(const pc_grid_state *grid, double score) {
  return grid->columns.sums.kept == NULL || score > grid->threshold;
}

static size_t every_class_part(const pc_grid_state *grid, size_t class_index) {
  return grid->part_count == 1 ? 0 : class_index;
}

/* True if the follower puts a score into another cell; *other: that cell. */
static int every_class_differs(const pc_grid_state *grid, double score, size_t cell,
                               size_t *other) {
  if (grid->follower == NULL)
    return 0;
  *other = pc_partition_find(&grid->follower->cells, score);
  return *other != grid->follower->cell_map[cell];
}

/* Adds a score whose cell differs to the follower and to `differing`.  In the first cell rows
 * are not counted, and its sums are rounded as column sums are. */
static void every_class_add_differing(const pc_grid_state *grid, size_t part, double score,
                                      size_t cell, size_t other) {
  pc_grid_state *follower = grid->follower;
  const size_t index = part * follower->cell_count + other;
  pc_grid_add(follower->differing, part * grid->cell_count + cell, score, score * score, 0);
  if (other > 0) {
    pc_grid_add(follower, index, score, score * score, 0);
    return;
  }
  pc_fixed_add(&follower->cell[index].score, every_class_round(follower, 0, score));
  if (follower->square != NULL)
    pc_fixed_add(&follower->square[index], every_class_round(follower, 0, score * score));
}

/* Adds a score of class j beyond the first cell. */
static void every_class_beyond(pc_grid_state *grid, size_t j, double score) {
  if (!every_class_counts(grid, score))
    return;
  const size_t cell = pc_partition_find(&grid->cells, score);
  const size_t part = every_class_part(grid, j);
  size_t other;
  pc_grid_add(grid, part * grid->cell_count + cell, score, score * score, 0);
  if (every_class_differs(grid, score, cell, &other))
    every_class_add_differing(grid, part, score, cell, other);
}

/* Adds the scores beyond the first cell, from column `begin` on; there are `beyond` of them. */
static void every_class_single(pc_grid_state *grid, const double *scores, size_t begin,
                               size_t beyond) {
  for (size_t j = begin; beyond > 0; j++) {
    if (!(scores[j] > grid->columns.rule.last))
      continue;
    beyond--;
    every_class_beyond(grid, j, scores[j]);
  }
}

static void every_class_hit_in(pc_grid_state *grid, size_t index, double rounded) {
  grid->cell[index].hits++;
  if (grid->score_hit != NULL)
    pc_fixed_add(&grid->score_hit[index], rounded);
}

/* Adds the hit of the true class. */
static void every_class_hit(pc_grid_state *grid, const double *scores, size_t label) {
  const double score = scores[label];
  if (!every_class_counts(grid, score))
    return;
  const size_t cell = pc_partition_find(&grid->cells, score);
  const size_t part = every_class_part(grid, label), index = part * grid->cell_count + cell;
  const double rounded = every_class_round(grid, cell, score);
  size_t other;
  every_class_hit_in(grid, index, rounded);
  if (!every_class_differs(grid, score, cell, &other))
    return;
  every_class_hit_in(grid->follower->differing, index, rounded);
  every_class_hit_in(grid->follower, part * grid->follower->cell_count + other,
                     every_class_round(grid->follower, other, score));
}

static void every_class_row(pc_grid_state *grid, const pc_class_column_kernels *kernels,
                            const double *scores, size_t label) {
  pc_grid_columns *columns = &grid->columns;
  if (columns->pending == PC_CLASS_COLUMN_ROWS)
    pc_grid_flush_columns(grid);
  columns->pending++;
  columns->rows++;
  if (grid->follower != NULL)
    grid->follower->columns.rows++;
  for (size_t begin = 0; begin < columns->count; begin += EVERY_CLASS_STEP) {
    const size_t left = columns->count - begin;
    const pc_class_column_sums sums = {
        columns->sums.score + begin,
        columns->sums.square == NULL ? NULL : columns->sums.square + begin,
        columns->sums.kept == NULL ? NULL : columns->sums.kept + begin};
    const size_t beyond =
        kernels->add(scores + begin, left < EVERY_CLASS_STEP ? left : EVERY_CLASS_STEP,
                     &columns->rule, &sums);
    every_class_single(grid, scores, begin, beyond);
  }
  every_class_hit(grid, scores, label);
}

static void every_class_weighted(pc_grid_state *grid, const double *scores, size_t label,
                                 double weight) {
  for (size_t j = 0; j < grid->columns.count; j++) {
    const double score = scores[j];
    if (!every_class_counts(grid, score))
      continue;
    const size_t cell = pc_partition_find(&grid->cells, score);
    const size_t index = every_class_part(grid, j) * grid->cell_count + cell;
    pc_grid_add_weighted(grid, index, every_class_round(grid, cell, score),
                         every_class_round(grid, cell, score * score), j == label, weight);
  }
}

/* ---- few classes ---- */

/* With few classes many scores lie beyond the first cell.  The cells of several rows are then
 * computed together and summed in a table; only scores close to a cut are handled one by one. */
#define FEW_CLASSES PC_NARROW_CLASSES
#define FEW_CELLS 32
#define FEW_ROWS 512 /* sums stay below 2^63 */
#define FEW_SCORES 512

typedef struct few_cell {
  uint64_t count, units;
} few_cell;

typedef struct few_table {
  few_cell cell[FEW_CLASSES][FEW_CELLS + 2]; /* the last one: scores close to a cut */
} few_table;

/* True if cut c is (c + 1) / cells up to rounding. */
static int every_class_even(const pc_partition *cells, double count) {
  for (size_t c = 0; c < cells->cut_count; c++)
    if (fabs(cells->cuts[c] * count - (double)(c + 1)) > 1e-9)
      return 0;
  return 1;
}

/* The rule of the cells; returns 0 if rows must be added one by one. */
static int every_class_few(const pc_grid_state *grid, pc_class_cell_rule *rule) {
  const pc_grid_columns *columns = &grid->columns;
  const double cells =
      grid->cells.cut_count == 0 ? 1.0 : floor(1.0 / grid->cells.cuts[0] + 0.5);
  *rule = (pc_class_cell_rule){.cells = cells,
                               .most = (double)grid->cells.cut_count + 0.5,
                               .last = columns->rule.last,
                               .anchor = columns->rule.anchor,
                               .units = PC_GRID_ONE,
                               .near = (int32_t)grid->cell_count};
  return columns->count <= FEW_CLASSES && grid->part_count == columns->count &&
         grid->cell_count <= FEW_CELLS && grid->cells.cut_count > 0 && grid->square == NULL &&
         grid->score_hit == NULL && columns->sums.kept == NULL &&
         every_class_even(&grid->cells, cells);
}

/* A score close to a cut.  In the first cell it belongs to the sums of columns, which the caller
 * has prepared for this row. */
static void every_class_near(pc_grid_state *grid, size_t j, double score) {
  const double anchor = grid->columns.rule.anchor;
  if (score > grid->columns.rule.last)
    every_class_beyond(grid, j, score);
  else
    grid->columns.sums.score[j] += pc_double_bits(score + anchor) - pc_double_bits(anchor);
}

static void every_class_few_block(pc_grid_state *grid, const pc_class_cell_rule *rule,
                                  const double *scores, const int32_t *labels, size_t rows,
                                  few_table *table) {
  const size_t k = grid->columns.count;
  int32_t cell[FEW_SCORES];
  int64_t units[FEW_SCORES];
  pc_kernels_best()->bin_index->class_cells(scores, rows * k, rule, cell, units);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < k; j++) {
      few_cell *into = &table->cell[j][cell[i * k + j]];
      into->count++;
      into->units += (uint64_t)units[i * k + j];
    }
  for (size_t i = 0; i < rows; i++) {
    const size_t label = (size_t)labels[i], at = i * k + label;
    if (cell[at] == rule->near)
      every_class_hit(grid, scores + i * k, label);
    else
      grid->cell[label * grid->cell_count + (size_t)cell[at]].hits++;
  }
  uint64_t near = 0;
  for (size_t j = 0; j < k; j++)
    near += table->cell[j][rule->near].count;
  for (size_t at = 0; near > 0 && at < rows * k; at++)
    if (cell[at] == rule->near)
      every_class_near(grid, at % k, scores[at]);
  for (size_t j = 0; near > 0 && j < k; j++)
    table->cell[j][rule->near] = (few_cell){0, 0};
}

/* Moves a table into the grid.  The first cell is not counted. */
static void every_class_few_fold(pc_grid_state *grid, const few_table *table) {
  for (size_t j = 0; j < grid->columns.count; j++) {
    grid->columns.sums.score[j] += table->cell[j][0].units;
    for (size_t c = 1; c < grid->cell_count; c++) {
      pc_grid_cell *cell = &grid->cell[j * grid->cell_count + c];
      cell->count += table->cell[j][c].count;
      cell->score.units += pc_grid_widen((int64_t)table->cell[j][c].units);
    }
  }
}

/* Up to FEW_ROWS rows. */
static void every_class_few_rows(pc_grid_state *grid, const pc_class_cell_rule *rule,
                                 const double *scores, const int32_t *labels, size_t rows) {
  pc_grid_columns *columns = &grid->columns;
  const size_t k = columns->count, block = FEW_SCORES / k;
  few_table table;
  memset(&table, 0, sizeof table);
  if (columns->pending + rows > PC_CLASS_COLUMN_ROWS)
    pc_grid_flush_columns(grid);
  columns->pending += rows;
  columns->rows += rows;
  if (grid->follower != NULL)
    grid->follower->columns.rows += rows;
  for (size_t j = 0; j < k; j++)
    columns->sums.score[j] += rows * pc_double_bits(columns->rule.anchor);
  for (size_t i = 0; i < rows; i += block)
    every_class_few_block(grid, rule, scores + i * k, labels + i,
                          rows - i < block ? rows - i : block, &table);
  every_class_few_fold(grid, &table);
}

pcal_status pc_grid_add_every_class(const pcal_env *env, pc_grid_state *grid,
                                    const pc_rows *rows, pcal_error *err) {
  const pc_class_column_kernels *kernels = pc_kernels_best()->class_column;
  pc_class_cell_rule rule;
  if (rows->weights == NULL && every_class_few(grid, &rule)) {
    for (size_t i = 0; i < rows->count; i += FEW_ROWS)
      every_class_few_rows(grid, &rule, rows->probs + i * rows->classes, rows->labels + i,
                           rows->count - i < FEW_ROWS ? rows->count - i : FEW_ROWS);
    return PCAL_OK;
  }
  if (rows->weights != NULL)
    PC_TRY(pc_grid_allow_weights(env, grid, err));
  for (size_t i = 0; i < rows->count; i++) {
    const double *scores = rows->probs + i * rows->classes;
    const size_t label = (size_t)rows->labels[i];
    const unsigned copies = pc_grid_copies(rows->weights, i);
    for (unsigned copy = 0; copy < copies; copy++)
      every_class_row(grid, kernels, scores, label);
    if (copies == 0)
      every_class_weighted(grid, scores, label, rows->weights[i]);
  }
  return PCAL_OK;
}
