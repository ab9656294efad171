#include "measure/refine_curves.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "curve/class_sums.h"
#include "curve/point_masses.h"
#include "io/source.h"
#include "kernels/sort.h"
#include "machines/grid_from_curve.h"
#include "machines/grid_shared.h"
#include "machines/machine_curve_buckets.h"

#define REFINE_SCAN_ROWS 65536
#define REFINE_SCAN_COST 2.0 /* nanoseconds per row, for the executor */
#define REFINE_PART_COST 2e4 /* nanoseconds per part */
/* Scores of all classes that a later pass stores, if the first one has only counted them. */
#define REFINE_CLASS_KEPT_MAX ((size_t)1 << 22)

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

void pc_measure_plan_use_buckets(pc_measure_plan *plan, int rows, int classes, int pooled,
                                 pcal_type type) {
  for (size_t s = 0; s < plan->slot_count; s++) {
    const int32_t kind = plan->slots[s].need.view.kind;
    const int many = kind == PC_VIEW_CLASSES ? classes : kind == PC_VIEW_POOLED ? pooled : rows;
    if (many && refine_can(plan, s))
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
  int counted_only;           /* the curves are; then: */
  pc_class_segments segments;
  pc_class_sums *sums; /* by worker */
} refine_job;

typedef struct refine_state {
  const pcal_env *env;
  pcal_env alone; /* the same with a single thread, for tasks */
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
  for (size_t w = 0; job->sums != NULL && w < workers; w++)
    pc_class_sums_free(&job->sums[w]);
  pc_class_segments_free(&job->segments);
  pc_free(env, job->sums);
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
  const pc_refine_request wish = {
      .wanted = asked->wanted,
      .ends = ends,
      .end_count = end_count,
      .keep_limit =
          (curve->counted_only ? REFINE_CLASS_KEPT_MAX : PC_REFINE_KEPT_MAX) / job->part_count,
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
  if (job->curves[part]->counted_only)
    pc_bucket_curve_merge(job->curves[part], wish.wanted);
  if (status == PCAL_OK)
    status = refine_target_part(state, job, part, &wish, ends, end_count, err);
  pc_free(state->env, wish.wanted);
  return status;
}

/* The targets of the parts of a slot; the user data of refine_target_task. */
typedef struct refine_targeting {
  const refine_state *state;
  refine_job *job;
  const double *ends;
  size_t end_count;
} refine_targeting;

static pcal_status refine_target_task(void *user, size_t p, size_t worker, pcal_error *err) {
  const refine_targeting *all = user;
  refine_job *job = all->job;
  (void)worker;
  PC_TRY(pc_machine_curve_buckets_part(all->state->env, all->state->group->slots[job->slot], p,
                                       &job->curves[p], err));
  return refine_target(all->state, job, p, all->ends, all->end_count, err);
}

static pcal_status refine_target_slot(const refine_state *state, refine_job *job,
                                      pcal_error *err) {
  double *ends = NULL;
  refine_targeting all = {.state = state, .job = job};
  PC_TRY(refine_ends(state, job->slot, &ends, &all.end_count, err));
  all.ends = ends;
  const size_t parts = job->part_count;
  const pcal_status status =
      pc_run(parts == 1 ? &state->alone : state->env, parts, REFINE_PART_COST * (double)parts,
             refine_target_task, &all, err);
  pc_free(state->env, ends);
  return status;
}

/* True if some part is not exact. */
static int refine_job_needed(const refine_job *job) {
  for (size_t p = 0; p < job->part_count; p++)
    if (job->targets[p].count > 0 || job->counted_only)
      return 1;
  return 0;
}

/* Adds a job for a slot, unless all its parts are exact. */
static pcal_status refine_slot(refine_state *state, size_t slot, pcal_type type,
                               pcal_error *err) {
  const pc_measure_plan *plan = &state->measure->plan;
  refine_job *job = &state->jobs[state->count++];
  *job = (refine_job){.slot = slot, .view = &plan->slots[slot].need.view};
  job->stored = refine_stored(&plan->layout, job->view);
  job->all_float32 = job->stored && type == PCAL_F32;
  job->part_count = pc_view_parts(job->view, &plan->layout);
  job->curves = pc_alloc(state->env, job->part_count, sizeof *job->curves);
  job->targets = pc_alloc(state->env, job->part_count, sizeof *job->targets);
  if (job->curves == NULL || job->targets == NULL)
    return pc_fail_memory(err, "refining a curve");
  PC_TRY(refine_target_slot(state, job, err));
  job->counted_only = job->part_count > 0 && job->curves[0]->counted_only;
  if (!refine_job_needed(job)) {
    refine_job_free(state->env, job, state->workers);
    state->count--;
  }
  return PCAL_OK;
}

/* Room for the sums of curves that are only counted. */
static pcal_status refine_prepare_sums(const refine_state *state, refine_job *job,
                                       pcal_error *err) {
  if (!job->counted_only)
    return PCAL_OK;
  PC_TRY(pc_class_segments_new(state->env, job->part_count, job->curves, job->targets,
                               &job->segments, err));
  job->sums = pc_alloc(state->env, state->workers, sizeof *job->sums);
  if (job->sums == NULL)
    return pc_fail_memory(err, "refining a curve");
  for (size_t w = 0; w < state->workers; w++)
    PC_TRY(pc_class_sums_new(state->env, &job->segments, &job->sums[w], err));
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
      PC_TRY(pc_bucket_tally_new(job->part_count > 1 ? &state->alone : state->env,
                                 &job->targets[t % job->part_count], &job->tallies[t], err));
    for (size_t w = 0; w < state->workers; w++)
      PC_TRY(pc_view_columns_new(state->env, job->view, rows, &job->columns[w], err));
    PC_TRY(refine_prepare_sums(state, job, err));
  }
  return PCAL_OK;
}

/* ---- reading ---- */

static pcal_status refine_chunk(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  refine_state *state = user;
  for (size_t j = 0; j < state->count; j++) {
    refine_job *job = &state->jobs[j];
    if (job->counted_only) {
      PC_TRY(pc_class_sums_add(&job->sums[w], rows, job->tallies + w * job->part_count, err));
      continue;
    }
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
  pass->lazy_labels = *labels;
  if (!refine_scannable(state, batch))
    return pc_pass_batch(pass, batch, &counts, err);
  return pc_run(state->env, (batch->rows - 1) / REFINE_SCAN_ROWS + 1,
                REFINE_SCAN_COST * (double)batch->rows, refine_scan_task, &scan, err);
}

static pcal_status refine_windows(refine_state *state, pc_pass *pass, pcal_source *source,
                                  size_t window, pcal_error *err) {
  for (uint64_t done = 0;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    pc_lazy_labels lazy_labels;
    PC_TRY(pc_source_next_lazy(source, window, &batch, &lazy_labels, err));
    if (batch.rows == 0)
      return PCAL_OK;
    PC_TRY(refine_batch(state, pass, &batch, &lazy_labels, err));
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

/* Joins the segments of a curve that no metric would miss: of the scores that a pass has stored,
 * only those at the ends of bins. */
static pcal_status refine_compact(const refine_state *state, const refine_job *job, size_t part,
                                  pcal_error *err) {
  pc_bucket_curve *curve = job->curves[part], merged = *curve;
  const size_t bytes = curve->count * sizeof *curve->segments;
  refine_need wish = {pc_alloc(state->env, 2 * curve->count, 1), 0, 0};
  merged.segments = pc_alloc_raw(state->env, bytes, 1);
  pcal_status status = wish.wanted == NULL || merged.segments == NULL
                           ? pc_fail_memory(err, "refining a curve")
                           : PCAL_OK;
  for (size_t i = 0; status == PCAL_OK && i < curve->count; i++) {
    merged.segments[i] = curve->segments[i];
    if (merged.segments[i].low == merged.segments[i].high) /* only open segments are wanted */
      merged.segments[i].high = nextafter(merged.segments[i].high, INFINITY);
  }
  pc_curve_table table = pc_bucket_curve_table(&merged);
  if (status == PCAL_OK)
    status = refine_ask(state->measure, job->slot, &table, &wish, err);
  if (status == PCAL_OK) {
    memcpy(merged.segments, curve->segments, bytes);
    pc_bucket_curve_merge(&merged, wish.wanted);
    table = pc_bucket_curve_table(&merged);
    wish = (refine_need){wish.wanted + curve->count, 0, 0};
    status = refine_ask(state->measure, job->slot, &table, &wish, err);
    wish.wanted -= curve->count;
  }
  if (status == PCAL_OK && wish.wants == 0 && wish.level == 0) {
    memcpy(curve->segments, merged.segments, merged.count * sizeof *curve->segments);
    curve->count = merged.count;
    status = pc_bucket_curve_shrink(curve, err);
  }
  pc_free(state->env, merged.segments);
  pc_free(state->env, wish.wanted);
  return status;
}

/* Gives the curve of one part what the pass has found. */
static pcal_status refine_collect_part(const refine_state *state, const refine_job *job,
                                       size_t part, pcal_error *err) {
  pc_bucket_curve *curve = job->curves[part];
  pc_bucket_tally *first = &job->tallies[part];
  for (size_t w = 1; w < state->workers; w++) {
    pc_bucket_tally *other = &job->tallies[w * job->part_count + part];
    PC_TRY(pc_bucket_tally_prepare(first, other, err));
    pc_bucket_tally_merge(first, other);
    pc_bucket_tally_free(other);
  }
  for (size_t w = 0; job->counted_only && w < state->workers; w++)
    pc_class_sums_read(&job->sums[w], part, curve);
  curve->counted_only = 0;
  if (job->targets[part].count > 0)
    PC_TRY(pc_bucket_curve_refine(curve, first, err));
  return job->counted_only ? refine_compact(state, job, part, err) : PCAL_OK;
}

/* The user data of refine_collect_task. */
typedef struct refine_collecting {
  const refine_state *state;
  const refine_job *job;
} refine_collecting;

static pcal_status refine_collect_task(void *user, size_t part, size_t worker,
                                       pcal_error *err) {
  const refine_collecting *all = user;
  (void)worker;
  return refine_collect_part(all->state, all->job, part, err);
}

static pcal_status refine_collect(refine_state *state, pcal_error *err) {
  for (size_t j = 0; j < state->count; j++) {
    refine_collecting all = {state, &state->jobs[j]};
    const size_t parts = all.job->part_count;
    PC_TRY(parts == 1 ? refine_collect_part(state, all.job, 0, err)
                      : pc_run(state->env, parts, REFINE_PART_COST * (double)parts,
                               refine_collect_task, &all, err));
  }
  return PCAL_OK;
}

/* One more pass over the source if any curve is not exact; *more: true if there was one. */
static pcal_status refine_once(const pcal_measure *measure, const pc_group_state *group,
                               pcal_source *source, size_t window, int *more, pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  pcal_shape shape = {.size = sizeof shape};
  refine_state state = {.env = &measure->env,
                        .alone = measure->env,
                        .measure = measure,
                        .group = group,
                        .workers = measure->pass.worker_count};
  state.alone.threads = 1;
  state.alone.pool = NULL;
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
