/* Checks of names that callers give, across the rooms of the library. */
#ifndef PC_NAME_CHECKS_H
#define PC_NAME_CHECKS_H

#include "base/error.h"

/* Fails if a spec is no metric, but a calibrator or a figure, or almost one.  Other unknown
 * names are left to pc_metric_parse. */
PC_CHECKED pcal_status pc_check_metric_name(const char *spec, pcal_error *err);

/* Fails if two models have the same name. */
PC_CHECKED pcal_status pc_check_model_names(const pcal_model *models, size_t count,
                                            pcal_error *err);

#endif
