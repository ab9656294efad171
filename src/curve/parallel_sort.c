/* Long columns are first dealt into buckets that follow each other, so that each is sorted
 * within the caches, by whichever worker is free.  Buckets are fine near 0 and near 1, where
 * confident models have their scores: q(p) below 1/2 and mirrored above, q taking the exponent
 * and six bits of the fraction.  Nothing of that shows in the result, which has one order. */
#include "curve/parallel_sort.h"

#include <string.h>

#include "base/executor.h"
#include "base/float_bits.h"

#define COLUMN_GATHER_SMALL ((size_t)1 << 17) /* entries that are sorted in one piece */
#define COLUMN_GATHER_SHIFT 46                /* of the bits of a double: six of the fraction */
#define COLUMN_GATHER_EXPONENTS 24
#define COLUMN_GATHER_SIDE (COLUMN_GATHER_EXPONENTS * 64)
#define COLUMN_GATHER_BUCKETS (2 * COLUMN_GATHER_SIDE)
#define COLUMN_GATHER_COST 20.0 /* nanoseconds for each entry and step, for the executor */

typedef struct column_gather {
  const pcal_env *env;
  const pc_outcome_column *parts;
  size_t part_count;
  size_t *places; /* part after part: entries of each bucket, then where the next one goes */
  size_t *begin;  /* of each bucket, and the end */
  pc_sorted_column *out;
} column_gather;

/* Grows with the score.  Without branches, which no processor could foresee. */
static size_t column_gather_bucket(double score) {
  const int64_t half = (int64_t)(pc_double_bits(0.5) >> COLUMN_GATHER_SHIFT);
  const int upper = score >= 0.5;
  const double near = upper ? 1.0 - score : score;
  const int64_t fine = (int64_t)pc_double_bits(near) / ((int64_t)1 << COLUMN_GATHER_SHIFT) -
                       half + (COLUMN_GATHER_SIDE - 1);
  const int64_t kept = fine < 0 ? 0 : fine;
  return (size_t)(upper ? COLUMN_GATHER_BUCKETS - 1 - kept : kept);
}

static pcal_status column_gather_count(void *user, size_t part, size_t worker,
                                       pcal_error *err) {
  const column_gather *gather = user;
  const pc_outcome_column *from = &gather->parts[part];
  size_t *count = gather->places + part * COLUMN_GATHER_BUCKETS;
  (void)worker;
  (void)err;
  for (size_t i = 0; i < from->count; i++)
    count[column_gather_bucket(from->score[i])]++;
  return PCAL_OK;
}

/* Turns counts into places, bucket by bucket and within one part by part. */
static void column_gather_place(const column_gather *gather) {
  size_t at = 0;
  for (size_t b = 0; b < COLUMN_GATHER_BUCKETS; b++) {
    gather->begin[b] = at;
    for (size_t p = 0; p < gather->part_count; p++) {
      size_t *place = &gather->places[p * COLUMN_GATHER_BUCKETS + b];
      const size_t count = *place;
      *place = at;
      at += count;
    }
  }
  gather->begin[COLUMN_GATHER_BUCKETS] = at;
}

static pcal_status column_gather_deal(void *user, size_t part, size_t worker, pcal_error *err) {
  const column_gather *gather = user;
  const pc_outcome_column *from = &gather->parts[part];
  const pc_sorted_column *out = gather->out;
  size_t *place = gather->places + part * COLUMN_GATHER_BUCKETS;
  (void)worker;
  (void)err;
  for (size_t i = 0; i < from->count; i++) {
    const size_t to = place[column_gather_bucket(from->score[i])]++;
    out->score[to] = from->score[i];
    if (out->weight != NULL)
      out->weight[to] = from->weight[i];
  }
  return PCAL_OK;
}

static pcal_status column_gather_sort(void *user, size_t bucket, size_t worker,
                                      pcal_error *err) {
  const column_gather *gather = user;
  const size_t begin = gather->begin[bucket], end = gather->begin[bucket + 1];
  const pc_sorted_column *out = gather->out;
  pc_sorted_column part = {out->score + begin, out->weight == NULL ? NULL : out->weight + begin,
                           end - begin};
  (void)worker;
  return end - begin < 2 ? PCAL_OK : pc_sorted_column_sort(gather->env, &part, err);
}

static pcal_status column_gather_long(column_gather *gather, pcal_error *err) {
  const pcal_env *env = gather->env;
  const double work = COLUMN_GATHER_COST * (double)gather->out->count;
  gather->places =
      pc_alloc(env, gather->part_count, COLUMN_GATHER_BUCKETS * sizeof *gather->places);
  gather->begin = pc_alloc(env, COLUMN_GATHER_BUCKETS + 1, sizeof *gather->begin);
  if (gather->places == NULL || gather->begin == NULL)
    return pc_fail_memory(err, "sorting scores");
  PC_TRY(pc_run(env, gather->part_count, work, column_gather_count, gather, err));
  column_gather_place(gather);
  PC_TRY(pc_run(env, gather->part_count, work, column_gather_deal, gather, err));
  return pc_run(env, COLUMN_GATHER_BUCKETS, work, column_gather_sort, gather, err);
}

static pcal_status column_gather_short(column_gather *gather, pcal_error *err) {
  size_t at = 0;
  for (size_t p = 0; p < gather->part_count; p++) {
    const pc_outcome_column *from = &gather->parts[p];
    if (from->count > 0)
      memcpy(gather->out->score + at, from->score, from->count * sizeof(double));
    if (from->count > 0 && gather->out->weight != NULL)
      memcpy(gather->out->weight + at, from->weight, from->count * sizeof(double));
    at += from->count;
  }
  return pc_sorted_column_sort(gather->env, gather->out, err);
}

static pcal_status column_gather_run(column_gather *gather, size_t whole, pcal_error *err) {
  const pcal_env *env = gather->env;
  pc_sorted_column *out = gather->out;
  const int weighted = gather->part_count > 0 && gather->parts[0].weight != NULL;
  *out = (pc_sorted_column){0};
  for (size_t p = 0; p < gather->part_count; p++)
    out->count += gather->parts[p].count;
  out->score = pc_alloc_raw(env, out->count, sizeof(double));
  out->weight = weighted ? pc_alloc_raw(env, out->count, sizeof(double)) : NULL;
  pcal_status status = PCAL_OK;
  if (out->score == NULL || (weighted && out->weight == NULL))
    status = pc_fail_memory(err, "sorting scores");
  else
    status = (out->count <= whole ? column_gather_short : column_gather_long)(gather, err);
  pc_free(env, gather->places);
  pc_free(env, gather->begin);
  if (status != PCAL_OK)
    pc_sorted_column_free(env, out);
  return status;
}

pcal_status pc_parallel_sort(const pcal_env *env, const pc_outcome_column *parts,
                             size_t part_count, pc_sorted_column *out, pcal_error *err) {
  column_gather gather = {.env = env, .parts = parts, .part_count = part_count, .out = out};
  return column_gather_run(&gather, COLUMN_GATHER_SMALL, err);
}

pcal_status pc_single_thread_sort(const pcal_env *env, const pc_outcome_column *parts,
                                  size_t part_count, pc_sorted_column *out, pcal_error *err) {
  column_gather gather = {.env = env, .parts = parts, .part_count = part_count, .out = out};
  return column_gather_run(&gather, SIZE_MAX, err);
}
