/* Applying a calibrator to rows. */
#ifndef PC_APPLY_H
#define PC_APPLY_H

#include "calibrators/calibrator.h"

/* What comes out of calibrators for a kind of scores: probabilities, confidences, means with
 * variances, quantiles, samples. */
pcal_kind pc_calibrator_output_kind(pcal_kind kind);

/* As the calls of propercal.h, for arguments that are not NULL and a full environment. */
PC_CHECKED pcal_status pc_calibrator_apply(const pcal_calibrator *calibrator,
                                           const pcal_batch *batch, const pcal_env *env,
                                           void *out, pcal_error *err);
/* The same without regard to groups: the map of all rows. */
PC_CHECKED pcal_status pc_calibrator_apply_ungrouped(const pcal_calibrator *calibrator,
                                                     const pcal_batch *batch,
                                                     const pcal_env *env, void *out,
                                                     pcal_error *err);
PC_CHECKED pcal_status pc_calibrator_apply_source(pcal_source *source,
                                                  const pcal_calibrator *calibrator,
                                                  pcal_format format, const pcal_env *env,
                                                  pcal_sink sink, void *user, pcal_error *err);

#endif
