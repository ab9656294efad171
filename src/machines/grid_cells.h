/* The state of a grid: cells, and how they are read, merged and saved.
 *
 * Unweighted rows are counted in 64-bit integers, weighted rows in separate 128-bit fixed
 * point; both are exact, and readers see their sum.  In views of every class nearly all scores
 * lie in the first cell of their class: those are summed column by column
 * (kernels/class_column_sums.h), and the pending column sums are added when cells are read. */
#ifndef PC_GRID_CELLS_H
#define PC_GRID_CELLS_H

#include "kernels/class_column_sums.h"
#include "machines/grid_logs.h"

typedef struct pc_grid_cell {
  uint64_t count, hits; /* of unweighted rows */
  pc_fixed score;       /* of all rows */
} pc_grid_cell;

typedef struct pc_grid_mass {
  pc_fixed weight, hits; /* of weighted rows */
} pc_grid_mass;

/* Sums of the first cells in a view of every class, one for each class column. */
typedef struct pc_grid_columns {
  size_t count;     /* columns; 0: not a view of every class */
  uint64_t rows;    /* unweighted rows so far */
  uint64_t pending; /* rows that are in `sums` but not yet in the cells */
  pc_class_column_rule rule;
  unsigned shift; /* from units of the sums to units of pc_fixed */
  pc_class_column_sums sums;
} pc_grid_columns;

/* cell, mass, square, score_hit and logs have part_count * cell_count elements,
 * [part][cell]. */
typedef struct pc_grid_state {
  pc_partition cells;
  size_t cell_count, part_count;
  double threshold; /* counts only scores above it; 0: all */
  pc_grid_cell *cell;
  pc_grid_mass *mass; /* NULL: no weighted row yet */
  pc_fixed *square;   /* NULL: not requested; the same for the next two */
  pc_fixed *score_hit;
  pc_grid_logs *logs;
  pc_grid_columns columns;
  /* grid_shared.h */
  struct pc_grid_state *follower;  /* the grid that is filled from this one at the end, or
                                      NULL */
  struct pc_grid_state *differing; /* of a follower, in the cells of its leader: rows whose
                                      cell differs between the two; else NULL */
  size_t *cell_map;                /* of a follower: by cell of its leader, the cell here */
} pc_grid_state;

/* All sums of one cell. */
typedef struct pc_grid_sums {
  pc_fixed weight, hits, score, square, score_hit;
} pc_grid_sums;

PC_CHECKED pcal_status pc_grid_new(const pcal_env *env, const pc_need *need,
                                   const pc_layout *layout, pc_grid_state **out,
                                   pcal_error *err);
/* The same with cells for `places` parts only: the caller decides which
 * (machine_grid_sparse.c); the functions below that go through all cells do not apply. */
PC_CHECKED pcal_status pc_grid_new_places(const pcal_env *env, const pc_need *need,
                                          const pc_layout *layout, size_t places,
                                          pc_grid_state **out, pcal_error *err);
void pc_grid_free(const pcal_env *env, pc_grid_state *grid);
void pc_grid_clear(pc_grid_state *grid);
void pc_grid_clear_columns(pc_grid_columns *columns);

/* Scores and squares are truncated to units of 2^-53: exact for floats, and for doubles above
 * one half. */
#define PC_GRID_ONE 0x1p53

static inline int64_t pc_grid_units(double value) {
  return (int64_t)(value * PC_GRID_ONE);
}

static inline double pc_grid_truncate(double value) {
  return (double)pc_grid_units(value) / PC_GRID_ONE;
}

/* Converts these units to those of pc_fixed. */
static inline pc_int128 pc_grid_widen(int64_t units) {
  return (pc_int128)units * (int64_t)(PC_FIXED_ONE / PC_GRID_ONE);
}

/* Allocates what weighted rows need. */
PC_CHECKED pcal_status pc_grid_allow_weights(const pcal_env *env, pc_grid_state *grid,
                                             pcal_error *err);

/* Returns the weight of a row if it is 1, 2, 3 or 4: adding the row that many times gives the
 * same sums as adding it with its weight, and is faster.  0: add it with its weight. */
static inline unsigned pc_grid_copies(const double *weights, size_t row) {
  if (weights == NULL)
    return 1;
  const double weight = weights[row];
  return weight == 1.0 ? 1 : weight == 2.0 ? 2 : weight == 3.0 ? 3 : weight == 4.0 ? 4 : 0;
}

/* Adds a score to a cell; weighted scores must already be truncated or rounded. */
void pc_grid_add(pc_grid_state *grid, size_t index, double score, double square, int hit);
void pc_grid_add_weighted(pc_grid_state *grid, size_t index, double score, double square,
                          int hit, double weight);

/* Adds every class of the rows. */
PC_CHECKED pcal_status pc_grid_add_every_class(const pcal_env *env, pc_grid_state *grid,
                                               const pc_rows *rows, pcal_error *err);

/* Moves the pending column sums into their cells. */
void pc_grid_flush_columns(pc_grid_state *grid);

/* Adds the pending column sums of `from` to the first cells of `into`. */
void pc_grid_add_columns(pc_grid_state *into, const pc_grid_columns *from);

/* A number of rows as a sum of weights. */
pc_fixed pc_grid_whole(uint64_t count);

/* The pending sum of one column. */
pc_fixed pc_grid_pending_sum(const pc_grid_columns *columns, const uint64_t *sums,
                             size_t column);

/* The sums of a cell. */
pc_grid_sums pc_grid_read(const pc_grid_state *grid, size_t index);

/* Adds the sums of another grid with the same need.  If `from` has weighted rows, call
 * pc_grid_allow_weights(into) first. */
void pc_grid_merge(pc_grid_state *into, const pc_grid_state *from);

#endif
