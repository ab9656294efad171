/* Passes over the rows of a fit. */
#ifndef PC_FIT_PASS_H
#define PC_FIT_PASS_H

#include "calibrators/calibrator.h"
#include "calibrators/fit_tally.h"
#include "data/pass.h"

/* Hands every row of the task's source to `add` (data/pass.h), beginning with the first row.
 * `policy` says which forms of the rows are needed; skipping and normalizing follow the task.
 * Sets the counts of rows and weights in the calibrator's fit.  Fails if there is no row.
 *
 * list: the fields of a worker's sums, for fits by rounds (fit_replay.h); NULL: the pass needs
 * all rows in one process. */
PC_CHECKED pcal_status pc_fit_pass(const pc_fit_task *task, const pc_row_policy *policy,
                                   pc_pass_add add, pc_fit_list_fields list, void *user,
                                   pcal_error *err);

/* After a pass: fails if there are fewer rows than parameters, and names the method `smaller`
 * as a remedy.  A row of weight w counts as w rows, and at least as one. */
PC_CHECKED pcal_status pc_fit_check_rows(const pc_fit_task *task, size_t parameters,
                                         const char *smaller, pcal_error *err);

/* Number of rows of a window that holds about `bytes`. */
size_t pc_fit_pass_window(const pcal_shape *shape, size_t bytes);

#define PC_FIT_PASS_BYTES ((size_t)64 << 20)

#endif
