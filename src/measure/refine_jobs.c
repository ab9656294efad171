#include "measure/refine_jobs.h"

#include <string.h>

#include "base/executor.h"
#include "curve/point_masses.h"
#include "kernels/sort.h"
#include "machines/grid_from_curve.h"
#include "machines/machine_curve_buckets.h"
#include "measure/refine_ask.h"

#define REFINE_JOBS_PART_COST 2e4 /* nanoseconds per part, for the executor */
#define REFINE_JOBS_DEVICE_TALLIES 64
/* Scores of a device that a later pass stores: sorting more takes longer than another pass
 * there. */
#define REFINE_JOBS_DEVICE_KEPT_MAX ((size_t)1 << 15)
/* Scores of all classes that a later pass stores, if the first one has only counted them. */
#define REFINE_JOBS_CLASS_KEPT_MAX ((size_t)1 << 22)

int pc_refine_scores_stored(const pc_layout *layout, const pc_view *view) {
  return layout->columns == 1 && layout->kind != PCAL_LOGIT && !view->by_label &&
         !pc_view_is_every_class(view) &&
         (layout->classes == 1 || (view->kind == PC_VIEW_CLASS && view->index == 1));
}

static void refine_jobs_job_free(const pcal_env *env, pc_refine_job *job, size_t workers) {
  for (size_t t = 0; job->tallies != NULL && t < workers * job->part_count; t++)
    pc_bucket_tally_free(&job->tallies[t]);
  for (size_t p = 0; job->targets != NULL && p < job->part_count; p++)
    pc_refine_targets_free(&job->targets[p]);
  for (size_t w = 0; job->sums != NULL && w < workers; w++)
    pc_class_sums_free(&job->sums[w]);
  pc_class_segments_free(&job->segments);
  pc_free(env, job->sums);
  pc_free(env, job->tallies);
  pc_free(env, job->targets);
  pc_free(env, job->curves);
  *job = (pc_refine_job){0};
}

void pc_refine_jobs_free(pc_refine_jobs *jobs) {
  if (jobs->env == NULL)
    return;
  for (size_t j = 0; jobs->list != NULL && j < jobs->count; j++)
    refine_jobs_job_free(jobs->env, &jobs->list[j], jobs->workers);
  pc_free(jobs->env, jobs->list);
  *jobs = (pc_refine_jobs){0};
}

pcal_status pc_refine_jobs_new(const pcal_measure *measure, const pc_group_state *group,
                               pc_refine_jobs *out, pcal_error *err) {
  *out = (pc_refine_jobs){.env = &measure->env,
                          .alone = measure->env,
                          .measure = measure,
                          .group = group,
                          .workers = measure->pass.worker_count};
  out->alone.threads = 1;
  out->alone.pool = NULL;
  out->alone.progress = NULL; /* the caller's callbacks are for its own thread */
  out->alone.interrupted = NULL;
  out->list = pc_alloc(out->env, measure->plan.slot_count, sizeof *out->list);
  return out->list == NULL ? pc_fail_memory(err, "refining a curve") : PCAL_OK;
}

pcal_status pc_refine_jobs_add_slot(pc_refine_jobs *jobs, size_t slot, pc_refine_job **out,
                                    pcal_error *err) {
  const pc_measure_plan *plan = &jobs->measure->plan;
  pc_refine_job *job = &jobs->list[jobs->count++];
  *job = (pc_refine_job){.slot = slot, .view = &plan->slots[slot].need.view};
  job->stored = pc_refine_scores_stored(&plan->layout, job->view);
  job->view_parts = pc_view_parts(job->view, &plan->layout);
  job->part_count = job->view_parts * (pc_refine_asks_apart(plan, slot) ? 2 : 1);
  job->curves = pc_alloc(jobs->env, job->part_count, sizeof *job->curves);
  job->targets = pc_alloc(jobs->env, job->part_count, sizeof *job->targets);
  *out = job;
  return job->curves == NULL || job->targets == NULL ? pc_fail_memory(err, "refining a curve")
                                                     : PCAL_OK;
}

/* ---- targets ---- */

/* The cell ends of all grids that a curve fills, ascending and distinct.  The caller frees
 * *out. */
static pcal_status refine_jobs_ends(const pc_refine_jobs *jobs, size_t slot, double **out,
                                    size_t *count, pcal_error *err) {
  const pc_measure_plan *plan = &jobs->measure->plan;
  size_t total = 0, filled = 0;
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].curve == slot)
      total += pc_grid_cell_ends(jobs->group->slots[s], NULL);
  double *ends = pc_alloc_raw(jobs->env, 2 * total, sizeof *ends);
  if (ends == NULL)
    return pc_fail_memory(err, "refining a curve");
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].curve == slot)
      filled += pc_grid_cell_ends(jobs->group->slots[s], ends + filled);
  pc_sort(ends, ends + total, total);
  *count = 0;
  for (size_t i = 0; i < total; i++)
    if (i == 0 || ends[i] != ends[i - 1])
      ends[(*count)++] = ends[i];
  *out = ends;
  return PCAL_OK;
}

/* Bytes that one cell, one sub-bucket and one stored score of a tally take, at most with
 * 10^10 rows. */
#define REFINE_JOBS_CELL_BYTES 44
#define REFINE_JOBS_SPLIT_BYTES 34
#define REFINE_JOBS_KEPT_BYTES 9
#define REFINE_JOBS_WEIGHT_BYTES 3 /* more, of large weights */

static int refine_jobs_limited(const pc_refine_jobs *jobs, const pc_refine_job *job) {
  return jobs->tally_limit > 0 && job->view_parts == 1;
}

static size_t refine_jobs_kept_bytes(const pc_refine_jobs *jobs) {
  const pc_group_totals *totals = &jobs->group->totals;
  const int weighted = pc_sum_value(&totals->weight) != (double)totals->rows;
  return REFINE_JOBS_KEPT_BYTES + (weighted ? REFINE_JOBS_WEIGHT_BYTES : 0);
}

/* Bytes for the metrics without cells: half of all, or all if no cells are counted. */
static size_t refine_jobs_share(const pc_refine_jobs *jobs, int with_cells) {
  return jobs->tally_limit / (with_cells ? 2 : 1);
}

/* Scores that the pass may store for a part. */
static size_t refine_jobs_keep_limit(const pc_refine_jobs *jobs, const pc_refine_job *job,
                                     size_t part, int with_cells) {
  const size_t usual = job->curves[part]->counted_only        ? REFINE_JOBS_CLASS_KEPT_MAX
                       : jobs->measure->plan.scores_on_device ? REFINE_JOBS_DEVICE_KEPT_MAX
                                                              : PC_REFINE_KEPT_MAX;
  return refine_jobs_limited(jobs, job)
             ? refine_jobs_share(jobs, with_cells) / refine_jobs_kept_bytes(jobs)
             : (jobs->keep_limit == 0 ? usual : jobs->keep_limit) / job->view_parts;
}

/* Bytes that the tally of a part will have, about. */
static uint64_t refine_jobs_tally_bytes(const pc_refine_jobs *jobs, const pc_refine_job *job,
                                        size_t part) {
  const pc_refine_targets *targets = &job->targets[part];
  const uint64_t each = refine_jobs_kept_bytes(jobs);
  uint64_t bytes = REFINE_JOBS_SPLIT_BYTES * (uint64_t)targets->split;
  for (size_t t = 0; t < targets->count; t++)
    if (targets->list[t].action == PC_REFINE_KEEP)
      bytes += each * job->curves[part]->segments[targets->list[t].segment].rows;
  return bytes;
}

/* Cells that the pass may count for a part: for the bytes that metrics without cells leave. */
static size_t refine_jobs_cell_limit(const pc_refine_jobs *jobs, const pc_refine_job *job,
                                     size_t part) {
  if (jobs->cell_limit == 0)
    return SIZE_MAX;
  if (!refine_jobs_limited(jobs, job))
    return jobs->cell_limit;
  const uint64_t other = part < job->view_parts ? 0 : refine_jobs_tally_bytes(jobs, job, 0);
  const uint64_t most = jobs->tally_limit / 4 * 3;
  return (size_t)((jobs->tally_limit - (other < most ? other : most)) / REFINE_JOBS_CELL_BYTES);
}

/* Sub-buckets that it may count. */
static size_t refine_jobs_split_limit(const pc_refine_jobs *jobs, const pc_refine_job *job,
                                      int with_cells) {
  return refine_jobs_limited(jobs, job)
             ? refine_jobs_share(jobs, with_cells) / REFINE_JOBS_SPLIT_BYTES
             : 0;
}

/* Tallies among which sub-buckets are divided.  A device has one tally, but few sub-buckets are
 * fastest there: those that fit the shared memory of one block. */
static size_t refine_jobs_tallies(const pc_refine_jobs *jobs) {
  const int few =
      jobs->measure->plan.scores_on_device && jobs->workers < REFINE_JOBS_DEVICE_TALLIES;
  return few ? REFINE_JOBS_DEVICE_TALLIES : jobs->workers;
}

/* True if narrow cells were counted in a round before: what divides them must have squares too. */
static int refine_jobs_has_narrow_cells(const pc_refine_jobs *jobs,
                                        const pc_bucket_curve *curve) {
  for (size_t i = 0; jobs->cell_limit > 0 && i < curve->count; i++)
    if (curve->segments[i].squared && curve->segments[i].low < curve->segments[i].high)
      return 1;
  return 0;
}

static int refine_jobs_wants_cells(const pc_refine_need *wish) {
  return wish->level > 0 && wish->level != PC_EACH_SCORE;
}

/* What sets the targets of a part; cells: those of the slot are counted in the same pass. */
typedef struct refine_jobs_wish {
  pc_refine_need need;
  const double *ends;
  size_t end_count;
  int cells;
} refine_jobs_wish;

/* Sets the targets of a part.  Cells come first, since they cover all scores. */
static pcal_status refine_jobs_target_part(const pc_refine_jobs *jobs, pc_refine_job *job,
                                           size_t part, const refine_jobs_wish *asked,
                                           pcal_error *err) {
  const pc_bucket_curve *curve = job->curves[part];
  const pc_refine_request wish = {
      .wanted = asked->need.wanted,
      .ends = asked->ends,
      .end_count = asked->end_count,
      .keep_limit = refine_jobs_keep_limit(jobs, job, part, asked->cells),
      .split_limit = refine_jobs_split_limit(jobs, job, asked->cells),
      .all_float32 = job->all_float32,
      .workers = refine_jobs_tallies(jobs)};
  if (refine_jobs_wants_cells(&asked->need))
    return pc_bucket_curve_cell_targets(curve, asked->need.level,
                                        refine_jobs_cell_limit(jobs, job, part),
                                        &job->targets[part], err);
  if (asked->need.wants == 0 &&
      pc_bucket_curve_count_cut(curve, asked->ends, asked->end_count) == 0)
    return PCAL_OK;
  PC_TRY(pc_bucket_curve_targets(curve, &wish, &job->targets[part], err));
  if (refine_jobs_has_narrow_cells(jobs, curve))
    job->targets[part].level = PC_POINT_JOIN_LEVEL + 1;
  return PCAL_OK;
}

/* Adds points of logistic regressions to targets, of which there may be none. */
static pcal_status refine_jobs_add_points(const pc_refine_jobs *jobs,
                                          const pc_bucket_curve *curve,
                                          const pc_refine_need *wish,
                                          pc_refine_targets *targets, pcal_error *err) {
  if (targets->env == NULL)
    PC_TRY(pc_refine_targets_new(jobs->env, &curve->layout, 0, targets, err));
  targets->point_count = wish->point_count;
  memcpy(targets->points, wish->points, sizeof wish->points);
  return PCAL_OK;
}

/* Asks the metrics of a part; the caller frees the marks, also on failure. */
static pcal_status refine_jobs_ask_part(const pc_refine_jobs *jobs, const pc_refine_job *job,
                                        size_t part, pc_refine_need *out, pcal_error *err) {
  const pc_curve_table table = pc_bucket_curve_table(job->curves[part]);
  const pc_refine_whom whom = part >= job->view_parts             ? PC_REFINE_WITH_CELLS
                              : job->part_count > job->view_parts ? PC_REFINE_WITHOUT_CELLS
                                                                  : PC_REFINE_ALL;
  *out = (pc_refine_need){.wanted = pc_alloc(jobs->env, table.count, 1)};
  if (out->wanted == NULL)
    return pc_fail_memory(err, "refining a curve");
  PC_TRY(pc_refine_ask(jobs->measure, job->slot, whom, &table, out, err));
  if (job->curves[part]->counted_only)
    pc_bucket_curve_merge(job->curves[part], out->wanted);
  return PCAL_OK;
}

static pcal_status refine_jobs_target(const pc_refine_jobs *jobs, pc_refine_job *job,
                                      size_t part, const refine_jobs_wish *wish,
                                      pcal_error *err) {
  PC_TRY(refine_jobs_target_part(jobs, job, part, wish, err));
  return wish->need.point_count == 0
             ? PCAL_OK
             : refine_jobs_add_points(jobs, job->curves[part], &wish->need, &job->targets[part],
                                      err);
}

/* The targets of a part of the view: of its curve, then of the one for cells. */
static pcal_status refine_jobs_target_view(const pc_refine_jobs *jobs, pc_refine_job *job,
                                           size_t part, const double *ends, size_t end_count,
                                           pcal_error *err) {
  const size_t twin = job->part_count > job->view_parts ? part + job->view_parts : part;
  refine_jobs_wish wish = {.ends = ends, .end_count = end_count}, cells = {.ends = NULL};
  pcal_status status = refine_jobs_ask_part(jobs, job, part, &wish.need, err);
  if (status == PCAL_OK && twin != part)
    status = refine_jobs_ask_part(jobs, job, twin, &cells.need, err);
  wish.cells = refine_jobs_wants_cells(&cells.need);
  if (status == PCAL_OK)
    status = refine_jobs_target(jobs, job, part, &wish, err);
  if (status == PCAL_OK && twin != part)
    status = refine_jobs_target(jobs, job, twin, &cells, err);
  pc_free(jobs->env, wish.need.wanted);
  pc_free(jobs->env, cells.need.wanted);
  return status;
}

/* The targets of the parts of a slot; the user data of refine_jobs_target_task. */
typedef struct refine_jobs_targeting {
  const pc_refine_jobs *jobs;
  pc_refine_job *job;
  const double *ends;
  size_t end_count;
} refine_jobs_targeting;

static pcal_status refine_jobs_target_task(void *user, size_t p, size_t worker,
                                           pcal_error *err) {
  const refine_jobs_targeting *all = user;
  pc_refine_job *job = all->job;
  (void)worker;
  PC_TRY(pc_machine_curve_buckets_part(all->jobs->env, all->jobs->group->slots[job->slot], p,
                                       &job->curves[p], err));
  if (all->jobs->float16 && job->stored)
    pc_bucket_curve_close_float16(job->curves[p]);
  if (job->part_count > job->view_parts)
    PC_TRY(pc_machine_curve_buckets_cells(all->jobs->env, all->jobs->group->slots[job->slot], p,
                                          &job->curves[job->view_parts + p], err));
  return refine_jobs_target_view(all->jobs, job, p, all->ends, all->end_count, err);
}

static pcal_status refine_jobs_target_slot(const pc_refine_jobs *jobs, pc_refine_job *job,
                                           pcal_error *err) {
  double *ends = NULL;
  refine_jobs_targeting all = {.jobs = jobs, .job = job};
  PC_TRY(refine_jobs_ends(jobs, job->slot, &ends, &all.end_count, err));
  all.ends = ends;
  const size_t parts = job->view_parts;
  const pcal_status status =
      pc_run(parts == 1 ? &jobs->alone : jobs->env, parts,
             REFINE_JOBS_PART_COST * (double)parts, refine_jobs_target_task, &all, err);
  pc_free(jobs->env, ends);
  return status;
}

/* True if some part is not exact. */
static int refine_jobs_needed(const pc_refine_job *job) {
  for (size_t p = 0; p < job->part_count; p++)
    if (job->targets[p].count > 0 || job->targets[p].point_count > 0 || job->counted_only)
      return 1;
  return 0;
}

/* Adds a job for a slot, unless all its parts are exact. */
static pcal_status refine_jobs_slot(pc_refine_jobs *jobs, size_t slot, pcal_type type,
                                    pcal_error *err) {
  pc_refine_job *job = NULL;
  PC_TRY(pc_refine_jobs_add_slot(jobs, slot, &job, err));
  job->all_float32 = job->stored && type == PCAL_F32;
  PC_TRY(refine_jobs_target_slot(jobs, job, err));
  job->counted_only = job->part_count > 0 && job->curves[0]->counted_only;
  if (!refine_jobs_needed(job)) {
    refine_jobs_job_free(jobs->env, job, jobs->workers);
    jobs->count--;
  }
  return PCAL_OK;
}

uint64_t pc_refine_jobs_bytes(const pc_refine_jobs *jobs) {
  uint64_t bytes = 0;
  for (size_t j = 0; j < jobs->count; j++)
    for (size_t p = 0; p < jobs->list[j].part_count; p++)
      bytes += pc_refine_targets_bytes(&jobs->list[j].targets[p]);
  return bytes;
}

pcal_status pc_refine_jobs_ask(pc_refine_jobs *jobs, pcal_type type, pcal_error *err) {
  const pc_measure_plan *plan = &jobs->measure->plan;
  for (size_t s = 0; s < plan->slot_count; s++)
    if (pc_machine_has_buckets(plan->slots[s].machine) &&
        (jobs->byte_limit == 0 || pc_refine_jobs_bytes(jobs) < jobs->byte_limit))
      PC_TRY(refine_jobs_slot(jobs, s, type, err));
  return PCAL_OK;
}
