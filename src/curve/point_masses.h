/* Residuals (score - outcome) as point masses on [0, 1], the input of smoothing (smooth.h).
 *
 * With level PC_EACH_SCORE every distinct score is one mass.  PC_KDE_GRID_CELLS are the cells
 * of kde_grid.h, for tables of scores only.  Otherwise scores are joined in
 * cells of width 2^-level: up to PC_POINT_JOIN_LEVEL the hits and the misses of a cell become
 * one mass each, at their mean score; in narrower cells two masses each, at the upper end of
 * the cell and below it, such that mean and variance are those of the scores.  Cell sums are
 * exact, so the masses depend on the rows only; a table of segments gives the same bits if
 * every segment lies in one cell and, for narrow ones, has its squares. */
#ifndef PC_POINT_MASSES_H
#define PC_POINT_MASSES_H

#include "curve/curve_table.h"

#define PC_EACH_SCORE 64 /* level that means: no cells, every score by itself */
#define PC_KDE_GRID_CELLS \
  29 /* level that means: the cells of kde_grid.h; they keep squares as narrow ones do */

typedef struct pc_point_masses {
  size_t count;
  double *at;   /* ascending, within [0, 1] */
  double *mass; /* sum of residuals, divided by the total weight; not 0 */
  double net;   /* sum of the masses */
  double size;  /* sum of their absolute values */
} pc_point_masses;

PC_CHECKED pcal_status pc_point_masses_new(const pcal_env *env, const pc_curve_table *table,
                                           unsigned level, pc_point_masses *out,
                                           pcal_error *err);
void pc_point_masses_free(const pcal_env *env, pc_point_masses *masses);

/* The rows of the same cells as a table of scores: the hits and the misses of a cell are one
 * entry each, at their mean score; equal means are joined.  PC_EACH_SCORE: an entry for each
 * distinct score.  Of a replica: an entry for each of its ranges.  Freed with
 * pc_curve_table_free. */
PC_CHECKED pcal_status pc_point_scores(const pcal_env *env, const pc_curve_table *table,
                                       unsigned level, pc_curve_table *out, pcal_error *err);

/* For metrics whose sums need no finer scores than 2^-14: from this weight on, they join scores
 * in cells of this level, in one process too, so that rounds (measure/rounds.h) need no
 * other scores. */
#define PC_POINT_JOIN_ROWS 0x1p16
#define PC_POINT_JOIN_LEVEL 14

/* True if an open segment has no sums of squares, which cells of this level need. */
static inline int pc_point_lacks_squares(const pc_segment *segment, unsigned level) {
  return level > PC_POINT_JOIN_LEVEL && !segment->squared && segment->low < segment->high;
}

/* Marks the open entries of a table of segments that cross a cell border or lack squares, and
 * returns how many it marked.  wanted NULL: only counts them. */
size_t pc_point_masses_wants(const pc_curve_table *table, unsigned level, uint8_t *wanted);

/* The cell of a score: floor(score * 2^level), clamped to [0, 2^level]; or that of kde_grid.h. */
int64_t pc_point_cell(double score, unsigned level);
size_t pc_point_cell_count(unsigned level);

/* The sum of squared scores of hits, truncated as in segments; open segments must have squares. */
pc_int128 pc_point_hit_square(const pc_curve_table *table);

/* The smallest kernel width sigma for which joining scores in cells changes the integral of
 * |smoothed residual| by at most `error`. */
double pc_point_masses_sigma(const pc_point_masses *masses, unsigned level, double error);

#endif
