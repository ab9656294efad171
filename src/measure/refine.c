#include "measure/refine.h"

#include "io/source.h"
#include "machines/machine_coarse.h"

static int refine_can(const pc_plan *plan, size_t slot) {
  const pc_view *view = &plan->slots[slot].need.view;
  return plan->slots[slot].need.machine == PC_CURVE && !view->by_label &&
         !pc_view_spread(view) && pc_plan_wants(plan, slot);
}

void pc_plan_coarsen(pc_plan *plan) {
  for (size_t s = 0; s < plan->slot_count; s++)
    if (refine_can(plan, s))
      plan->slots[s].machine = &pc_machine_coarse;
}

/* One curve in one pass. */
typedef struct refine_job {
  const pc_view *view;
  pc_coarse *curve;
  pc_coarse_targets targets;
  pc_coarse_tally *tallies; /* one for each worker */
  pc_columns *columns;
} refine_job;

typedef struct refine_state {
  const pcal_env *env;
  refine_job *jobs;
  size_t count;
  size_t workers;
} refine_state;

static void refine_free(refine_state *state) {
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    for (size_t w = 0; w < state->workers; w++) {
      if (job->tallies != NULL)
        pc_coarse_tally_free(&job->tallies[w]);
      if (job->columns != NULL)
        pc_columns_free(state->env, &job->columns[w]);
    }
    pc_free(state->env, job->tallies);
    pc_free(state->env, job->columns);
    pc_coarse_targets_free(&job->targets);
  }
  pc_free(state->env, state->jobs);
}

/* Asks the metrics on a slot; a job is added when they want anything. */
static pcal_status refine_ask(const pcal_measure *measure, size_t slot, pc_coarse *curve,
                              refine_state *state, pcal_error *err) {
  const pcal_env *env = state->env;
  pc_curve_table table;
  PC_TRY(pc_coarse_table(curve, &table, err));
  uint8_t *wanted = pc_alloc(env, curve->count, 1);
  pcal_status status = wanted == NULL ? pc_fail_memory(err, "refining a curve") : PCAL_OK;
  size_t wants = 0;
  for (size_t e = 0; status == PCAL_OK && e < measure->plan.entry_count; e++) {
    const pc_plan_entry *entry = &measure->plan.entries[e];
    if (entry->slot == slot)
      wants += entry->metric->wants(&entry->options, &table, wanted);
  }
  if (status == PCAL_OK && wants > 0) {
    refine_job *job = &state->jobs[state->count];
    status = pc_coarse_aim(curve, wanted, PC_COARSE_KEEP, &job->targets, err);
    job->view = &measure->plan.views[measure->plan.slots[slot].view];
    job->curve = curve;
    state->count++;
  }
  pc_free(env, wanted);
  pc_curve_table_free(env, &table);
  return status;
}

static pcal_status refine_prepare(refine_state *state, const pc_layout *layout,
                                  pcal_error *err) {
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    job->tallies = pc_alloc(state->env, state->workers, sizeof *job->tallies);
    job->columns = pc_alloc(state->env, state->workers, sizeof *job->columns);
    if (job->tallies == NULL || job->columns == NULL)
      return pc_fail_memory(err, "refining a curve");
    for (size_t w = 0; w < state->workers; w++) {
      PC_TRY(pc_coarse_tally_new(state->env, &job->targets, &job->tallies[w], err));
      PC_TRY(
          pc_columns_new(state->env, job->view, pc_chunk_rows(layout), &job->columns[w], err));
    }
  }
  return PCAL_OK;
}

static pcal_status refine_chunk(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  refine_state *state = user;
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    pc_view_fill(job->view, rows, &job->columns[w]);
    PC_TRY(pc_coarse_tally_add(&job->tallies[w], job->columns[w].score, job->columns[w].hit,
                               rows->count, err));
  }
  return PCAL_OK;
}

static pcal_status refine_read(const pcal_measure *measure, refine_state *state,
                               pcal_source *source, size_t window, pcal_error *err) {
  pc_pass pass;
  pcal_status status = pc_pass_init(&pass, state->env, &measure->plan.layout,
                                    &measure->pass.policy, refine_chunk, state, err);
  if (status == PCAL_OK)
    status = pc_source_rewind(source, err);
  for (uint64_t done = 0; status == PCAL_OK;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    pc_row_counts counts;
    status = pc_source_next(source, window, &batch, err);
    if (status != PCAL_OK || batch.rows == 0)
      break;
    status = pc_pass_batch(&pass, &batch, &counts, err);
    done += batch.rows;
    pc_progress(state->env, "refining", done, 0);
    if (status == PCAL_OK)
      status = pc_check_interrupt(state->env, err);
  }
  pc_pass_free(&pass);
  return status;
}

static pcal_status refine_collect(refine_state *state, pcal_error *err) {
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    for (size_t w = 1; w < state->workers; w++) {
      PC_TRY(pc_coarse_tally_prepare(&job->tallies[0], &job->tallies[w], err));
      pc_coarse_tally_merge(&job->tallies[0], &job->tallies[w]);
      pc_coarse_tally_free(&job->tallies[w]);
    }
    PC_TRY(pc_coarse_refine(job->curve, &job->tallies[0], err));
  }
  return PCAL_OK;
}

/* One more pass, if anything is wanted. */
static pcal_status refine_once(pcal_measure *measure, pcal_source *source, size_t window,
                               int *more, pcal_error *err) {
  const pc_plan *plan = &measure->plan;
  refine_state state = {.env = &measure->env, .workers = measure->pass.worker_count};
  state.jobs = pc_alloc(state.env, plan->slot_count, sizeof *state.jobs);
  pcal_status status = state.jobs == NULL ? pc_fail_memory(err, "refining a curve") : PCAL_OK;
  const pc_account *account = pc_ledger_find(&measure->ledger, 0);
  for (size_t s = 0; account != NULL && s < plan->slot_count && status == PCAL_OK; s++) {
    pc_coarse *curve;
    if (plan->slots[s].machine != &pc_machine_coarse)
      continue;
    status = pc_machine_coarse_curve(state.env, account->states[s], &curve, err);
    if (status == PCAL_OK)
      status = refine_ask(measure, s, curve, &state, err);
  }
  *more = state.count > 0;
  if (status == PCAL_OK && *more)
    status = refine_prepare(&state, &plan->layout, err);
  if (status == PCAL_OK && *more)
    status = refine_read(measure, &state, source, window, err);
  if (status == PCAL_OK && *more)
    status = refine_collect(&state, err);
  refine_free(&state);
  return status;
}

pcal_status pc_measure_refine(pcal_measure *measure, pcal_source *source, size_t window,
                              pcal_error *err) {
  for (int more = 1; more;)
    PC_TRY(refine_once(measure, source, window, &more, err));
  return PCAL_OK;
}
