/* Cursors over a curve of any form, with which binning finds the ends of bins.
 *
 * A cursor stands before an entry: before a distinct score or a segment of a table, or before a
 * score of a replica.  Tables are walked forward; in replicas positions are found by bisection,
 * so that a seek takes time logarithmic in the number of ranges.
 *
 * cursor.rows counts from the place where the walk began (pc_curve_first, or pc_curve_above of
 * a table). */
#ifndef PC_CURVE_CURSOR_H
#define PC_CURVE_CURSOR_H

#include "curve/curve_table.h"
#include "stats/bins.h"

/* A place in a curve, just before a distinct score. */
struct pc_curve_cursor {
  size_t entry;        /* index of the first score, or entry, after the place */
  double rows;         /* weight before the place */
  double hits, scores; /* sums before the place; of replicas only */
};

/* Before the first entry, and after the last. */
pc_curve_cursor pc_curve_first(const pc_curve_table *table);
pc_curve_cursor pc_curve_last(const pc_curve_table *table);

/* Before the first entry with scores above `threshold`; with threshold <= 0, before the
 * first. */
pc_curve_cursor pc_curve_above(const pc_curve_table *table, double threshold);

/* True if no row lies after the cursor. */
int pc_curve_at_end(const pc_curve_table *table, const pc_curve_cursor *cursor);

/* Move the cursor forward, but not past the last entry, until the weight up to and including
 * its entry is at least `rows` (reaching) or more than `rows` (exceeding). */
void pc_curve_seek_reaching(const pc_curve_table *table, pc_curve_cursor *cursor, double rows);
void pc_curve_seek_exceeding(const pc_curve_table *table, pc_curve_cursor *cursor, double rows);

/* Moves the cursor past its entry. */
void pc_curve_next(const pc_curve_table *table, pc_curve_cursor *cursor);

/* The lowest and the highest score of the cursor's entry. */
double pc_curve_low(const pc_curve_table *table, const pc_curve_cursor *cursor);
double pc_curve_high(const pc_curve_table *table, const pc_curve_cursor *cursor);

/* Weight, hits and sum of scores between two places.  low and high are 0, moments NaN. */
pc_bin pc_curve_bin(const pc_curve_table *table, const pc_curve_cursor *begin,
                    const pc_curve_cursor *end);

#endif
