/* Threads, locks and conditions.  On a system without threads pc_thread_start fails and locks do
 * nothing. */
#ifndef PC_THREADS_H
#define PC_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "system/thread_affinity.h"

/* Each has room for the type of any system; the implementations check that. */
typedef union pc_mutex {
  max_align_t align;
  unsigned char bytes[64];
} pc_mutex;

typedef union pc_condition {
  max_align_t align;
  unsigned char bytes[64];
} pc_condition;

/* Must not move while the thread runs. */
struct pc_thread {
  void *(*start)(void *);
  void *argument;
  uint64_t handle;
};

/* Starts a thread on another core than the caller's, if `cores` is known.  The thread blocks all
 * signals except those that it raises itself.  Returns 0 if the system refuses. */
int pc_thread_start(pc_thread *thread, const pc_affinity *cores, void *(*start)(void *),
                    void *argument);
void pc_thread_join(pc_thread *thread);

/* Returns 0 on failure. */
int pc_mutex_init(pc_mutex *mutex);
void pc_mutex_destroy(pc_mutex *mutex);
void pc_mutex_lock(pc_mutex *mutex);
void pc_mutex_unlock(pc_mutex *mutex);

/* Returns 1 if the lock was taken, 0 if another thread has it. */
int pc_mutex_try_lock(pc_mutex *mutex);

void pc_condition_init(pc_condition *condition);
void pc_condition_destroy(pc_condition *condition);
void pc_condition_wait(pc_condition *condition, pc_mutex *mutex);
void pc_condition_signal(pc_condition *condition);
void pc_condition_broadcast(pc_condition *condition);

#endif
