#if defined(__linux__)
#define _GNU_SOURCE /* affinity is not in POSIX */
#endif
#include "base/thread_affinity.h"

#include <string.h>

#if defined(__linux__)

#include <sched.h>

_Static_assert(sizeof(cpu_set_t) == PC_AFFINITY_WORDS * sizeof(uint64_t), "a set of cores");

static cpu_set_t thread_affinity_set(const uint64_t words[PC_AFFINITY_WORDS]) {
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

void pc_affinity_wake_elsewhere(const pc_affinity *cores, pthread_t thread) {
  const cpu_set_t set = thread_affinity_set(cores->others);
  if (cores->known)
    (void)pthread_setaffinity_np(thread, sizeof set, &set);
}

void pc_affinity_start_elsewhere(const pc_affinity *cores, pthread_attr_t *attributes) {
  const cpu_set_t set = thread_affinity_set(cores->others);
  if (cores->known)
    (void)pthread_attr_setaffinity_np(attributes, sizeof set, &set);
}

void pc_affinity_release(const pc_affinity *cores) {
  const cpu_set_t set = thread_affinity_set(cores->all);
  if (cores->known)
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

#else

pc_affinity pc_affinity_current(void) {
  return (pc_affinity){.known = 0};
}

void pc_affinity_wake_elsewhere(const pc_affinity *cores, pthread_t thread) {
  (void)cores;
  (void)thread;
}

void pc_affinity_start_elsewhere(const pc_affinity *cores, pthread_attr_t *attributes) {
  (void)cores;
  (void)attributes;
}

void pc_affinity_release(const pc_affinity *cores) {
  (void)cores;
}

#endif
