/* Curves of large sources: read again only what a metric cannot do without. */
#ifndef PC_REFINE_CURVES_H
#define PC_REFINE_CURVES_H

#include "measure/measure.h"

/* Replaces the curve machine by the coarse one wherever every metric on it can say what it
 * wants: for curves with a score for each row, and for those with one for each class of a row.
 * Grids of the same view are filled from it where scores are stored as float32 (type).  To be
 * called before the first row. */
void pc_measure_plan_use_buckets(pc_measure_plan *plan, int rows, int classes, pcal_type type);

/* Reads the source again, as often as the metrics ask for. */
PC_CHECKED pcal_status pc_measure_refine_curves(pcal_measure *measure, pcal_source *source,
                                                size_t window, pcal_error *err);

#endif
