#include "curve/curve_resolve.h"

#include <math.h>

#include "base/executor.h"
#include "curve/crowded_range.h"
#include "curve/point_masses.h"
#include "curve/refine_targets.h"
#include "curve/score_partition.h"

#define RESOLVE_SHORT 512                     /* rows: shorter columns are sorted */
#define RESOLVE_SHORT_CELLS ((size_t)1 << 16) /* the same if scores are joined in cells */
#define RESOLVE_PER_BUCKET 8                  /* rows, on average */
#define RESOLVE_BUCKETS_MAX PC_BUCKETS
#define RESOLVE_PIECE ((size_t)1 << 14) /* rows */
#define RESOLVE_SCORE_COST 5.0          /* nanoseconds, for the executor */
#define RESOLVE_BOUND_COST 0.7          /* the same to compare a score with bounds */
#define RESOLVE_LANES 8
#define RESOLVE_KEEP_SHARE 16 /* up to 1/16 of the rows are sorted rather than divided again */
#define RESOLVE_MANY \
  ((size_t)1 << 12)             /* sub-buckets: from here on scores are divided by ranges */
#define RESOLVE_EMPTY_COST 50.0 /* nanoseconds per sub-bucket */
#define RESOLVE_MERGED ((size_t)1 << 10) /* sub-buckets that a task merges */
#define RESOLVE_MERGE_COST 10.0          /* nanoseconds per sub-bucket */
#define RESOLVE_FREE_COST 1e5            /* nanoseconds per tally */
#define RESOLVE_CROWDED 16 /* a range of more than 1/16 of the rows is for all threads */

typedef struct resolve_work {
  const pcal_env *env;
  pcal_env quiet; /* the same without callbacks, so that its tasks cannot fail */
  const pc_outcome_column *columns[2]; /* misses, hits */
  size_t rows;
  const pc_curve_question *asked;
  pc_score_partition ranges; /* made by the first pass that needs it; score NULL: none */
} resolve_work;

static size_t resolve_buckets(size_t rows) {
  size_t buckets = 64;
  while (buckets < RESOLVE_BUCKETS_MAX && buckets < rows / RESOLVE_PER_BUCKET)
    buckets *= 2;
  return buckets;
}

static void resolve_count_pieces(const resolve_work *work, size_t pieces[2]) {
  for (int hit = 0; hit < 2; hit++)
    pieces[hit] = (work->columns[hit]->count + RESOLVE_PIECE - 1) / RESOLVE_PIECE;
}

/* Piece `index` of both columns, the first of which has `first` pieces. */
static pc_outcome_column resolve_piece_column(const resolve_work *work, size_t first,
                                              size_t index) {
  const int hit = index >= first;
  const size_t begin = (index - (hit ? first : 0)) * RESOLVE_PIECE;
  const size_t left = work->columns[hit]->count - begin;
  return (pc_outcome_column){.score = work->columns[hit]->score + begin,
                             .count = left < RESOLVE_PIECE ? left : RESOLVE_PIECE};
}

/* A pass over both columns, cut into pieces; each worker has a tally of its own. */
typedef struct resolve_pieces {
  const resolve_work *work;
  pc_bucket_tally *first;  /* of worker 0 */
  pc_bucket_tally *others; /* of the other workers, created at their first piece */
  size_t other_count;
  size_t pieces[2]; /* of each column */
} resolve_pieces;

static pcal_status resolve_piece(void *user, size_t index, size_t worker, pcal_error *err) {
  const resolve_pieces *all = user;
  pc_bucket_tally *tally = worker == 0 ? all->first : &all->others[worker - 1];
  if (tally->env == NULL)
    PC_TRY(pc_bucket_tally_new_like(all->first, tally, err));
  const pc_outcome_column piece = resolve_piece_column(all->work, all->pieces[0], index);
  return pc_bucket_tally_add_column(tally, piece.score, piece.count, index >= all->pieces[0],
                                    err);
}

/* Merges some sub-buckets of all tallies. */
static pcal_status resolve_merge(void *user, size_t index, size_t worker, pcal_error *err) {
  const resolve_pieces *all = user;
  const size_t count = pc_bucket_tally_bucket_count(all->first);
  const size_t begin = index * RESOLVE_MERGED, left = count - begin;
  (void)worker;
  (void)err;
  for (size_t w = 0; w < all->other_count; w++)
    if (all->others[w].env != NULL)
      pc_bucket_tally_merge_segments(all->first, &all->others[w], begin,
                                     begin + (left < RESOLVE_MERGED ? left : RESOLVE_MERGED));
  return PCAL_OK;
}

static pcal_status resolve_collect(resolve_pieces *all, pcal_error *err) {
  const int later = all->first->targets != NULL || all->first->layout.by_bits;
  const size_t count = pc_bucket_tally_bucket_count(all->first);
  size_t used = 0;
  for (size_t w = 0; w < all->other_count; w++)
    if (all->others[w].env != NULL) {
      used++;
      PC_TRY(pc_bucket_tally_prepare(all->first, &all->others[w], err));
      (later ? pc_bucket_tally_merge_rest : pc_bucket_tally_merge)(all->first, &all->others[w]);
    }
  return !later ? PCAL_OK
                : pc_run(all->work->env, (count + RESOLVE_MERGED - 1) / RESOLVE_MERGED,
                         RESOLVE_MERGE_COST * (double)count * (double)used, resolve_merge, all,
                         err);
}

static pcal_status resolve_free_one(void *user, size_t index, size_t worker, pcal_error *err) {
  const resolve_pieces *all = user;
  (void)worker;
  (void)err;
  pc_bucket_tally_free(&all->others[index]);
  return PCAL_OK;
}

/* By all threads, since giving back memory takes the system as long as adding to it. */
static void resolve_free_others(resolve_pieces *all) {
  size_t used = 0;
  for (size_t w = 0; w < all->other_count; w++)
    used += all->others[w].env != NULL;
  pc_run_quietly(all->work->env, all->other_count, RESOLVE_FREE_COST * (double)used,
                 resolve_free_one, all);
}

static pcal_status resolve_fill(const resolve_work *work, pc_bucket_tally *tally,
                                pcal_error *err) {
  resolve_pieces all = {
      .work = work, .first = tally, .other_count = pc_worker_count(work->env) - 1};
  resolve_count_pieces(work, all.pieces);
  all.others = pc_alloc(work->env, all.other_count, sizeof *all.others);
  if (all.others == NULL)
    return pc_fail_memory(err, "building a curve");
  pcal_status status =
      pc_run(work->env, all.pieces[0] + all.pieces[1], RESOLVE_SCORE_COST * (double)work->rows,
             resolve_piece, &all, err);
  if (status == PCAL_OK)
    status = resolve_collect(&all, err);
  resolve_free_others(&all);
  pc_free(work->env, all.others);
  return status;
}

/* ---- passes by range ---- */

/* A pass in which each task adds the scores of one range to the one tally. */
typedef struct resolve_by_range {
  const resolve_work *work;
  pc_bucket_tally *tally;
  uint8_t crowded[PC_SCORE_RANGES];
} resolve_by_range;

static pc_outcome_column resolve_column(const pc_score_partition *ranges, int hit,
                                        size_t range) {
  const size_t *begin = &ranges->begin[hit][range];
  return (pc_outcome_column){.score = ranges->score + begin[0], .count = begin[1] - begin[0]};
}

static pcal_status resolve_add_range(const resolve_by_range *all, size_t range,
                                     pcal_error *err) {
  for (int hit = 0; hit < 2; hit++) {
    const pc_outcome_column column = resolve_column(&all->work->ranges, hit, range);
    PC_TRY(pc_bucket_tally_add_column(all->tally, column.score, column.count, hit, err));
  }
  return PCAL_OK;
}

static pcal_status resolve_range(void *user, size_t range, size_t worker, pcal_error *err) {
  const resolve_by_range *all = user;
  (void)worker;
  return all->crowded[range] ? PCAL_OK : resolve_add_range(all, range, err);
}

/* ---- crowded ranges ---- */

/* Targets [begin, end) have scores of a range. */
typedef struct resolve_span {
  size_t begin, end;
} resolve_span;

static resolve_span resolve_targets_of(const resolve_by_range *all, size_t range) {
  const pc_refine_targets *targets = all->tally->targets;
  const pc_score_partition *ranges = &all->work->ranges;
  resolve_span span = {0, 0};
  while (span.begin < targets->count && targets->list[span.begin].high < ranges->low[range])
    span.begin++;
  span.end = span.begin;
  while (span.end < targets->count && targets->list[span.end].low <= ranges->high[range])
    span.end++;
  return span;
}

/* True if one thread would be busy with a range for longer than the others with theirs: many
 * models have a large part of their scores in the last bucket. */
static int resolve_is_crowded(const resolve_by_range *all, size_t range) {
  const resolve_work *work = all->work;
  const size_t rows = resolve_column(&work->ranges, 0, range).count +
                      resolve_column(&work->ranges, 1, range).count;
  return pc_worker_count(work->env) > 2 && rows > work->rows / RESOLVE_CROWDED;
}

static size_t resolve_span_parts(const resolve_by_range *all, resolve_span span) {
  size_t parts = 0;
  for (size_t t = span.begin; t < span.end; t++)
    parts += all->tally->targets->list[t].parts;
  return parts;
}

/* ---- crowded ranges of few sub-buckets: each thread has a tally of its own ---- */

/* The targets of a span alone. */
static pcal_status resolve_span_targets(const resolve_by_range *all, resolve_span span,
                                        pc_refine_targets *out, pcal_error *err) {
  const pc_refine_targets *targets = all->tally->targets;
  PC_TRY(
      pc_refine_targets_new(all->work->env, &targets->layout, span.end - span.begin, out, err));
  out->level = targets->level;
  for (size_t t = span.begin; t < span.end; t++)
    pc_refine_targets_append(out, targets->list[t]);
  pc_refine_targets_index(out);
  return PCAL_OK;
}

/* Adds the sub-buckets of one target, which is another target of the other tally. */
static void resolve_join(pc_bucket_tally *tally, const pc_refine_target *to,
                         const pc_bucket_tally *part, const pc_refine_target *from) {
  for (size_t s = 0; s < to->parts; s++)
    if (to->action != PC_REFINE_COUNT) {
      pc_segment_join(&tally->segments[to->first + s], &part->segments[from->first + s]);
    } else {
      tally->counts[2 * (to->first + s)] += part->counts[2 * (from->first + s)];
      tally->counts[2 * (to->first + s) + 1] += part->counts[2 * (from->first + s) + 1];
    }
}

/* Adds the scores of a crowded range, by all threads.  After failure none is added. */
static pcal_status resolve_crowded(const resolve_by_range *all, size_t range, pcal_error *err) {
  const resolve_work *work = all->work;
  const pc_outcome_column columns[2] = {resolve_column(&work->ranges, 0, range),
                                        resolve_column(&work->ranges, 1, range)};
  const resolve_work own = {.env = work->env,
                            .columns = {&columns[0], &columns[1]},
                            .rows = columns[0].count + columns[1].count};
  const resolve_span span = resolve_targets_of(all, range);
  const size_t parts = resolve_span_parts(all, span);
  if (parts >= RESOLVE_MANY)
    return pc_crowded_range_add(work->env, all->tally, span.begin, span.end, columns, err);
  pc_refine_targets targets;
  pc_bucket_tally part = {0};
  PC_TRY(resolve_span_targets(all, span, &targets, err));
  pcal_status status = pc_bucket_tally_new(work->env, &targets, &part, err);
  if (status == PCAL_OK)
    status = resolve_fill(&own, &part, err);
  for (size_t t = 0; t < targets.count && status == PCAL_OK; t++)
    resolve_join(all->tally, &all->tally->targets->list[span.begin + t], &part,
                 &targets.list[t]);
  pc_bucket_tally_free(&part);
  pc_refine_targets_free(&targets);
  return status;
}

/* Each range is added by one task, and crowded ones then by all threads, or by this one if
 * there is too little memory. */
static pcal_status resolve_fill_ranges(const resolve_work *work, pc_bucket_tally *tally,
                                       pcal_error *err) {
  resolve_by_range all = {.work = work, .tally = tally};
  for (size_t range = 0; range < PC_SCORE_RANGES; range++)
    all.crowded[range] = (uint8_t)resolve_is_crowded(&all, range);
  PC_TRY(pc_run(work->env, PC_SCORE_RANGES, RESOLVE_SCORE_COST * (double)work->rows,
                resolve_range, &all, err));
  for (size_t range = 0; range < PC_SCORE_RANGES; range++) {
    if (!all.crowded[range])
      continue;
    const pcal_status status = resolve_crowded(&all, range, err);
    PC_TRY(status == PCAL_MEMORY ? resolve_add_range(&all, range, err) : status);
  }
  return PCAL_OK;
}

/* True if the pass only adds up scores, in many sub-buckets. */
static int resolve_many(const pc_refine_targets *targets) {
  for (size_t t = 0; t < targets->count; t++)
    if (targets->list[t].action == PC_REFINE_KEEP)
      return 0;
  return targets->split + targets->counted >= RESOLVE_MANY;
}

static pcal_status resolve_empty(void *user, size_t index, size_t worker, pcal_error *err) {
  pc_bucket_tally *tally = user;
  const size_t begin = index * RESOLVE_MANY, left = tally->targets->split - begin;
  (void)worker;
  (void)err;
  pc_bucket_tally_empty(tally, begin, begin + (left < RESOLVE_MANY ? left : RESOLVE_MANY));
  return PCAL_OK;
}

/* An empty tally of a later pass, whose memory is first written by all threads. */
static pcal_status resolve_tally_later(const pcal_env *env, const pc_refine_targets *targets,
                                       pc_bucket_tally *out, pcal_error *err) {
  PC_TRY(pc_bucket_tally_new_unset(env, targets, out, err));
  return pc_run(env, (targets->split + RESOLVE_MANY - 1) / RESOLVE_MANY,
                RESOLVE_EMPTY_COST * (double)targets->split, resolve_empty, out, err);
}

/* Fills the tally of a later pass.  Scores are divided by ranges if there is memory for that; the
 * result is the same. */
static pcal_status resolve_fill_later(resolve_work *work, const pc_bucket_curve *curve,
                                      pc_bucket_tally *tally, pcal_error *err) {
  if (!resolve_many(tally->targets))
    return resolve_fill(work, tally, err);
  if (work->ranges.score == NULL) {
    const pcal_status status =
        pc_score_partition_new(work->env, work->columns, curve, &work->ranges, err);
    if (status != PCAL_OK)
      return status == PCAL_MEMORY ? resolve_fill(work, tally, err) : status;
  }
  return resolve_fill_ranges(work, tally, err);
}

/* ---- the curve ---- */

/* The lowest and the highest score that a worker has seen, in several lanes so that comparisons
 * do not wait for each other. */
typedef struct resolve_bounds {
  double low[RESOLVE_LANES], high[RESOLVE_LANES];
} resolve_bounds;

static void resolve_bounds_add(resolve_bounds *bounds, const double *score, size_t count) {
  for (size_t l = 0; l < count; l++) {
    bounds->low[l] = score[l] < bounds->low[l] ? score[l] : bounds->low[l];
    bounds->high[l] = score[l] > bounds->high[l] ? score[l] : bounds->high[l];
  }
}

typedef struct resolve_bounds_pass {
  const resolve_work *work;
  resolve_bounds *workers;
  size_t pieces[2]; /* of each column */
} resolve_bounds_pass;

static pcal_status resolve_bounds_piece(void *user, size_t index, size_t worker,
                                        pcal_error *err) {
  const resolve_bounds_pass *all = user;
  resolve_bounds *bounds = &all->workers[worker];
  size_t i = 0;
  const pc_outcome_column piece = resolve_piece_column(all->work, all->pieces[0], index);
  (void)err;
  for (; i + RESOLVE_LANES <= piece.count; i += RESOLVE_LANES)
    resolve_bounds_add(bounds, piece.score + i, RESOLVE_LANES);
  resolve_bounds_add(bounds, piece.score + i, piece.count - i);
  return PCAL_OK;
}

static pcal_status resolve_range_of_scores(const resolve_work *work, double *low, double *high,
                                           pcal_error *err) {
  const size_t workers = pc_worker_count(work->env);
  resolve_bounds_pass all = {
      .work = work, .workers = pc_alloc_raw(work->env, workers, sizeof(resolve_bounds))};
  if (all.workers == NULL)
    return pc_fail_memory(err, "building a curve");
  for (size_t i = 0; i < workers * RESOLVE_LANES; i++) {
    all.workers[i / RESOLVE_LANES].low[i % RESOLVE_LANES] = INFINITY;
    all.workers[i / RESOLVE_LANES].high[i % RESOLVE_LANES] = -INFINITY;
  }
  resolve_count_pieces(work, all.pieces);
  const pcal_status status =
      pc_run(work->env, all.pieces[0] + all.pieces[1], RESOLVE_BOUND_COST * (double)work->rows,
             resolve_bounds_piece, &all, err);
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t i = 0; i < workers * RESOLVE_LANES; i++) {
    *low = fmin(*low, all.workers[i / RESOLVE_LANES].low[i % RESOLVE_LANES]);
    *high = fmax(*high, all.workers[i / RESOLVE_LANES].high[i % RESOLVE_LANES]);
  }
  pc_free(work->env, all.workers);
  return status;
}

/* Buckets of equal width are cells; otherwise buckets by bits fit the range of the scores. */
static pcal_status resolve_tally(const resolve_work *work, pc_bucket_tally *out,
                                 pcal_error *err) {
  double low = 0.0, high = 0.0;
  if (work->asked->cells != NULL)
    return pc_bucket_tally_new(work->env, NULL, out, err);
  PC_TRY(resolve_range_of_scores(work, &low, &high, err));
  return pc_bucket_tally_new_range(work->env, low, high, resolve_buckets(work->rows),
                                   work->asked->squares, out, err);
}

static pcal_status resolve_begin(const resolve_work *work, pc_bucket_curve *out,
                                 pcal_error *err) {
  pc_bucket_tally tally = {0};
  pcal_status status = resolve_tally(work, &tally, err);
  if (status == PCAL_OK)
    status = resolve_fill(work, &tally, err);
  if (status == PCAL_OK)
    status = pc_bucket_curve_new(work->env, &tally, out, err);
  pc_bucket_tally_free(&tally);
  return status;
}

/* One more pass, over the scores in wanted segments, or in segments that cross the borders of
 * cells. */
static pcal_status resolve_refine(resolve_work *work, pc_bucket_curve *curve,
                                  const uint8_t *wanted, unsigned level, pcal_error *err) {
  const pc_refine_request request = {.wanted = wanted,
                                     .keep_limit = work->rows / RESOLVE_KEEP_SHARE};
  pc_refine_targets targets;
  pc_bucket_tally tally = {0};
  PC_TRY(level > 0 && level != PC_EACH_SCORE
             ? pc_bucket_curve_cell_targets(curve, level, SIZE_MAX, &targets, err)
             : pc_bucket_curve_targets(curve, &request, &targets, err));
  pcal_status status = resolve_tally_later(work->env, &targets, &tally, err);
  if (status == PCAL_OK)
    status = resolve_fill_later(work, curve, &tally, err);
  if (status == PCAL_OK)
    status = pc_bucket_curve_refine(curve, &tally, err);
  pc_bucket_tally_free(&tally);
  pc_refine_targets_free(&targets);
  return status;
}

/* Asks what is still to be resolved; *done: nothing. */
static pcal_status resolve_ask(const resolve_work *work, const pc_curve_table *table,
                               uint8_t *wanted, unsigned *level, int *done, pcal_error *err) {
  const pc_curve_question *asked = work->asked;
  size_t wants = asked->wants(asked->user, table, wanted);
  *level = 0;
  if (asked->cells != NULL)
    PC_TRY(asked->cells(asked->user, table, level, err));
  if (*level == PC_EACH_SCORE)
    wants += pc_point_masses_wants(table, PC_EACH_SCORE, wanted);
  *done = wants == 0 && (*level == 0 || *level == PC_EACH_SCORE);
  return PCAL_OK;
}

static pcal_status resolve_step(resolve_work *work, pc_bucket_curve *curve, int *done,
                                pcal_error *err) {
  pc_curve_table table = pc_bucket_curve_table(curve);
  table.team = &work->quiet;
  uint8_t *wanted = pc_alloc(work->env, curve->count, 1);
  unsigned level = 0;
  pcal_status status = wanted == NULL ? pc_fail_memory(err, "building a curve")
                                      : resolve_ask(work, &table, wanted, &level, done, err);
  if (status == PCAL_OK && !*done)
    status = resolve_refine(work, curve, wanted, level, err);
  pc_free(work->env, wanted);
  return status;
}

static int resolve_sorts(const resolve_work *work) {
  return work->asked == NULL || work->columns[0]->weight != NULL ||
         work->columns[1]->weight != NULL ||
         work->rows <= (work->asked->cells == NULL ? RESOLVE_SHORT : RESOLVE_SHORT_CELLS);
}

pcal_status pc_curve_resolve(const pcal_env *env, const pc_outcome_column *misses,
                             const pc_outcome_column *hits, const pc_curve_question *asked,
                             pc_curve_table *out, pcal_error *err) {
  resolve_work work = {.env = env,
                       .columns = {misses, hits},
                       .rows = misses->count + hits->count,
                       .asked = asked};
  if (resolve_sorts(&work))
    return pc_curve_table_new(env, misses, hits, out, err);
  work.quiet = *env;
  work.quiet.progress = NULL;
  work.quiet.interrupted = NULL;
  pc_bucket_curve curve = {0};
  *out = (pc_curve_table){0};
  pcal_status status = resolve_begin(&work, &curve, err);
  for (int done = 0; status == PCAL_OK && !done;)
    status = resolve_step(&work, &curve, &done, err);
  if (status == PCAL_OK)
    *out = pc_bucket_curve_take_table(&curve);
  pc_bucket_curve_free(&curve);
  pc_score_partition_free(env, &work.ranges);
  return status;
}
