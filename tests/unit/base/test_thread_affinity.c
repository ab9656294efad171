/* Threads begin apart from who starts or wakes them, and may then go anywhere. */
#include "base/thread_affinity.h"

#include "../unit.h"
#include "base/executor.h"

static size_t apart_count(const uint64_t words[PC_AFFINITY_WORDS]) {
  size_t count = 0;
  for (size_t w = 0; w < PC_AFFINITY_WORDS; w++)
    for (uint64_t left = words[w]; left != 0; left &= left - 1)
      count++;
  return count;
}

TEST(test_all_but_one) {
  const pc_affinity cores = pc_affinity_current();
  if (!cores.known)
    skip();
  for (size_t w = 0; w < PC_AFFINITY_WORDS; w++)
    assert_true((cores.apart[w] & ~cores.all[w]) == 0);
  assert_true(apart_count(cores.all) >= 2);
  assert_int_equal(apart_count(cores.apart), apart_count(cores.all) - 1);
}

/* What a thread may use when it begins, and when it has been told to roam. */
typedef struct apart_seen {
  const pc_affinity *from;
  pc_affinity begun, roaming;
} apart_seen;

static void *apart_look(void *user) {
  apart_seen *seen = user;
  seen->begun = pc_affinity_current();
  pc_affinity_release(seen->from);
  seen->roaming = pc_affinity_current();
  return NULL;
}

TEST(test_threads_begin_apart_and_roam) {
  const pc_affinity cores = pc_affinity_current();
  apart_seen seen = {.from = &cores};
  pthread_attr_t attributes;
  pthread_t thread;
  if (!cores.known)
    skip();
  assert_int_equal(pthread_attr_init(&attributes), 0);
  pc_affinity_start_elsewhere(&cores, &attributes);
  assert_int_equal(pthread_create(&thread, &attributes, apart_look, &seen), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  pthread_attr_destroy(&attributes);
  assert_int_equal(seen.begun.known, apart_count(cores.apart) >= 2);
  if (seen.begun.known)
    assert_memory_equal(seen.begun.all, cores.apart, sizeof cores.apart);
  assert_true(seen.roaming.known);
  assert_memory_equal(seen.roaming.all, cores.all, sizeof cores.all);
}

/* Whoever works for a caller may use the caller's cores, time after time; and it keeps them. */
static pcal_status apart_task(void *user, size_t index, size_t worker, pcal_error *err) {
  pc_affinity *seen = user;
  (void)err, (void)worker;
  seen[index] = pc_affinity_current();
  return PCAL_OK;
}

TEST(test_workers_may_go_anywhere) {
  enum { TASKS = 64 };
  const pc_affinity cores = pc_affinity_current();
  static pc_affinity seen[TASKS];
  pcal_env env = pc_env_resolve(NULL);
  env.threads = 3;
  assert_int_equal(pcal_pool_new(3, &env, &env.pool, NULL), PCAL_OK);
  for (int again = 0; cores.known && again < 4; again++) {
    if (again == 2) {
      pcal_pool_free(env.pool);
      env.pool = NULL;
    }
    assert_int_equal(pc_run(&env, TASKS, 1e9, apart_task, seen, NULL), PCAL_OK);
    for (size_t i = 0; i < TASKS; i++)
      assert_memory_equal(seen[i].all, cores.all, sizeof cores.all);
  }
  if (cores.known)
    assert_memory_equal(pc_affinity_current().all, cores.all, sizeof cores.all);
  pcal_pool_free(env.pool);
}
