/* The smooth reliability diagram: the frequency of hits, and the density of scores, smoothed with
 * the kernel of smece. */
#ifndef PC_SMOOTH_DIAGRAM_H
#define PC_SMOOTH_DIAGRAM_H

#include "metrics/metric.h"

/* Scores from 0 to 1 at which the diagram is computed: multiples of 1 / PC_DIAGRAM_STEPS. */
#define PC_DIAGRAM_STEPS 400

/* Fills the graph if it is wanted: columns score, density, frequency, low and high (the 95 %
 * interval of the frequency).  Scores without rows near them are left out. */
PC_CHECKED pcal_status pc_smooth_diagram(const pcal_env *env, const pc_curve_table *table,
                                         double sigma, pc_plot_table *graph, pcal_error *err);

#endif
