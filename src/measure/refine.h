/* Curves of large sources: read again only what a metric cannot do without. */
#ifndef PC_REFINE_H
#define PC_REFINE_H

#include "measure/measure.h"

/* Replaces the curve machine by the coarse one wherever every metric on it can say what it
 * wants.  To be called before the first row. */
void pc_plan_coarsen(pc_plan *plan);

/* Reads the source again, as often as the metrics ask for. */
PC_CHECKED pcal_status pc_measure_refine(pcal_measure *measure, pcal_source *source,
                                         size_t window, pcal_error *err);

#endif
