/* A source of calibrated rows: those of another source, each mapped by the calibrator of its
 * fold. */
#ifndef PC_RECALIBRATED_SOURCE_H
#define PC_RECALIBRATED_SOURCE_H

#include "calibrators/calibrator.h"
#include "calibrators/folds.h"

typedef struct pc_recalibrated_source {
  pcal_source *source;
  const pcal_env *env;
  pc_folds folds;
  pcal_calibrator *const *calibrators;
  size_t columns;
  double *in, *out, *rows; /* rows of a fold before and after, and the whole window */
  size_t *places;          /* in the window, of the rows of the fold */
  int skip_missing;
} pc_recalibrated_source;

/* One calibrator for each fold, fitted on data like those of `base`, each of which tells all
 * columns.  With skip_missing a row with a missing score comes out as one.  Probabilities come
 * out as doubles, so that none is lost to rounding; normal predictions as means and variances.
 * Base, calibrators and environment outlive it.  Close it in any case; a zeroed one is fine. */
PC_CHECKED pcal_status pc_recalibrated_source_open(pcal_source *base, const pc_folds *folds,
                                                   pcal_calibrator *const *calibrators,
                                                   int skip_missing, const pcal_env *env,
                                                   pc_recalibrated_source *out,
                                                   pcal_error *err);
void pc_recalibrated_source_close(pc_recalibrated_source *recalibrated);

#endif
