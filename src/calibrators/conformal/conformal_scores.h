/* The threshold that conformal prediction learns: a quantile of the scores of the rows. */
#ifndef PC_CONFORMAL_SCORES_H
#define PC_CONFORMAL_SCORES_H

#include "calibrators/fit_pass.h"

/* The score of row i: large where the outcome does not conform to the prediction.  Finite.  Called
 * from several threads at once. */
typedef double (*pc_conformal_score)(const pcal_calibrator *calibrator, const pc_rows *rows,
                                     size_t i);

/* Reads the task's source once.  *out is the smallest score with at least coverage (W + 1) of the
 * weight W at or below it: an outcome of a further row has a score up to it with probability
 * `coverage` or more.  A row of weight w counts as w rows.  Fails if W is too small for that. */
PC_CHECKED pcal_status pc_conformal_threshold(const pc_fit_task *task, pc_conformal_score score,
                                              double coverage, double *out, pcal_error *err);

/* Reads the only parameter of a method, a threshold of at least 0. */
PC_CHECKED pcal_status pc_conformal_read_threshold(pcal_calibrator *calibrator,
                                                   const pc_json_node *parameters,
                                                   const char *file, pcal_error *err);

/* A number of the parameters in a file. */
PC_CHECKED pcal_status pc_conformal_read_number(const pc_json_node *parameters,
                                                const char *name, double *out, const char *file,
                                                pcal_error *err);

#endif
