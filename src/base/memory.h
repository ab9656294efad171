/* Memory: every block comes from the environment's allocator. */
#ifndef PC_MEMORY_H
#define PC_MEMORY_H

#include "base/error.h"

/* A complete environment from an optional, possibly shorter one. */
pcal_env pc_env_resolve(const pcal_env *env);

/* The same without counting processors, which reads files, for calls that start no thread. */
pcal_env pc_env_resolve_serial(const pcal_env *env);

/* Blocks of count * size bytes; NULL on overflow or when the allocator is out.
 * A count of 0 gives a valid block.  pc_alloc zeroes. */
void *pc_alloc(const pcal_env *env, size_t count, size_t size);
void *pc_alloc_raw(const pcal_env *env, size_t count, size_t size);
/* Grows or shrinks; on failure the old block stays. */
void *pc_resize(const pcal_env *env, void *block, size_t count, size_t size);
void pc_free(const pcal_env *env, void *block); /* NULL is fine */

char *pc_copy_text(const pcal_env *env, const char *text);

/* Makes room for at least `needed` elements in a growing array: *block and
 * *capacity change together, or not at all on failure. */
PC_CHECKED pcal_status pc_reserve(const pcal_env *env, void **block, size_t *capacity,
                                  size_t needed, size_t size, pcal_error *err);

/* Calls the caller's callbacks, where present. */
void pc_progress(const pcal_env *env, const char *what, uint64_t done, uint64_t total);
PC_CHECKED pcal_status pc_check_interrupt(const pcal_env *env, pcal_error *err);

#endif
