/* From a source to a measure. */
#ifndef PC_MEASURE_SOURCE_H
#define PC_MEASURE_SOURCE_H

#include "measure/measure.h"

/* Reads a whole source; kind, columns and names come from it.  With `final` nothing will be
 * added, merged or saved afterwards: curves of large sources then stay coarse, and what metrics
 * cannot do without is read again. */
PC_CHECKED pcal_status pc_measure_source(pcal_source *source, const pcal_measure_config *config,
                                         int final, const pcal_env *env, pcal_measure **out,
                                         pcal_error *err);

/* Measures a source and finishes: pc_measure_once from its current row on, pc_measure_whole from
 * its first. */
PC_CHECKED pcal_status pc_measure_once(pcal_source *source, const pcal_measure_config *config,
                                       const pcal_env *env, pcal_results **out,
                                       pcal_error *err);
PC_CHECKED pcal_status pc_measure_whole(pcal_source *source, const pcal_measure_config *config,
                                        const pcal_env *env, pcal_results **out,
                                        pcal_error *err);

#endif
