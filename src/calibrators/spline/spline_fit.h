/* One spline of the spline calibrator: from sorted scores and outcomes to a map of scores. */
#ifndef PC_SPLINE_FIT_H
#define PC_SPLINE_FIT_H

#include "calibrators/line_maps.h"
#include "curve/curve_table.h"
#include "stats/cubic_spline.h"

typedef struct pc_spline_rule {
  size_t knots;
  pc_runout runout;
  int constrained; /* the map stays in [0, 1] at the rows */
  int cumulative;  /* the spline follows the outcomes, not the errors */
  int published;   /* points and interpolation as in the published code; not kept in [0, 1] */
  size_t points;   /* of a map, at most; at least 2 */
} pc_spline_rule;

/* How a fit went. */
typedef struct pc_spline_fit_result {
  size_t rank;       /* values at knots that the rows determine */
  size_t iterations; /* of the quadratic program */
  int stopped;       /* before it was solved */
} pc_spline_fit_result;

/* Fills the values at the knots and makes the line.  The table has at least one entry; it is
 * used up: its room may become the line's, after which it is empty. */
PC_CHECKED pcal_status pc_spline_fit(const pcal_env *env, const pc_spline_rule *rule,
                                     pc_curve_table *rows, double *values, pc_line_map *line,
                                     pc_spline_fit_result *report, pcal_error *err);

#endif
