/* The temperature that minimises the expected calibration error. */
#ifndef PC_TEMPERATURE_ECE_H
#define PC_TEMPERATURE_ECE_H

#include "calibrators/calibrator.h"

/* Sets T and the calibrator's fit. */
PC_CHECKED pcal_status pc_temperature_fit_ece(const pc_fit_task *task, double *temperature,
                                              pcal_error *err);

#endif
