/* The library calls back on the calling thread, which has released the interpreter's lock.  A
 * callback acquires it again.  That costs time while other threads run, so signals are checked
 * and progress is reported at most every WATCH_PAUSE seconds. */
#include <stdatomic.h>
#include <stdlib.h>

#include "core.h"
#include "system/clock.h"
#include "system/threads.h"

#define WATCH_PAUSE 0.05 /* seconds */
#define WATCH_FORKED (-1L)

struct core_watch {
  pcal_env env;
  core_pool *pool;  /* or NULL */
  PyObject *shared; /* the budget that settings gave, or NULL */
  atomic_size_t owners;
  PyObject *progress;    /* or NULL */
  PyThreadState *asleep; /* of the caller, between begin and end */
  int signals;           /* check for signals during the call */
  int stopped;           /* a callback has set an exception */
  double signals_at, progress_at;
  /* One call at a time. */
  pc_mutex lock;
  atomic_uintptr_t holder; /* the thread that holds `lock`, or 0 */
  int changes;             /* the current call changes handles */
  int broken; /* the process was forked during such a call: handles may be half changed */
  atomic_long process; /* WATCH_FORKED: a thread of a child makes the lock anew */
};

static uintptr_t core_watch_self(void) {
  return (uintptr_t)PyThread_get_thread_ident();
}

/* True if this thread runs the call and has released the interpreter's lock. */
static int core_watch_runs(core_watch *watch) {
  return atomic_load(&watch->holder) == core_watch_self() && watch->asleep != NULL;
}

void core_watch_take(core_watch *watch) {
  PyEval_RestoreThread(watch->asleep);
}

void core_watch_leave(core_watch *watch) {
  watch->asleep = PyEval_SaveThread();
}

static int core_watch_interrupted(void *user) {
  core_watch *watch = user;
  if (!core_watch_runs(watch))
    return 0;
  if (watch->stopped)
    return 1;
  const double now = watch->signals ? pc_clock_seconds() : 0.0;
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
  if (!core_watch_runs(watch) || watch->stopped)
    return;
  const double now = pc_clock_seconds();
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

/* ---- Budgets ---- */

#define WATCH_BUDGET "propercal.budget"

static void core_budget_delete(PyObject *capsule) {
  pcal_budget_free(PyCapsule_GetPointer(capsule, WATCH_BUDGET));
}

PyObject *core_budget(PyObject *module, PyObject *bytes) {
  pcal_budget *budget = NULL;
  pcal_error error;
  (void)module;
  const unsigned long long limit = PyLong_AsUnsignedLongLong(bytes);
  if (PyErr_Occurred() != NULL)
    return NULL;
  if (pcal_budget_new(limit, NULL, &budget, &error) != PCAL_OK)
    return core_raise(&error);
  PyObject *capsule = PyCapsule_New(budget, WATCH_BUDGET, core_budget_delete);
  if (capsule == NULL)
    pcal_budget_free(budget);
  return capsule;
}

/* Sets the budget of a watch; -1 with an exception. */
static int core_watch_limit(core_watch *watch, PyObject *given) {
  pcal_error error;
  if (PyCapsule_CheckExact(given)) {
    watch->env.budget = PyCapsule_GetPointer(given, WATCH_BUDGET);
    if (watch->env.budget == NULL)
      return -1;
    Py_INCREF(given);
    watch->shared = given;
    return 0;
  }
  unsigned long long limit = PyLong_AsUnsignedLongLong(given);
  if (PyErr_Occurred() != NULL)
    return -1;
  if (limit == 0)
    limit = pcal_default_memory_limit();
  if (limit == 0 || pcal_budget_new(limit, NULL, &watch->env.budget, &error) == PCAL_OK)
    return 0;
  PyErr_NoMemory();
  return -1;
}

/* ---- Watches ---- */

core_watch *core_watch_new(PyObject *module, PyObject *settings) {
  unsigned int threads = 0;
  unsigned long long seed = 0;
  PyObject *progress = NULL, *limit = NULL;
  int signals = 0;
  if (!core_tuple(settings) ||
      !PyArg_ParseTuple(settings, "IKOOp", &threads, &seed, &limit, &progress, &signals))
    return NULL;
  core_watch *watch = calloc(1, sizeof *watch);
  if (watch == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  if (!pc_mutex_init(&watch->lock)) {
    free(watch);
    PyErr_NoMemory();
    return NULL;
  }
  atomic_init(&watch->holder, 0);
  atomic_init(&watch->process, core_process());
  watch->env = (pcal_env)PCAL_ENV_INIT;
  watch->env.threads = threads;
  watch->env.seed = seed;
  watch->env.caller = PCAL_INTERFACE_PYTHON;
  if (core_watch_limit(watch, limit) < 0) {
    pc_mutex_destroy(&watch->lock);
    free(watch);
    return NULL;
  }
  watch->pool = threads == 1 ? NULL : core_pool_of(PyModule_GetState(module));
  watch->env.pool = core_pool_threads(watch->pool);
  watch->env.interrupted = core_watch_interrupted;
  watch->env.user = watch;
  atomic_init(&watch->owners, 1);
  watch->signals = signals;
  if (progress != Py_None) {
    Py_INCREF(progress);
    watch->progress = progress;
    watch->env.progress = core_watch_progress;
  }
  return watch;
}

core_watch *core_watch_share(core_watch *watch) {
  atomic_fetch_add(&watch->owners, 1);
  return watch;
}

void core_watch_drop(core_watch *watch) {
  if (watch == NULL || atomic_fetch_sub(&watch->owners, 1) > 1)
    return;
  Py_XDECREF(watch->progress);
  core_pool_drop(watch->pool);
  if (atomic_load(&watch->process) ==
      core_process()) /* a child may find the lock in any state */
    pc_mutex_destroy(&watch->lock);
  if (watch->shared == NULL)
    pcal_budget_free(watch->env.budget);
  Py_XDECREF(watch->shared);
  free(watch);
}

const pcal_env *core_watch_env(const core_watch *watch) {
  return &watch->env;
}

/* ---- Turns ---- */

/* Makes the lock anew, unless this thread forked in a callback: then the call goes on here
 * too. */
static void core_watch_renew(core_watch *watch) {
  const uintptr_t holder = atomic_load(&watch->holder);
  if (holder == core_watch_self())
    return;
  watch->broken |= holder != 0 && watch->changes;
  atomic_store(&watch->holder, 0);
  watch->asleep = NULL;
  (void)pc_mutex_init(&watch->lock);
}

/* After a fork only one thread is left, so a lock that another thread held would never be
 * released.  The first thread of the child that comes here makes it anew; others wait, which is
 * short. */
static void core_watch_after_fork(core_watch *watch) {
  const long here = core_process();
  long seen = atomic_load(&watch->process);
  if (seen == here)
    return;
  if (seen != WATCH_FORKED &&
      atomic_compare_exchange_strong(&watch->process, &seen, WATCH_FORKED)) {
    core_watch_renew(watch);
    atomic_store(&watch->process, here);
  }
  while (atomic_load(&watch->process) == WATCH_FORKED)
    PyEval_RestoreThread(PyEval_SaveThread());
}

static int core_watch_ready(core_watch *watch) {
  core_watch_after_fork(watch);
  if (watch->broken)
    PyErr_SetString(PyExc_RuntimeError, "another thread was changing this object when the "
                                        "process was forked; create it again in the child");
  else if (atomic_load(&watch->holder) == core_watch_self())
    PyErr_SetString(PyExc_RuntimeError,
                    "this object is in use by the call that runs this callback");
  else
    return 1;
  return 0;
}

static void core_turn_free(core_turn *turn) {
  PyMem_Free(turn->watches);
  turn->watches = NULL;
  turn->count = 0;
}

int core_turn_add(core_turn *turn, core_watch *watch) {
  for (size_t i = 0; i < turn->count; i++)
    if (turn->watches[i] == watch)
      return 0;
  if (watch == NULL)
    return 0;
  core_watch **grown = PyMem_Realloc(turn->watches, (turn->count + 1) * sizeof(core_watch *));
  if (grown == NULL) {
    core_turn_free(turn);
    PyErr_NoMemory();
    return -1;
  }
  grown[turn->count++] = watch;
  turn->watches = grown;
  return 0;
}

int core_turn_add_source(core_turn *turn, PyObject *source) {
  return source == Py_None ? 0 : core_turn_add(turn, ((core_source *)(void *)source)->watch);
}

/* The watch after `last` in the order of addresses, or NULL. */
static core_watch *core_turn_after(const core_turn *turn, const core_watch *last) {
  core_watch *next = NULL;
  for (size_t i = 0; i < turn->count; i++) {
    core_watch *here = turn->watches[i];
    if ((uintptr_t)here > (uintptr_t)last &&
        (next == NULL || (uintptr_t)here < (uintptr_t)next))
      next = here;
  }
  return next;
}

static void core_turn_taken(core_watch *watch, int changes) {
  watch->changes = changes;
  atomic_store(&watch->holder, core_watch_self());
}

/* Waits with the interpreter's lock released. */
static void core_turn_lock(const core_turn *turn, int changes) {
  for (core_watch *w = NULL; (w = core_turn_after(turn, w)) != NULL;) {
    pc_mutex_lock(&w->lock);
    core_turn_taken(w, changes);
  }
}

static void core_turn_unlock(core_turn *turn) {
  for (size_t i = 0; i < turn->count; i++) {
    atomic_store(&turn->watches[i]->holder, 0);
    pc_mutex_unlock(&turn->watches[i]->lock);
  }
}

static int core_turn_ready(core_turn *turn) {
  for (size_t i = 0; i < turn->count; i++)
    if (!core_watch_ready(turn->watches[i])) {
      core_turn_free(turn);
      return 0;
    }
  return 1;
}

pcal_status core_turn_begin(core_turn *turn, int changes) {
  if (!core_turn_ready(turn))
    return PCAL_INTERNAL;
  PyThreadState *caller = PyEval_SaveThread();
  core_turn_lock(turn, changes);
  turn->run = turn->watches[0];
  turn->run->stopped = 0;
  turn->run->signals_at = pc_clock_seconds();
  turn->run->asleep = caller;
  return PCAL_OK;
}

pcal_status core_turn_begin_one(core_turn *turn, core_watch *watch, int changes) {
  return core_turn_add(turn, watch) < 0 ? PCAL_INTERNAL : core_turn_begin(turn, changes);
}

pcal_status core_turn_end(core_turn *turn, pcal_status status) {
  PyThreadState *caller = turn->run->asleep;
  const int stopped = turn->run->stopped;
  turn->run->asleep = NULL;
  core_turn_unlock(turn);
  PyEval_RestoreThread(caller);
  core_turn_free(turn);
  return status == PCAL_OK && stopped ? PCAL_INTERRUPTED : status;
}

int core_turn_hold(core_turn *turn, core_watch *watch) {
  if (core_turn_add(turn, watch) < 0 || !core_turn_ready(turn))
    return -1;
  if (pc_mutex_try_lock(&watch->lock)) {
    core_turn_taken(watch, 0);
    return 0;
  }
  PyThreadState *caller = PyEval_SaveThread();
  core_turn_lock(turn, 0);
  PyEval_RestoreThread(caller);
  return 0;
}

void core_turn_release(core_turn *turn) {
  core_turn_unlock(turn);
  core_turn_free(turn);
}
