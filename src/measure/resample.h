/* Intervals and null distributions by measuring kept rows again. */
#ifndef PC_RESAMPLE_H
#define PC_RESAMPLE_H

#include "measure/results.h"

/* Fills the surety of those records (one for each entry of the plan) that need replicas; `keep`
 * is the state of the plan's keep slot.  values, where not NULL, receives the value of each
 * entry in each replica, NaN where there is none. */
PC_CHECKED pcal_status pc_resample(const pcal_env *env, const pc_plan *plan, const void *keep,
                                   double *values, pc_result_record *records, pcal_error *err);

#endif
