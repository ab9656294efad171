/* Cumulative scores and outcomes along a curve, thinned for plotting. */
#ifndef PC_CUMULATIVE_POINTS_H
#define PC_CUMULATIVE_POINTS_H

#include "curve/curve_table.h"

/* Sums over the rows with scores up to `score`, divided by `total`. */
typedef struct pc_cumulative_point {
  double score;
  double fraction; /* of rows */
  double scores;   /* sum of scores */
  double outcomes; /* hits */
} pc_cumulative_point;

/* Upper bound on the number of points that pc_cumulative_points writes. */
size_t pc_cumulative_points_max(const pc_curve_table *table, size_t stretches);

/* Writes one point for each distinct score, or, for more than 3 * stretches scores, three
 * points for each of `stretches` ranges of equally many rows: where cumulative score minus
 * outcome is largest, where it is smallest, and the last.  Returns the number of points.
 * Tables of scores only. */
size_t pc_cumulative_points(const pc_curve_table *table, double total, size_t stretches,
                            pc_cumulative_point *out);

#endif
