/* The library calls back on the thread that called it, which has let the interpreter go: a
 * callback takes it back for a moment.  That is not free while other threads work, so signals
 * are looked for and progress is told a few times a second only. */
#include <stdlib.h>
#include <time.h>

#include "core.h"

#define WATCH_PAUSE 0.05 /* seconds */

struct core_watch {
  pcal_env env;
  core_pool *pool; /* or NULL */
  size_t owners;
  PyObject *progress;    /* or NULL */
  PyThreadState *asleep; /* of the caller, between begin and end */
  int signals;           /* to be looked for */
  int stopped;           /* a callback has set an exception */
  double signals_at, progress_at;
};

static double core_watch_clock(void) {
  struct timespec now;
  return clock_gettime(CLOCK_MONOTONIC, &now) == 0
             ? (double)now.tv_sec + (double)now.tv_nsec * 1e-9
             : 0.0;
}

void core_watch_take(core_watch *watch) {
  PyEval_RestoreThread(watch->asleep);
}

void core_watch_leave(core_watch *watch) {
  watch->asleep = PyEval_SaveThread();
}

static int core_watch_interrupted(void *user) {
  core_watch *watch = user;
  if (watch->asleep == NULL || watch->stopped)
    return watch->stopped;
  const double now = watch->signals ? core_watch_clock() : 0.0;
  if (!watch->signals || now < watch->signals_at + WATCH_PAUSE)
    return 0;
  watch->signals_at = now;
  core_watch_take(watch);
  watch->stopped = PyErr_CheckSignals() != 0;
  core_watch_leave(watch);
  return watch->stopped;
}

static void core_watch_progress(void *user, const char *what, uint64_t done, uint64_t total) {
  core_watch *watch = user;
  if (watch->asleep == NULL || watch->stopped)
    return;
  const double now = core_watch_clock();
  if (now < watch->progress_at + WATCH_PAUSE && (total == 0 || done < total))
    return;
  watch->progress_at = now;
  core_watch_take(watch);
  PyObject *answer = PyObject_CallFunction(watch->progress, "sKK", what,
                                           (unsigned long long)done, (unsigned long long)total);
  watch->stopped = answer == NULL;
  Py_XDECREF(answer);
  core_watch_leave(watch);
}

core_watch *core_watch_new(PyObject *module, PyObject *settings) {
  unsigned int threads = 0;
  unsigned long long seed = 0, limit = 0;
  PyObject *progress = NULL;
  int signals = 0;
  if (!PyArg_ParseTuple(settings, "IKKOp", &threads, &seed, &limit, &progress, &signals))
    return NULL;
  core_watch *watch = calloc(1, sizeof *watch);
  if (watch == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  watch->env = (pcal_env)PCAL_ENV_INIT;
  watch->env.threads = threads;
  watch->env.seed = seed;
  watch->env.words = PCAL_WORDS_PYTHON;
  if (limit == 0)
    limit = pcal_memory_default();
  pcal_error err;
  if (limit > 0 && pcal_budget_new(limit, NULL, &watch->env.budget, &err) != PCAL_OK) {
    free(watch);
    PyErr_NoMemory();
    return NULL;
  }
  watch->pool = threads == 1 ? NULL : core_pool_of(PyModule_GetState(module));
  watch->env.pool = core_pool_threads(watch->pool);
  watch->env.interrupted = core_watch_interrupted;
  watch->env.user = watch;
  watch->owners = 1;
  watch->signals = signals;
  if (progress != Py_None) {
    Py_INCREF(progress);
    watch->progress = progress;
    watch->env.progress = core_watch_progress;
  }
  return watch;
}

core_watch *core_watch_share(core_watch *watch) {
  watch->owners++;
  return watch;
}

void core_watch_drop(core_watch *watch) {
  if (watch == NULL || --watch->owners > 0)
    return;
  Py_XDECREF(watch->progress);
  core_pool_drop(watch->pool);
  pcal_budget_free(watch->env.budget);
  free(watch);
}

const pcal_env *core_watch_env(const core_watch *watch) {
  return &watch->env;
}

void core_watch_begin(core_watch *watch) {
  watch->stopped = 0;
  watch->signals_at = core_watch_clock();
  watch->asleep = PyEval_SaveThread();
}

pcal_status core_watch_end(core_watch *watch, pcal_status status) {
  PyThreadState *caller = watch->asleep;
  watch->asleep = NULL;
  PyEval_RestoreThread(caller);
  return status == PCAL_OK && watch->stopped ? PCAL_INTERRUPTED : status;
}
