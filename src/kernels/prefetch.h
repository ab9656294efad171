/* Memory that is soon wanted. */
#ifndef PC_PREFETCH_H
#define PC_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#define PC_CACHE_LINE 64 /* bytes of a cache line, at least */

/* Asks for what lies `ahead` of some bytes: the next row, while this one is calculated.  It
 * need not be there. */
static inline void pc_prefetch(const void *at, size_t bytes, size_t ahead) {
  for (size_t i = 0; i < bytes; i += PC_CACHE_LINE)
    __builtin_prefetch((const void *)((uintptr_t)at + ahead + i));
}

#endif
