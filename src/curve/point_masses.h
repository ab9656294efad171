/* The residuals of a score as point masses on [0, 1]: what smoothing works on.
 *
 * Either every distinct score keeps its place, or scores are joined in cells of width 2^-level:
 * in each cell the rows that came true and those that did not become one mass each, at their
 * mean score.  Cell sums are exact, so the masses depend on the data only, and a coarse table
 * (bucket_curve.h) gives the same bits as long as its segments lie inside cells. */
#ifndef PC_POINT_MASSES_H
#define PC_POINT_MASSES_H

#include "curve/curve_table.h"

#define PC_EACH_SCORE 64 /* a level: no cells */

typedef struct pc_point_masses {
  size_t count;
  double *at;   /* ascending, within [0, 1] */
  double *mass; /* sum of score - outcome, divided by the total weight; not 0 */
  double net;   /* sum of the masses */
  double size;  /* sum of their absolute values */
} pc_point_masses;

PC_CHECKED pcal_status pc_point_masses_new(const pcal_env *env, const pc_curve_table *table,
                                           unsigned level, pc_point_masses *out,
                                           pcal_error *err);
void pc_point_masses_free(const pcal_env *env, pc_point_masses *masses);

/* Marks the open entries of a coarse table that reach over the border of a cell, of which the
 * masses cannot be made, and returns how many it added; wanted NULL: how many there are. */
size_t pc_point_masses_wants(const pc_curve_table *table, unsigned level, uint8_t *wanted);

/* The cell of a score: floor(score * 2^level), 0 for less than 0, and 2^level from 1 on. */
int64_t pc_point_cell(double score, unsigned level);

/* The least width sigma from which on joining scores in cells of this level moves the integral
 * of |smoothed residual| by at most `error`. */
double pc_point_masses_sigma(const pc_point_masses *masses, unsigned level, double error);

#endif
