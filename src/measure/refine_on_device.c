/* The device lists the scores in targets that are to be kept, and adds up those of other targets in
 * their sub-buckets (bucket_tally.h).
 *
 * Edge cases:
 *   1. more targets or sub-buckets than fit the device: all scores are copied, and the threads
 *      of the measure look for the targets.
 *   2. sub-buckets from the device have their own bounds, not those of their scores. */
#include "measure/refine_on_device.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "curve/point_masses.h"

#define REFINE_SCORES 1024     /* converted at once */
#define REFINE_TASK 65536      /* of a thread */
#define REFINE_SCORE_COST 20.0 /* nanoseconds, for the executor */

_Static_assert(PC_SCORE_BUCKETS == PC_BUCKETS + 1 &&
                   PC_SCORE_BUCKETS_SHIFT == PC_BUCKET_SUMS_BUCKET,
               "buckets are those of bucket_sums.h");

static double refine_score(double total, uint8_t *hit) {
  *hit = total > 0;
  return 1.0 / fabs(total);
}

/* Scores of targets that are kept. */
static pcal_status refine_keep(void *user, const double *totals, size_t count,
                               pcal_error *err) {
  const pc_refine_jobs *jobs = user;
  for (size_t i = 0; i < count; i++) {
    uint8_t hit;
    const double score = refine_score(totals[i], &hit);
    PC_TRY(pc_bucket_tally_keep(&jobs->list[0].tallies[0], score, hit, err));
  }
  return PCAL_OK;
}

/* ---- all scores ---- */

typedef struct refine_all {
  const pc_refine_jobs *jobs;
  const double *totals;
  size_t count;
} refine_all;

static pcal_status refine_all_task(void *user, size_t index, size_t w, pcal_error *err) {
  const refine_all *all = user;
  const size_t begin = index * REFINE_TASK;
  const size_t end = all->count - begin < REFINE_TASK ? all->count : begin + REFINE_TASK;
  double score[REFINE_SCORES];
  uint8_t hit[REFINE_SCORES];
  for (size_t at = begin; at < end; at += REFINE_SCORES) {
    const size_t here = end - at < REFINE_SCORES ? end - at : REFINE_SCORES;
    for (size_t i = 0; i < here; i++)
      score[i] = refine_score(all->totals[at + i], &hit[i]);
    PC_TRY(pc_bucket_tally_add(&all->jobs->list[0].tallies[w], score, hit, here, err));
  }
  return PCAL_OK;
}

static pcal_status refine_receive_all(void *user, const double *totals, size_t count,
                                      pcal_error *err) {
  refine_all all = {user, totals, count};
  return pc_run(all.jobs->env, (count + REFINE_TASK - 1) / REFINE_TASK,
                REFINE_SCORE_COST * (double)count, refine_all_task, &all, err);
}

/* ---- sub-buckets ---- */

/* The scores that a sub-bucket can hold. */
static void refine_part_bounds(const pc_refine_targets *targets, const pc_refine_target *target,
                               size_t part, pc_segment *out) {
  double low, next;
  if (target->action == PC_REFINE_CELLS) {
    const double cells = ldexp(1.0, (int)targets->level);
    const double cell = (double)(pc_point_cell(target->low, targets->level) + (int64_t)part);
    low = cell / cells;
    next = nextafter((cell + 1) / cells, 0.0);
  } else {
    const uint64_t key = pc_score_key(target->low), step = (uint64_t)1 << target->shift;
    low = pc_score_of_key(key + part * step);
    next = pc_score_of_key(key + part * step + (step - 1));
  }
  out->low = low > target->low ? low : target->low;
  out->high = next < target->high ? next : target->high;
}

pc_segment pc_refine_device_segment(double low, const uint64_t *words) {
  const uint64_t mask = ((uint64_t)1 << PC_SCORE_BUCKETS_ROWS) - 1;
  const pc_int128 begin = pc_fixed_units(low);
  pc_segment segment = pc_segment_none;
  segment.squared = 0;
  for (size_t hit = 0; hit < 2; hit++, words += PC_SCORE_BUCKETS_WORDS) {
    const uint64_t high = words[PC_SCORE_BUCKETS_HIGH], rows = high >> PC_SCORE_BUCKETS_ROWS;
    const pc_int128 units = begin * (int64_t)rows + ((pc_int128)(high & mask) << 32) +
                            (int64_t)words[PC_SCORE_BUCKETS_LOW];
    segment.rows += rows;
    segment.score.units += units;
    segment.hits = hit ? rows : 0;
    segment.hit_score.units = hit ? units : 0;
  }
  return segment;
}

static pcal_status refine_receive_parts(void *user, const uint64_t *words, pcal_error *err) {
  const pc_refine_jobs *jobs = user;
  pc_bucket_tally *tally = &jobs->list[0].tallies[0];
  for (size_t t = 0; t < tally->targets->count; t++) {
    const pc_refine_target *target = &tally->targets->list[t];
    for (size_t part = 0; part < target->parts; part++) {
      const size_t index = target->first + part;
      pc_segment segment =
          pc_refine_device_segment(target->low, words + 2 * index * PC_SCORE_BUCKETS_WORDS);
      if (segment.rows == 0)
        continue;
      refine_part_bounds(tally->targets, target, part, &segment);
      PC_TRY(pc_bucket_tally_join_segment(tally, index, &segment, err));
    }
  }
  return PCAL_OK;
}

/* ---- the pass ---- */

static pc_score_target refine_device_target(const pc_refine_target *target) {
  return (pc_score_target){.low = target->low,
                           .high = target->high,
                           .units = (uint64_t)pc_fixed_units(target->low),
                           .action = target->action == PC_REFINE_KEEP    ? PC_SCORE_KEEP
                                     : target->action == PC_REFINE_CELLS ? PC_SCORE_CELLS
                                                                         : PC_SCORE_SPLIT,
                           .shift = target->shift,
                           .first = (uint32_t)target->first};
}

static void refine_device_search(const pc_refine_targets *targets, pc_score_target *list,
                                 pc_device_search *out) {
  memset(out, 0, sizeof *out);
  out->list = list;
  out->count = targets->count;
  out->parts = targets->split;
  out->cells = ldexp(1.0, (int)targets->level);
  for (size_t t = 0; t < targets->count; t++) {
    list[t] = refine_device_target(&targets->list[t]);
    out->keeps |= list[t].action == PC_SCORE_KEEP;
  }
  for (size_t b = 0; b < targets->layout.count; b++)
    out->wanted[b / 32] |= (uint32_t)(targets->wanted[b] != 0) << b % 32;
  memcpy(out->reach, targets->reach, sizeof out->reach);
}

/* True if the targets fit a search, which adds up no squares. */
static int refine_device_fits(const pc_refine_targets *targets) {
  return targets->level <= PC_POINT_JOIN_LEVEL && targets->count <= PC_DEVICE_TARGETS &&
         targets->split <= PC_DEVICE_PARTS && targets->counted == 0;
}

/* True if all scores are there, and there is one job, about buckets of equal width. */
static int refine_device_knows(const pc_refine_jobs *jobs, uint64_t source_rows) {
  const pcal_measure *measure = jobs->measure;
  const pc_device_scores *scores = &measure->device_scores;
  return measure->plan.scores_on_device && measure->device != NULL && scores->ticket != 0 &&
         scores->rows > 0 && scores->rows == source_rows && jobs->count == 1 &&
         jobs->list[0].part_count == 1 && !jobs->list[0].targets[0].layout.by_bits &&
         jobs->list[0].targets[0].layout.count == PC_SCORE_BUCKETS;
}

pcal_status pc_refine_on_device(pc_refine_jobs *jobs, uint64_t source_rows, int *done,
                                pcal_error *err) {
  const pcal_measure *measure = jobs->measure;
  const pc_device_found found = {refine_keep, refine_receive_all, refine_receive_parts, jobs};
  *done = 0;
  if (!refine_device_knows(jobs, source_rows))
    return PCAL_OK;
  const pc_refine_targets *targets = &jobs->list[0].targets[0];
  if (!refine_device_fits(targets))
    return pc_device_scores_search(measure->device, &measure->device_scores, NULL, &found, done,
                                   err);
  const size_t bytes = sizeof(pc_device_search) + targets->count * sizeof(pc_score_target);
  pc_device_search *search = pc_alloc(jobs->env, 1, bytes);
  if (search == NULL)
    return pc_fail_memory(err, "refining a curve");
  refine_device_search(targets, (pc_score_target *)(void *)(search + 1), search);
  const pcal_status status = pc_device_scores_search(measure->device, &measure->device_scores,
                                                     search, &found, done, err);
  pc_free(jobs->env, search);
  return status;
}
