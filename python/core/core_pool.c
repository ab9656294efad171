/* Threads that stay between calls: one pool for each process and module, created on first use.
 * Handles hold references to it.  The library starts its threads when there is work for them; a
 * child process does not use the pool of its parent. */
#include <stdlib.h>

#include "core.h"
#include "system/paths.h"

#define POOL_THREADS 256 /* at most; a call says how many it wants */

struct core_pool {
  pcal_pool *pool;
  long process;
  atomic_size_t owners;
};

/* 0: not asked yet in this process, or to be asked each time. */
static atomic_long core_process_number;
static atomic_int
    core_forks; /* 0: not watched yet; 1: a child forgets the number; 2: it cannot */

static void core_forget_process(void) {
  atomic_store(&core_process_number, 0);
}

/* Asking takes longer than all else that a short call does here.  Forks in C are noticed too,
 * which Python's own hooks do not see. */
long core_process(void) {
  long number = atomic_load(&core_process_number);
  if (number != 0)
    return number;
  number = pc_process_id();
  int new = 0;
  if (atomic_compare_exchange_strong(&core_forks, &new, 2) &&
      pc_process_after_fork(core_forget_process))
    atomic_store(&core_forks, 1);
  if (atomic_load(&core_forks) == 1)
    atomic_store(&core_process_number, number);
  return number;
}

static core_pool *core_pool_new(void) {
  core_pool *made = calloc(1, sizeof *made);
  if (made == NULL)
    return NULL;
  if (pcal_pool_new(POOL_THREADS, NULL, &made->pool, NULL) != PCAL_OK) {
    free(made);
    return NULL;
  }
  made->process = core_process();
  atomic_init(&made->owners, 1);
  return made;
}

void core_state_lock(core_state *state) {
  const long here = core_process();
  for (;;) {
    long holder = 0;
    if (atomic_compare_exchange_strong(&state->lock, &holder, here) ||
        (holder != here && atomic_compare_exchange_strong(&state->lock, &holder, here)))
      return;
    PyEval_RestoreThread(PyEval_SaveThread()); /* lets others run */
  }
}

void core_state_unlock(core_state *state) {
  atomic_store(&state->lock, 0);
}

core_pool *core_pool_of(core_state *state) {
  core_state_lock(state);
  if (state->pool != NULL && state->pool->process != core_process()) {
    core_pool_drop(state->pool);
    state->pool = NULL;
  }
  if (state->pool == NULL && !state->ended)
    state->pool = core_pool_new();
  if (state->pool != NULL)
    atomic_fetch_add(&state->pool->owners, 1);
  core_pool *pool = state->pool;
  core_state_unlock(state);
  return pool;
}

pcal_pool *core_pool_threads(const core_pool *pool) {
  return pool == NULL ? NULL : pool->pool;
}

void core_pool_drop(core_pool *pool) {
  if (pool == NULL || atomic_fetch_sub(&pool->owners, 1) > 1)
    return;
  pcal_pool_free(pool->pool);
  free(pool);
}

PyObject *core_pool_end(PyObject *module, PyObject *nothing) {
  core_state *state = PyModule_GetState(module);
  (void)nothing;
  core_state_lock(state);
  core_pool *pool = state->pool;
  state->pool = NULL;
  state->ended = 1;
  core_state_unlock(state);
  core_pool_drop(pool);
  Py_RETURN_NONE;
}
