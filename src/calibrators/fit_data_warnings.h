/* What the rows of a fit lack, told as warnings whatever the method. */
#ifndef PC_FIT_DATA_WARNINGS_H
#define PC_FIT_DATA_WARNINGS_H

#include "calibrators/calibrator.h"

/* Looks at the rows until every class has occurred as a label and scores have differed; most
 * often that is the first window.  Warns of classes that never occur, of scores that are all
 * the same, and of probabilities given to a method made for logits, unless the method did. */
PC_CHECKED pcal_status pc_fit_add_data_warnings(const pc_fit_task *task, pcal_error *err);

#endif
