/* The first pass returns the number of rows in each bucket of each class; the second the sums
 * of the segments between edges, and the scores in segments that contain one
 * (curve/class_sums.h); later ones the scores in buckets of targets. */
#include "measure/classes_on_device.h"

#include "base/executor.h"
#include "device/device_curves.h"
#include "machines/machine_curve_buckets.h"
#include "measure/sums_on_device.h"

_Static_assert(PC_CLASS_CURVES_WANTED == PC_CLASS_WANTED, "segments are those of class_sums.h");

static pc_device_curves classes_request(size_t classes, int normalize) {
  pc_device_curves curves = {.normalize = normalize};
  curves.curves.rule = pc_class_bucket_rule_for(classes);
  curves.curves.buckets = (uint32_t)pc_class_bucket_count(&curves.curves.rule);
  return curves;
}

/* True if the device has kernels for the rows of a batch. */
static int classes_can(const pcal_batch *batch) {
  return pc_device_has_class_curves(batch->device, batch->type) &&
         pc_device_has_row_sums(batch->device, batch->kind, batch->type, batch->columns);
}

/* ---- first pass ---- */

static pcal_status classes_receive_counts(void *user, const uint32_t *counts, pcal_error *err) {
  return pc_machine_curve_buckets_join_counts(user, counts, err);
}

pcal_status pc_class_counts_on_device(const pcal_batch *batch, const pc_device_labels *labels,
                                      int normalize, void *state, int *done, pcal_error *err) {
  pc_device_curves curves = classes_request(batch->columns, normalize);
  const pc_device_curves_found found = {.counts = classes_receive_counts, .user = state};
  *done = 0;
  if (!classes_can(batch))
    return PCAL_OK;
  return pc_device_class_curves(batch->device, batch, labels, &curves, &found, done, err);
}

/* ---- second pass ---- */

/* The user data of what is received. */
typedef struct classes_job {
  const pc_refine_jobs *jobs;
  pc_refine_job *job;
} classes_job;

static pc_int128 classes_units(const uint64_t *words, size_t low) {
  return ((pc_int128)words[low + 1] << 32) + words[low];
}

static pcal_status classes_receive_words(void *user, const uint64_t *words, pcal_error *err) {
  const pc_refine_job *job = ((const classes_job *)user)->job;
  const pc_class_sums *sums = &job->sums[0];
  (void)err;
  for (size_t s = 0; s < job->segments.first[job->part_count];
       s++, words += PC_CLASS_CURVES_WORDS) {
    sums->score[s].units += classes_units(words, PC_CLASS_CURVES_SCORE);
    sums->hits[s].score.units += classes_units(words, PC_CLASS_CURVES_HIT);
    sums->hits[s].rows += words[PC_CLASS_CURVES_HITS];
  }
  return PCAL_OK;
}

/* Listed scores, which several threads add to the tallies: each has classes of its own. */
typedef struct classes_listing {
  const classes_job *job;
  const double *scores;
  const uint32_t *places;
  size_t count, tasks;
} classes_listing;

#define CLASSES_LISTED_COST 20.0 /* nanoseconds per score, for the executor */

static pcal_status classes_list_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const classes_listing *listing = user;
  const pc_refine_job *job = listing->job->job;
  (void)worker;
  for (size_t i = 0; i < listing->count; i++) {
    const size_t j = listing->places[i] / 2;
    const uint8_t hit = listing->places[i] % 2;
    const double score = listing->scores[i];
    if (j % listing->tasks != index)
      continue;
    PC_TRY(job->counted_only && job->segments.keeps[j]
               ? pc_bucket_tally_keep(&job->tallies[j], score, hit, err)
               : pc_bucket_tally_add(&job->tallies[j], &score, &hit, 1, err));
  }
  return PCAL_OK;
}

static pcal_status classes_receive_listed(void *user, const double *scores,
                                          const uint32_t *places, size_t count,
                                          pcal_error *err) {
  const classes_job *job = user;
  classes_listing listing = {job, scores, places, count, job->jobs->workers};
  return pc_run(job->jobs->env, listing.tasks, CLASSES_LISTED_COST * (double)count,
                classes_list_task, &listing, err);
}

static pcal_status classes_refine_counted(const pc_refine_jobs *jobs, pc_refine_job *job,
                                          const pcal_batch *batch,
                                          const pc_device_labels *labels, pcal_error *err) {
  classes_job user = {jobs, job};
  const pc_device_curves_found found = {
      .words = classes_receive_words, .listed = classes_receive_listed, .user = &user};
  pc_device_curves curves =
      classes_request(batch->columns, jobs->measure->pass.policy.normalize);
  uint32_t *first = pc_alloc_raw(jobs->env, job->part_count, sizeof *first);
  if (first == NULL)
    return pc_fail_memory(err, "refining a curve");
  for (size_t j = 0; j < job->part_count; j++)
    first[j] = (uint32_t)job->segments.first[j];
  curves.segment = job->segments.segment;
  curves.first = first;
  curves.segments = job->segments.first[job->part_count];
  const pcal_status status =
      pc_device_class_curves(batch->device, batch, labels, &curves, &found, &job->added, err);
  pc_free(jobs->env, first);
  return status;
}

/* ---- later passes ---- */

static pcal_status classes_ignore_words(void *user, const uint64_t *words, pcal_error *err) {
  (void)user;
  (void)words;
  (void)err;
  return PCAL_OK;
}

/* Marks the buckets of a class that a target overlaps. */
static void classes_mark(const pc_class_bucket_rule *rule, const pc_refine_targets *targets,
                         uint16_t *out) {
  const size_t buckets = pc_class_bucket_count(rule);
  size_t t = 0;
  for (size_t b = 0; b < buckets; b++) {
    while (t < targets->count && targets->list[t].high < pc_class_bucket_low(rule, b))
      t++;
    const int wanted =
        t < targets->count && targets->list[t].low <= pc_class_bucket_high(rule, b);
    out[b] = wanted ? PC_CLASS_WANTED : 0;
  }
}

/* The device lists the scores in buckets of targets; all else is left to the tallies. */
static pcal_status classes_refine_again(const pc_refine_jobs *jobs, pc_refine_job *job,
                                        const pcal_batch *batch, const pc_device_labels *labels,
                                        pcal_error *err) {
  classes_job user = {jobs, job};
  const pc_device_curves_found found = {
      .words = classes_ignore_words, .listed = classes_receive_listed, .user = &user};
  pc_device_curves curves =
      classes_request(batch->columns, jobs->measure->pass.policy.normalize);
  const size_t buckets = curves.curves.buckets, classes = job->part_count;
  uint16_t *segment = pc_alloc_raw(jobs->env, classes * buckets, sizeof *segment);
  uint32_t *first = pc_alloc(jobs->env, classes, sizeof *first);
  pcal_status status = PCAL_OK;
  if (segment == NULL || first == NULL)
    status = pc_fail_memory(err, "refining a curve");
  for (size_t j = 0; status == PCAL_OK && j < classes; j++)
    classes_mark(&curves.curves.rule, &job->targets[j], segment + j * buckets);
  curves.segment = segment;
  curves.first = first;
  curves.segments = 1;
  if (status == PCAL_OK)
    status =
        pc_device_class_curves(batch->device, batch, labels, &curves, &found, &job->added, err);
  pc_free(jobs->env, segment);
  pc_free(jobs->env, first);
  return status;
}

pcal_status pc_refine_classes_on_device(pc_refine_jobs *jobs, const pcal_batch *batch,
                                        const pc_lazy_labels *labels, int *done,
                                        pcal_error *err) {
  const pc_measure_plan *plan = &jobs->measure->plan;
  pc_device_labels there = {NULL, labels->size};
  *done = 0;
  for (size_t j = 0; j < jobs->count; j++)
    jobs->list[j].added = 0;
  if (batch->device == NULL || batch->weights != NULL || batch->groups != NULL ||
      !classes_can(batch))
    return PCAL_OK;
  if (labels->device == batch->device && labels->stream == batch->stream)
    there.at = labels->on_device;
  if (there.at == NULL)
    PC_TRY(pc_lazy_labels_fill(labels, 0, batch->rows, err));
  *done = 1;
  for (size_t j = 0; j < jobs->count; j++) {
    pc_refine_job *job = &jobs->list[j];
    if (pc_slot_has_class_counts(plan, &plan->slots[job->slot]))
      PC_TRY((job->counted_only ? classes_refine_counted
                                : classes_refine_again)(jobs, job, batch, &there, err));
    *done &= job->added;
  }
  return PCAL_OK;
}
