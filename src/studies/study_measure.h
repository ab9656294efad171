/* Measuring inside of studies. */
#ifndef PC_STUDY_MEASURE_H
#define PC_STUDY_MEASURE_H

#include "io/source.h"
#include "measure/results.h"

/* Reads a source from its start and measures; intervals of this level, or none when it is 0. */
PC_CHECKED pcal_status pc_study_measure(pcal_source *source, const char *const *specs,
                                        size_t count, double interval, size_t replicas,
                                        const pcal_env *env, pcal_results **out,
                                        pcal_error *err);

/* The value of the only record of a spec, NaN where it is undefined or was not measured. */
double pc_study_value(const pcal_results *results, const char *spec);

#endif
