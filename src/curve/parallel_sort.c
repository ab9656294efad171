/* A long column is first distributed into buckets by score; each bucket then fits a cache and
 * is sorted by whichever worker is free.  Buckets are fine near 0 and near 1, where the scores
 * of confident models lie: below 1/2 the bucket is the exponent and six bits of the fraction,
 * above 1/2 the same of 1 - score.  The result does not depend on the buckets. */
#include "curve/parallel_sort.h"

#include <string.h>

#include "base/executor.h"
#include "base/float_bits.h"

/* Entries: shorter columns are sorted in one piece, with few threads and with many. */
#define PARALLEL_SORT_SMALL ((size_t)1 << 17)
#define PARALLEL_SORT_SMALL_MANY ((size_t)1 << 14)
#define PARALLEL_SORT_MANY 4
#define PARALLEL_SORT_SHIFT 46 /* keeps six bits of the fraction of a double */
#define PARALLEL_SORT_EXPONENTS 24
#define PARALLEL_SORT_SIDE (PARALLEL_SORT_EXPONENTS * 64)
#define PARALLEL_SORT_BUCKETS (2 * PARALLEL_SORT_SIDE)
#define PARALLEL_SORT_COST 20.0 /* nanoseconds per entry and step, for the executor */

typedef struct parallel_sort {
  const pcal_env *env;
  const pc_outcome_column *pieces;
  size_t piece_count;
  size_t *places; /* [piece][bucket]: number of entries, then the index of the next one */
  size_t *begin;  /* of each bucket, then the end */
  pc_sorted_column *out;
} parallel_sort;

/* The bucket of a score, ascending with it.  Has no branches, which would be mispredicted. */
static size_t parallel_sort_bucket(double score) {
  const int64_t half = (int64_t)(pc_double_bits(0.5) >> PARALLEL_SORT_SHIFT);
  const int upper = score >= 0.5;
  const double near = upper ? 1.0 - score : score;
  const int64_t fine = (int64_t)pc_double_bits(near) / ((int64_t)1 << PARALLEL_SORT_SHIFT) -
                       half + (PARALLEL_SORT_SIDE - 1);
  const int64_t kept = fine < 0 ? 0 : fine;
  return (size_t)(upper ? PARALLEL_SORT_BUCKETS - 1 - kept : kept);
}

static pcal_status parallel_sort_count(void *user, size_t piece, size_t worker,
                                       pcal_error *err) {
  const parallel_sort *sort = user;
  const pc_outcome_column *from = &sort->pieces[piece];
  size_t *count = sort->places + piece * PARALLEL_SORT_BUCKETS;
  (void)worker;
  (void)err;
  for (size_t i = 0; i < from->count; i++)
    count[parallel_sort_bucket(from->score[i])]++;
  return PCAL_OK;
}

/* Turns counts into start indices: by bucket, then by piece. */
static void parallel_sort_place(const parallel_sort *sort) {
  size_t at = 0;
  for (size_t b = 0; b < PARALLEL_SORT_BUCKETS; b++) {
    sort->begin[b] = at;
    for (size_t p = 0; p < sort->piece_count; p++) {
      size_t *place = &sort->places[p * PARALLEL_SORT_BUCKETS + b];
      const size_t count = *place;
      *place = at;
      at += count;
    }
  }
  sort->begin[PARALLEL_SORT_BUCKETS] = at;
}

static pcal_status parallel_sort_distribute(void *user, size_t piece, size_t worker,
                                            pcal_error *err) {
  const parallel_sort *sort = user;
  const pc_outcome_column *from = &sort->pieces[piece];
  const pc_sorted_column *out = sort->out;
  size_t *place = sort->places + piece * PARALLEL_SORT_BUCKETS;
  (void)worker;
  (void)err;
  for (size_t i = 0; i < from->count; i++) {
    const size_t to = place[parallel_sort_bucket(from->score[i])]++;
    out->score[to] = from->score[i];
    if (out->weight != NULL)
      out->weight[to] = from->weight[i];
  }
  return PCAL_OK;
}

static pcal_status parallel_sort_bucket_sort(void *user, size_t bucket, size_t worker,
                                             pcal_error *err) {
  const parallel_sort *sort = user;
  const size_t begin = sort->begin[bucket], end = sort->begin[bucket + 1];
  const pc_sorted_column *out = sort->out;
  pc_sorted_column some = {out->score + begin, out->weight == NULL ? NULL : out->weight + begin,
                           end - begin};
  (void)worker;
  return end - begin < 2 ? PCAL_OK : pc_sorted_column_sort(sort->env, &some, err);
}

static pcal_status parallel_sort_long(parallel_sort *sort, pcal_error *err) {
  const pcal_env *env = sort->env;
  const double work = PARALLEL_SORT_COST * (double)sort->out->count;
  sort->places = pc_alloc(env, sort->piece_count, PARALLEL_SORT_BUCKETS * sizeof *sort->places);
  sort->begin = pc_alloc(env, PARALLEL_SORT_BUCKETS + 1, sizeof *sort->begin);
  if (sort->places == NULL || sort->begin == NULL)
    return pc_fail_memory(err, "sorting scores");
  PC_TRY(pc_run(env, sort->piece_count, work, parallel_sort_count, sort, err));
  parallel_sort_place(sort);
  PC_TRY(pc_run(env, sort->piece_count, work, parallel_sort_distribute, sort, err));
  return pc_run(env, PARALLEL_SORT_BUCKETS, work, parallel_sort_bucket_sort, sort, err);
}

static pcal_status parallel_sort_short(parallel_sort *sort, pcal_error *err) {
  size_t at = 0;
  for (size_t p = 0; p < sort->piece_count; p++) {
    const pc_outcome_column *from = &sort->pieces[p];
    if (from->count > 0)
      memcpy(sort->out->score + at, from->score, from->count * sizeof(double));
    if (from->count > 0 && sort->out->weight != NULL)
      memcpy(sort->out->weight + at, from->weight, from->count * sizeof(double));
    at += from->count;
  }
  return pc_sorted_column_sort(sort->env, sort->out, err);
}

static pcal_status parallel_sort_run(parallel_sort *sort, size_t whole, pcal_error *err) {
  const pcal_env *env = sort->env;
  pc_sorted_column *out = sort->out;
  const int weighted = sort->piece_count > 0 && sort->pieces[0].weight != NULL;
  *out = (pc_sorted_column){0};
  for (size_t p = 0; p < sort->piece_count; p++)
    out->count += sort->pieces[p].count;
  out->score = pc_alloc_raw(env, out->count, sizeof(double));
  out->weight = weighted ? pc_alloc_raw(env, out->count, sizeof(double)) : NULL;
  pcal_status status = PCAL_OK;
  if (out->score == NULL || (weighted && out->weight == NULL))
    status = pc_fail_memory(err, "sorting scores");
  else
    status = (out->count <= whole ? parallel_sort_short : parallel_sort_long)(sort, err);
  pc_free(env, sort->places);
  pc_free(env, sort->begin);
  if (status != PCAL_OK)
    pc_sorted_column_free(env, out);
  return status;
}

pcal_status pc_parallel_sort(const pcal_env *env, const pc_outcome_column *pieces,
                             size_t piece_count, pc_sorted_column *out, pcal_error *err) {
  parallel_sort sort = {.env = env, .pieces = pieces, .piece_count = piece_count, .out = out};
  return parallel_sort_run(&sort,
                           pc_worker_count(env) < PARALLEL_SORT_MANY ? PARALLEL_SORT_SMALL
                                                                     : PARALLEL_SORT_SMALL_MANY,
                           err);
}

pcal_status pc_single_thread_sort(const pcal_env *env, const pc_outcome_column *pieces,
                                  size_t piece_count, pc_sorted_column *out, pcal_error *err) {
  parallel_sort sort = {.env = env, .pieces = pieces, .piece_count = piece_count, .out = out};
  return parallel_sort_run(&sort, SIZE_MAX, err);
}
