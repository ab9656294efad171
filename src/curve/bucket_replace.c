/* Segments are replaced block by block, by all threads: each block counts the segments that it
 * will have and checks their rows, then writes them to its place in a new array. */
#include <math.h>

#include "base/executor.h"
#include "curve/bucket_curve.h"

#define REPLACE_BLOCK ((size_t)1 << 10) /* segments */
#define REPLACE_SEGMENT_COST 40.0       /* nanoseconds, for the executor */
#define REPLACE_CHANGED SIZE_MAX        /* rows were lost or gained */
#define FLOAT_SHIFT 29                  /* neighbouring float32 are 2^29 doubles apart */

/* The result of a pass: its tally, and the stored scores in ascending order. */
typedef struct replace_work {
  const pc_bucket_curve *curve;
  const pc_bucket_tally *tally;
  pc_curve_table kept;
  size_t *begin;   /* by block: its number of new segments; then the index of its first */
  pc_segment *out; /* of all blocks */
} replace_work;

static pcal_status replace_sort_kept(const pc_bucket_tally *tally, pc_curve_table *out,
                                     pcal_error *err) {
  const pc_kept_scores *kept = tally->kept;
  const pc_outcome_column misses = {kept[0].score, kept[0].weight, kept[0].count};
  const pc_outcome_column hits = {kept[1].score, kept[1].weight, kept[1].count};
  return pc_curve_table_new(tally->env, &misses, &hits, out, err);
}

static pc_segment replace_single_score(double score, uint64_t rows, uint64_t hits) {
  pc_segment out = pc_segment_none;
  pc_segment_add(&out, score, rows, hits);
  return out;
}

/* The rows of sub-bucket `part` of a target. */
static uint64_t replace_part_rows(const pc_bucket_tally *tally, const pc_refine_target *target,
                                  size_t part) {
  const size_t place = target->first + part;
  return target->action == PC_REFINE_COUNT
             ? tally->counts[2 * place] + tally->counts[2 * place + 1]
             : tally->segments[place].rows;
}

static pc_segment replace_part(const pc_bucket_tally *tally, const pc_refine_target *target,
                               size_t part) {
  const size_t place = target->first + part;
  const uint64_t bits = pc_double_bits(target->low) + ((uint64_t)part << FLOAT_SHIFT);
  if (target->action != PC_REFINE_COUNT)
    return tally->segments[place];
  return replace_single_score(pc_double_from_bits(bits), replace_part_rows(tally, target, part),
                              tally->counts[2 * place + 1]);
}

/* The first stored score that is not below `low`. */
static size_t replace_kept_from(const replace_work *work, double low) {
  size_t first = 0, end = work->kept.count;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (work->kept.score[middle] < low)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* Finds the segments of a target: counts them and their rows, and writes them unless out is NULL.
 * Returns how many. */
static size_t replace_target(const replace_work *work, const pc_refine_target *target,
                             pc_segment *out, uint64_t *rows) {
  size_t count = 0;
  for (size_t part = 0; part < target->parts; part++) {
    const uint64_t here = replace_part_rows(work->tally, target, part);
    if (here > 0 && out != NULL)
      out[count] = replace_part(work->tally, target, part);
    count += here > 0;
    *rows += here;
  }
  if (target->action != PC_REFINE_KEEP)
    return count;
  for (size_t i = replace_kept_from(work, target->low);
       i < work->kept.count && work->kept.score[i] <= target->high; i++) {
    const uint64_t here = (uint64_t)work->kept.weight[i];
    if (out != NULL)
      out[count] =
          replace_single_score(work->kept.score[i], here, (uint64_t)work->kept.hits[i]);
    count++;
    *rows += here;
  }
  return count;
}

/* The first target of segment `segment` or of a later one. */
static size_t replace_first_target(const pc_refine_targets *targets, size_t segment) {
  size_t first = 0, end = targets->count;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (targets->list[middle].segment < segment)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* Goes through the segments of a block; returns the number of new ones, which it writes
 * unless out is NULL. */
static size_t replace_block(const replace_work *work, size_t block, pc_segment *out) {
  const pc_refine_targets *targets = work->tally->targets;
  const pc_bucket_curve *curve = work->curve;
  const size_t begin = block * REPLACE_BLOCK, left = curve->count - begin;
  const size_t end = begin + (left < REPLACE_BLOCK ? left : REPLACE_BLOCK);
  size_t count = 0, t = replace_first_target(targets, begin);
  for (size_t i = begin; i < end; i++) {
    uint64_t rows = 0;
    const int kept = t == targets->count || targets->list[t].segment != i;
    if (kept && out != NULL)
      out[count] = curve->segments[i];
    count += (size_t)kept;
    for (; t < targets->count && targets->list[t].segment == i; t++)
      count += replace_target(work, &targets->list[t], out == NULL ? NULL : out + count, &rows);
    if (!kept && rows != curve->segments[i].rows)
      return REPLACE_CHANGED;
  }
  return count;
}

static pcal_status replace_count_task(void *user, size_t block, size_t worker,
                                      pcal_error *err) {
  const replace_work *work = user;
  (void)worker;
  (void)err;
  work->begin[block] = replace_block(work, block, NULL);
  return PCAL_OK;
}

static pcal_status replace_write_task(void *user, size_t block, size_t worker,
                                      pcal_error *err) {
  const replace_work *work = user;
  (void)worker;
  (void)err;
  replace_block(work, block, work->out + work->begin[block]);
  return PCAL_OK;
}

static pcal_status replace_changed(pcal_error *err) {
  return pc_fail(
      err, PCAL_IO,
      "the data changed while they were being read; try again when nothing writes to "
      "them");
}

/* Turns numbers into places; *count: of all blocks. */
static pcal_status replace_place(const replace_work *work, size_t blocks, size_t *count,
                                 pcal_error *err) {
  *count = 0;
  for (size_t b = 0; b < blocks; b++) {
    const size_t here = work->begin[b];
    if (here == REPLACE_CHANGED)
      return replace_changed(err);
    work->begin[b] = *count;
    *count += here;
  }
  return PCAL_OK;
}

static pcal_status replace_run(replace_work *work, size_t *count, pcal_error *err) {
  const pcal_env *env = work->tally->env;
  const size_t blocks = (work->curve->count + REPLACE_BLOCK - 1) / REPLACE_BLOCK;
  const pc_refine_targets *targets = work->tally->targets;
  const double cost = REPLACE_SEGMENT_COST * (double)(work->curve->count + work->kept.count +
                                                      targets->split + targets->counted);
  work->begin = pc_alloc(env, blocks, sizeof *work->begin);
  if (work->begin == NULL)
    return pc_fail_memory(err, "refining a curve");
  PC_TRY(pc_run(env, blocks, cost, replace_count_task, work, err));
  PC_TRY(replace_place(work, blocks, count, err));
  work->out = pc_alloc_raw(work->curve->env, *count, sizeof *work->out);
  if (work->out == NULL)
    return pc_fail_memory(err, "refining a curve");
  return pc_run(env, blocks, cost, replace_write_task, work, err);
}

pcal_status pc_bucket_curve_refine(pc_bucket_curve *curve, const pc_bucket_tally *tally,
                                   pcal_error *err) {
  replace_work work = {.curve = curve, .tally = tally};
  size_t count = 0;
  PC_TRY(replace_sort_kept(tally, &work.kept, err));
  const pcal_status status = replace_run(&work, &count, err);
  pc_curve_table_free(tally->env, &work.kept);
  pc_free(tally->env, work.begin);
  if (status != PCAL_OK) {
    pc_free(curve->env, work.out);
    return status;
  }
  pc_free(curve->env, curve->segments);
  curve->segments = work.out;
  curve->count = count;
  return PCAL_OK;
}

pcal_status pc_bucket_curve_take_logits(pc_bucket_curve *curve, const pc_bucket_tally *tally,
                                        pcal_error *err) {
  const size_t count = tally->targets->point_count;
  if (count == 0)
    return PCAL_OK;
  pc_logit_sums *logits =
      pc_resize(curve->env, curve->logits, curve->logit_count + count, sizeof *logits);
  if (logits == NULL)
    return pc_fail_memory(err, "refining a curve");
  curve->logits = logits;
  for (size_t i = 0; i < count; i++) {
    if (tally->logits[i].rows != curve->total)
      return replace_changed(err);
    logits[curve->logit_count++] = tally->logits[i];
  }
  return PCAL_OK;
}
