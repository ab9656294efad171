/* Threads start on another core than the caller, and are then released to all cores. */
#include "system/thread_affinity.h"

#include "../unit.h"
#include "base/executor.h"
#include "system/threads.h"

static size_t core_count(const uint64_t words[PC_AFFINITY_WORDS]) {
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
    assert_true((cores.others[w] & ~cores.all[w]) == 0);
  assert_true(core_count(cores.all) >= 2);
  assert_int_equal(core_count(cores.others), core_count(cores.all) - 1);
}

/* The affinity of a thread when it starts, and after its release. */
typedef struct affinity_seen {
  const pc_affinity *from;
  pc_affinity begun, released;
} affinity_seen;

static void *affinity_look(void *user) {
  affinity_seen *seen = user;
  seen->begun = pc_affinity_current();
  pc_affinity_release(seen->from);
  seen->released = pc_affinity_current();
  return NULL;
}

TEST(test_threads_start_elsewhere_and_are_released) {
  const pc_affinity cores = pc_affinity_current();
  affinity_seen seen = {.from = &cores};
  pc_thread thread;
  if (!cores.known)
    skip();
  assert_true(pc_thread_start(&thread, &cores, affinity_look, &seen));
  pc_thread_join(&thread);
#ifdef __GLIBC__ /* others cannot say where a thread starts */
  assert_int_equal(seen.begun.known, core_count(cores.others) >= 2);
  if (seen.begun.known)
    assert_memory_equal(seen.begun.all, cores.others, sizeof cores.others);
#endif
  assert_true(seen.released.known);
  assert_memory_equal(seen.released.all, cores.all, sizeof cores.all);
}

/* Worker threads may use all cores of the caller in every call, and the caller keeps its
 * own. */
static pcal_status affinity_task(void *user, size_t index, size_t worker, pcal_error *err) {
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
    assert_int_equal(pc_run(&env, TASKS, 1e9, affinity_task, seen, NULL), PCAL_OK);
    for (size_t i = 0; i < TASKS; i++)
      assert_memory_equal(seen[i].all, cores.all, sizeof cores.all);
  }
  if (cores.known)
    assert_memory_equal(pc_affinity_current().all, cores.all, sizeof cores.all);
  pcal_pool_free(env.pool);
}
