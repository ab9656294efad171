/* Fitting: from a source and a spec to a calibrator. */
#ifndef PC_FIT_H
#define PC_FIT_H

#include "calibrators/calibrator.h"

/* As pcal_fit_run; no argument may be NULL, configuration and environment are complete.  The
 * caller frees *out. */
PC_CHECKED pcal_status pc_fit_run(pcal_source *source, const pcal_fit_config *config,
                                  const pcal_env *env, pcal_calibrator **out, pcal_error *err);

/* The same, from a calibrator of the same method and options, fitted to rows of the same shape:
 * a start for convex fits, whose result does not depend on it up to their accuracy; or NULL. */
PC_CHECKED pcal_status pc_fit_run_like(pcal_source *source, const pcal_fit_config *config,
                                       const pcal_calibrator *like, const pcal_env *env,
                                       pcal_calibrator **out, pcal_error *err);

/* The same for rows in other processes (fit_replay.h).  The source of a coordinator has the shape
 * of the data, and its rows are not read. */
PC_CHECKED pcal_status pc_fit_run_replay(pcal_source *source, const pcal_fit_config *config,
                                         pc_fit_replay *replay, const pcal_env *env,
                                         pcal_calibrator **out, pcal_error *err);

/* Fails if fitting this method would take more than some minutes: its parameters grow with the
 * square of `columns`, and `rows` counts the rows of all fits together. */
PC_CHECKED pcal_status pc_fit_check_cost(const char *spec, uint64_t rows, size_t columns,
                                         pcal_error *err);

#endif
