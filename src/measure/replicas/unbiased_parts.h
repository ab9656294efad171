/* Intervals of biased parts that have the same true value as unbiased ones. */
#ifndef PC_UNBIASED_PARTS_H
#define PC_UNBIASED_PARTS_H

#include "measure/results.h"

/* Gives each part with an unbiased twin (pc_metric_result_twin) the interval of that twin,
 * extended to its own value.  Its standard error stays that of its own value. */
void pc_unbiased_parts(pc_result_record *record);

#endif
