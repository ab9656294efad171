/* How much of the distance from a smooth calibration curve is chance. */
#ifndef PC_SMOOTH_NOISE_H
#define PC_SMOOTH_NOISE_H

#include "metrics/metric.h"
#include "metrics/smooth_calibration.h"

/* Summary of `count` distances, which may be reordered. */
typedef double (*pc_distance_summary)(double *distances, size_t count);

/* Fills se and noise of a result whose value is a summary of |score - rate|; se is NaN if the fit
 * has no band. */
void pc_smooth_noise(const pc_smooth_calibration *fit, pc_distance_summary summary,
                     pc_metric_result *out);

#endif
