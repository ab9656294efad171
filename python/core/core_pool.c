/* Threads that stay between calls: one pool for each process and module, created on first use.
 * Handles hold references to it.  The library starts its threads when there is work for them; a
 * child process does not use the pool of its parent.  References are counted with the
 * interpreter's lock held, which core_module.c therefore asks for. */
#include <stdlib.h>

#include "core.h"
#include "system/paths.h"

#define POOL_THREADS 256 /* at most; a call says how many it wants */

struct core_pool {
  pcal_pool *pool;
  long process;
  size_t owners;
};

static core_pool *core_pool_new(void) {
  core_pool *made = calloc(1, sizeof *made);
  if (made == NULL)
    return NULL;
  if (pcal_pool_new(POOL_THREADS, NULL, &made->pool, NULL) != PCAL_OK) {
    free(made);
    return NULL;
  }
  made->process = pc_process_id();
  made->owners = 1;
  return made;
}

core_pool *core_pool_of(core_state *state) {
  if (state->pool != NULL && state->pool->process != pc_process_id()) {
    core_pool_drop(state->pool);
    state->pool = NULL;
  }
  if (state->pool == NULL && !state->ended)
    state->pool = core_pool_new();
  if (state->pool != NULL)
    state->pool->owners++;
  return state->pool;
}

pcal_pool *core_pool_threads(const core_pool *pool) {
  return pool == NULL ? NULL : pool->pool;
}

void core_pool_drop(core_pool *pool) {
  if (pool == NULL || --pool->owners > 0)
    return;
  pcal_pool_free(pool->pool);
  free(pool);
}

PyObject *core_pool_end(PyObject *module, PyObject *nothing) {
  core_state *state = PyModule_GetState(module);
  (void)nothing;
  core_pool_drop(state->pool);
  state->pool = NULL;
  state->ended = 1;
  Py_RETURN_NONE;
}
