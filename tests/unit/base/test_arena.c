#include "base/arena.h"

#include "../unit.h"
#include "base/executor.h"

TEST(frees_all_blocks_at_once) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pc_arena arena;
  assert_int_equal(pc_arena_open(&arena, &env, NULL), PCAL_OK);
  for (size_t i = 0; i < 10; i++)
    assert_non_null(pc_alloc(&arena.env, i, 8));
  assert_int_equal(atomic_load(&memory.live), 10);
  pc_arena_close(&arena);
  assert_int_equal(atomic_load(&memory.live), 0);
  pc_arena_close(&arena); /* a second time changes nothing */
}

TEST(frees_and_resizes_single_blocks) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pc_arena arena;
  assert_int_equal(pc_arena_open(&arena, &env, NULL), PCAL_OK);
  unsigned char *blocks[5];
  for (unsigned char i = 0; i < UNIT_COUNT(blocks); i++) {
    blocks[i] = pc_alloc(&arena.env, 4, 1);
    assert_non_null(blocks[i]);
    blocks[i][3] = i;
  }
  pc_free(&arena.env, blocks[2]); /* in the middle, then at both ends of the list */
  pc_free(&arena.env, blocks[4]);
  pc_free(&arena.env, blocks[0]);
  blocks[1] = pc_resize(&arena.env, blocks[1], 4000, 1);
  assert_non_null(blocks[1]);
  assert_int_equal(blocks[1][3], 1);
  assert_int_equal(blocks[3][3], 3);
  assert_int_equal(atomic_load(&memory.live), 2);
  pc_arena_close(&arena);
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(keeps_a_block_that_cannot_grow) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pc_arena arena;
  assert_int_equal(pc_arena_open(&arena, &env, NULL), PCAL_OK);
  unsigned char *block = pc_alloc(&arena.env, 4, 1);
  block[0] = 9;
  atomic_store(&memory.fail_at, 2);
  assert_null(pc_resize(&arena.env, block, 100, 1));
  assert_int_equal(block[0], 9);
  assert_null(pc_resize(&arena.env, NULL, SIZE_MAX, 1));
  pc_arena_close(&arena);
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(keeps_alignment) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_arena arena;
  assert_int_equal(pc_arena_open(&arena, &env, NULL), PCAL_OK);
  for (size_t i = 1; i < 40; i++)
    assert_int_equal((uintptr_t)pc_alloc_raw(&arena.env, i, 1) % _Alignof(max_align_t), 0);
  pc_arena_close(&arena);
}

TEST(contains_another_arena) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pc_arena outer, inner;
  assert_int_equal(pc_arena_open(&outer, &env, NULL), PCAL_OK);
  assert_int_equal(pc_arena_open(&inner, &outer.env, NULL), PCAL_OK);
  assert_non_null(pc_alloc(&inner.env, 3, 1));
  assert_non_null(pc_alloc(&outer.env, 3, 1));
  pc_arena_close(&inner);
  assert_int_equal(atomic_load(&memory.live), 1);
  pc_arena_close(&outer);
  assert_int_equal(atomic_load(&memory.live), 0);
}

static pcal_status allocate_some(void *user, size_t index, size_t worker, pcal_error *err) {
  const pcal_env *env = user;
  (void)worker;
  void *kept = pc_alloc(env, index + 1, 1), *freed = pc_alloc(env, index + 1, 1);
  pc_free(env, freed);
  return kept == NULL ? pc_fail_memory(err, "testing") : PCAL_OK;
}

TEST(serves_several_threads) {
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory);
  env.threads = 4;
  pc_arena arena;
  assert_int_equal(pc_arena_open(&arena, &env, NULL), PCAL_OK);
  assert_int_equal(pc_run(&env, 1000, 1e9, allocate_some, &arena.env, NULL), PCAL_OK);
  assert_int_equal(atomic_load(&memory.live), 1000);
  pc_arena_close(&arena);
  assert_int_equal(atomic_load(&memory.live), 0);
}
