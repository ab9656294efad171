/* A source of calibrated rows: those of another source, each mapped by the calibrator of its
 * fold. */
#ifndef PC_RECALIBRATED_SOURCE_H
#define PC_RECALIBRATED_SOURCE_H

#include "calibrators/calibrator.h"
#include "calibrators/folds.h"

typedef struct pc_recalibrated_source {
  pcal_source *source;
  pc_folds folds;
  pcal_calibrator *const *calibrators; /* of each fold */
  size_t columns;
  pc_arena arena;          /* holds the source and the arrays of a window: */
  double *in, *out, *rows; /* rows of one fold, before and after; all rows, after */
  size_t *indices;         /* of the rows of the fold, in the window */
  int skip_missing;
} pc_recalibrated_source;

/* calibrators: one for each fold, fitted to data like those of `base`, with as many output
 * columns. With skip_missing, a row with a missing score stays missing.  Probabilities are
 * doubles, so that none is lost to rounding; normal predictions become means and variances.
 * Base and calibrators must outlive the new source.  Close it also after a failure. */
PC_CHECKED pcal_status pc_recalibrated_source_open(pcal_source *base, const pc_folds *folds,
                                                   pcal_calibrator *const *calibrators,
                                                   int skip_missing, const pcal_env *env,
                                                   pc_recalibrated_source *out,
                                                   pcal_error *err);
void pc_recalibrated_source_close(pc_recalibrated_source *source); /* a zeroed one is allowed */

#endif
