#include "system/threads.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(pc_mutex), "room for a lock");
_Static_assert(sizeof(pthread_cond_t) <= sizeof(pc_condition), "room for a condition");
_Static_assert(sizeof(pthread_t) <= sizeof(uint64_t), "room for a thread");

static pthread_mutex_t *posix_threads_mutex(pc_mutex *mutex) {
  return (pthread_mutex_t *)(void *)mutex;
}

static pthread_cond_t *posix_threads_condition(pc_condition *condition) {
  return (pthread_cond_t *)(void *)condition;
}

int pc_thread_start(pc_thread *thread, const pc_affinity *cores, void *(*start)(void *),
                    void *argument) {
  sigset_t others, saved;
  pthread_attr_t attributes;
  pthread_t handle;
  *thread = (pc_thread){start, argument, 0};
  sigfillset(&others);
  sigdelset(&others, SIGBUS);
  sigdelset(&others, SIGSEGV);
  sigdelset(&others, SIGFPE);
  sigdelset(&others, SIGILL);
  if (pthread_attr_init(&attributes) != 0)
    return 0;
  pc_affinity_start_elsewhere(cores, &attributes);
  int started = pthread_sigmask(SIG_SETMASK, &others, &saved) == 0;
  if (started) {
    started = pthread_create(&handle, &attributes, start, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
  }
  if (started)
    memcpy(&thread->handle, &handle, sizeof handle);
  pthread_attr_destroy(&attributes);
  return started;
}

void pc_thread_join(pc_thread *thread) {
  pthread_t handle;
  memcpy(&handle, &thread->handle, sizeof handle);
  pthread_join(handle, NULL);
}

int pc_mutex_init(pc_mutex *mutex) {
  return pthread_mutex_init(posix_threads_mutex(mutex), NULL) == 0;
}

void pc_mutex_destroy(pc_mutex *mutex) {
  pthread_mutex_destroy(posix_threads_mutex(mutex));
}

void pc_mutex_lock(pc_mutex *mutex) {
  pthread_mutex_lock(posix_threads_mutex(mutex));
}

void pc_mutex_unlock(pc_mutex *mutex) {
  pthread_mutex_unlock(posix_threads_mutex(mutex));
}

int pc_mutex_try_lock(pc_mutex *mutex) {
  return pthread_mutex_trylock(posix_threads_mutex(mutex)) == 0;
}

void pc_condition_init(pc_condition *condition) {
  pthread_cond_init(posix_threads_condition(condition), NULL);
}

void pc_condition_destroy(pc_condition *condition) {
  pthread_cond_destroy(posix_threads_condition(condition));
}

void pc_condition_wait(pc_condition *condition, pc_mutex *mutex) {
  pthread_cond_wait(posix_threads_condition(condition), posix_threads_mutex(mutex));
}

void pc_condition_signal(pc_condition *condition) {
  pthread_cond_signal(posix_threads_condition(condition));
}

void pc_condition_broadcast(pc_condition *condition) {
  pthread_cond_broadcast(posix_threads_condition(condition));
}
