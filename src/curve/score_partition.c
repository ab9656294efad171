#include "curve/score_partition.h"

#include <string.h>

#include "base/executor.h"

#define PARTITION_PIECE ((size_t)1 << 15) /* rows */
#define PARTITION_SCORE_COST 3.0          /* nanoseconds, for the executor */

/* Rows of one piece by range; while scores are copied, the place of the next one. */
typedef struct partition_places {
  size_t next[PC_SCORE_RANGES];
} partition_places;

typedef struct partition_work {
  const pc_outcome_column *const *columns;
  const pc_bucket_layout *layout;
  uint8_t *range_of; /* by bucket */
  partition_places *places;
  size_t pieces[2]; /* of each column */
  double *score;
} partition_work;

/* Gives whole buckets to ranges, by the rows up to the middle of each bucket. */
static void partition_choose_ranges(const pc_bucket_curve *curve, partition_work *work,
                                    pc_score_partition *out) {
  double before = 0;
  size_t bucket = 0;
  uint8_t range = 0;
  for (size_t i = 0; i < curve->count; i++) {
    const size_t here = pc_bucket_of(work->layout, curve->segments[i].low);
    const double rows = (double)curve->segments[i].rows;
    for (; bucket < here; bucket++)
      work->range_of[bucket] = range;
    if (bucket == here) {
      const double middle = (before + rows / 2) / (double)curve->total;
      const size_t own = (size_t)(middle * PC_SCORE_RANGES);
      const uint8_t before_it = range;
      range = (uint8_t)(own < PC_SCORE_RANGES ? own : PC_SCORE_RANGES - 1);
      work->range_of[bucket++] = range;
      if (i == 0 || range != before_it)
        out->low[range] = curve->segments[i].low;
    }
    out->high[range] = curve->segments[i].high;
    before += rows;
  }
  for (; bucket < work->layout->count; bucket++)
    work->range_of[bucket] = range;
}

static pc_outcome_column partition_piece(const partition_work *work, size_t index) {
  const int hit = index >= work->pieces[0];
  const size_t begin = (index - (hit ? work->pieces[0] : 0)) * PARTITION_PIECE;
  const pc_outcome_column *column = work->columns[hit];
  const size_t left = column->count - begin;
  return (pc_outcome_column){.score = column->score + begin,
                             .count = left < PARTITION_PIECE ? left : PARTITION_PIECE};
}

static size_t partition_range(const partition_work *work, double score) {
  return work->range_of[pc_bucket_of(work->layout, score + 0.0)]; /* -0 becomes 0 */
}

static pcal_status partition_count(void *user, size_t index, size_t worker, pcal_error *err) {
  const partition_work *work = user;
  const pc_outcome_column piece = partition_piece(work, index);
  size_t *rows = work->places[index].next;
  (void)worker;
  (void)err;
  for (size_t i = 0; i < piece.count; i++)
    rows[partition_range(work, piece.score[i])]++;
  return PCAL_OK;
}

static pcal_status partition_copy(void *user, size_t index, size_t worker, pcal_error *err) {
  const partition_work *work = user;
  const pc_outcome_column piece = partition_piece(work, index);
  size_t *next = work->places[index].next;
  (void)worker;
  (void)err;
  for (size_t i = 0; i < piece.count; i++)
    work->score[next[partition_range(work, piece.score[i])]++] = piece.score[i];
  return PCAL_OK;
}

/* Turns the rows of each piece and range into places. */
static void partition_place(const partition_work *work, pc_score_partition *out) {
  size_t at = 0;
  for (size_t hit = 0; hit < 2; hit++) {
    const size_t first = hit ? work->pieces[0] : 0;
    for (size_t range = 0; range < PC_SCORE_RANGES; range++) {
      out->begin[hit][range] = at;
      for (size_t piece = first; piece < first + work->pieces[hit]; piece++) {
        const size_t rows = work->places[piece].next[range];
        work->places[piece].next[range] = at;
        at += rows;
      }
    }
    out->begin[hit][PC_SCORE_RANGES] = at;
  }
}

static pcal_status partition_fill(const pcal_env *env, partition_work *work,
                                  pc_score_partition *out, pcal_error *err) {
  const size_t pieces = work->pieces[0] + work->pieces[1];
  const double cost = PARTITION_SCORE_COST * (double)PARTITION_PIECE * (double)pieces;
  PC_TRY(pc_run(env, pieces, cost, partition_count, work, err));
  partition_place(work, out);
  return pc_run(env, pieces, cost, partition_copy, work, err);
}

pcal_status pc_score_partition_new(const pcal_env *env,
                                   const pc_outcome_column *const columns[2],
                                   const pc_bucket_curve *curve, pc_score_partition *out,
                                   pcal_error *err) {
  partition_work work = {.columns = columns, .layout = &curve->layout};
  *out = (pc_score_partition){0};
  for (int hit = 0; hit < 2; hit++)
    work.pieces[hit] = (columns[hit]->count + PARTITION_PIECE - 1) / PARTITION_PIECE;
  work.range_of = pc_alloc(env, curve->layout.count, sizeof *work.range_of);
  work.places = pc_alloc(env, work.pieces[0] + work.pieces[1], sizeof *work.places);
  work.score = pc_alloc_raw(env, columns[0]->count + columns[1]->count, sizeof *work.score);
  pcal_status status = PCAL_OK;
  if (work.range_of == NULL || work.places == NULL || work.score == NULL)
    status = pc_fail_memory(err, "building a curve");
  if (status == PCAL_OK) {
    partition_choose_ranges(curve, &work, out);
    status = partition_fill(env, &work, out, err);
  }
  pc_free(env, work.range_of);
  pc_free(env, work.places);
  if (status == PCAL_OK)
    out->score = work.score;
  else
    pc_free(env, work.score);
  return status;
}

void pc_score_partition_free(const pcal_env *env, pc_score_partition *partition) {
  pc_free(env, partition->score);
  partition->score = NULL;
}
