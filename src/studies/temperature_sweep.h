/* Metrics as functions of the temperature that divides the logits. */
#ifndef PC_TEMPERATURE_SWEEP_H
#define PC_TEMPERATURE_SWEEP_H

#include "studies/study_scores.h"
#include "studies/temperature_grid.h"

/* Measures metrics at temperatures, temperature by temperature; NaN where undefined. */
PC_CHECKED pcal_status pc_temperature_sweep_values(const pc_study_job *job,
                                                   const pc_study_scores *logits,
                                                   const double *temperatures, size_t count,
                                                   const char *const *specs, size_t spec_count,
                                                   double *out, pcal_error *err);

/* Finds the temperature from 1/8 to 32 at which each metric is lowest, and its value there.  A
 * metric that jumps may have lower values between those tried; of equal values the lowest
 * temperature wins.  NaN where a metric has no finite value. */
PC_CHECKED pcal_status pc_temperature_sweep_minima(const pc_study_job *job,
                                                   const pc_study_scores *logits,
                                                   const char *const *specs, size_t spec_count,
                                                   double *temperatures, double *values,
                                                   pcal_error *err);

/* Index of the lowest finite value, the first of equal ones; count if there is none. */
size_t pc_index_of_lowest(const double *values, size_t count, size_t stride);

#endif
