/* Fitting: from a source and a spec to a calibrator. */
#ifndef PC_FIT_H
#define PC_FIT_H

#include "calibrators/calibrator.h"

/* As pcal_fit_run, for arguments that are not NULL, a full configuration and environment. */
PC_CHECKED pcal_status pc_fit_run(pcal_source *source, const pcal_fit_config *config,
                                  const pcal_env *env, pcal_calibrator **out, pcal_error *err);

/* Fails, with a sentence, for a method whose parameters grow with the square of the columns and
 * whose fits to so many rows, all together, would take more than some minutes. */
PC_CHECKED pcal_status pc_fit_check_cost(const char *method, uint64_t rows, size_t columns,
                                         pcal_error *err);

#endif
