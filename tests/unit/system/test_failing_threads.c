/* The system refuses threads and locks, or does not say on which processors the program may run: work is done
 * with fewer threads, by the calling thread at least, and a lock that cannot be made is an error. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "../unit.h"
#include "base/executor.h"
#include "system/processors.h"
#include "system/resources.h"
#include "system/thread_affinity.h"
#include "system/threads.h"

typedef enum refusal {
  REFUSE_NOTHING,
  REFUSE_ATTRIBUTES,
  REFUSE_MASK,
  REFUSE_THREAD,
  REFUSE_LOCK,
  REFUSE_CORE,     /* sched_getcpu */
  REFUSE_FAR_CORE, /* a number beyond the set */
  REFUSE_SET,      /* the cores of the thread */
  REFUSE_EMPTY_SET,
  REFUSE_ALL /* of these, and of sysconf */
} refusal;

static refusal refused;
static size_t refused_after; /* calls that succeed before */

static int refuses(refusal which) {
  if (refused != which)
    return 0;
  if (refused_after == 0)
    return 1;
  refused_after--;
  return 0;
}

#define REAL(name, type) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

int pthread_attr_init(pthread_attr_t *attributes) {
  return refuses(REFUSE_ATTRIBUTES)
             ? ENOMEM
             : REAL("pthread_attr_init", int (*)(pthread_attr_t *))(attributes);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
  return refuses(REFUSE_MASK) ? EINVAL
                              : REAL("pthread_sigmask",
                                     int (*)(int, const sigset_t *, sigset_t *))(how, set, old);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
  return refuses(REFUSE_THREAD)
             ? EAGAIN
             : REAL("pthread_create",
                    int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(
                   thread, attributes, start, argument);
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
  return refuses(REFUSE_LOCK)
             ? EAGAIN
             : REAL("pthread_mutex_init",
                    int (*)(pthread_mutex_t *, const pthread_mutexattr_t *))(mutex, attributes);
}

int sched_getcpu(void) {
  return refused == REFUSE_CORE       ? -1
         : refused == REFUSE_FAR_CORE ? CPU_SETSIZE
                                      : REAL("sched_getcpu", int (*)(void))();
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) {
  return refused == REFUSE_SET
             ? ESRCH
             : REAL("pthread_getaffinity_np",
                    int (*)(pthread_t, size_t, cpu_set_t *))(thread, size, set);
}

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set) {
  if (refused == REFUSE_SET || refused == REFUSE_ALL)
    return -1;
  const int failed =
      REAL("sched_getaffinity", int (*)(pid_t, size_t, cpu_set_t *))(process, size, set);
  if (refused == REFUSE_EMPTY_SET)
    CPU_ZERO(set);
  return failed;
}

long sysconf(int name) {
  return refused == REFUSE_ALL ? -1 : REAL("sysconf", long (*)(int))(name);
}

/* ---- threads ---- */

#define THREADS_TASKS 40
#define THREADS_LARGE 1e9 /* nanoseconds of work */

static pcal_status threads_count(void *user, size_t index, size_t worker, pcal_error *err) {
  atomic_int *runs = user;
  (void)worker;
  (void)err;
  atomic_fetch_add(&runs[index], 1);
  return PCAL_OK;
}

static void threads_run(const pcal_env *env) {
  atomic_int runs[THREADS_TASKS] = {0};
  assert_int_equal(pc_run(env, THREADS_TASKS, THREADS_LARGE, threads_count, runs, NULL),
                   PCAL_OK);
  for (size_t i = 0; i < THREADS_TASKS; i++)
    assert_int_equal(atomic_load(&runs[i]), 1);
}

/* Each task runs once, with a pool and without, if all threads are refused or all but `after`. */
TEST(refused_threads_leave_their_work_to_others) {
  static const refusal kinds[] = {REFUSE_ATTRIBUTES, REFUSE_MASK, REFUSE_THREAD};
  for (size_t k = 0; k < UNIT_COUNT(kinds); k++)
    for (size_t after = 0; after < 3; after++) {
      pcal_env env = PCAL_ENV_INIT;
      env.threads = 4;
      refused = kinds[k];
      refused_after = after;
      threads_run(&env);
      refused = REFUSE_NOTHING;
      assert_int_equal(pcal_pool_new(4, &env, &env.pool, NULL), PCAL_OK);
      refused = kinds[k];
      refused_after = after;
      threads_run(&env);
      refused = REFUSE_NOTHING;
      threads_run(&env); /* the pool now starts those that were refused */
      pcal_pool_free(env.pool);
    }
}

/* ---- locks ---- */

TEST(a_pool_without_locks_is_an_error) {
  for (size_t after = 0; after < 2; after++) {
    unit_memory memory = {0};
    const pcal_env env = unit_env(&memory);
    pcal_pool *pool = NULL;
    pcal_error err;
    refused = REFUSE_LOCK;
    refused_after = after;
    assert_int_equal(pcal_pool_new(2, &env, &pool, &err), PCAL_MEMORY);
    refused = REFUSE_NOTHING;
    assert_null(pool);
    assert_sentence(
        err, PCAL_MEMORY,
        "out of memory while making a thread pool; give fewer rows or metrics, or more memory");
    assert_int_equal(atomic_load(&memory.live), 0);
  }
}

/* ---- processors and memory ---- */

TEST(unknown_cores_are_left_alone) {
  static const refusal kinds[] = {REFUSE_CORE, REFUSE_FAR_CORE, REFUSE_SET};
  for (size_t k = 0; k < UNIT_COUNT(kinds); k++) {
    pcal_env env = PCAL_ENV_INIT;
    env.threads = 3;
    refused = kinds[k];
    assert_false(pc_affinity_current().known);
    threads_run(&env);
    assert_int_equal(pcal_pool_new(3, &env, &env.pool, NULL), PCAL_OK);
    threads_run(&env);
    threads_run(&env);
    pcal_pool_free(env.pool);
    refused = REFUSE_NOTHING;
  }
}

TEST(unknown_sizes_have_defaults) {
  const size_t online = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
  refused = REFUSE_SET;
  assert_int_equal(pc_processors_allowed(), online);
  refused = REFUSE_EMPTY_SET;
  assert_int_equal(pc_processors_allowed(), online);
  refused = REFUSE_ALL;
  assert_int_equal(pc_processors_allowed(), 1);
  assert_int_equal(pc_processor_count(), 1);
  assert_true(pc_physical_memory() == UINT64_MAX);
  refused = REFUSE_NOTHING;
  assert_true(pc_physical_memory() < UINT64_MAX);
}
