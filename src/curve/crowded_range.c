#include "curve/crowded_range.h"

#include "base/executor.h"

#define CROWDED_SHARES 32               /* of the sub-buckets, one for each task */
#define CROWDED_PIECE ((size_t)1 << 13) /* scores that a task divides */
#define CROWDED_SCORE_COST 5.0          /* nanoseconds, for the executor */

typedef struct crowded_range {
  pc_bucket_tally *tally;
  const pc_outcome_column *columns; /* misses, hits */
  size_t pieces[2];                 /* of each column */
  double cut[CROWDED_SHARES];       /* lowest score of each share but the first */
  uint8_t *share;                   /* of each score: misses, then hits */
  double *score;                    /* by outcome and share */
  size_t (
      *places)[CROWDED_SHARES]; /* by piece and share: rows, then the next place in `score` */
  size_t begin[2][CROWDED_SHARES + 1]; /* in `score` */
} crowded_range;

/* The lowest score of a target in sub-bucket `part` or above it. */
static double crowded_part_low(const pc_refine_targets *targets, const pc_refine_target *target,
                               size_t part) {
  uint64_t low = pc_score_key(target->low), high = pc_score_key(target->high);
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (pc_refine_sub_bucket(targets, target, pc_score_of_key(middle)) < part)
      low = middle + 1;
    else
      high = middle;
  }
  return pc_score_of_key(low);
}

/* Gives each share about as many sub-buckets. */
static void crowded_cut(crowded_range *work, size_t begin, size_t end) {
  const pc_refine_targets *targets = work->tally->targets;
  size_t parts = 0, before = 0, t = begin;
  for (size_t i = begin; i < end; i++)
    parts += targets->list[i].parts;
  for (size_t s = 1; s < CROWDED_SHARES; s++) {
    const size_t wanted = parts / CROWDED_SHARES * s;
    while (before + targets->list[t].parts <= wanted)
      before += targets->list[t++].parts;
    work->cut[s] = crowded_part_low(targets, &targets->list[t], wanted - before);
  }
}

/* The share of a score.  Has no branches, which would be mispredicted. */
static size_t crowded_share(const crowded_range *work, double score) {
  size_t share = 0;
  for (size_t step = CROWDED_SHARES / 2; step > 0; step /= 2)
    share += score >= work->cut[share + step] ? step : 0;
  return share;
}

/* A piece of one column. */
typedef struct crowded_piece {
  int hit;
  const double *score;
  size_t first, count; /* number of its first score among all */
} crowded_piece;

static crowded_piece crowded_piece_of(const crowded_range *work, size_t index) {
  const int hit = index >= work->pieces[0];
  const size_t begin = (index - (hit ? work->pieces[0] : 0)) * CROWDED_PIECE;
  const pc_outcome_column *column = &work->columns[hit];
  const size_t left = column->count - begin;
  return (crowded_piece){hit, column->score + begin, begin + (hit ? work->columns[0].count : 0),
                         left < CROWDED_PIECE ? left : CROWDED_PIECE};
}

static pcal_status crowded_count(void *user, size_t index, size_t worker, pcal_error *err) {
  const crowded_range *work = user;
  const crowded_piece piece = crowded_piece_of(work, index);
  (void)worker;
  (void)err;
  for (size_t i = 0; i < piece.count; i++) {
    const size_t share = crowded_share(work, piece.score[i]);
    work->share[piece.first + i] = (uint8_t)share;
    work->places[index][share]++;
  }
  return PCAL_OK;
}

static void crowded_place(crowded_range *work) {
  size_t at = 0;
  for (size_t hit = 0; hit < 2; hit++) {
    const size_t first = hit ? work->pieces[0] : 0;
    for (size_t s = 0; s < CROWDED_SHARES; s++) {
      work->begin[hit][s] = at;
      for (size_t piece = first; piece < first + work->pieces[hit]; piece++) {
        const size_t rows = work->places[piece][s];
        work->places[piece][s] = at;
        at += rows;
      }
    }
    work->begin[hit][CROWDED_SHARES] = at;
  }
}

static pcal_status crowded_copy(void *user, size_t index, size_t worker, pcal_error *err) {
  const crowded_range *work = user;
  const crowded_piece piece = crowded_piece_of(work, index);
  (void)worker;
  (void)err;
  for (size_t i = 0; i < piece.count; i++)
    work->score[work->places[index][work->share[piece.first + i]]++] = piece.score[i];
  return PCAL_OK;
}

static pcal_status crowded_add(void *user, size_t share, size_t worker, pcal_error *err) {
  const crowded_range *work = user;
  (void)worker;
  for (int hit = 0; hit < 2; hit++) {
    const size_t *begin = &work->begin[hit][share];
    PC_TRY(pc_bucket_tally_add_column(work->tally, work->score + begin[0], begin[1] - begin[0],
                                      hit, err));
  }
  return PCAL_OK;
}

static pcal_status crowded_run(const pcal_env *env, crowded_range *work, pcal_error *err) {
  const size_t pieces = work->pieces[0] + work->pieces[1];
  const double cost =
      CROWDED_SCORE_COST * (double)(work->columns[0].count + work->columns[1].count);
  PC_TRY(pc_run(env, pieces, cost, crowded_count, work, err));
  crowded_place(work);
  PC_TRY(pc_run(env, pieces, cost, crowded_copy, work, err));
  return pc_run(env, CROWDED_SHARES, 4 * cost, crowded_add, work, err);
}

pcal_status pc_crowded_range_add(const pcal_env *env, pc_bucket_tally *tally, size_t begin,
                                 size_t end, const pc_outcome_column columns[2],
                                 pcal_error *err) {
  const size_t rows = columns[0].count + columns[1].count;
  crowded_range work = {.tally = tally, .columns = columns};
  for (int hit = 0; hit < 2; hit++)
    work.pieces[hit] = (columns[hit].count + CROWDED_PIECE - 1) / CROWDED_PIECE;
  work.share = pc_alloc_raw(env, rows, sizeof *work.share);
  work.score = pc_alloc_raw(env, rows, sizeof *work.score);
  work.places = pc_alloc(env, work.pieces[0] + work.pieces[1], sizeof *work.places);
  pcal_status status = PCAL_OK;
  if (work.share == NULL || work.score == NULL || work.places == NULL) {
    status = pc_fail_memory(err, "building a curve");
  } else {
    crowded_cut(&work, begin, end);
    status = crowded_run(env, &work, err);
  }
  pc_free(env, work.share);
  pc_free(env, work.score);
  pc_free(env, work.places);
  return status;
}
