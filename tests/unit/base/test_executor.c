#include "base/executor.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit.h"

#define LARGE 1e12 /* nanoseconds: worth starting threads */
#define TASKS 3000

static const unsigned thread_counts[] = {1, 2, 7};

/* An environment with `threads` threads, and a pool if requested. */
static pcal_env env_with(unsigned threads, int pooled) {
  pcal_env env = pc_env_resolve(NULL);
  env.threads = threads;
  if (pooled)
    assert_int_equal(pcal_pool_new(threads, NULL, &env.pool, NULL), PCAL_OK);
  return env;
}

static void wait_a_little(long microseconds) {
  const struct timespec pause = {0, microseconds * 1000};
  nanosleep(&pause, NULL);
}

/* Only the main thread may assert; tasks record what they see. */
typedef struct notes {
  size_t workers;
  atomic_int runs[TASKS];
  atomic_int busy[256]; /* workers that run a task */
  atomic_int faults;
} notes;

static pcal_status note_task(void *user, size_t index, size_t worker, pcal_error *err) {
  notes *seen = user;
  (void)err;
  if (worker >= seen->workers || atomic_fetch_add(&seen->busy[worker], 1) != 0) {
    atomic_fetch_add(&seen->faults, 1);
    return PCAL_OK;
  }
  atomic_fetch_add(&seen->runs[index], 1);
  if (index % 500 == 0)
    wait_a_little(300);
  atomic_fetch_sub(&seen->busy[worker], 1);
  return PCAL_OK;
}

static notes *notes_new(const pcal_env *env) {
  notes *seen = calloc(1, sizeof *seen);
  assert_non_null(seen);
  seen->workers = pc_worker_count(env);
  return seen;
}

static void check_once(const pcal_env *env, size_t count, double work) {
  notes *seen = notes_new(env);
  assert_int_equal(pc_run(env, count, work, note_task, seen, NULL), PCAL_OK);
  for (size_t i = 0; i < TASKS; i++)
    assert_int_equal(atomic_load(&seen->runs[i]), i < count);
  assert_int_equal(atomic_load(&seen->faults), 0);
  free(seen);
}

TEST(runs_each_task_once) {
  static const size_t counts[] = {0, 1, 2, 3, 6, 7, 8, 100, TASKS};
  for (int pooled = 0; pooled <= 1; pooled++) {
    for (size_t t = 0; t < UNIT_COUNT(thread_counts); t++) {
      const pcal_env env = env_with(thread_counts[t], pooled);
      for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
        check_once(&env, counts[c], LARGE);
        check_once(&env, counts[c], 1);
      }
      pcal_pool_free(env.pool);
    }
  }
}

TEST(counts_workers) {
  pcal_env env = PCAL_ENV_INIT;
  assert_true(pc_worker_count(&env) >= 1);
  env.threads = 7;
  assert_int_equal(pc_worker_count(&env), 7);
  env.threads = 1000;
  assert_int_equal(pc_worker_count(&env), 256);
  env.threads = UINT32_MAX;
  assert_int_equal(pc_worker_count(&env), 256);
}

typedef struct thread_notes {
  pthread_t caller;
  atomic_int elsewhere, others;
} thread_notes;

static pcal_status elsewhere_task(void *user, size_t index, size_t worker, pcal_error *err) {
  thread_notes *seen = user;
  (void)index;
  (void)err;
  atomic_fetch_add(&seen->elsewhere, !pthread_equal(pthread_self(), seen->caller));
  atomic_fetch_add(&seen->others, worker != 0);
  return PCAL_OK;
}

TEST(small_work_stays_with_the_caller) {
  for (int pooled = 0; pooled <= 1; pooled++) {
    const pcal_env env = env_with(7, pooled);
    thread_notes seen = {.caller = pthread_self()};
    assert_int_equal(pc_run(&env, 500, 1e5, elsewhere_task, &seen, NULL), PCAL_OK);
    assert_int_equal(atomic_load(&seen.elsewhere), 0);
    assert_int_equal(atomic_load(&seen.others), 0);
    pcal_pool_free(env.pool);
  }
}

typedef struct meeting {
  atomic_int present;
  int expected;
} meeting;

/* Succeeds when all tasks run at the same time; fails after a second. */
static pcal_status meet_task(void *user, size_t index, size_t worker, pcal_error *err) {
  meeting *here = user;
  (void)index;
  (void)worker;
  (void)err;
  atomic_fetch_add(&here->present, 1);
  for (int i = 0; i < 1000 && atomic_load(&here->present) < here->expected; i++)
    wait_a_little(1000);
  return atomic_load(&here->present) == here->expected ? PCAL_OK : PCAL_INTERNAL;
}

static void check_meeting(const pcal_env *env, int expected) {
  meeting here = {.expected = expected};
  assert_int_equal(pc_run(env, (size_t)expected, LARGE, meet_task, &here, NULL), PCAL_OK);
}

TEST(large_work_runs_side_by_side) {
  for (int pooled = 0; pooled <= 1; pooled++) {
    const pcal_env env = env_with(5, pooled);
    for (int repeat = 0; repeat < 5; repeat++) {
      check_meeting(&env, 5);
      wait_a_little(1000);
    }
    pcal_pool_free(env.pool);
  }
}

TEST(a_pool_takes_its_size_from_the_environment) {
  pcal_env env = pc_env_resolve(NULL);
  env.threads = 5;
  assert_int_equal(pcal_pool_new(0, &env, &env.pool, NULL), PCAL_OK);
  check_meeting(&env, 5);
  pcal_pool_free(env.pool);
}

typedef struct progress_notes {
  pthread_t caller;
  const char *what;
  uint64_t done, total;
  int calls, faults;
} progress_notes;

static void note_progress(void *user, const char *what, uint64_t done, uint64_t total) {
  progress_notes *seen = user;
  seen->faults += !pthread_equal(pthread_self(), seen->caller) || done < seen->done ||
                  done > total || what == NULL;
  seen->what = what;
  seen->done = done;
  seen->total = total;
  seen->calls++;
}

static pcal_status idle_task(void *user, size_t index, size_t worker, pcal_error *err) {
  (void)user;
  (void)index;
  (void)worker;
  (void)err;
  return PCAL_OK;
}

TEST(shows_progress_to_the_caller) {
  for (size_t t = 0; t < UNIT_COUNT(thread_counts); t++) {
    pcal_env env = env_with(thread_counts[t], 0);
    progress_notes seen = {.caller = pthread_self()};
    env.progress = note_progress;
    env.user = &seen;
    assert_int_equal(pc_run(&env, 100, LARGE, idle_task, NULL, NULL), PCAL_OK);
    assert_int_equal(seen.calls, 0);
    assert_int_equal(pc_run_with_progress(&env, "pairs", 100, LARGE, idle_task, NULL, NULL),
                     PCAL_OK);
    assert_int_equal(seen.faults, 0);
    if (thread_counts[t] > 1)
      continue;
    assert_int_equal(seen.calls, 100);
    assert_string_equal(seen.what, "pairs");
    assert_int_equal(seen.done, 100);
    assert_int_equal(seen.total, 100);
  }
}

/* Fails at 3, 40, 41 and 90; the lowest takes longest to do so. */
static pcal_status failing_task(void *user, size_t index, size_t worker, pcal_error *err) {
  (void)user;
  (void)worker;
  if (index == 3)
    wait_a_little(2000);
  if (index == 3 || index == 40 || index == 41 || index == 90)
    return pc_fail_row(err, index == 3 ? PCAL_DATA : PCAL_IO, index, "task %zu", index);
  return PCAL_OK;
}

TEST(reports_the_lowest_failure) {
  for (int pooled = 0; pooled <= 1; pooled++) {
    for (size_t t = 0; t < UNIT_COUNT(thread_counts); t++) {
      const pcal_env env = env_with(thread_counts[t], pooled);
      for (int repeat = 0; repeat < 20; repeat++) {
        pcal_error err;
        pc_error_clear(&err);
        assert_int_equal(pc_run(&env, 100, LARGE, failing_task, NULL, &err), PCAL_DATA);
        assert_sentence(err, PCAL_DATA, "task 3");
        assert_true(err.row == 3);
        assert_int_equal(pc_run(&env, 100, LARGE, failing_task, NULL, NULL), PCAL_DATA);
      }
      pcal_pool_free(env.pool);
    }
  }
}

static pcal_status stopping_task(void *user, size_t index, size_t worker, pcal_error *err) {
  (void)worker;
  atomic_fetch_add((atomic_int *)user, 1);
  return index == 10 ? pc_fail(err, PCAL_DATA, "stop") : PCAL_OK;
}

TEST(starts_nothing_after_a_failure) {
  const pcal_env env = env_with(1, 0);
  atomic_int runs = 0;
  assert_int_equal(pc_run(&env, 1000, LARGE, stopping_task, &runs, NULL), PCAL_DATA);
  assert_int_equal(atomic_load(&runs), 11);
}

TEST(leaves_the_error_alone_on_success) {
  const pcal_env env = env_with(2, 0);
  pcal_error err = {.status = PCAL_IO, .row = 4, .message = "from before"};
  thread_notes seen = {.caller = pthread_self()};
  assert_int_equal(pc_run(&env, 10, LARGE, elsewhere_task, &seen, &err), PCAL_OK);
  assert_string_equal(err.message, "from before");
}

typedef struct interrupt_notes {
  pthread_t caller;
  atomic_int calls, elsewhere, runs;
  int stop_at; /* the call that says stop */
  size_t fails;
} interrupt_notes;

static int interrupt_later(void *user) {
  interrupt_notes *seen = user;
  atomic_fetch_add(&seen->elsewhere, !pthread_equal(pthread_self(), seen->caller));
  return atomic_fetch_add(&seen->calls, 1) + 1 == seen->stop_at;
}

static pcal_status counting_task(void *user, size_t index, size_t worker, pcal_error *err) {
  interrupt_notes *seen = user;
  (void)worker;
  atomic_fetch_add(&seen->runs, 1);
  if (index == seen->fails)
    return pc_fail(err, PCAL_DATA, "task %zu", index);
  wait_a_little(100);
  return PCAL_OK;
}

TEST(stops_when_asked) {
  for (int pooled = 0; pooled <= 1; pooled++) {
    for (size_t t = 0; t < UNIT_COUNT(thread_counts); t++) {
      pcal_env env = env_with(thread_counts[t], pooled);
      interrupt_notes seen = {.caller = pthread_self(), .stop_at = 3, .fails = SIZE_MAX};
      pcal_error err;
      env.interrupted = interrupt_later;
      env.user = &seen;
      assert_int_equal(pc_run(&env, 100000, LARGE, counting_task, &seen, &err),
                       PCAL_INTERRUPTED);
      assert_sentence(err, PCAL_INTERRUPTED, "interrupted");
      assert_int_equal(atomic_load(&seen.calls), 3);
      assert_int_equal(atomic_load(&seen.elsewhere), 0);
      assert_true(atomic_load(&seen.runs) >= 3 && atomic_load(&seen.runs) < 100000);
      if (thread_counts[t] == 1)
        assert_int_equal(atomic_load(&seen.runs), 3);
      pcal_pool_free(env.pool);
    }
  }
}

static void never_shown(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)what;
  (void)done;
  (void)total;
  atomic_fetch_add(&((interrupt_notes *)user)->elsewhere, 1);
}

TEST(quiet_tasks_all_run_without_callbacks) {
  for (int pooled = 0; pooled <= 1; pooled++) {
    for (size_t t = 0; t < UNIT_COUNT(thread_counts); t++) {
      pcal_env env = env_with(thread_counts[t], pooled);
      interrupt_notes seen = {.caller = pthread_self(), .stop_at = 1, .fails = SIZE_MAX};
      env.interrupted = interrupt_later;
      env.progress = never_shown;
      env.user = &seen;
      pc_run_quietly(&env, 50, LARGE, counting_task, &seen);
      assert_int_equal(atomic_load(&seen.runs), 50);
      assert_int_equal(atomic_load(&seen.calls), 0);
      assert_int_equal(atomic_load(&seen.elsewhere), 0);
      pcal_pool_free(env.pool);
    }
  }
}

/* Blocks of less than a piece, of whole pieces, and of more, each taken where others were. */
TEST(large_blocks_are_zero) {
  static const size_t sizes[] = {0, 1, 4095, (size_t)1 << 20, ((size_t)5 << 20) + 3};
  for (int pooled = 0; pooled <= 1; pooled++) {
    pcal_env env = env_with(7, pooled);
    for (size_t s = 0; s < UNIT_COUNT(sizes); s++) {
      unsigned char *used = pc_alloc_raw(&env, sizes[s], 1);
      assert_non_null(used);
      memset(used, 1, sizes[s]);
      pc_free(&env, used);
      unsigned char *block = pc_alloc_large(&env, sizes[s], 1);
      size_t set = 0;
      assert_non_null(block);
      for (size_t i = 0; i < sizes[s]; i++)
        set += block[i] != 0;
      assert_int_equal(set, 0);
      pc_free(&env, block);
    }
    assert_null(pc_alloc_large(&env, SIZE_MAX / 2, 16));
    pcal_pool_free(env.pool);
  }
}

TEST(an_interrupt_does_not_hide_the_first_failure) {
  pcal_env env = env_with(1, 0);
  interrupt_notes seen = {.caller = pthread_self(), .stop_at = 1, .fails = 0};
  pcal_error err;
  env.interrupted = interrupt_later;
  env.user = &seen;
  assert_int_equal(pc_run(&env, 10, LARGE, counting_task, &seen, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "task 0");
}

typedef struct nest {
  const pcal_env *env;
  atomic_int inner_runs, outside;
} nest;

typedef struct inner_notes {
  pthread_t caller;
  nest *outer;
} inner_notes;

static pcal_status inner_task(void *user, size_t index, size_t worker, pcal_error *err) {
  inner_notes *seen = user;
  (void)index;
  (void)worker;
  (void)err;
  atomic_fetch_add(&seen->outer->inner_runs, 1);
  atomic_fetch_add(&seen->outer->outside, !pthread_equal(pthread_self(), seen->caller));
  return PCAL_OK;
}

static pcal_status outer_task(void *user, size_t index, size_t worker, pcal_error *err) {
  inner_notes seen = {pthread_self(), user};
  (void)index;
  (void)worker;
  return pc_run(seen.outer->env, 10, LARGE, inner_task, &seen, err);
}

TEST(works_inside_itself) {
  for (int pooled = 0; pooled <= 1; pooled++) {
    const pcal_env env = env_with(3, pooled);
    nest seen = {.env = &env};
    assert_int_equal(pc_run(&env, 40, LARGE, outer_task, &seen, NULL), PCAL_OK);
    assert_int_equal(atomic_load(&seen.inner_runs), 400);
    if (pooled)
      assert_int_equal(atomic_load(&seen.outside), 0);
    pcal_pool_free(env.pool);
  }
}

static void *share_pool(void *argument) {
  const pcal_env *env = argument;
  notes *seen = calloc(1, sizeof *seen);
  int good = seen != NULL;
  for (size_t repeat = 1; good && repeat <= 50; repeat++) {
    memset(seen, 0, sizeof *seen);
    seen->workers = pc_worker_count(env);
    good = pc_run(env, 40 * repeat, LARGE, note_task, seen, NULL) == PCAL_OK &&
           atomic_load(&seen->faults) == 0;
    for (size_t i = 0; good && i < TASKS; i++)
      good = atomic_load(&seen->runs[i]) == (i < 40 * repeat);
  }
  free(seen);
  return good ? argument : NULL;
}

TEST(two_threads_share_a_pool) {
  pcal_env env = env_with(4, 1);
  pthread_t other;
  void *there = NULL;
  assert_int_equal(pthread_create(&other, NULL, share_pool, &env), 0);
  void *here = share_pool(&env);
  assert_int_equal(pthread_join(other, &there), 0);
  assert_ptr_equal(here, &env);
  assert_ptr_equal(there, &env);
  pcal_pool_free(env.pool);
}

TEST(a_pool_may_be_smaller_or_larger_than_the_call) {
  pcal_env env = env_with(2, 1);
  env.threads = 7;
  check_once(&env, 1000, LARGE);
  pcal_pool_free(env.pool);
  env = env_with(7, 1);
  env.threads = 2;
  check_once(&env, 1000, LARGE);
  pcal_pool_free(env.pool);
}

/* A child of the process has none of the pool's threads, and must not wait for them.
 * ThreadSanitizer does not let children start threads. */
TEST(a_child_has_threads_of_its_own) {
#if defined(__SANITIZE_THREAD__)
  skip();
#endif
  const pcal_env env = env_with(3, 1);
  check_meeting(&env, 3);
  const pid_t child = fork();
  if (child == 0) {
    meeting here = {.expected = 3};
    const pcal_status status = pc_run(&env, 3, LARGE, meet_task, &here, NULL);
    pcal_pool_free(env.pool);
    _exit(status == PCAL_OK ? 0 : 1);
  }
  int ended = -1;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  check_meeting(&env, 3);
  pcal_pool_free(env.pool);
}

static void *keep_busy(void *user) {
  const pcal_env *env = user;
  notes *seen = notes_new(env);
  for (int i = 0; i < 20; i++)
    if (pc_run(env, TASKS, LARGE, note_task, seen, NULL) != PCAL_OK)
      break;
  free(seen);
  return NULL;
}

/* The same while another thread is inside a call with the pool: its locks stay as they were. */
TEST(a_child_of_a_busy_process_does_not_wait) {
#if defined(__SANITIZE_THREAD__)
  skip();
#endif
  pcal_env env = env_with(3, 1);
  pthread_t busy;
  assert_int_equal(pthread_create(&busy, NULL, keep_busy, &env), 0);
  for (int i = 0; i < 5; i++) {
    wait_a_little(700);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      meeting here = {.expected = 3};
      const pcal_status status = pc_run(&env, 3, LARGE, meet_task, &here, NULL);
      pcal_pool_free(env.pool);
      _exit(status == PCAL_OK ? 0 : 1);
    }
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  }
  assert_int_equal(pthread_join(busy, NULL), 0);
  pcal_pool_free(env.pool);
}

static pcal_status pool_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pcal_pool *pool = NULL;
  (void)user;
  const pcal_status status = pcal_pool_new(5, env, &pool, err);
  assert_int_equal(pool != NULL, status == PCAL_OK);
  pcal_pool_free(pool);
  return status;
}

TEST(a_pool_survives_every_failed_allocation) {
  unit_fail_each_allocation(pool_scenario, NULL);
}

TEST(a_pool_needs_a_place) {
  pcal_error err;
  assert_int_equal(pcal_pool_new(2, NULL, NULL, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "pcal_pool_new: out is NULL; give a pointer for the pool");
  pcal_pool_free(NULL);
}
