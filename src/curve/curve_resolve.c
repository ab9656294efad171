#include "curve/curve_resolve.h"

#include <math.h>

#include "base/executor.h"

#define RESOLVE_SHORT 512    /* rows: shorter columns are sorted */
#define RESOLVE_PER_BUCKET 8 /* rows, on average */
#define RESOLVE_BUCKETS_MAX PC_BUCKETS
#define RESOLVE_PIECE ((size_t)1 << 16) /* rows */
#define RESOLVE_SCORE_COST 5.0          /* nanoseconds, for the executor */
#define RESOLVE_KEEP_SHARE 16 /* up to 1/16 of the rows are sorted rather than divided again */

typedef struct resolve_work {
  const pcal_env *env;
  const pc_outcome_column *columns[2]; /* misses, hits */
  size_t rows;
} resolve_work;

static size_t resolve_buckets(size_t rows) {
  size_t buckets = 64;
  while (buckets < RESOLVE_BUCKETS_MAX && buckets < rows / RESOLVE_PER_BUCKET)
    buckets *= 2;
  return buckets;
}

/* A pass over both columns, cut into pieces; each worker has a tally of its own. */
typedef struct resolve_pieces {
  const resolve_work *work;
  pc_bucket_tally *first;  /* of worker 0 */
  pc_bucket_tally *others; /* of the other workers, created at their first piece */
  size_t pieces[2];        /* of each column */
} resolve_pieces;

static pcal_status resolve_piece(void *user, size_t index, size_t worker, pcal_error *err) {
  const resolve_pieces *all = user;
  pc_bucket_tally *tally = worker == 0 ? all->first : &all->others[worker - 1];
  if (tally->env == NULL)
    PC_TRY(pc_bucket_tally_new_like(all->first, tally, err));
  const int hit = index >= all->pieces[0];
  const size_t begin = (index - (hit ? all->pieces[0] : 0)) * RESOLVE_PIECE;
  const pc_outcome_column *column = all->work->columns[hit];
  const size_t left = column->count - begin;
  return pc_bucket_tally_add_column(tally, column->score + begin,
                                    left < RESOLVE_PIECE ? left : RESOLVE_PIECE, hit, err);
}

static pcal_status resolve_collect(const resolve_pieces *all, size_t others, pcal_error *err) {
  for (size_t w = 0; w < others; w++) {
    if (all->others[w].env == NULL)
      continue;
    PC_TRY(pc_bucket_tally_prepare(all->first, &all->others[w], err));
    pc_bucket_tally_merge(all->first, &all->others[w]);
  }
  return PCAL_OK;
}

static pcal_status resolve_fill(const resolve_work *work, pc_bucket_tally *tally,
                                pcal_error *err) {
  const size_t others = pc_worker_count(work->env) - 1;
  resolve_pieces all = {.work = work, .first = tally};
  for (int hit = 0; hit < 2; hit++)
    all.pieces[hit] = (work->columns[hit]->count + RESOLVE_PIECE - 1) / RESOLVE_PIECE;
  all.others = pc_alloc(work->env, others, sizeof *all.others);
  if (all.others == NULL)
    return pc_fail_memory(err, "building a curve");
  pcal_status status =
      pc_run(work->env, all.pieces[0] + all.pieces[1], RESOLVE_SCORE_COST * (double)work->rows,
             resolve_piece, &all, err);
  if (status == PCAL_OK)
    status = resolve_collect(&all, others, err);
  for (size_t w = 0; w < others; w++)
    pc_bucket_tally_free(&all.others[w]);
  pc_free(work->env, all.others);
  return status;
}

static pcal_status resolve_begin(const resolve_work *work, pc_bucket_curve *out,
                                 pcal_error *err) {
  double low = INFINITY, high = -INFINITY;
  for (int hit = 0; hit < 2; hit++)
    for (size_t i = 0; i < work->columns[hit]->count; i++) {
      const double score = work->columns[hit]->score[i];
      low = score < low ? score : low;
      high = score > high ? score : high;
    }
  pc_bucket_tally tally;
  pcal_status status =
      pc_bucket_tally_new_range(work->env, low, high, resolve_buckets(work->rows), &tally, err);
  if (status == PCAL_OK)
    status = resolve_fill(work, &tally, err);
  if (status == PCAL_OK)
    status = pc_bucket_curve_new(work->env, &tally, out, err);
  pc_bucket_tally_free(&tally);
  return status;
}

/* One more pass, over the scores in wanted segments. */
static pcal_status resolve_refine(const resolve_work *work, pc_bucket_curve *curve,
                                  const uint8_t *wanted, pcal_error *err) {
  const pc_refine_request request = {.wanted = wanted,
                                     .keep_limit = work->rows / RESOLVE_KEEP_SHARE};
  pc_refine_targets targets;
  pc_bucket_tally tally = {0};
  PC_TRY(pc_bucket_curve_targets(curve, &request, &targets, err));
  pcal_status status = pc_bucket_tally_new(work->env, &targets, &tally, err);
  if (status == PCAL_OK)
    status = resolve_fill(work, &tally, err);
  if (status == PCAL_OK)
    status = pc_bucket_curve_refine(curve, &tally, err);
  pc_bucket_tally_free(&tally);
  pc_refine_targets_free(&targets);
  return status;
}

static pcal_status resolve_step(const resolve_work *work, pc_bucket_curve *curve,
                                pc_curve_wants wants, const void *user, int *done,
                                pcal_error *err) {
  const pc_curve_table table = pc_bucket_curve_table(curve);
  uint8_t *wanted = pc_alloc(work->env, curve->count, 1);
  pcal_status status = wanted == NULL ? pc_fail_memory(err, "building a curve") : PCAL_OK;
  *done = status == PCAL_OK && wants(user, &table, wanted) == 0;
  if (status == PCAL_OK && !*done)
    status = resolve_refine(work, curve, wanted, err);
  pc_free(work->env, wanted);
  return status;
}

pcal_status pc_curve_resolve(const pcal_env *env, const pc_outcome_column *misses,
                             const pc_outcome_column *hits, pc_curve_wants wants,
                             const void *user, pc_curve_table *out, pcal_error *err) {
  const resolve_work work = {env, {misses, hits}, misses->count + hits->count};
  if (wants == NULL || misses->weight != NULL || hits->weight != NULL ||
      work.rows <= RESOLVE_SHORT)
    return pc_curve_table_new(env, misses, hits, out, err);
  pc_bucket_curve curve = {0};
  *out = (pc_curve_table){0};
  pcal_status status = resolve_begin(&work, &curve, err);
  for (int done = 0; status == PCAL_OK && !done;)
    status = resolve_step(&work, &curve, wants, user, &done, err);
  if (status == PCAL_OK)
    *out = pc_bucket_curve_take_table(&curve);
  pc_bucket_curve_free(&curve);
  return status;
}
