/* Cumulated scores and outcomes of ks, for figures. */
#ifndef PC_KS_GRAPH_CURVE_H
#define PC_KS_GRAPH_CURVE_H

#include "calibrators/line_maps.h"
#include "curve/curve_table.h"
#include "figure/figure_registry.h"

/* Columns of a graph of ks, borrowed. */
typedef struct pc_ks_graph_curve {
  size_t count;
  const double *score, *fraction, *scores, *outcomes;
} pc_ks_graph_curve;

/* Borrows the columns of a plot table of ks; fails if it has other columns. */
PC_CHECKED pcal_status pc_ks_graph_curve_read(const pc_plot_table *graph,
                                              pc_ks_graph_curve *out, pcal_error *err);

/* Turns the rows between two points into one entry of a curve table; rows: sum of weights. */
PC_CHECKED pcal_status pc_ks_graph_curve_table(const pcal_env *env,
                                               const pc_ks_graph_curve *curve, double rows,
                                               pc_curve_table *out, pcal_error *err);

#define PC_KS_KNOTS_MAX 100

/* Fits the spline calibrator to a curve: values at its knots, and the map of scores. */
PC_CHECKED pcal_status pc_ks_graph_curve_spline(const pcal_env *env,
                                                const pc_ks_graph_curve *curve, double rows,
                                                size_t knots, double *values,
                                                pc_line_maps **map, pcal_error *err);

/* Adds a line of one column of the curve against another, of at most about 500 points. */
void pc_ks_graph_curve_line(pc_figure *figure, size_t panel, pc_look look, const double *x,
                            const double *y, size_t count);

#endif
