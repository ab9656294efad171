#include "base/executor.h"
#include "machines/machine_curve_buckets.h"
#include "measure/refine_ask.h"
#include "measure/refine_jobs.h"

#define REFINE_TALLIES_PART_COST 2e4 /* nanoseconds per part, for the executor */

/* ---- adding rows ---- */

/* Room for the sums of curves that are only counted. */
static pcal_status refine_tallies_open_sums(const pc_refine_jobs *jobs, pc_refine_job *job,
                                            pcal_error *err) {
  if (!job->counted_only)
    return PCAL_OK;
  PC_TRY(pc_class_segments_new(jobs->env, job->part_count, job->curves, job->targets,
                               &job->segments, err));
  job->sums = pc_alloc(jobs->env, jobs->workers, sizeof *job->sums);
  if (job->sums == NULL)
    return pc_fail_memory(err, "refining a curve");
  for (size_t w = 0; w < jobs->workers; w++)
    PC_TRY(pc_class_sums_new(jobs->env, &job->segments, &job->sums[w], err));
  return PCAL_OK;
}

pcal_status pc_refine_jobs_open(pc_refine_jobs *jobs, pcal_error *err) {
  for (size_t j = 0; j < jobs->count; j++) {
    pc_refine_job *job = &jobs->list[j];
    job->tallies = pc_alloc(jobs->env, jobs->workers * job->part_count, sizeof *job->tallies);
    if (job->tallies == NULL)
      return pc_fail_memory(err, "refining a curve");
    for (size_t t = 0; t < jobs->workers * job->part_count; t++)
      PC_TRY(pc_bucket_tally_new(job->part_count > 1 ? &jobs->alone : jobs->env,
                                 &job->targets[t % job->part_count], &job->tallies[t], err));
    PC_TRY(refine_tallies_open_sums(jobs, job, err));
  }
  return PCAL_OK;
}

void pc_refine_columns_free(const pcal_env *env, pc_refine_columns *columns) {
  for (size_t c = 0; columns->list != NULL && c < columns->view_count * columns->worker_count;
       c++)
    pc_view_columns_free(env, &columns->list[c]);
  pc_free(env, columns->list);
  *columns = (pc_refine_columns){0};
}

pcal_status pc_refine_columns_new(const pcal_measure *measure, pc_refine_columns *out,
                                  pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  *out = (pc_refine_columns){.view_count = plan->view_count,
                             .worker_count = measure->pass.worker_count};
  out->list = pc_alloc(&measure->env, out->view_count * out->worker_count, sizeof *out->list);
  pcal_status status = out->list == NULL ? pc_fail_memory(err, "refining a curve") : PCAL_OK;
  for (size_t s = 0; s < plan->slot_count; s++)
    for (size_t w = 0; w < out->worker_count && status == PCAL_OK; w++)
      if (pc_machine_has_buckets(plan->slots[s].machine)) /* the only such slot of its view */
        status = pc_view_columns_new(
            &measure->env, &plan->slots[s].need.view, pc_chunk_rows(&plan->layout),
            &out->list[w * out->view_count + plan->slots[s].view], err);
  if (status != PCAL_OK)
    pc_refine_columns_free(&measure->env, out);
  return status;
}

/* True if some curve from part `first` on has targets. */
static int refine_tallies_wanted(const pc_refine_job *job, size_t first) {
  for (size_t p = first; p < first + job->view_parts; p++)
    if (job->targets[p].count > 0 || job->targets[p].point_count > 0)
      return 1;
  return 0;
}

pcal_status pc_refine_jobs_add(pc_refine_jobs *jobs, size_t w, const pc_rows *rows,
                               pc_refine_columns *columns, pcal_error *err) {
  for (size_t j = 0; j < jobs->count; j++) {
    pc_refine_job *job = &jobs->list[j];
    pc_bucket_tally *tallies = job->tallies + w * job->part_count;
    pc_view_columns *view =
        &columns->list[w * columns->view_count + jobs->measure->plan.slots[job->slot].view];
    if (job->added)
      continue;
    if (job->counted_only) {
      PC_TRY(pc_class_sums_add(&job->sums[w], rows, tallies, err));
      continue;
    }
    pc_view_fill(job->view, rows, view);
    for (size_t first = 0; first < job->part_count; first += job->view_parts)
      if (refine_tallies_wanted(job, first))
        PC_TRY(pc_machine_curve_buckets_add(tallies + first, job->view, rows, view, err));
  }
  return PCAL_OK;
}

/* ---- collecting ---- */

/* The user data of the tasks below: one for each part. */
typedef struct refine_tallies_work {
  pc_refine_jobs *jobs;
  pc_refine_job *job;
} refine_tallies_work;

static pcal_status refine_tallies_collect(void *user, size_t part, size_t worker,
                                          pcal_error *err) {
  const refine_tallies_work *work = user;
  pc_bucket_tally *first = &work->job->tallies[part];
  (void)worker;
  for (size_t w = 1; w < work->jobs->workers; w++) {
    pc_bucket_tally *other = &work->job->tallies[w * work->job->part_count + part];
    PC_TRY(pc_bucket_tally_prepare(first, other, err));
    pc_bucket_tally_merge(first, other);
    pc_bucket_tally_free(other);
  }
  return PCAL_OK;
}

/* Gives the curve of one part what the pass has found. */
static pcal_status refine_tallies_absorb(void *user, size_t part, size_t worker,
                                         pcal_error *err) {
  const refine_tallies_work *work = user;
  const pc_refine_job *job = work->job;
  pc_bucket_curve *curve = job->curves[part];
  (void)worker;
  for (size_t w = 0; job->counted_only && w < work->jobs->workers; w++)
    pc_class_sums_read(&job->sums[w], part, curve);
  curve->counted_only = 0;
  if (job->targets[part].count > 0)
    PC_TRY(pc_bucket_curve_refine(curve, &job->tallies[part], err));
  PC_TRY(pc_bucket_curve_take_logits(curve, &job->tallies[part], err));
  return job->counted_only ? pc_refine_compact(work->jobs->measure, job->slot, curve, err)
                           : PCAL_OK;
}

typedef pcal_status (*refine_tallies_task)(void *user, size_t part, size_t worker,
                                           pcal_error *err);

static pcal_status refine_tallies_each(pc_refine_jobs *jobs, refine_tallies_task task,
                                       pcal_error *err) {
  for (size_t j = 0; j < jobs->count; j++) {
    refine_tallies_work work = {jobs, &jobs->list[j]};
    const size_t parts = work.job->part_count;
    PC_TRY(parts == 1 ? task(&work, 0, 0, err)
                      : pc_run(jobs->env, parts, REFINE_TALLIES_PART_COST * (double)parts, task,
                               &work, err));
  }
  return PCAL_OK;
}

pcal_status pc_refine_jobs_collect(pc_refine_jobs *jobs, pcal_error *err) {
  return refine_tallies_each(jobs, refine_tallies_collect, err);
}

pcal_status pc_refine_jobs_absorb(pc_refine_jobs *jobs, pcal_error *err) {
  return refine_tallies_each(jobs, refine_tallies_absorb, err);
}
