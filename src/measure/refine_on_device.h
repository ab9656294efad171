/* A pass of refine_jobs.h over top scores that stayed on a device (device/device_scores.h). */
#ifndef PC_REFINE_ON_DEVICE_H
#define PC_REFINE_ON_DEVICE_H

#include "measure/refine_jobs.h"

/* The rows of a bucket or sub-bucket that the device has added up (device/score_buckets.h),
 * which begins at `low`; without its bounds. */
pc_segment pc_refine_device_segment(double low, const uint64_t *words);

/* Adds the scores in targets to the tallies.  *done is 0, and no score is added, if they are
 * not on the device, or not all of them. */
PC_CHECKED pcal_status pc_refine_on_device(pc_refine_jobs *jobs, uint64_t source_rows,
                                           int *done, pcal_error *err);

#endif
