/* An executor that simulates the cores of --threads on one thread, in place of base/executor.c: it runs the tasks of a
 * section one after the other, each as the worker that would be free first, and measures the CPU time of each.  At the
 * end of the program it writes to standard error, in milliseconds:
 *
 *   cpu N serial N sections N estimate N
 *
 * cpu: CPU time of the process; serial: CPU time outside sections; sections: how many were divided among workers;
 * estimate: serial time and the busiest worker of each section, which is the least time that so many cores could take.
 * It leaves out the waking of threads and what cores take from one another (memory, caches, clock rate).
 * SIMULATED_CORES=sections also writes one line for each section: its tasks, the CPU time of all and of the busiest
 * worker, and the address of its task for addr2line.  The thread is named "serial" outside sections and "divided" inside, for
 * perf report --comm serial. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/executor.h"
#include "system/processors.h"

#define SIMULATED_MAX_WORKERS 256
/* As in base/executor.c: smaller sections are not divided. */
#define SIMULATED_SMALL_WORK 2e6
#define SIMULATED_SMALL_POOL_WORK 5e5

struct pcal_pool {
  pcal_env env;
};

static struct {
  int inside; /* a section runs: those inside it are not divided */
  int started;
  int traced;
  double parallel, busiest; /* seconds of all sections */
  size_t sections;
} simulated;

extern char __executable_start; /* defined by the linker */

static double simulated_clock(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void simulated_report(void) {
  const double cpu = simulated_clock(CLOCK_PROCESS_CPUTIME_ID);
  const double serial = cpu - simulated.parallel;
  fprintf(stderr, "cpu %.2f serial %.2f sections %zu estimate %.2f\n", 1e3 * cpu, 1e3 * serial,
          simulated.sections, 1e3 * (serial + simulated.busiest));
}

static void simulated_start(void) {
  const char *wish = getenv("SIMULATED_CORES");
  simulated.started = 1;
  simulated.traced = wish != NULL && wish[0] == 's';
  prctl(PR_SET_NAME, "serial");
  atexit(simulated_report);
}

static size_t simulated_first_free(const double *busy, size_t workers) {
  size_t first = 0;
  for (size_t w = 1; w < workers; w++)
    if (busy[w] < busy[first])
      first = w;
  return first;
}

static void simulated_trace(pc_task task, size_t count, double cpu, double busiest) {
  fprintf(stderr, "section %zu tasks cpu %.3f busiest %.3f at 0x%zx\n", count, 1e3 * cpu,
          1e3 * busiest, (size_t)((const char *)(size_t)task - &__executable_start));
}

static pcal_status simulated_step(const pcal_env *env, const char *what, size_t index,
                                  size_t count, size_t worker, pc_task task, void *user,
                                  pcal_error *err) {
  PC_TRY(task(user, index, worker, err));
  if (what != NULL)
    pc_progress(env, what, index + 1, count);
  return pc_check_interrupt(env, err);
}

static pcal_status simulated_alone(const pcal_env *env, const char *what, size_t count,
                                   pc_task task, void *user, pcal_error *err) {
  for (size_t index = 0; index < count; index++)
    PC_TRY(simulated_step(env, what, index, count, 0, task, user, err));
  return PCAL_OK;
}

static pcal_status simulated_section(const pcal_env *env, const char *what, size_t count,
                                     size_t workers, pc_task task, void *user,
                                     pcal_error *err) {
  double busy[SIMULATED_MAX_WORKERS] = {0}, busiest = 0.0, sum = 0.0;
  pcal_status status = PCAL_OK;
  simulated.inside = 1;
  prctl(PR_SET_NAME, "divided");
  for (size_t index = 0; index < count && status == PCAL_OK; index++) {
    const size_t w = simulated_first_free(busy, workers);
    const double begin = simulated_clock(CLOCK_THREAD_CPUTIME_ID);
    status = simulated_step(env, what, index, count, w, task, user, err);
    const double spent = simulated_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
    busy[w] += spent;
    sum += spent;
    busiest = busy[w] > busiest ? busy[w] : busiest;
  }
  simulated.inside = 0;
  prctl(PR_SET_NAME, "serial");
  simulated.parallel += sum;
  simulated.busiest += busiest;
  simulated.sections++;
  if (simulated.traced)
    simulated_trace(task, count, sum, busiest);
  return status;
}

size_t pc_worker_count(const pcal_env *env) {
  const size_t wanted = env->threads == 0 ? pc_processor_count() : env->threads;
  return wanted > SIMULATED_MAX_WORKERS ? SIMULATED_MAX_WORKERS : wanted;
}

pcal_status pc_run_with_progress(const pcal_env *env, const char *what, size_t count,
                                 double work, pc_task task, void *user, pcal_error *err) {
  const double small = env->pool == NULL ? SIMULATED_SMALL_WORK : SIMULATED_SMALL_POOL_WORK;
  const size_t most = pc_worker_count(env), workers = most < count ? most : count;
  if (!simulated.started)
    simulated_start();
  return workers <= 1 || work < small || simulated.inside
             ? simulated_alone(env, what, count, task, user, err)
             : simulated_section(env, what, count, workers, task, user, err);
}

pcal_status pc_run(const pcal_env *env, size_t count, double work, pc_task task, void *user,
                   pcal_error *err) {
  return pc_run_with_progress(env, NULL, count, work, task, user, err);
}

pcal_status pcal_pool_new(unsigned threads, const pcal_env *env, pcal_pool **out,
                          pcal_error *err) {
  pcal_env resolved = pc_env_resolve(env);
  if (threads != 0)
    resolved.threads = threads;
  *out = pc_alloc(&resolved, 1, sizeof **out);
  if (*out == NULL)
    return pc_fail_memory(err, "making a thread pool");
  (*out)->env = resolved;
  return PCAL_OK;
}

void pcal_pool_free(pcal_pool *pool) {
  if (pool == NULL)
    return;
  const pcal_env env = pool->env;
  pc_free(&env, pool);
}
