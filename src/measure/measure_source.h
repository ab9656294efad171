/* Measuring a whole source, or a batch in memory, in one call. */
#ifndef PC_MEASURE_SOURCE_H
#define PC_MEASURE_SOURCE_H

#include "measure/measure.h"

/* Reads a source from where it stands to its end.  Kind, columns and names come from the
 * source. final: nothing will be added, merged or saved afterwards.  Curves of large sources
 * are then kept as buckets, and the parts that metrics need score by score are read again.
 * The caller frees *out with pc_measure_free. */
PC_CHECKED pcal_status pc_measure_source(pcal_source *source, const pcal_measure_config *config,
                                         int final, const pcal_env *env, pcal_measure **out,
                                         pcal_error *err);

/* The results of a source, without the verdict: pc_measure_once from its current row on,
 * pc_measure_whole from its first row.  The caller frees *out with pc_results_free. */
PC_CHECKED pcal_status pc_measure_once(pcal_source *source, const pcal_measure_config *config,
                                       const pcal_env *env, pcal_results **out,
                                       pcal_error *err);
PC_CHECKED pcal_status pc_measure_whole(pcal_source *source, const pcal_measure_config *config,
                                        const pcal_env *env, pcal_results **out,
                                        pcal_error *err);

/* The same from the first row on, as if rows had no groups; clusters stay. */
PC_CHECKED pcal_status pc_measure_together(pcal_source *source,
                                           const pcal_measure_config *config,
                                           const pcal_env *env, pcal_results **out,
                                           pcal_error *err);

/* The same for the rows of one batch; config gives kind and columns. */
PC_CHECKED pcal_status pc_measure_batch(const pcal_batch *batch,
                                        const pcal_measure_config *config, const pcal_env *env,
                                        pcal_results **out, pcal_error *err);

#endif
