/* One thread: none can be started, so locks are never contended and conditions never waited
 * for. */
#include "system/threads.h"

int pc_thread_start(pc_thread *thread, const pc_affinity *cores, void *(*start)(void *),
                    void *argument) {
  (void)cores;
  *thread = (pc_thread){start, argument, 0};
  return 0;
}

void pc_thread_join(pc_thread *thread) {
  (void)thread;
}

int pc_mutex_init(pc_mutex *mutex) {
  mutex->bytes[0] = 0;
  return 1;
}

void pc_mutex_destroy(pc_mutex *mutex) {
  (void)mutex;
}

void pc_mutex_lock(pc_mutex *mutex) {
  mutex->bytes[0] = 1;
}

void pc_mutex_unlock(pc_mutex *mutex) {
  mutex->bytes[0] = 0;
}

int pc_mutex_try_lock(pc_mutex *mutex) {
  const int free = mutex->bytes[0] == 0;
  mutex->bytes[0] = 1;
  return free;
}

void pc_condition_init(pc_condition *condition) {
  condition->bytes[0] = 0;
}

void pc_condition_destroy(pc_condition *condition) {
  (void)condition;
}

void pc_condition_wait(pc_condition *condition, pc_mutex *mutex) {
  (void)condition;
  (void)mutex;
}

void pc_condition_signal(pc_condition *condition) {
  (void)condition;
}

void pc_condition_broadcast(pc_condition *condition) {
  (void)condition;
}
