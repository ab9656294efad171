/* The cumulated scores and outcomes of a sorted table, as a graph to be drawn. */
#ifndef PC_CUMULATED_H
#define PC_CUMULATED_H

#include "stats/curve_table.h"

/* Everything up to and including a score, each divided by the same total. */
typedef struct pc_cumulated {
  double score;
  double fraction; /* of rows */
  double scores;   /* their sum */
  double outcomes; /* how many came true */
} pc_cumulated;

/* Points that pc_cumulate writes at most. */
size_t pc_cumulated_room(const pc_curve_table *table, size_t stretches);

/* One point for each distinct score; in a table of more than three times as many scores as
 * stretches three for each stretch of rows: where scores exceed outcomes most, where least,
 * and the last.  Not for coarse tables.  Returns the number of points. */
size_t pc_cumulate(const pc_curve_table *table, double total, size_t stretches,
                   pc_cumulated *out);

#endif
