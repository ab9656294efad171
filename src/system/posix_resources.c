#if defined(__linux__)
#define _GNU_SOURCE /* affinity is not in POSIX */
#include <sched.h>
#endif
#include <unistd.h>

#include "system/resources.h"

size_t pc_processors_allowed(void) {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return (size_t)CPU_COUNT(&set);
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : (size_t)online;
}

uint64_t pc_physical_memory(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}
