#include "base/arena.h"

#include <stddef.h>

/* Header before every block; a node of a doubly linked list.  Keeps the alignment of the
 * parent. */
typedef union pc_arena_block {
  struct {
    union pc_arena_block *previous, *next;
  } list;
  max_align_t align;
} pc_arena_block;

static void arena_link(pc_arena *arena, pc_arena_block *block) {
  pc_mutex_lock(&arena->lock);
  block->list.previous = NULL;
  block->list.next = arena->first;
  if (arena->first != NULL)
    arena->first->list.previous = block;
  arena->first = block;
  pc_mutex_unlock(&arena->lock);
}

static void arena_unlink(pc_arena *arena, pc_arena_block *block) {
  pc_mutex_lock(&arena->lock);
  if (block->list.previous == NULL)
    arena->first = block->list.next;
  else
    block->list.previous->list.next = block->list.next;
  if (block->list.next != NULL)
    block->list.next->list.previous = block->list.previous;
  pc_mutex_unlock(&arena->lock);
}

static void *arena_resize(void *user, void *bytes, size_t size) {
  pc_arena *arena = user;
  pc_arena_block *block = bytes == NULL ? NULL : (pc_arena_block *)bytes - 1;
  if (size > SIZE_MAX - sizeof *block)
    return NULL;
  if (block != NULL)
    arena_unlink(arena, block);
  pc_arena_block *resized =
      arena->parent.resize(arena->parent.user, block, size + sizeof *block);
  if (resized != NULL)
    arena_link(arena, resized);
  else if (block != NULL)
    arena_link(arena, block); /* a block that cannot grow is unchanged */
  return resized == NULL ? NULL : resized + 1;
}

static void arena_release(void *user, void *bytes) {
  pc_arena *arena = user;
  pc_arena_block *block = (pc_arena_block *)bytes - 1;
  arena_unlink(arena, block);
  arena->parent.release(arena->parent.user, block);
}

pcal_status pc_arena_open(pc_arena *arena, const pcal_env *env, pcal_error *err) {
  *arena = (pc_arena){.first = NULL};
  if (!pc_mutex_init(&arena->lock))
    return pc_fail_memory(err, "preparing memory");
  arena->env = *env;
  arena->parent = env->allocator;
  arena->env.allocator = (pcal_allocator){arena_resize, arena_release, arena};
  return PCAL_OK;
}

void pc_arena_close(pc_arena *arena) {
  if (arena->parent.release == NULL)
    return;
  while (arena->first != NULL) {
    pc_arena_block *block = arena->first;
    arena->first = block->list.next;
    arena->parent.release(arena->parent.user, block);
  }
  pc_mutex_destroy(&arena->lock);
  *arena = (pc_arena){.first = NULL};
}
