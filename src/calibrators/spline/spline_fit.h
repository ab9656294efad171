/* One spline of the spline calibrator: from sorted scores and outcomes to a map. */
#ifndef PC_SPLINE_FIT_H
#define PC_SPLINE_FIT_H

#include "calibrators/line_maps.h"
#include "curve/curve_table.h"
#include "stats/cubic_spline.h"

typedef struct pc_spline_rule {
  size_t knots;
  pc_runout runout;
  int constrained; /* the map is constrained to [0, 1] at the rows */
  int cumulative;  /* the spline follows outcomes instead of errors */
  int published;   /* points and interpolation of the published code; the map is not clipped */
  size_t points;   /* most points of a map, at least 2 */
} pc_spline_rule;

/* The outcome of a fit. */
typedef struct pc_spline_fit_result {
  size_t rank;       /* of the least-squares problem; at most the number of knots */
  size_t iterations; /* of the quadratic program */
  int stopped;       /* the program was not solved */
} pc_spline_fit_result;

/* Sets the values at the knots and the map.  The table must have an entry.  The map may take
 * over its scores and weights; the caller frees the rest with pc_curve_table_free.  Both come
 * from `memory`, temporary arrays from `scratch`. */
PC_CHECKED pcal_status pc_spline_fit(const pcal_env *memory, const pcal_env *scratch,
                                     const pc_spline_rule *rule, pc_curve_table *rows,
                                     double *values, pc_line_map *line,
                                     pc_spline_fit_result *report, pcal_error *err);

#endif
