/* Warnings about the rows of a fit that hold for every method. */
#ifndef PC_FIT_DATA_WARNINGS_H
#define PC_FIT_DATA_WARNINGS_H

#include "calibrators/calibrator.h"
#include "calibrators/fit_tally.h"

/* After a fit: warns of classes that never occur among the labels, of scores that are all the
 * same, and of probabilities given to a method made for logits, unless the method has already
 * warned of that.  Reads rows until every class has occurred and two rows differ, mostly one
 * window. */
PC_CHECKED pcal_status pc_fit_add_data_warnings(const pc_fit_task *task, pcal_error *err);

/* The rows of a worker as PC_FIT_REPLAY_DATA_FIELDS fields at the beginning of a tally
 * (fit_replay.h). */
PC_CHECKED pcal_status pc_fit_data_warnings_give(const pc_fit_task *task, pc_fit_tally *tally,
                                                 pcal_error *err);

#endif
