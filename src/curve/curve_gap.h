/* The Kolmogorov-Smirnov gap of a curve: the value of the metric ks.
 *
 * Formula:  G(s) = sum over rows with score <= s of weight * (score - outcome).
 *           value = G(at), where |G| is largest over all distinct scores; `at` is the lowest
 *           such score.
 *
 * |G| inside a segment or a range can be bounded
 * without looking at its scores: G rises by at most the scores of its misses and falls by at
 * most (1 - score) over its hits.  So only the few segments and ranges whose bound exceeds the
 * largest |G| at their ends have to be resolved. */
#ifndef PC_CURVE_GAP_H
#define PC_CURVE_GAP_H

#include "curve/curve_table.h"

typedef struct pc_gap {
  double value; /* not divided by the total weight; positive if scores exceed outcomes */
  double at;    /* NaN for an empty curve */
} pc_gap;

pc_gap pc_curve_gap(const pc_curve_table *table);

/* Marks the open entries of a table of segments inside which |G| could exceed its largest known
 * value, and returns how many it marked; 0: pc_curve_gap is exact. */
size_t pc_curve_gap_wants(const pc_curve_table *table, uint8_t *wanted);

#endif
