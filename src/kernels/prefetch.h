/* Prefetching into the cache. */
#ifndef PC_PREFETCH_H
#define PC_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#define PC_CACHE_LINE 64 /* bytes; not more than the processor's cache line */

/* Prefetches `bytes` bytes at `at` + `ahead`: the next row, for example.  The address need not
 * be valid. */
static inline void pc_prefetch(const void *at, size_t bytes, size_t ahead) {
  for (size_t i = 0; i < bytes; i += PC_CACHE_LINE)
    __builtin_prefetch((const void *)((uintptr_t)at + ahead + i));
}

#endif
