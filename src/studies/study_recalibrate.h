/* Predictions of a study after a calibrator. */
#ifndef PC_STUDY_RECALIBRATE_H
#define PC_STUDY_RECALIBRATE_H

#include "studies/study_probs.h"

/* Fits a method to the rows of `fitting` and reads the rows of `source` mapped by it; both may
 * be the same.  One column becomes two (pc_study_probs_widen).  Free out even after a
 * failure. */
PC_CHECKED pcal_status pc_study_recalibrate(const pc_study_job *job, pcal_source *val,
                                            pcal_source *source, const char *method,
                                            pc_study_probs *out, pcal_error *err);

#endif
