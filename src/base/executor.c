#include "base/executor.h"

#include <stdatomic.h>

#include "system/paths.h"
#include "system/processors.h"
#include "system/threads.h"

#define EXECUTOR_MAX_WORKERS 256
/* Nanoseconds; below, starting threads, or waking those of a pool, costs more than it saves. */
#define EXECUTOR_SMALL_WORK 2e6
#define EXECUTOR_SMALL_POOL_WORK 5e5

/* One call of pc_run.  Tasks start in increasing order; after a failure no task with a higher
 * index starts, so the lowest failing index is always found. */
typedef struct executor_job {
  const char *what;  /* name for progress reports, or NULL */
  pc_affinity cores; /* of the caller; set when threads are used */
  pc_task task;
  void *user;
  size_t count;
  atomic_size_t next;
  atomic_size_t failed_index;
  pc_mutex lock;
  pcal_status status;
  pcal_error error;
} executor_job;

typedef struct executor_seat {
  pcal_pool *pool;
  size_t worker;
} executor_seat;

struct pcal_pool {
  pcal_env env;
  long process;  /* the process that created the pool; a forked child inherits the pool
                           without its threads */
  size_t size;   /* most workers, including the caller */
  pc_mutex busy; /* held by the call that uses the pool */
  pc_mutex lock;
  pc_condition work, done;
  executor_job *job;
  uint64_t generation;
  size_t wanted, running;
  int stop;
  size_t thread_count;
  pc_thread threads[EXECUTOR_MAX_WORKERS];
  executor_seat seats[EXECUTOR_MAX_WORKERS];
};

static void executor_report(executor_job *job, size_t index, pcal_status status,
                            const pcal_error *error) {
  pc_mutex_lock(&job->lock);
  if (index < atomic_load(&job->failed_index)) {
    atomic_store(&job->failed_index, index);
    job->status = status;
    job->error = *error;
  }
  pc_mutex_unlock(&job->lock);
}

/* Runs one task; 0 if none is left. */
static int executor_step(executor_job *job, size_t worker) {
  const size_t index = atomic_fetch_add(&job->next, 1);
  if (index >= job->count || index > atomic_load(&job->failed_index))
    return 0;
  pcal_error error;
  pc_error_clear(&error);
  const pcal_status status = job->task(job->user, index, worker, &error);
  if (status != PCAL_OK)
    executor_report(job, index, status, &error);
  return 1;
}

/* Tasks of the calling thread, the only one that calls the environment's callbacks. */
static void executor_lead(executor_job *job, const pcal_env *env) {
  pcal_error error;
  while (executor_step(job, 0)) {
    const size_t begun = atomic_load(&job->next);
    if (job->what != NULL)
      pc_progress(env, job->what, begun < job->count ? begun : job->count, job->count);
    if (pc_check_interrupt(env, &error) != PCAL_OK) {
      executor_report(job, 0, PCAL_INTERRUPTED, &error);
      return;
    }
  }
}

typedef struct executor_thread {
  executor_job *job;
  size_t worker;
} executor_thread;

static void *executor_thread_main(void *argument) {
  const executor_thread *self = argument;
  pc_affinity_release(&self->job->cores);
  while (executor_step(self->job, self->worker))
    continue;
  return NULL;
}

static void executor_run_fresh(executor_job *job, const pcal_env *env, size_t workers) {
  pc_thread threads[EXECUTOR_MAX_WORKERS];
  executor_thread arguments[EXECUTOR_MAX_WORKERS];
  size_t started = 0;
  job->cores = pc_affinity_current();
  for (size_t w = 1; w < workers; w++) {
    arguments[started] = (executor_thread){job, w};
    if (!pc_thread_start(&threads[started], &job->cores, executor_thread_main,
                         &arguments[started]))
      break;
    started++;
  }
  executor_lead(job, env);
  for (size_t t = 0; t < started; t++)
    pc_thread_join(&threads[t]);
}

static void *executor_pool_main(void *argument) {
  const executor_seat seat = *(const executor_seat *)argument;
  pcal_pool *pool = seat.pool;
  uint64_t seen = 0;
  pc_mutex_lock(&pool->lock);
  while (!pool->stop) {
    if (pool->generation == seen) {
      pc_condition_wait(&pool->work, &pool->lock);
      continue;
    }
    seen = pool->generation;
    if (pool->job == NULL || seat.worker >= pool->wanted)
      continue;
    executor_job *job = pool->job;
    pool->running++;
    pc_mutex_unlock(&pool->lock);
    pc_affinity_release(&job->cores);
    while (executor_step(job, seat.worker))
      continue;
    pc_mutex_lock(&pool->lock);
    if (--pool->running == 0)
      pc_condition_signal(&pool->done);
  }
  pc_mutex_unlock(&pool->lock);
  return NULL;
}

/* Starts threads up to `workers`; fewer if the system refuses one. */
static void executor_fill_seats(pcal_pool *pool, const pc_affinity *cores, size_t workers) {
  while (pool->thread_count + 1 < workers && pool->thread_count + 1 < pool->size) {
    executor_seat *seat = &pool->seats[pool->thread_count];
    *seat = (executor_seat){pool, pool->thread_count + 1};
    if (!pc_thread_start(&pool->threads[pool->thread_count], cores, executor_pool_main, seat))
      return;
    pool->thread_count++;
  }
}

static void executor_run_pool(executor_job *job, const pcal_env *env, size_t workers) {
  pcal_pool *pool = env->pool;
  job->cores = pc_affinity_current();
  for (size_t t = 0; t < pool->thread_count && t + 1 < workers; t++)
    pc_affinity_wake_elsewhere(&job->cores, &pool->threads[t]);
  executor_fill_seats(pool, &job->cores, workers);
  pc_mutex_lock(&pool->lock);
  pool->job = job;
  pool->wanted = workers;
  pool->generation++;
  pc_condition_broadcast(&pool->work);
  pc_mutex_unlock(&pool->lock);
  executor_lead(job, env);
  pc_mutex_lock(&pool->lock);
  pool->job = NULL; /* threads that wake up later find no job */
  while (pool->running > 0)
    pc_condition_wait(&pool->done, &pool->lock);
  pc_mutex_unlock(&pool->lock);
}

size_t pc_worker_count(const pcal_env *env) {
  const size_t wanted = env->threads == 0 ? pc_processor_count() : env->threads;
  return wanted > EXECUTOR_MAX_WORKERS ? EXECUTOR_MAX_WORKERS : wanted;
}

pcal_status pc_run(const pcal_env *env, size_t count, double work, pc_task task, void *user,
                   pcal_error *err) {
  return pc_run_with_progress(env, NULL, count, work, task, user, err);
}

pcal_status pc_run_with_progress(const pcal_env *env, const char *what, size_t count,
                                 double work, pc_task task, void *user, pcal_error *err) {
  executor_job job = {.what = what, .task = task, .user = user, .count = count};
  atomic_init(&job.next, 0);
  atomic_init(&job.failed_index, SIZE_MAX);
  if (!pc_mutex_init(&job.lock))
    return pc_fail_memory(err, "preparing threads");
  size_t workers = pc_worker_count(env);
  if (workers > count)
    workers = count;
  const int has_pool =
      workers > 1 && env->pool != NULL && env->pool->process == pc_process_id();
  if (workers <= 1 || work < (has_pool ? EXECUTOR_SMALL_POOL_WORK : EXECUTOR_SMALL_WORK))
    executor_lead(&job, env);
  else if (!has_pool)
    executor_run_fresh(&job, env, workers);
  else if (!pc_mutex_try_lock(&env->pool->busy))
    executor_lead(&job, env);
  else {
    executor_run_pool(&job, env, workers);
    pc_mutex_unlock(&env->pool->busy);
  }
  pc_mutex_destroy(&job.lock);
  if (job.status != PCAL_OK && err != NULL)
    *err = job.error;
  return job.status;
}

/* Makes the locks of a pool; returns 0 if one cannot be made. */
static int executor_pool_lock(pcal_pool *pool) {
  if (!pc_mutex_init(&pool->busy))
    return 0;
  if (pc_mutex_init(&pool->lock))
    return 1;
  pc_mutex_destroy(&pool->busy);
  return 0;
}

pcal_status pcal_pool_new(unsigned threads, const pcal_env *env, pcal_pool **out,
                          pcal_error *err) {
  pc_error_clear(err);
  if (out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_pool_new: out is NULL; give a pointer for the pool");
  *out = NULL;
  pcal_env resolved = pc_env_resolve(env);
  if (threads != 0)
    resolved.threads = threads;
  pcal_pool *pool = pc_alloc(&resolved, 1, sizeof *pool);
  if (pool == NULL || !executor_pool_lock(pool)) {
    pc_free(&resolved, pool);
    return pc_fail_memory(err, "making a thread pool");
  }
  pool->env = resolved;
  pool->process = pc_process_id();
  pool->size = pc_worker_count(&resolved);
  pc_condition_init(&pool->work);
  pc_condition_init(&pool->done);
  *out = pool;
  return PCAL_OK;
}

static void executor_pool_end(pcal_pool *pool) {
  pc_mutex_lock(&pool->lock);
  pool->stop = 1;
  pc_condition_broadcast(&pool->work);
  pc_mutex_unlock(&pool->lock);
  for (size_t t = 0; t < pool->thread_count; t++)
    pc_thread_join(&pool->threads[t]);
  pc_condition_destroy(&pool->done);
  pc_condition_destroy(&pool->work);
  pc_mutex_destroy(&pool->lock);
  pc_mutex_destroy(&pool->busy);
}

void pcal_pool_free(pcal_pool *pool) {
  if (pool == NULL)
    return;
  if (pool->process == pc_process_id()) /* in a child the locks may be in any state */
    executor_pool_end(pool);
  const pcal_env env = pool->env;
  pc_free(&env, pool);
}
