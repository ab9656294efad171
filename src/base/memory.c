#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "system/processors.h"

static void *memory_resize_default(void *user, void *block, size_t size) {
  (void)user;
  return realloc(block, size);
}

static void memory_release_default(void *user, void *block) {
  (void)user;
  free(block);
}

pcal_env pc_env_resolve_serial(const pcal_env *env) {
  pcal_env resolved = PCAL_ENV_INIT;
  if (env != NULL)
    memcpy(&resolved, env, env->size < sizeof resolved ? env->size : sizeof resolved);
  resolved.size = sizeof resolved;
  if (resolved.allocator.resize == NULL || resolved.allocator.release == NULL)
    resolved.allocator = (pcal_allocator){memory_resize_default, memory_release_default, NULL};
  return resolved;
}

pcal_env pc_env_resolve(const pcal_env *env) {
  pcal_env resolved = pc_env_resolve_serial(env);
  if (resolved.threads == 0)
    resolved.threads = (unsigned)pc_processor_count();
  return resolved;
}

void *pc_resize(const pcal_env *env, void *block, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / 2 / size)
    return NULL;
  const size_t bytes = count * size;
  return env->allocator.resize(env->allocator.user, block, bytes == 0 ? 1 : bytes);
}

void *pc_alloc_raw(const pcal_env *env, size_t count, size_t size) {
  return pc_resize(env, NULL, count, size);
}

void *pc_alloc(const pcal_env *env, size_t count, size_t size) {
  void *block = pc_alloc_raw(env, count, size);
  if (block != NULL)
    memset(block, 0, count * size);
  return block;
}

void pc_free(const pcal_env *env, void *block) {
  if (block != NULL)
    env->allocator.release(env->allocator.user, block);
}

char *pc_copy_text(const pcal_env *env, const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = pc_alloc_raw(env, size, 1);
  if (copy != NULL)
    memcpy(copy, text, size);
  return copy;
}

pcal_status pc_reserve(const pcal_env *env, void **block, size_t *capacity, size_t needed,
                       size_t size, pcal_error *err) {
  if (needed <= *capacity)
    return PCAL_OK;
  size_t wanted = *capacity + *capacity / 2;
  if (wanted < needed)
    wanted = needed;
  if (wanted < 16)
    wanted = 16;
  void *grown = pc_resize(env, *block, wanted, size);
  if (grown == NULL)
    return pc_fail_memory(err, "keeping rows");
  *block = grown;
  *capacity = wanted;
  pc_assert(*capacity >= needed);
  return PCAL_OK;
}

void pc_progress(const pcal_env *env, const char *what, uint64_t done, uint64_t total) {
  if (env->progress != NULL)
    env->progress(env->user, what, done, total);
}

pcal_status pc_check_interrupt(const pcal_env *env, pcal_error *err) {
  if (env->interrupted != NULL && env->interrupted(env->user))
    return pc_fail(err, PCAL_INTERRUPTED, "interrupted");
  return PCAL_OK;
}
