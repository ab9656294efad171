#include "system/threads.h"

#include <windows.h>

_Static_assert(sizeof(SRWLOCK) <= sizeof(pc_mutex), "room for a lock");
_Static_assert(sizeof(CONDITION_VARIABLE) <= sizeof(pc_condition), "room for a condition");

static SRWLOCK *windows_threads_lock(pc_mutex *mutex) {
  return (SRWLOCK *)(void *)mutex;
}

static CONDITION_VARIABLE *windows_threads_condition(pc_condition *condition) {
  return (CONDITION_VARIABLE *)(void *)condition;
}

static DWORD WINAPI windows_threads_main(void *user) {
  const pc_thread *thread = user;
  thread->start(thread->argument);
  return 0;
}

int pc_thread_start(pc_thread *thread, const pc_affinity *cores, void *(*start)(void *),
                    void *argument) {
  (void)cores;
  *thread = (pc_thread){start, argument, 0};
  const HANDLE handle = CreateThread(NULL, 0, windows_threads_main, thread, 0, NULL);
  thread->handle = (uint64_t)(uintptr_t)handle;
  return handle != NULL;
}

void pc_thread_join(pc_thread *thread) {
  const HANDLE handle = (HANDLE)(uintptr_t)thread->handle;
  WaitForSingleObject(handle, INFINITE);
  CloseHandle(handle);
}

int pc_mutex_init(pc_mutex *mutex) {
  InitializeSRWLock(windows_threads_lock(mutex));
  return 1;
}

void pc_mutex_destroy(pc_mutex *mutex) {
  (void)mutex;
}

void pc_mutex_lock(pc_mutex *mutex) {
  AcquireSRWLockExclusive(windows_threads_lock(mutex));
}

void pc_mutex_unlock(pc_mutex *mutex) {
  ReleaseSRWLockExclusive(windows_threads_lock(mutex));
}

int pc_mutex_try_lock(pc_mutex *mutex) {
  return TryAcquireSRWLockExclusive(windows_threads_lock(mutex)) != 0;
}

void pc_condition_init(pc_condition *condition) {
  InitializeConditionVariable(windows_threads_condition(condition));
}

void pc_condition_destroy(pc_condition *condition) {
  (void)condition;
}

void pc_condition_wait(pc_condition *condition, pc_mutex *mutex) {
  SleepConditionVariableSRW(windows_threads_condition(condition), windows_threads_lock(mutex),
                            INFINITE, 0);
}

void pc_condition_signal(pc_condition *condition) {
  WakeConditionVariable(windows_threads_condition(condition));
}

void pc_condition_broadcast(pc_condition *condition) {
  WakeAllConditionVariable(windows_threads_condition(condition));
}
