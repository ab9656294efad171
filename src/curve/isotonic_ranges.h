/* Isotonic regression of segments that may hold several scores: which of them must be resolved.
 *
 * Isotonic regression gives the slopes of the greatest convex minorant of the points P_i =
 * (rows, hits) summed up to score i.  Segments show only some of these points, the ends of
 * segments; their minorant is not below the true one. */
#ifndef PC_ISOTONIC_RANGES_H
#define PC_ISOTONIC_RANGES_H

#include "curve/curve_table.h"

/* Marks of an entry of a table of segments, combined with |. */
typedef enum pc_range_mark {
  PC_RANGE_RESOLVE = 1, /* must be divided */
  PC_RANGE_JOIN = 2     /* may be joined with the entry before; both need not be divided */
} pc_range_mark;

/* Marks the entries of a table of segments.  settled[i]: entry i need not be divided, as an earlier
 * call has found; NULL: none.  slack: points less than this many rows above the minorant are needed
 * too: 0 for isotonic regression, 1 for regression with one more row (venn_abers_bounds.h).  If no
 * entry is to be resolved, the table gives what all scores would give, with any neighbours
 * joined that may be. */
PC_CHECKED pcal_status pc_isotonic_ranges(const pcal_env *env, const pc_curve_table *table,
                                          const uint8_t *settled, unsigned slack,
                                          uint8_t *marks, pcal_error *err);

#endif
