#include "base/executor.h"

void pc_run_quietly(const pcal_env *env, size_t count, double work, pc_task task, void *user) {
  pcal_env quiet = *env;
  quiet.progress = NULL;
  quiet.interrupted = NULL;
  if (pc_run(&quiet, count, work, task, user, NULL) == PCAL_OK)
    return;
  for (size_t i = 0; i < count; i++) /* threads could not be prepared, and no task has run */
    (void)task(user, i, 0, NULL);
}
