#include "measure/refine_curves.h"

#include "base/executor.h"
#include "io/source.h"
#include "machines/grid_from_curve.h"
#include "machines/grid_shared.h"
#include "machines/machine_curve_buckets.h"
#include "measure/classes_on_device.h"
#include "measure/refine_jobs.h"
#include "measure/refine_on_device.h"
#include "measure/results.h"

#define REFINE_SCAN_ROWS 65536
#define REFINE_SCAN_COST 2.0 /* nanoseconds per row, for the executor */

/* ---- which slots use buckets ---- */

static int refine_can(const pc_measure_plan *plan, size_t slot) {
  return plan->slots[slot].need.machine == PC_CURVE && pc_measure_plan_can_refine(plan, slot);
}

/* The slot of a bucket curve that can fill a grid, or PC_NO_SLOT. */
static size_t refine_curve_for(const pc_measure_plan *plan, const pc_plan_slot *grid) {
  if (!pc_grid_can_fill_from_curve(&grid->need) ||
      !pc_refine_scores_stored(&plan->layout, &grid->need.view))
    return PC_NO_SLOT;
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].machine == &pc_machine_curve_buckets &&
        plan->slots[s].view == grid->view)
      return s;
  return PC_NO_SLOT;
}

static int refine_needs_stored(const pc_measure_plan *plan, const pc_plan_slot *slot) {
  return slot->curve != PC_NO_SLOT ||
         (slot->machine == &pc_machine_curve_buckets &&
          pc_refine_scores_stored(&plan->layout, &slot->need.view));
}

void pc_measure_plan_use_buckets(pc_measure_plan *plan, int rows, int classes, int pooled,
                                 int fills_grids) {
  for (size_t s = 0; s < plan->slot_count; s++) {
    const int32_t kind = plan->slots[s].need.view.kind;
    const int many = kind == PC_VIEW_CLASSES ? classes : kind == PC_VIEW_POOLED ? pooled : rows;
    if (many && refine_can(plan, s))
      plan->slots[s].machine = &pc_machine_curve_buckets;
  }
  plan->stored_scores_only = 1;
  for (size_t s = 0; s < plan->slot_count; s++) {
    plan->slots[s].curve =
        fills_grids ? refine_curve_for(plan, &plan->slots[s]) : (size_t)PC_NO_SLOT;
    plan->stored_scores_only &= refine_needs_stored(plan, &plan->slots[s]);
  }
}

/* ---- one pass over a source ---- */

typedef struct refine_reading {
  pc_refine_jobs jobs;
  pc_refine_columns columns;
} refine_reading;

static pcal_status refine_chunk(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  refine_reading *state = user;
  return pc_refine_jobs_add(&state->jobs, w, rows, &state->columns, err);
}

/* A batch whose scores and labels are read in place. */
typedef struct refine_scan {
  refine_reading *state;
  const pcal_batch *batch;
  const pc_lazy_labels *labels;
} refine_scan;

static pcal_status refine_scan_task(void *user, size_t index, size_t w, pcal_error *err) {
  const refine_scan *scan = user;
  const size_t begin = index * REFINE_SCAN_ROWS, left = scan->batch->rows - begin;
  const size_t count = left < REFINE_SCAN_ROWS ? left : REFINE_SCAN_ROWS;
  for (size_t j = 0; j < scan->state->jobs.count; j++)
    PC_TRY(pc_bucket_tally_scan_stored(&scan->state->jobs.list[j].tallies[w], scan->batch,
                                       scan->labels, begin, count, err));
  return PCAL_OK;
}

/* True if all jobs read stored scores, and the batch stores them contiguously. */
static int refine_scannable(const refine_reading *state, const pcal_batch *batch) {
  for (size_t j = 0; j < state->jobs.count; j++)
    if (!state->jobs.list[j].stored)
      return 0;
  return pc_batch_has_stored_rows(batch);
}

/* Records that the rows of these slots are copied, for the results. */
static void refine_note_copy(const pc_refine_jobs *jobs) {
  for (size_t j = 0; j < jobs->count; j++)
    if (!jobs->list[j].added)
      jobs->measure->slot_uses[jobs->list[j].slot] |= PC_USE_COPY;
}

static pcal_status refine_batch(refine_reading *state, pc_pass *pass, const pcal_batch *batch,
                                const pc_lazy_labels *labels, pcal_error *err) {
  pc_row_counts counts;
  refine_scan scan = {state, batch, labels};
  int done = 0;
  PC_TRY(pc_refine_classes_on_device(&state->jobs, batch, labels, &done, err));
  if (done)
    return PCAL_OK;
  if (batch->device != NULL)
    refine_note_copy(&state->jobs);
  pass->lazy_labels = *labels;
  if (!refine_scannable(state, batch))
    return pc_pass_batch(pass, batch, &counts, err);
  return pc_run(state->jobs.env, (batch->rows - 1) / REFINE_SCAN_ROWS + 1,
                REFINE_SCAN_COST * (double)batch->rows, refine_scan_task, &scan, err);
}

static pcal_status refine_windows(refine_reading *state, pc_pass *pass, pcal_source *source,
                                  size_t window, pcal_error *err) {
  for (uint64_t done = 0;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    pc_lazy_labels lazy_labels;
    PC_TRY(pc_source_next_lazy(source, window, &batch, &lazy_labels, err));
    if (batch.rows == 0)
      return PCAL_OK;
    PC_TRY(refine_batch(state, pass, &batch, &lazy_labels, err));
    done += batch.rows;
    pc_progress(state->jobs.env, "refining", done, 0);
    PC_TRY(pc_check_interrupt(state->jobs.env, err));
  }
}

static pcal_status refine_read(refine_reading *state, pcal_source *source, size_t window,
                               pcal_error *err) {
  pc_row_policy policy = state->jobs.measure->pass.policy;
  pcal_shape shape = {.size = sizeof shape};
  pc_pass pass;
  int done = 0;
  pc_source_shape(source, &shape);
  PC_TRY(pc_refine_on_device(&state->jobs, shape.row_count, &done, err));
  if (done)
    return PCAL_OK;
  policy.need_log = 0;
  PC_TRY(pc_source_rewind(source, err));
  PC_TRY(pc_pass_init(&pass, state->jobs.env, &state->jobs.measure->plan.layout, &policy,
                      refine_chunk, state, err));
  const pcal_status status = refine_windows(state, &pass, source, window, err);
  pc_pass_free(&pass);
  return status;
}

/* One more pass over the source if any curve is not exact; *more: true if there was one. */
static pcal_status refine_once(const pcal_measure *measure, const pc_group_state *group,
                               pcal_source *source, size_t window, int *more, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  refine_reading state = {.columns = {0}};
  pc_source_shape(source, &shape);
  pcal_status status = pc_refine_jobs_new(measure, group, &state.jobs, err);
  state.jobs.float16 = pc_source_has_float16(source);
  if (status == PCAL_OK)
    status = pc_refine_jobs_ask(&state.jobs, shape.type, err);
  *more = state.jobs.count > 0;
  if (status == PCAL_OK && *more)
    status = pc_refine_jobs_open(&state.jobs, err);
  if (status == PCAL_OK && *more)
    status = pc_refine_columns_new(measure, &state.columns, err);
  if (status == PCAL_OK && *more)
    status = refine_read(&state, source, window, err);
  if (status == PCAL_OK && *more)
    status = pc_refine_jobs_collect(&state.jobs, err);
  if (status == PCAL_OK && *more)
    status = pc_refine_jobs_absorb(&state.jobs, err);
  pc_refine_columns_free(&measure->env, &state.columns);
  pc_refine_jobs_free(&state.jobs);
  return status;
}

static pcal_status refine_fill_grids(const pcal_measure *measure, const pc_group_state *group,
                                     pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  for (size_t s = 0; s < plan->slot_count; s++) {
    pc_bucket_curve *curve = NULL;
    if (plan->slots[s].shared_grid != PC_NO_SLOT)
      pc_grid_unshare(&measure->env, group->slots[plan->slots[s].shared_grid], group->slots[s]);
    if (plan->slots[s].curve == PC_NO_SLOT)
      continue;
    PC_TRY(pc_machine_curve_buckets_part(&measure->env, group->slots[plan->slots[s].curve], 0,
                                         &curve, err));
    pc_grid_fill_from_curve(group->slots[s], curve);
  }
  return PCAL_OK;
}

pcal_status pc_measure_refine_curves(pcal_measure *measure, pcal_source *source, size_t window,
                                     pcal_error *err) {
  const pc_group_state *group = pc_group_states_find(&measure->groups, 0);
  for (int more = group != NULL; more;)
    PC_TRY(refine_once(measure, group, source, window, &more, err));
  return group == NULL ? PCAL_OK : refine_fill_grids(measure, group, err);
}
