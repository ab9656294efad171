/* Applying a calibrator to rows. */
#ifndef PC_APPLY_H
#define PC_APPLY_H

#include "calibrators/calibrator.h"

/* The kind of a calibrator's output for a kind of input: probabilities, confidences, means and
 * variances, quantiles, samples. */
pcal_kind pc_calibrator_output_kind(pcal_kind kind);

/* As pcal_calibrator_apply; no argument may be NULL, the environment is complete. */
PC_CHECKED pcal_status pc_calibrator_apply(const pcal_calibrator *calibrator,
                                           const pcal_batch *batch, const pcal_env *env,
                                           void *out, pcal_error *err);
/* The same by the map of all rows, ignoring groups. */
PC_CHECKED pcal_status pc_calibrator_apply_ungrouped(const pcal_calibrator *calibrator,
                                                     const pcal_batch *batch,
                                                     const pcal_env *env, void *out,
                                                     pcal_error *err);
/* Writes the calibrated rows of a whole source to the sink, as "npy" or "csv". */
PC_CHECKED pcal_status pc_calibrator_apply_source(pcal_source *source,
                                                  const pcal_calibrator *calibrator,
                                                  pcal_format format, const pcal_env *env,
                                                  pcal_sink sink, void *user, pcal_error *err);

#endif
