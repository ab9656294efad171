/* Measurements of studies. */
#ifndef PC_STUDY_MEASURE_H
#define PC_STUDY_MEASURE_H

#include "io/source.h"
#include "measure/results.h"

/* Measures a source from its first row on; interval: level of the intervals, 0 for none. */
PC_CHECKED pcal_status pc_study_measure(pcal_source *source, const char *const *specs,
                                        size_t count, double interval, size_t replicas,
                                        const pcal_env *env, pcal_results **out,
                                        pcal_error *err);

/* The value of a spec; NaN where it is undefined or was not measured. */
double pc_study_value(const pcal_results *results, const char *spec);

#endif
