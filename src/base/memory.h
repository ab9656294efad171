/* Memory from the environment's allocator. */
#ifndef PC_MEMORY_H
#define PC_MEMORY_H

#include "base/error.h"

/* Fills in the defaults of an environment, which may be NULL or of an older, smaller size. */
pcal_env pc_env_resolve(const pcal_env *env);

/* The same for calls that start no threads: does not count processors, which reads files. */
pcal_env pc_env_resolve_serial(const pcal_env *env);

/* Allocates count * size bytes; NULL on overflow or when memory runs out.  A count of 0 gives a
 * valid block.  pc_alloc zeroes the block, pc_alloc_raw does not. */
void *pc_alloc(const pcal_env *env, size_t count, size_t size);
void *pc_alloc_raw(const pcal_env *env, size_t count, size_t size);
/* Resizes a block; on failure returns NULL and the old block stays valid. */
void *pc_resize(const pcal_env *env, void *block, size_t count, size_t size);
void pc_free(const pcal_env *env, void *block); /* NULL is allowed */

char *pc_copy_text(const pcal_env *env, const char *text);

/* Grows an array to at least `needed` elements of `size` bytes.  On failure *block and
 * *capacity are unchanged. */
PC_CHECKED pcal_status pc_reserve(const pcal_env *env, void **block, size_t *capacity,
                                  size_t needed, size_t size, pcal_error *err);

/* Call the environment's callbacks, if set.  pc_check_interrupt fails with PCAL_INTERRUPTED
 * when asked to stop. */
void pc_progress(const pcal_env *env, const char *what, uint64_t done, uint64_t total);
PC_CHECKED pcal_status pc_check_interrupt(const pcal_env *env, pcal_error *err);

#endif
