/* Calibrators fitted to rows that they are not judged on: to a second set, or fold by fold. */
#ifndef PC_HELD_OUT_H
#define PC_HELD_OUT_H

#include "calibrators/calibrator.h"
#include "calibrators/folds.h"
#include "measure/results.h"

typedef struct pc_held_out {
  const pcal_env *env;
  pcal_source *source;  /* judged on */
  pcal_source *fitting; /* fitted to, or NULL: all folds but the row's own */
  pc_folds folds;       /* one where there is a second set */
  int normalize, skip_missing;
} pc_held_out;

/* One calibrator for each fold; the caller frees them also after a failure. */
PC_CHECKED pcal_status pc_held_out_fit(const pc_held_out *held_out, const char *method,
                                       pcal_calibrator **out, pcal_error *err);

/* Measures the rows, each mapped by the calibrator of its fold. */
PC_CHECKED pcal_status pc_held_out_measure(const pc_held_out *held_out,
                                           pcal_calibrator *const *calibrators,
                                           const pcal_measure_config *config,
                                           pcal_results **out, pcal_error *err);

/* Measures a source from its first row on. */
PC_CHECKED pcal_status pc_measure_whole(pcal_source *source, const pcal_measure_config *config,
                                        const pcal_env *env, pcal_results **out,
                                        pcal_error *err);

#endif
