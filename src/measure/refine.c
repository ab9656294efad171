#include "measure/refine.h"

#include "io/source.h"
#include "machines/machine_coarse.h"
#include "stats/point_masses.h"

static int refine_can(const pc_plan *plan, size_t slot) {
  return plan->slots[slot].need.machine == PC_CURVE && pc_plan_refines(plan, slot);
}

void pc_plan_coarsen(pc_plan *plan, int rows, int classes) {
  for (size_t s = 0; s < plan->slot_count; s++) {
    const int spread = pc_view_spread(&plan->slots[s].need.view);
    if ((spread ? classes : rows) && refine_can(plan, s))
      plan->slots[s].machine = &pc_machine_coarse;
  }
}

/* The curves of one slot in one pass. */
typedef struct refine_job {
  const pc_view *view;
  size_t part_count;
  pc_coarse **curves;         /* by part */
  pc_coarse_targets *targets; /* by part; none in parts of which nothing is wanted */
  pc_coarse_tally *tallies;   /* worker by worker, part by part */
  pc_columns *columns;        /* by worker */
} refine_job;

typedef struct refine_state {
  const pcal_env *env;
  refine_job *jobs;
  size_t count;
  size_t workers;
} refine_state;

static void refine_job_free(const pcal_env *env, refine_job *job, size_t workers) {
  for (size_t t = 0; job->tallies != NULL && t < workers * job->part_count; t++)
    pc_coarse_tally_free(&job->tallies[t]);
  for (size_t w = 0; job->columns != NULL && w < workers; w++)
    pc_columns_free(env, &job->columns[w]);
  for (size_t p = 0; job->targets != NULL && p < job->part_count; p++)
    pc_coarse_targets_free(&job->targets[p]);
  pc_free(env, job->tallies);
  pc_free(env, job->columns);
  pc_free(env, job->targets);
  pc_free(env, job->curves);
}

static void refine_free(refine_state *state) {
  for (size_t j = 0; state->jobs != NULL && j < state->count; j++)
    refine_job_free(state->env, &state->jobs[j], state->workers);
  pc_free(state->env, state->jobs);
}

/* What the metrics on a slot have yet to know of a curve: marked segments, and cells of a
 * level. */
static pcal_status refine_wants(const pcal_measure *measure, size_t slot,
                                const pc_curve_table *table, uint8_t *wanted, size_t *wants,
                                unsigned *level, pcal_error *err) {
  *wants = *level = 0;
  for (size_t e = 0; e < measure->plan.entry_count; e++) {
    const pc_plan_entry *entry = &measure->plan.entries[e];
    unsigned asked = 0;
    if (entry->slot != slot)
      continue;
    if (entry->metric->wants != NULL)
      *wants += entry->metric->wants(&entry->options, table, wanted);
    if (entry->metric->cells != NULL)
      PC_TRY(entry->metric->cells(&entry->options, table, &measure->env, &asked, err));
    *level = asked > *level ? asked : *level;
  }
  if (*level == PC_EACH_SCORE)
    *wants += pc_point_masses_wants(table, PC_EACH_SCORE, wanted);
  return PCAL_OK;
}

/* Asks the metrics on a slot about one part, and aims at what they want: first at cells, since
 * all scores lie in some. */
static pcal_status refine_ask(const pcal_measure *measure, size_t slot, const pc_coarse *curve,
                              size_t parts, pc_coarse_targets *targets, pcal_error *err) {
  const pcal_env *env = &measure->env;
  pc_curve_table table;
  size_t wants = 0;
  unsigned level = 0;
  PC_TRY(pc_coarse_table(curve, &table, err));
  uint8_t *wanted = pc_alloc(env, curve->count, 1);
  pcal_status status = wanted == NULL ? pc_fail_memory(err, "refining a curve") : PCAL_OK;
  if (status == PCAL_OK)
    status = refine_wants(measure, slot, &table, wanted, &wants, &level, err);
  if (status == PCAL_OK && level > 0 && level != PC_EACH_SCORE)
    status = pc_coarse_aim_cells(curve, level, targets, err);
  else if (status == PCAL_OK && wants > 0)
    status = pc_coarse_aim(curve, wanted, PC_COARSE_KEEP / parts, targets, err);
  pc_free(env, wanted);
  pc_curve_table_free(env, &table);
  return status;
}

/* A job for a slot; it stays on the list when the metrics want anything. */
static pcal_status refine_slot(const pcal_measure *measure, size_t slot, void *opaque,
                               refine_state *state, pcal_error *err) {
  const pcal_env *env = state->env;
  const pc_plan *plan = &measure->plan;
  refine_job *job = &state->jobs[state->count++];
  size_t aimed = 0;
  job->view = &plan->slots[slot].need.view;
  job->part_count = pc_view_parts(job->view, &plan->layout);
  job->curves = pc_alloc(env, job->part_count, sizeof *job->curves);
  job->targets = pc_alloc(env, job->part_count, sizeof *job->targets);
  if (job->curves == NULL || job->targets == NULL)
    return pc_fail_memory(err, "refining a curve");
  for (size_t p = 0; p < job->part_count; p++) {
    PC_TRY(pc_machine_coarse_curve(env, opaque, p, &job->curves[p], err));
    PC_TRY(refine_ask(measure, slot, job->curves[p], job->part_count, &job->targets[p], err));
    aimed += job->targets[p].count;
  }
  if (aimed == 0) {
    refine_job_free(env, job, state->workers);
    *job = (refine_job){0};
    state->count--;
  }
  return PCAL_OK;
}

static pcal_status refine_prepare(refine_state *state, const pc_layout *layout,
                                  pcal_error *err) {
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    job->tallies = pc_alloc(state->env, state->workers * job->part_count, sizeof *job->tallies);
    job->columns = pc_alloc(state->env, state->workers, sizeof *job->columns);
    if (job->tallies == NULL || job->columns == NULL)
      return pc_fail_memory(err, "refining a curve");
    for (size_t t = 0; t < state->workers * job->part_count; t++)
      PC_TRY(pc_coarse_tally_new(state->env, &job->targets[t % job->part_count],
                                 &job->tallies[t], err));
    for (size_t w = 0; w < state->workers; w++)
      PC_TRY(
          pc_columns_new(state->env, job->view, pc_chunk_rows(layout), &job->columns[w], err));
  }
  return PCAL_OK;
}

static pcal_status refine_chunk(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  refine_state *state = user;
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    pc_view_fill(job->view, rows, &job->columns[w]);
    PC_TRY(pc_machine_coarse_add(job->tallies + w * job->part_count, job->view, rows,
                                 &job->columns[w], err));
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
    for (size_t p = 0; p < job->part_count; p++) {
      pc_coarse_tally *first = &job->tallies[p];
      for (size_t w = 1; w < state->workers; w++) {
        pc_coarse_tally *other = &job->tallies[w * job->part_count + p];
        PC_TRY(pc_coarse_tally_prepare(first, other, err));
        pc_coarse_tally_merge(first, other);
        pc_coarse_tally_free(other);
      }
      if (job->targets[p].count > 0)
        PC_TRY(pc_coarse_refine(job->curves[p], first, err));
    }
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
  for (size_t s = 0; account != NULL && s < plan->slot_count && status == PCAL_OK; s++)
    if (plan->slots[s].machine == &pc_machine_coarse)
      status = refine_slot(measure, s, account->states[s], &state, err);
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
