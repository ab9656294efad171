#include "measure/refine_curves.h"

#include "base/executor.h"
#include "curve/point_masses.h"
#include "io/source.h"
#include "kernels/sort.h"
#include "machines/grid_from_curve.h"
#include "machines/grid_shared.h"
#include "machines/machine_curve_buckets.h"

#define REFINE_SCAN_ROWS 65536
#define REFINE_SCAN_COST 2.0 /* nanoseconds per row, for the executor */

/* ---- which slots use buckets ---- */

static int refine_can(const pc_measure_plan *plan, size_t slot) {
  return plan->slots[slot].need.machine == PC_CURVE && pc_measure_plan_can_refine(plan, slot);
}

/* True if the scores of a view are the stored ones. */
static int refine_stored(const pc_layout *layout, const pc_view *view) {
  return layout->columns == 1 && layout->kind != PCAL_LOGIT && !view->by_label &&
         !pc_view_is_every_class(view) &&
         (layout->classes == 1 || (view->kind == PC_VIEW_CLASS && view->index == 1));
}

/* The slot of a bucket curve that can fill a grid, or PC_NO_SLOT. */
static size_t refine_curve_for(const pc_measure_plan *plan, const pc_plan_slot *grid,
                               pcal_type type) {
  if (type != PCAL_F32 || !pc_grid_can_fill_from_curve(&grid->need) ||
      !refine_stored(&plan->layout, &grid->need.view))
    return PC_NO_SLOT;
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].machine == &pc_machine_curve_buckets &&
        plan->slots[s].view == grid->view)
      return s;
  return PC_NO_SLOT;
}

static int refine_needs_stored(const pc_measure_plan *plan, const pc_plan_slot *slot) {
  return slot->curve != PC_NO_SLOT || (slot->machine == &pc_machine_curve_buckets &&
                                       refine_stored(&plan->layout, &slot->need.view));
}

void pc_measure_plan_use_buckets(pc_measure_plan *plan, int rows, int classes, pcal_type type) {
  for (size_t s = 0; s < plan->slot_count; s++) {
    const int every_class = pc_view_is_every_class(&plan->slots[s].need.view);
    if ((every_class ? classes : rows) && refine_can(plan, s))
      plan->slots[s].machine = &pc_machine_curve_buckets;
  }
  plan->stored_scores_only = 1;
  for (size_t s = 0; s < plan->slot_count; s++) {
    plan->slots[s].curve = refine_curve_for(plan, &plan->slots[s], type);
    plan->stored_scores_only &= refine_needs_stored(plan, &plan->slots[s]);
  }
}

/* ---- one pass ---- */

/* The curves of one slot in one pass. */
typedef struct refine_job {
  size_t slot;
  const pc_view *view;
  int stored;      /* the scores of the view are the stored ones */
  int all_float32; /* and they are float32 */
  size_t part_count;
  pc_bucket_curve **curves;   /* by part */
  pc_refine_targets *targets; /* by part; empty if the part is exact */
  pc_bucket_tally *tallies;   /* [worker][part] */
  pc_view_columns *columns;   /* by worker */
} refine_job;

typedef struct refine_state {
  const pcal_env *env;
  const pcal_measure *measure;
  const pc_group_state *group;
  refine_job *jobs;
  size_t count;
  size_t workers;
} refine_state;

static void refine_job_free(const pcal_env *env, refine_job *job, size_t workers) {
  for (size_t t = 0; job->tallies != NULL && t < workers * job->part_count; t++)
    pc_bucket_tally_free(&job->tallies[t]);
  for (size_t w = 0; job->columns != NULL && w < workers; w++)
    pc_view_columns_free(env, &job->columns[w]);
  for (size_t p = 0; job->targets != NULL && p < job->part_count; p++)
    pc_refine_targets_free(&job->targets[p]);
  pc_free(env, job->tallies);
  pc_free(env, job->columns);
  pc_free(env, job->targets);
  pc_free(env, job->curves);
  *job = (refine_job){0};
}

static void refine_free(refine_state *state) {
  for (size_t j = 0; state->jobs != NULL && j < state->count; j++)
    refine_job_free(state->env, &state->jobs[j], state->workers);
  pc_free(state->env, state->jobs);
}

/* ---- targets ---- */

/* The cell ends of all grids that a curve fills, ascending and distinct.  The caller frees
 * *out. */
static pcal_status refine_ends(const refine_state *state, size_t slot, double **out,
                               size_t *count, pcal_error *err) {
  const pc_measure_plan *plan = &state->measure->plan;
  size_t total = 0, filled = 0;
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].curve == slot)
      total += pc_grid_cell_ends(state->group->slots[s], NULL);
  double *ends = pc_alloc_raw(state->env, 2 * total, sizeof *ends);
  if (ends == NULL)
    return pc_fail_memory(err, "refining a curve");
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].curve == slot)
      filled += pc_grid_cell_ends(state->group->slots[s], ends + filled);
  pc_sort(ends, ends + total, total);
  *count = 0;
  for (size_t i = 0; i < total; i++)
    if (i == 0 || ends[i] != ends[i - 1])
      ends[(*count)++] = ends[i];
  *out = ends;
  return PCAL_OK;
}

/* The parts of a curve that the metrics on a slot still need. */
typedef struct refine_need {
  uint8_t *wanted; /* by segment: true if it must be known score by score */
  size_t wants;    /* number of marked segments */
  unsigned level;  /* of cells; 0: no cells, PC_EACH_SCORE: every score */
} refine_need;

/* Asks all metrics on a slot. */
static pcal_status refine_ask(const pcal_measure *measure, size_t slot,
                              const pc_curve_table *table, refine_need *wish, pcal_error *err) {
  for (size_t e = 0; e < measure->plan.entry_count; e++) {
    const pc_plan_entry *entry = &measure->plan.entries[e];
    unsigned asked = 0;
    if (entry->slot != slot)
      continue;
    if (entry->metric->wants != NULL)
      wish->wants += entry->metric->wants(&entry->options, table, wish->wanted);
    if (entry->metric->cells != NULL)
      PC_TRY(entry->metric->cells(&entry->options, table, &measure->env, &asked, err));
    wish->level = asked > wish->level ? asked : wish->level;
  }
  if (wish->level == PC_EACH_SCORE)
    wish->wants += pc_point_masses_wants(table, PC_EACH_SCORE, wish->wanted);
  return PCAL_OK;
}

/* Sets the targets of a part.  Cells come first, since they cover all scores. */
static pcal_status refine_target_part(const refine_state *state, refine_job *job, size_t part,
                                      const refine_need *asked, const double *ends,
                                      size_t end_count, pcal_error *err) {
  const pc_bucket_curve *curve = job->curves[part];
  const pc_refine_request wish = {.wanted = asked->wanted,
                                  .ends = ends,
                                  .end_count = end_count,
                                  .keep_limit = PC_REFINE_KEPT_MAX / job->part_count,
                                  .all_float32 = job->all_float32,
                                  .workers = state->workers};
  if (asked->level > 0 && asked->level != PC_EACH_SCORE)
    return pc_bucket_curve_cell_targets(curve, asked->level, &job->targets[part], err);
  if (asked->wants == 0 && pc_bucket_curve_count_cut(curve, ends, end_count) == 0)
    return PCAL_OK;
  return pc_bucket_curve_targets(curve, &wish, &job->targets[part], err);
}

static pcal_status refine_target(const refine_state *state, refine_job *job, size_t part,
                                 const double *ends, size_t end_count, pcal_error *err) {
  const pc_curve_table table = pc_bucket_curve_table(job->curves[part]);
  refine_need wish = {pc_alloc(state->env, table.count, 1), 0, 0};
  if (wish.wanted == NULL)
    return pc_fail_memory(err, "refining a curve");
  pcal_status status = refine_ask(state->measure, job->slot, &table, &wish, err);
  if (status == PCAL_OK)
    status = refine_target_part(state, job, part, &wish, ends, end_count, err);
  pc_free(state->env, wish.wanted);
  return status;
}

static pcal_status refine_target_slot(const refine_state *state, refine_job *job,
                                      size_t *targets, pcal_error *err) {
  double *ends = NULL;
  size_t end_count = 0;
  PC_TRY(refine_ends(state, job->slot, &ends, &end_count, err));
  pcal_status status = PCAL_OK;
  for (size_t p = 0; p < job->part_count && status == PCAL_OK; p++) {
    status = pc_machine_curve_buckets_part(state->env, state->group->slots[job->slot], p,
                                           &job->curves[p], err);
    if (status == PCAL_OK)
      status = refine_target(state, job, p, ends, end_count, err);
    *targets += job->targets[p].count;
  }
  pc_free(state->env, ends);
  return status;
}

/* Adds a job for a slot, unless all its parts are exact. */
static pcal_status refine_slot(refine_state *state, size_t slot, pcal_type type,
                               pcal_error *err) {
  const pc_measure_plan *plan = &state->measure->plan;
  refine_job *job = &state->jobs[state->count++];
  size_t targets = 0;
  *job = (refine_job){.slot = slot, .view = &plan->slots[slot].need.view};
  job->stored = refine_stored(&plan->layout, job->view);
  job->all_float32 = job->stored && type == PCAL_F32;
  job->part_count = pc_view_parts(job->view, &plan->layout);
  job->curves = pc_alloc(state->env, job->part_count, sizeof *job->curves);
  job->targets = pc_alloc(state->env, job->part_count, sizeof *job->targets);
  if (job->curves == NULL || job->targets == NULL)
    return pc_fail_memory(err, "refining a curve");
  PC_TRY(refine_target_slot(state, job, &targets, err));
  if (targets == 0) {
    refine_job_free(state->env, job, state->workers);
    state->count--;
  }
  return PCAL_OK;
}

static pcal_status refine_prepare(refine_state *state, pcal_error *err) {
  const size_t rows = pc_chunk_rows(&state->measure->plan.layout);
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    job->tallies = pc_alloc(state->env, state->workers * job->part_count, sizeof *job->tallies);
    job->columns = pc_alloc(state->env, state->workers, sizeof *job->columns);
    if (job->tallies == NULL || job->columns == NULL)
      return pc_fail_memory(err, "refining a curve");
    for (size_t t = 0; t < state->workers * job->part_count; t++)
      PC_TRY(pc_bucket_tally_new(state->env, &job->targets[t % job->part_count],
                                 &job->tallies[t], err));
    for (size_t w = 0; w < state->workers; w++)
      PC_TRY(pc_view_columns_new(state->env, job->view, rows, &job->columns[w], err));
  }
  return PCAL_OK;
}

/* ---- reading ---- */

static pcal_status refine_chunk(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  refine_state *state = user;
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    pc_view_fill(job->view, rows, &job->columns[w]);
    PC_TRY(pc_machine_curve_buckets_add(job->tallies + w * job->part_count, job->view, rows,
                                        &job->columns[w], err));
  }
  return PCAL_OK;
}

/* A batch whose scores and labels are read in place. */
typedef struct refine_scan {
  refine_state *state;
  const pcal_batch *batch;
  const pc_lazy_labels *labels;
} refine_scan;

static pcal_status refine_scan_task(void *user, size_t index, size_t w, pcal_error *err) {
  const refine_scan *scan = user;
  const size_t begin = index * REFINE_SCAN_ROWS, left = scan->batch->rows - begin;
  const size_t count = left < REFINE_SCAN_ROWS ? left : REFINE_SCAN_ROWS;
  for (size_t j = 0; j < scan->state->count; j++)
    PC_TRY(pc_bucket_tally_scan_stored(&scan->state->jobs[j].tallies[w], scan->batch,
                                       scan->labels, begin, count, err));
  return PCAL_OK;
}

/* True if all jobs read stored scores, and the batch stores them contiguously. */
static int refine_scannable(const refine_state *state, const pcal_batch *batch) {
  for (size_t j = 0; j < state->count; j++)
    if (!state->jobs[j].stored)
      return 0;
  return pc_batch_has_stored_rows(batch);
}

static pcal_status refine_batch(refine_state *state, pc_pass *pass, const pcal_batch *batch,
                                const pc_lazy_labels *labels, pcal_error *err) {
  pc_row_counts counts;
  refine_scan scan = {state, batch, labels};
  pass->feed = *labels;
  if (!refine_scannable(state, batch))
    return pc_pass_batch(pass, batch, &counts, err);
  return pc_run(state->env, (batch->rows - 1) / REFINE_SCAN_ROWS + 1,
                REFINE_SCAN_COST * (double)batch->rows, refine_scan_task, &scan, err);
}

static pcal_status refine_windows(refine_state *state, pc_pass *pass, pcal_source *source,
                                  size_t window, pcal_error *err) {
  for (uint64_t done = 0;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    pc_lazy_labels feed;
    PC_TRY(pc_source_next_later(source, window, &batch, &feed, err));
    if (batch.rows == 0)
      return PCAL_OK;
    PC_TRY(refine_batch(state, pass, &batch, &feed, err));
    done += batch.rows;
    pc_progress(state->env, "refining", done, 0);
    PC_TRY(pc_check_interrupt(state->env, err));
  }
}

static pcal_status refine_read(refine_state *state, pcal_source *source, size_t window,
                               pcal_error *err) {
  pc_row_policy policy = state->measure->pass.policy;
  pc_pass pass;
  policy.need_log = 0;
  PC_TRY(pc_source_rewind(source, err));
  PC_TRY(pc_pass_init(&pass, state->env, &state->measure->plan.layout, &policy, refine_chunk,
                      state, err));
  const pcal_status status = refine_windows(state, &pass, source, window, err);
  pc_pass_free(&pass);
  return status;
}

static pcal_status refine_collect(refine_state *state, pcal_error *err) {
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    for (size_t p = 0; p < job->part_count; p++) {
      pc_bucket_tally *first = &job->tallies[p];
      for (size_t w = 1; w < state->workers; w++) {
        pc_bucket_tally *other = &job->tallies[w * job->part_count + p];
        PC_TRY(pc_bucket_tally_prepare(first, other, err));
        pc_bucket_tally_merge(first, other);
        pc_bucket_tally_free(other);
      }
      if (job->targets[p].count > 0)
        PC_TRY(pc_bucket_curve_refine(job->curves[p], first, err));
    }
  }
  return PCAL_OK;
}

/* One more pass over the source if any curve is not exact; *more: true if there was one. */
static pcal_status refine_once(const pcal_measure *measure, const pc_group_state *group,
                               pcal_source *source, size_t window, int *more, pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  pcal_shape shape = {.size = sizeof shape};
  refine_state state = {.env = &measure->env,
                        .measure = measure,
                        .group = group,
                        .workers = measure->pass.worker_count};
  pc_source_shape(source, &shape);
  state.jobs = pc_alloc(state.env, plan->slot_count, sizeof *state.jobs);
  pcal_status status = state.jobs == NULL ? pc_fail_memory(err, "refining a curve") : PCAL_OK;
  for (size_t s = 0; s < plan->slot_count && status == PCAL_OK; s++)
    if (plan->slots[s].machine == &pc_machine_curve_buckets)
      status = refine_slot(&state, s, shape.type, err);
  *more = state.count > 0;
  if (status == PCAL_OK && *more)
    status = refine_prepare(&state, err);
  if (status == PCAL_OK && *more)
    status = refine_read(&state, source, window, err);
  if (status == PCAL_OK && *more)
    status = refine_collect(&state, err);
  refine_free(&state);
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
