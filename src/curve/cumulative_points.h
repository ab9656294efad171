/* The cumulated scores and outcomes of a sorted table, as a graph to be drawn. */
#ifndef PC_CUMULATIVE_POINTS_H
#define PC_CUMULATIVE_POINTS_H

#include "curve/curve_table.h"

/* Everything up to and including a score, each divided by the same total. */
typedef struct pc_cumulative_point {
  double score;
  double fraction; /* of rows */
  double scores;   /* their sum */
  double outcomes; /* how many came true */
} pc_cumulative_point;

/* Points that pc_cumulative_points writes at most. */
size_t pc_cumulative_points_max(const pc_curve_table *table, size_t stretches);

/* One point for each distinct score; in a table of more than three times as many scores as
 * stretches three for each stretch of rows: where scores exceed outcomes most, where least,
 * and the last.  Not for coarse tables.  Returns the number of points. */
size_t pc_cumulative_points(const pc_curve_table *table, double total, size_t stretches,
                            pc_cumulative_point *out);

#endif
