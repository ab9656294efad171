/* Shared by the entry points that measure and fit. */
#ifndef PC_MEASURE_API_H
#define PC_MEASURE_API_H

#include "measure/measure.h"

/* Copies a caller's configuration, NULL for the default one; fields beyond its size get their
 * defaults. */
PC_CHECKED pcal_status pc_measure_config_resolve(const pcal_measure_config *config,
                                                 pcal_measure_config *out, pcal_error *err);

/* The same for a fit; `function` is for messages. */
PC_CHECKED pcal_status pc_fit_config_resolve(const pcal_fit_config *config,
                                             const char *function, pcal_fit_config *out,
                                             pcal_error *err);

/* Adds the verdict to *out if `status` is PCAL_OK.  On failure frees the results. */
PC_CHECKED pcal_status pc_results_judge(pcal_status status, pcal_results **out,
                                        pcal_error *err);

#endif
