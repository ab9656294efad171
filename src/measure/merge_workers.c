#include "measure/merge_workers.h"

#include "base/executor.h"

#define WORKERS_MERGE_COST 500.0 /* nanoseconds per slot and class, for the executor */

size_t pc_workers_ready(const pcal_measure *measure) {
  size_t ready = 0;
  for (size_t w = 0; w < measure->pass.worker_count; w++)
    ready += measure->workers[w].ready != 0;
  return ready;
}

/* A step of merging workers two by two: worker w takes over worker w + step. */
typedef struct merge_workers_step {
  pcal_measure *measure;
  size_t step;
} merge_workers_step;

static pcal_status merge_workers_two(void *user, size_t index, size_t unused, pcal_error *err) {
  const merge_workers_step *all = user;
  pc_measure_worker *into = &all->measure->workers[2 * all->step * index];
  pc_measure_worker *from = into + all->step;
  (void)unused;
  if (!from->ready)
    return PCAL_OK;
  if (into->ready)
    return pc_group_states_merge(&into->groups, &from->groups, err);
  const pc_group_states none = into->groups;
  into->groups = from->groups;
  from->groups = none;
  into->ready = 1;
  from->ready = 0;
  return PCAL_OK;
}

/* The state of a worker that has rows, all without groups; else NULL: states without rows
 * are not merged. */
static pc_group_state *merge_workers_only_state(const pc_measure_worker *worker) {
  if (!worker->ready || worker->groups.count != 1 || worker->groups.packed_count != 0)
    return NULL;
  pc_group_state *only = worker->groups.states[0];
  return pc_group_state_is_empty(only) ? NULL : only;
}

/* Lets the first worker take over, at once and with all threads, the rows that others keep
 * for a slot. */
static pcal_status merge_workers_gather_slot(pcal_measure *measure, size_t slot, void **others,
                                             pcal_error *err) {
  const pc_machine *machine = measure->plan.slots[slot].machine;
  void *into = NULL;
  size_t count = 0;
  for (size_t w = 0; w < measure->pass.worker_count; w++) {
    const pc_group_state *state = merge_workers_only_state(&measure->workers[w]);
    if (state != NULL && into != NULL)
      others[count++] = state->slots[slot];
    else if (state != NULL)
      into = state->slots[slot];
  }
  return count == 0 ? PCAL_OK : machine->gather(&measure->env, into, others, count, err);
}

static pcal_status merge_workers_gather_rows(pcal_measure *measure, pcal_error *err) {
  void **others = pc_alloc(&measure->env, measure->pass.worker_count, sizeof *others);
  pcal_status status = others == NULL ? pc_fail_memory(err, "merging rows") : PCAL_OK;
  for (size_t s = 0; s < measure->plan.slot_count && status == PCAL_OK; s++)
    if (measure->plan.slots[s].machine->gather != NULL)
      status = merge_workers_gather_slot(measure, s, others, err);
  pc_free(&measure->env, others);
  return status;
}

pcal_status pc_workers_merge(pcal_measure *measure, pcal_error *err) {
  const size_t count = measure->pass.worker_count, slots = measure->plan.slot_count;
  const size_t ready = pc_workers_ready(measure);
  if (ready == 0 || (ready == 1 && measure->workers[0].ready)) /* as after a small batch */
    return PCAL_OK;
  PC_TRY(merge_workers_gather_rows(measure, err));
  const double cost = WORKERS_MERGE_COST * (double)(slots * measure->plan.layout.classes);
  for (size_t step = 1; step < count; step *= 2) {
    merge_workers_step all = {measure, step};
    const size_t pairs = (count - step - 1) / (2 * step) + 1;
    const size_t merges = pairs < ready ? pairs : ready;
    PC_TRY(pc_run(&measure->env, pairs, merges <= 1 ? 0.0 : cost * (double)merges,
                  merge_workers_two, &all, err));
  }
  return PCAL_OK;
}
