/* An allocator that frees all of its blocks at once.
 *
 *   pc_arena arena;
 *   PC_TRY(pc_arena_open(&arena, env, err));
 *   const pcal_status status = work(&arena.env, err);   may return early and free nothing
 *   pc_arena_close(&arena);
 *
 * Blocks may also be freed or resized one by one, through the same environment.  Several
 * threads may allocate at once. */
#ifndef PC_ARENA_H
#define PC_ARENA_H

#include "base/memory.h"
#include "system/threads.h"

/* Must not move while it is open: its environment points to it. */
typedef struct pc_arena {
  pcal_env env;          /* a copy of the given environment that allocates from this arena */
  pcal_allocator parent; /* the allocator of the given environment */
  union pc_arena_block *first;
  pc_mutex lock; /* guards the list of blocks */
} pc_arena;

/* On failure the arena is zeroed. */
PC_CHECKED pcal_status pc_arena_open(pc_arena *arena, const pcal_env *env, pcal_error *err);

/* Frees every block; a zeroed arena is allowed.  No other thread may use the arena. */
void pc_arena_close(pc_arena *arena);

#endif
