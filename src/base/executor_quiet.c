#include "base/executor.h"

#include <string.h>

#define QUIET_PIECE ((size_t)1 << 20) /* bytes that a task zeroes */
#define QUIET_BYTE_COST 0.25          /* nanoseconds to zero a byte of fresh memory */

void pc_run_quietly(const pcal_env *env, size_t count, double work, pc_task task, void *user) {
  pcal_env quiet = *env;
  quiet.progress = NULL;
  quiet.interrupted = NULL;
  if (pc_run(&quiet, count, work, task, user, NULL) == PCAL_OK)
    return;
  for (size_t i = 0; i < count; i++) /* threads could not be prepared, and no task has run */
    (void)task(user, i, 0, NULL);
}

typedef struct quiet_block {
  char *bytes;
  size_t length;
} quiet_block;

static pcal_status quiet_zero(void *user, size_t index, size_t worker, pcal_error *err) {
  const quiet_block *block = user;
  const size_t begin = index * QUIET_PIECE, left = block->length - begin;
  (void)worker;
  (void)err;
  memset(block->bytes + begin, 0, left < QUIET_PIECE ? left : QUIET_PIECE);
  return PCAL_OK;
}

void *pc_alloc_large(const pcal_env *env, size_t count, size_t size) {
  quiet_block block = {pc_alloc_raw(env, count, size), count * size};
  if (block.bytes != NULL)
    pc_run_quietly(env, (block.length + QUIET_PIECE - 1) / QUIET_PIECE,
                   QUIET_BYTE_COST * (double)block.length, quiet_zero, &block);
  return block.bytes;
}
