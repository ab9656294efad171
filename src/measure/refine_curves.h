/* Curves of sources that are too large to sort: kept as buckets, and refined by reading the
 * source again. */
#ifndef PC_REFINE_CURVES_H
#define PC_REFINE_CURVES_H

#include "measure/measure.h"

/* Replaces the curve machine by machine_curve_buckets on slots whose metrics all declare the
 * scores that they need (pc_metric.wants).  `rows`: for views with one score per row;
 * `classes`: for views with one part per class; `pooled`: for views with all classes in one
 * part.  fills_grids: grids of the same view are filled from the curve if scores are stored.
 * Called before the first row. */
void pc_measure_plan_use_buckets(pc_measure_plan *plan, int rows, int classes, int pooled,
                                 int fills_grids);

/* Reads the source again until every metric is exact, then fills the grids that depend on
 * curves. window: rows per read. */
PC_CHECKED pcal_status pc_measure_refine_curves(pcal_measure *measure, pcal_source *source,
                                                size_t window, pcal_error *err);

#endif
