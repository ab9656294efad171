/* The cells of a grid: what they hold, how they are read, joined and saved.
 *
 * Rows without weights are counted in 64-bit integers, weighted ones in 128-bit fixed point of
 * their own; both are exact, and only their sum is ever seen.  Of spread views (every class of
 * a row is a score) nearly all scores lie in the first cell of their class: those are summed
 * column by column (kernels/class_column_sums.h), and what waits in the columns is added when the cells
 * are read. */
#ifndef PC_GRID_CELLS_H
#define PC_GRID_CELLS_H

#include "kernels/class_column_sums.h"
#include "machines/grid_logs.h"

typedef struct pc_grid_cell {
  uint64_t count, hits; /* rows without weights */
  pc_fixed score;       /* of all rows */
} pc_grid_cell;

typedef struct pc_grid_mass {
  pc_fixed weight, hits; /* rows with weights */
} pc_grid_mass;

/* The first cells of a spread view. */
typedef struct pc_grid_columns {
  size_t count;     /* columns; 0: the view is not spread */
  uint64_t rows;    /* without weights, ever */
  uint64_t waiting; /* of them, in the sums */
  pc_class_column_rule rule;
  unsigned shift; /* from units of the sums to units of pc_fixed */
  pc_class_column_sums sums;
} pc_grid_columns;

/* cell, square, score_hit and logs have part_count * cell_count entries. */
typedef struct pc_grid_state {
  pc_partition cells;
  size_t cell_count, part_count;
  double threshold; /* only scores above it are counted; 0: all */
  pc_grid_cell *cell;
  pc_grid_mass *mass; /* NULL: no row had a weight */
  pc_fixed *square;   /* NULL: not asked for */
  pc_fixed *score_hit;
  pc_grid_logs *logs;
  pc_grid_columns columns;
  /* See grid_shared.h. */
  struct pc_grid_state *twin; /* the state that this one fills in the end, or NULL */
  struct pc_grid_state *away; /* what the state that fills this one has elsewhere, or NULL */
  size_t *from;               /* by cells of that state: the cell here */
} pc_grid_state;

/* Everything about one cell. */
typedef struct pc_grid_sums {
  pc_fixed weight, hits, score, square, score_hit;
} pc_grid_sums;

PC_CHECKED pcal_status pc_grid_new(const pcal_env *env, const pc_need *need,
                                   const pc_layout *layout, pc_grid_state **out,
                                   pcal_error *err);
void pc_grid_free(const pcal_env *env, pc_grid_state *grid);
void pc_grid_clear(pc_grid_state *grid);

/* Scores and squares are truncated to units of 2^-53: nothing is lost of a float, nor of a
 * double above one half. */
#define PC_GRID_ONE 0x1p53

static inline int64_t pc_grid_units(double value) {
  return (int64_t)(value * PC_GRID_ONE);
}

static inline double pc_grid_truncate(double value) {
  return (double)pc_grid_units(value) / PC_GRID_ONE;
}

/* From these units to those of pc_fixed. */
static inline pc_int128 pc_grid_widen(int64_t units) {
  return (pc_int128)units * (int64_t)(PC_FIXED_ONE / PC_GRID_ONE);
}

/* Makes sure that weighted rows can be added. */
PC_CHECKED pcal_status pc_grid_allow_weights(const pcal_env *env, pc_grid_state *grid,
                                             pcal_error *err);

/* Few enough copies of a row to add it so often, which gives the same sums as its weight and
 * takes less time; 0: add it with its weight. */
static inline unsigned pc_grid_copies(const double *weights, size_t row) {
  if (weights == NULL)
    return 1;
  const double weight = weights[row];
  return weight == 1.0 ? 1 : weight == 2.0 ? 2 : weight == 3.0 ? 3 : weight == 4.0 ? 4 : 0;
}

/* Adds a score to a cell; one with a weight has been truncated or rounded. */
void pc_grid_add(pc_grid_state *grid, size_t index, double score, double square, int hit);
void pc_grid_add_weighted(pc_grid_state *grid, size_t index, double score, double square,
                          int hit, double weight);

/* Adds every class of the rows to a grid of a spread view. */
PC_CHECKED pcal_status pc_grid_add_every_class(const pcal_env *env, pc_grid_state *grid,
                                               const pc_rows *rows, pcal_error *err);

/* Empties the columns into their cells. */
void pc_grid_flush_columns(pc_grid_state *grid);

/* What waits in one column. */
pc_fixed pc_grid_pending_sum(const pc_grid_columns *columns, const uint64_t *sums,
                             size_t column);

/* What a cell holds. */
pc_grid_sums pc_grid_read(const pc_grid_state *grid, size_t index);

/* Adds a grid of the same need; `into` has been weighed when `from` is. */
void pc_grid_merge(pc_grid_state *into, const pc_grid_state *from);

#endif
