/* A curve of many rows as a table of few scores: means of equal-mass bins. */
#ifndef PC_MASS_POINTS_H
#define PC_MASS_POINTS_H

#include "curve/curve_table.h"

/* Joins the entries of a table of scores or segments into at most bins + 2 entries of a table of
 * scores: the lowest score, the highest, and equal-mass bins (curve_bins.h) of those between, each
 * with the mean of its scores.  Freed with pc_curve_table_free. */
PC_CHECKED pcal_status pc_mass_points(const pcal_env *env, const pc_curve_table *table,
                                      size_t bins, pc_curve_table *out, pcal_error *err);
/* Marks the open entries that must be resolved first, as the functions of curve_bins.h. */
size_t pc_mass_points_wants(const pc_curve_table *table, size_t bins, uint8_t *wanted);

#endif
