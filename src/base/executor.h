/* Work spread over threads, with an outcome that does not show how many there were. */
#ifndef PC_EXECUTOR_H
#define PC_EXECUTOR_H

#include "base/memory.h"

/* Task number `index`; `worker` < pc_worker_count tells which scratch to use. */
typedef pcal_status (*pc_task)(void *user, size_t index, size_t worker, pcal_error *err);

/* Workers that pc_run will use at most for this environment. */
size_t pc_worker_count(const pcal_env *env);

/* Runs tasks 0 .. count-1, handed out in increasing order; the caller takes part.  Stays on
 * the caller's thread when `work` (about nanoseconds, all tasks together) is small.  If tasks
 * fail, the error of the lowest failing index is reported: later ones may not have run. */
PC_CHECKED pcal_status pc_run(const pcal_env *env, size_t count, double work, pc_task task,
                              void *user, pcal_error *err);

/* The same, telling progress under a name: for work that may take long. */
PC_CHECKED pcal_status pc_run_with_progress(const pcal_env *env, const char *what, size_t count,
                                            double work, pc_task task, void *user,
                                            pcal_error *err);

#endif
