#define _GNU_SOURCE /* affinity is not in POSIX */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "system/threads.h"

_Static_assert(sizeof(cpu_set_t) == PC_AFFINITY_WORDS * sizeof(uint64_t), "a set of cores");

static cpu_set_t linux_affinity_set(const uint64_t words[PC_AFFINITY_WORDS]) {
  cpu_set_t set;
  memcpy(&set, words, sizeof set);
  return set;
}

pc_affinity pc_affinity_current(void) {
  pc_affinity cores = {.known = 0};
  cpu_set_t set;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE ||
      pthread_getaffinity_np(pthread_self(), sizeof set, &set) != 0 || !CPU_ISSET(here, &set) ||
      CPU_COUNT(&set) < 2)
    return cores;
  cores.known = 1;
  memcpy(cores.all, &set, sizeof set);
  CPU_CLR(here, &set);
  memcpy(cores.others, &set, sizeof set);
  return cores;
}

void pc_affinity_wake_elsewhere(const pc_affinity *cores, const pc_thread *thread) {
  const cpu_set_t set = linux_affinity_set(cores->others);
  pthread_t handle;
  memcpy(&handle, &thread->handle, sizeof handle);
  if (cores->known)
    (void)pthread_setaffinity_np(handle, sizeof set, &set);
}

void pc_affinity_start_elsewhere(const pc_affinity *cores, void *attributes) {
#if defined(__GLIBC__) /* other C libraries start threads anywhere */
  const cpu_set_t set = linux_affinity_set(cores->others);
  if (cores->known)
    (void)pthread_attr_setaffinity_np(attributes, sizeof set, &set);
#else
  (void)cores;
  (void)attributes;
#endif
}

void pc_affinity_release(const pc_affinity *cores) {
  const cpu_set_t set = linux_affinity_set(cores->all);
  if (cores->known)
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}
