/* Runs tasks in threads.  Results do not depend on the number of threads. */
#ifndef PC_EXECUTOR_H
#define PC_EXECUTOR_H

#include "base/memory.h"

/* Runs task `index`.  `worker` < pc_worker_count(env) is the index of the scratch to use. */
typedef pcal_status (*pc_task)(void *user, size_t index, size_t worker, pcal_error *err);

/* The most workers that pc_run uses for this environment. */
size_t pc_worker_count(const pcal_env *env);

/* Runs tasks 0 to count - 1, started in increasing order; the caller is one of the workers.  If
 * `work`, the estimated nanoseconds of all tasks, is small, only the caller works.  If tasks
 * fail, returns the error of the lowest failing index; later tasks may not have run. */
PC_CHECKED pcal_status pc_run(const pcal_env *env, size_t count, double work, pc_task task,
                              void *user, pcal_error *err);

/* The same, and reports progress under the name `what`. */
PC_CHECKED pcal_status pc_run_with_progress(const pcal_env *env, const char *what, size_t count,
                                            double work, pc_task task, void *user,
                                            pcal_error *err);

/* Runs tasks that cannot fail, without the environment's callbacks.  Meant for giving back and
 * clearing memory, which takes the system long. */
void pc_run_quietly(const pcal_env *env, size_t count, double work, pc_task task, void *user);

/* As pc_alloc; a large block is zeroed by all threads. */
void *pc_alloc_large(const pcal_env *env, size_t count, size_t size);

#endif
