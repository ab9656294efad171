#include "../unit.h"

TEST(resolves_nothing_to_malloc) {
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(env.size, sizeof(pcal_env));
  assert_true(env.threads >= 1);
  assert_null(env.pool);
  assert_null(env.interrupted);
  void *block = env.allocator.resize(env.allocator.user, NULL, 10);
  assert_non_null(block);
  env.allocator.release(env.allocator.user, block);
}

TEST(resolves_older_and_newer_environments) {
  unit_memory memory = {0};
  pcal_env given = unit_env(&memory);
  given.threads = 3;
  given.seed = 77;
  given.memory_limit = 88;
  given.size = offsetof(pcal_env, memory_limit);
  const pcal_env older = pc_env_resolve(&given);
  assert_int_equal(older.size, sizeof(pcal_env));
  assert_ptr_equal(older.allocator.user, &memory);
  assert_int_equal(older.threads, 3);
  assert_int_equal(older.seed, 77);
  assert_int_equal(older.memory_limit, 0);
  given.size = sizeof given + 64;
  const pcal_env newer = pc_env_resolve(&given);
  assert_int_equal(newer.size, sizeof(pcal_env));
  assert_int_equal(newer.memory_limit, 88);
}

TEST(takes_an_allocator_whole_or_not) {
  unit_memory memory = {0};
  pcal_env given = unit_env(&memory);
  given.allocator.release = NULL;
  const pcal_env env = pc_env_resolve(&given);
  void *block = pc_alloc(&env, 1, 1);
  assert_non_null(block);
  pc_free(&env, block);
  assert_int_equal(atomic_load(&memory.calls), 0);
}

TEST(zeroes_and_keeps_contents) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  unsigned char *block = pc_alloc(&env, 100, 3);
  assert_non_null(block);
  for (size_t i = 0; i < 300; i++)
    assert_int_equal(block[i], 0);
  block[299] = 7;
  block = pc_resize(&env, block, 1000, 3);
  assert_non_null(block);
  assert_int_equal(block[299], 7);
  pc_free(&env, block);
  pc_free(&env, NULL);
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(none_of_something_is_a_block) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  void *blocks[] = {pc_alloc(&env, 0, 8), pc_alloc_raw(&env, 8, 0), pc_alloc(&env, 0, 0)};
  for (size_t i = 0; i < UNIT_COUNT(blocks); i++) {
    assert_non_null(blocks[i]);
    pc_free(&env, blocks[i]);
  }
  assert_int_equal(atomic_load(&memory.live), 0);
}

static void *record_size(void *user, void *block, size_t size) {
  (void)block;
  *(size_t *)user = size;
  return NULL;
}

static void record_release(void *user, void *block) {
  (void)user;
  (void)block;
}

TEST(overflow_never_reaches_the_allocator) {
  size_t asked = 0;
  pcal_env env = PCAL_ENV_INIT;
  env.allocator = (pcal_allocator){record_size, record_release, &asked};
  assert_null(pc_alloc(&env, SIZE_MAX / 2, 3));
  assert_null(pc_alloc_raw(&env, (size_t)1 << (sizeof(size_t) * 4), SIZE_MAX));
  assert_null(pc_alloc(&env, SIZE_MAX, SIZE_MAX));
  assert_null(pc_alloc(&env, SIZE_MAX / 16 + 1, 8));
  assert_int_equal(asked, 0);
  assert_null(pc_alloc(&env, SIZE_MAX / 16, 8));
  assert_int_equal(asked, SIZE_MAX / 16 * 8);
}

TEST(copies_text) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  char *copy = pc_copy_text(&env, "two\nlines");
  assert_string_equal(copy, "two\nlines");
  pc_free(&env, copy);
  copy = pc_copy_text(&env, "");
  assert_string_equal(copy, "");
  pc_free(&env, copy);
  atomic_store(&memory.fail_at, atomic_load(&memory.calls) + 1);
  assert_null(pc_copy_text(&env, "x"));
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(reserves_in_growing_steps) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  void *block = NULL;
  size_t capacity = 0;
  assert_int_equal(pc_reserve(&env, &block, &capacity, 0, 8, NULL), PCAL_OK);
  assert_null(block);
  static const struct {
    size_t needed, capacity;
  } steps[] = {{1, 16}, {16, 16}, {17, 24}, {24, 24}, {25, 36}, {1000, 1000}, {1001, 1500}};
  for (size_t i = 0; i < UNIT_COUNT(steps); i++) {
    assert_int_equal(pc_reserve(&env, &block, &capacity, steps[i].needed, 8, NULL), PCAL_OK);
    assert_int_equal(capacity, steps[i].capacity);
  }
  assert_int_equal(atomic_load(&memory.calls), 5);
  ((double *)block)[1499] = 1.0;
  pc_free(&env, block);
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(a_failed_reserve_changes_nothing) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_error err;
  void *block = NULL;
  size_t capacity = 0;
  assert_int_equal(pc_reserve(&env, &block, &capacity, 10, 8, &err), PCAL_OK);
  void *before = block;
  memset(block, 'k', 128);
  atomic_store(&memory.fail_at, 2);
  assert_int_equal(pc_reserve(&env, &block, &capacity, 17, 8, &err), PCAL_MEMORY);
  assert_sentence(
      err, PCAL_MEMORY,
      "out of memory while keeping rows; give fewer rows or metrics, or more memory");
  assert_ptr_equal(block, before);
  assert_int_equal(capacity, 16);
  assert_int_equal(pc_reserve(&env, &block, &capacity, SIZE_MAX / 4, 8, &err), PCAL_MEMORY);
  assert_int_equal(capacity, 16);
  assert_int_equal(((char *)block)[127], 'k');
  pc_free(&env, block);
}

typedef struct callback_log {
  int stop;
  uint64_t done, total;
  const char *what;
} callback_log;

static void log_progress(void *user, const char *what, uint64_t done, uint64_t total) {
  callback_log *log = user;
  log->what = what;
  log->done = done;
  log->total = total;
}

static int log_interrupted(void *user) {
  return ((callback_log *)user)->stop;
}

TEST(calls_back) {
  callback_log log = {0, 0, 0, NULL};
  pcal_error err;
  pcal_env env = pc_env_resolve(NULL);
  pc_progress(&env, "nothing", 1, 2);
  assert_int_equal(pc_check_interrupt(&env, &err), PCAL_OK);
  env.progress = log_progress;
  env.interrupted = log_interrupted;
  env.user = &log;
  pc_progress(&env, "reading", 3, 4);
  assert_string_equal(log.what, "reading");
  assert_int_equal(log.done, 3);
  assert_int_equal(log.total, 4);
  assert_int_equal(pc_check_interrupt(&env, &err), PCAL_OK);
  log.stop = -1;
  assert_int_equal(pc_check_interrupt(&env, &err), PCAL_INTERRUPTED);
  assert_sentence(err, PCAL_INTERRUPTED, "interrupted");
}
