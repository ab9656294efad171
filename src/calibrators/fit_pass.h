/* Sweeps: passes over a whole source, as often as a fit needs. */
#ifndef PC_FIT_PASS_H
#define PC_FIT_PASS_H

#include "calibrators/calibrator.h"
#include "data/pass.h"

/* Hands every row of the task's source to `add` (see pass.h), from the first row on.  policy
 * says what is needed of the rows; how bad rows are treated comes from the task.  Counts of
 * rows and weights are left in the calibrator's fit.  Fails also when there is no row. */
PC_CHECKED pcal_status pc_fit_pass(const pc_fit_task *task, const pc_row_policy *policy,
                                   pc_pass_add add, void *user, pcal_error *err);

/* After a sweep: refuses fewer rows than a method has parameters.  smaller: the method to use
 * instead.  A row of weight w counts as w rows, and at least as one. */
PC_CHECKED pcal_status pc_fit_check_rows(const pc_fit_task *task, size_t parameters,
                                         const char *smaller, pcal_error *err);

/* Rows that a window of a source should have: tens of megabytes. */
size_t pc_fit_pass_window(const pcal_shape *shape, size_t bytes);

#define PC_FIT_PASS_BYTES ((size_t)64 << 20)

#endif
