/* Budgets: counting, refusals, blame, and lifetime. */
#include "base/budget.h"

#include <pthread.h>

#include "../unit.h"
#include "system/cgroup.h"

TEST(test_no_limit_leaves_the_allocator) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_env opened;
  assert_int_equal(pc_env_open(&env, &opened, NULL), PCAL_OK);
  assert_ptr_equal(opened.allocator.user, &memory);
  assert_null(opened.budget);
  assert_int_equal(pc_env_close(&opened, PCAL_DATA, NULL), PCAL_DATA);
  assert_int_equal(atomic_load(&memory.calls), 0);
}

TEST(test_counts_and_refuses) {
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory), opened;
  env.memory_limit = 1000;
  assert_int_equal(pc_env_open(&env, &opened, NULL), PCAL_OK);
  unsigned char *block = pc_alloc(&opened, 1, 600);
  assert_non_null(block);
  block[599] = 7;
  assert_null(pc_alloc(&opened, 1, 600));
  assert_null(pc_resize(&opened, block, 1, 1000));
  block = pc_resize(&opened, block, 1, 900);
  assert_non_null(block);
  assert_int_equal(block[599], 7);
  block = pc_resize(&opened, block, 1, 100);
  assert_non_null(block);
  void *other = pc_alloc(&opened, 1, 800);
  assert_non_null(other);
  assert_true(pcal_budget_peak(opened.budget) <= 1000);
  assert_true(pcal_budget_peak(opened.budget) >= 900);
  assert_null(pc_resize(&opened, NULL, 1, SIZE_MAX / 2));
  pc_free(&opened, other);
  pc_free(&opened, block);
  pc_env_close(&opened, PCAL_OK, NULL);
  assert_int_equal(atomic_load(&memory.live), 0);
}

/* A handle keeps its budget after the call that made it. */
TEST(test_lives_as_long_as_its_blocks) {
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory), opened;
  env.memory_limit = 1000;
  assert_int_equal(pc_env_open(&env, &opened, NULL), PCAL_OK);
  void *handle = pc_alloc(&opened, 1, 10);
  const pcal_env kept = opened;
  pc_env_close(&opened, PCAL_OK, NULL);
  assert_int_equal(atomic_load(&memory.live), 2);
  assert_null(pc_alloc(&kept, 1, 1000));
  pc_free(&kept, handle);
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(test_names_what_has_grown) {
  pcal_env env = PCAL_ENV_INIT, opened;
  pcal_error err;
  env.memory_limit = 5000000;
  assert_int_equal(pc_env_open(&env, &opened, &err), PCAL_OK);
  const pcal_env groups = pc_env_for_use(&opened, PC_MEMORY_GROUPS);
  void *large = pc_alloc(&groups, 1, 4000000);
  assert_non_null(large);
  assert_null(pc_alloc(&opened, 1, 2000000)); /* smaller, so not to blame */
  pc_free(&opened, large);
  const pcal_status status = pc_fail_memory(&err, "preparing states");
  assert_int_equal(pc_env_close(&opened, status, &err), PCAL_MEMORY);
  assert_sentence(err, PCAL_MEMORY,
                  "out of memory while preparing states: the states of groups reached the "
                  "memory limit of 5.00 MB; give fewer groups, or fewer metrics at a time, or "
                  "raise memory_limit");
}

TEST(test_python_words) {
  pcal_env env = PCAL_ENV_INIT, opened;
  pcal_error err;
  env.memory_limit = 900;
  env.caller = PCAL_INTERFACE_PYTHON;
  assert_int_equal(pc_env_open(&env, &opened, &err), PCAL_OK);
  assert_null(pc_alloc(&opened, 1, 1000));
  pc_env_close(&opened, pc_fail_memory(&err, "working"), &err);
  assert_sentence(err, PCAL_MEMORY,
                  "out of memory while working: the current step reached the memory limit of "
                  "900 bytes; give fewer rows, classes or metrics at a time, or raise "
                  "memory_limit");
}

/* If the allocator fails, or the error has another cause, the message is unchanged. */
TEST(test_leaves_other_sentences) {
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory), opened;
  pcal_error err;
  env.memory_limit = 1000000;
  assert_int_equal(pc_env_open(&env, &opened, &err), PCAL_OK);
  assert_null(pc_alloc(&opened, 1, 2000000));
  atomic_store(&memory.fail_at, atomic_load(&memory.calls) + 1);
  assert_null(pc_alloc(&opened, 1, 10));
  pc_budget_explain(&opened, pc_fail_memory(&err, "working"), &err);
  assert_sentence(err, PCAL_MEMORY,
                  "out of memory while working; give fewer rows or metrics, or more memory");
  assert_null(pc_alloc(&opened, 1, 2000000));
  pc_budget_explain(&opened, pc_fail(&err, PCAL_MEMORY, "too %s", "much"), &err);
  assert_sentence(err, PCAL_MEMORY, "too much");
  pc_env_close(&opened, PCAL_OK, NULL);
  assert_int_equal(atomic_load(&memory.live), 0);
}

/* Two calls with one budget share the limit, and a budget may be freed before its blocks. */
TEST(test_shared) {
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory), first, second;
  pcal_error err;
  assert_int_equal(pcal_budget_new(1000, &env, &env.budget, &err), PCAL_OK);
  env.memory_limit = 10; /* ignored */
  assert_int_equal(pc_env_open(&env, &first, &err), PCAL_OK);
  assert_int_equal(pc_env_open(&first, &second, &err), PCAL_OK);
  assert_int_equal(second.memory_limit, 1000);
  void *block = pc_alloc(&first, 1, 700);
  assert_non_null(block);
  assert_null(pc_alloc(&second, 1, 700));
  pc_env_close(&second, PCAL_OK, NULL);
  pc_env_close(&first, PCAL_OK, NULL);
  pcal_budget_free(env.budget);
  pc_free(&first, block);
  assert_int_equal(atomic_load(&memory.live), 0);
  assert_int_equal(pcal_budget_new(0, NULL, &env.budget, &err), PCAL_USAGE);
  assert_int_equal(pcal_budget_new(1, NULL, NULL, &err), PCAL_USAGE);
  pcal_budget_free(NULL);
}

static pcal_status budget_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pcal_env limited = *env, opened;
  (void)user;
  limited.memory_limit = 1000;
  PC_TRY(pc_env_open(&limited, &opened, err));
  void *block = pc_alloc(&opened, 1, 10);
  void *grown = block == NULL ? NULL : pc_resize(&opened, block, 1, 100);
  pc_free(&opened, grown == NULL ? block : grown);
  return pc_env_close(&opened, grown == NULL ? pc_fail_memory(err, "growing a block") : PCAL_OK,
                      err);
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(budget_scenario, NULL);
}

static void *budget_thread(void *user) {
  const pcal_env *env = user;
  for (size_t i = 0; i < 20000; i++) {
    void *block = pc_alloc_raw(env, 1, 1 + i % 300);
    pc_free(env, block);
  }
  return NULL;
}

TEST(test_threads) {
  pcal_env env = PCAL_ENV_INIT, opened;
  pthread_t threads[4];
  env.memory_limit = 100000;
  assert_int_equal(pc_env_open(&env, &opened, NULL), PCAL_OK);
  for (size_t t = 0; t < UNIT_COUNT(threads); t++)
    assert_int_equal(pthread_create(&threads[t], NULL, budget_thread, &opened), 0);
  for (size_t t = 0; t < UNIT_COUNT(threads); t++)
    pthread_join(threads[t], NULL);
  void *all = pc_alloc(&opened, 1, 90000); /* all memory was returned */
  assert_non_null(all);
  pc_free(&opened, all);
  pc_env_close(&opened, PCAL_OK, NULL);
}

TEST(test_default) {
  const uint64_t here = pcal_default_memory_limit(), machine = pc_memory_default("/nowhere");
  assert_true(here > 0 && here <= machine);
  const uint64_t group = pc_cgroup_memory("");
  assert_true(here == machine || here == group / 4 * 3);
}

TEST(test_sizes) {
  char text[PC_BYTES_TEXT];
  assert_string_equal(pc_bytes_show(0, text), "0 bytes");
  assert_string_equal(pc_bytes_show(999, text), "999 bytes");
  assert_string_equal(pc_bytes_show(1500, text), "1.50 kB");
  assert_string_equal(pc_bytes_show(2147483648u, text), "2.15 GB");
  assert_string_equal(pc_bytes_show(999999999, text), "1.00 GB");
}

TEST(test_left) {
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory), opened;
  assert_true(pc_budget_left(&env) == UINT64_MAX);
  env.memory_limit = 16000;
  assert_int_equal(pc_env_open(&env, &opened, NULL), PCAL_OK);
  assert_true(pc_budget_left(&opened) == 15000);
  void *block = pc_alloc(&opened, 1, 8000);
  assert_non_null(block);
  assert_true(pc_budget_left(&opened) < 7500 && pc_budget_left(&opened) > 7000);
  pc_free(&opened, block);
  assert_true(pc_budget_left(&opened) == 15000);
  pc_env_close(&opened, PCAL_OK, NULL);
}
