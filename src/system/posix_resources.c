#if defined(__linux__)
#define _GNU_SOURCE /* affinity and advice on memory are not in POSIX */
#include <sched.h>
#include <sys/mman.h>
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

void pc_prefer_large_pages(void *block, size_t size) {
#ifdef MADV_HUGEPAGE
  const uintptr_t page = (uintptr_t)2 << 20, first = (uintptr_t)block;
  const uintptr_t begin = (first + page - 1) / page * page, end = (first + size) / page * page;
  if (end > begin)
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* refused: small pages */
#else
  (void)block;
  (void)size;
#endif
}
