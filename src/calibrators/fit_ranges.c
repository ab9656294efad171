#include "calibrators/fit_ranges.h"

#include <math.h>

#include "base/assert.h"
#include "base/executor.h"
#include "calibrators/fit_pass.h"
#include "curve/bucket_curve.h"
#include "machines/machine.h"

#define RANGES_GATHER 256  /* scores of a column added at once */
#define RANGES_FEW_ROWS 32 /* ranges with at most so many rows list their scores */
#define RANGES_BUCKETS ((size_t)1 << 15)
#define RANGES_WEIGHT_MAX 0x1p53

typedef struct range_column {
  pc_bucket_curve curve;
  uint8_t *marks;   /* of each segment: pc_range_mark */
  uint8_t *settled; /* true if a segment need not be divided */
  double *lows;     /* lowest scores of settled segments, during a pass */
  size_t low_count;
  pc_refine_targets targets;
} range_column;

typedef struct range_worker {
  pc_bucket_tally *tallies; /* one for each column; unused ones are zeroed */
  double *space;
  uint32_t *hit;
  uint64_t fractions; /* rows whose weight cannot be counted */
} range_worker;

typedef struct range_state {
  const pc_fit_task *task;
  const pc_score_columns_request *request;
  pc_bucket_layout layout;
  size_t count; /* of columns; 1 if they are pooled */
  size_t chunk; /* most rows of a call of ranges_add */
  int first;    /* the first pass */
  range_column *columns;
  range_worker *workers;
  size_t worker_count;
} range_state;

/* ---- Adding rows ---- */

/* Makes the tallies of a worker, and its scratch if it has rows. */
static pcal_status ranges_open(const range_state *state, range_worker *worker,
                               pcal_error *err) {
  const pcal_env *env = state->task->env;
  if (worker->tallies != NULL)
    return PCAL_OK;
  worker->tallies = pc_alloc(env, state->count, sizeof *worker->tallies);
  if (worker->tallies == NULL)
    return pc_fail_memory(err, "preparing curves");
  for (size_t c = 0; c < state->count; c++) {
    const pc_refine_targets *targets = &state->columns[c].targets;
    if (state->first)
      PC_TRY(pc_bucket_tally_new_layout(env, &state->layout, &worker->tallies[c], err));
    else if (targets->count > 0)
      PC_TRY(pc_bucket_tally_new(env, targets, &worker->tallies[c], err));
  }
  return PCAL_OK;
}

static pcal_status ranges_room(const range_state *state, range_worker *worker,
                               pcal_error *err) {
  const pc_score_columns_request *request = state->request;
  const pcal_env *env = state->task->env;
  if (worker->hit != NULL)
    return PCAL_OK;
  worker->space = pc_alloc_raw(env, state->chunk * request->row_space + request->space,
                               sizeof *worker->space);
  if (worker->space != NULL)
    worker->hit = pc_alloc_raw(env, state->chunk, sizeof *worker->hit);
  return worker->hit == NULL ? pc_fail_memory(err, "counting scores") : PCAL_OK;
}

/* Adds one column of scores. */
static pcal_status ranges_add_column(const range_state *state, const range_worker *worker,
                                     pc_bucket_tally *tally, const pc_rows *rows,
                                     const double *scores, size_t column, pcal_error *err) {
  const size_t stride = state->request->columns;
  double score[RANGES_GATHER];
  uint8_t hit[RANGES_GATHER];
  for (size_t begin = 0; begin < rows->count; begin += RANGES_GATHER) {
    const size_t left = rows->count - begin;
    const size_t count = left < RANGES_GATHER ? left : RANGES_GATHER;
    for (size_t i = 0; i < count; i++) {
      score[i] = scores[(begin + i) * stride + column];
      hit[i] = worker->hit[begin + i] == column;
    }
    PC_TRY(rows->weights == NULL ? pc_bucket_tally_add(tally, score, hit, count, err)
                                 : pc_bucket_tally_add_weighted(
                                       tally, score, hit, rows->weights + begin, count, err));
  }
  return PCAL_OK;
}

static pcal_status ranges_add(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  const range_state *state = user;
  const pc_score_columns_request *request = state->request;
  range_worker *worker = &state->workers[w];
  PC_TRY(ranges_open(state, worker, err));
  PC_TRY(ranges_room(state, worker, err));
  const double *scores = request->look(request->look_user, rows, worker->space, worker->hit);
  for (size_t i = 0; rows->weights != NULL && i < rows->count; i++)
    worker->fractions += rows->weights[i] != floor(rows->weights[i]);
  for (size_t c = 0; c < request->columns; c++) {
    pc_bucket_tally *tally = &worker->tallies[request->pooled ? 0 : c];
    if (tally->env != NULL)
      PC_TRY(ranges_add_column(state, worker, tally, rows, scores, c, err));
  }
  return PCAL_OK;
}

/* The fields of a pass: rows that cannot be counted, and the ranges of each column in it. */
static pcal_status ranges_list(void *user, size_t w, pc_fit_fields *fields, pcal_error *err) {
  const range_state *state = user;
  range_worker *worker = &state->workers[w];
  if (fields->taking)
    PC_TRY(ranges_open(state, worker, err));
  PC_TRY(pc_fit_field_counts(fields, &worker->fractions, 1, err));
  for (size_t c = 0; c < state->count; c++)
    if (state->first || state->columns[c].targets.count > 0)
      PC_TRY(pc_fit_field_ranges(fields, worker->tallies == NULL ? NULL : &worker->tallies[c],
                                 err));
  return PCAL_OK;
}

static void ranges_drop_tallies(const range_state *state) {
  range_worker *worker = &state->workers[0];
  for (size_t c = 0; c < state->count; c++)
    pc_bucket_tally_free(&worker->tallies[c]);
  pc_free(state->task->env, worker->tallies);
  worker->tallies = NULL;
}

/* ---- Asking ---- */

/* Joins segments that are marked so, and forgets the others' marks of joining. */
static void ranges_join(range_column *column) {
  pc_segment *segments = column->curve.segments;
  size_t count = 0;
  for (size_t i = 0; i < column->curve.count; i++) {
    if ((column->marks[i] & PC_RANGE_JOIN) != 0) {
      pc_segment_join(&segments[count - 1], &segments[i]);
      column->settled[count - 1] = 1;
      continue;
    }
    segments[count] = segments[i];
    column->settled[count] = !(column->marks[i] & PC_RANGE_RESOLVE);
    column->marks[count++] = column->marks[i];
  }
  column->curve.count = count;
}

/* Remembers the settled segments by their lowest scores. */
static pcal_status ranges_note_settled(const pcal_env *env, range_column *column,
                                       pcal_error *err) {
  column->lows = pc_alloc_raw(env, column->curve.count, sizeof *column->lows);
  if (column->lows == NULL)
    return pc_fail_memory(err, "refining a curve");
  column->low_count = 0;
  for (size_t i = 0; i < column->curve.count; i++)
    if (column->settled[i])
      column->lows[column->low_count++] = column->curve.segments[i].low;
  return PCAL_OK;
}

/* Finds them again in the refined curve. */
static pcal_status ranges_find_settled(const pcal_env *env, range_column *column,
                                       pcal_error *err) {
  const size_t count = column->curve.count;
  pc_free(env, column->settled);
  pc_free(env, column->marks);
  column->settled = pc_alloc(env, count, 1);
  column->marks = pc_alloc(env, count, 1);
  if (column->settled == NULL || column->marks == NULL)
    return pc_fail_memory(err, "refining a curve");
  for (size_t i = 0, at = 0; i < count && at < column->low_count; i++)
    if (column->curve.segments[i].low == column->lows[at]) {
      column->settled[i] = 1;
      at++;
    }
  pc_free(env, column->lows);
  column->lows = NULL;
  column->low_count = 0;
  return PCAL_OK;
}

/* Rows in marked segments: in all of them, and in those with many rows. */
typedef struct range_load {
  uint64_t rows, many;
  size_t marked;
} range_load;

static range_load ranges_load(const range_column *column, uint64_t few) {
  range_load load = {0};
  for (size_t i = 0; i < column->curve.count; i++) {
    const uint64_t rows = column->curve.segments[i].rows;
    if (!(column->marks[i] & PC_RANGE_RESOLVE))
      continue;
    load.marked++;
    load.rows += rows;
    load.many += rows > few ? rows : 0;
  }
  return load;
}

/* Sub-buckets of a segment: in proportion to its rows, at least 2. */
static size_t ranges_parts(const range_load *load, uint64_t rows, size_t all) {
  const double share = (double)all * ((double)rows / (double)load->many);
  return share < 2.0 ? 2 : (size_t)share;
}

/* Lists the scores of segments with few rows, or of all if those are few, and divides others;
 * as many as the limits allow, the rest in later passes. */
static pcal_status ranges_target(const range_state *state, range_column *column,
                                 pcal_error *err) {
  const size_t all = state->layout.fine;
  uint64_t kept = PC_FIT_RANGES_KEPT / state->count;
  /* Not more than can be kept: otherwise such a segment would be neither listed nor divided. */
  const uint64_t few_rows = kept < RANGES_FEW_ROWS ? kept : RANGES_FEW_ROWS;
  const range_load load = ranges_load(column, few_rows);
  const int whole = load.rows <= kept;
  if (load.marked == 0)
    return PCAL_OK;
  PC_TRY(pc_refine_targets_new(state->task->env, &state->layout, load.marked, &column->targets,
                               err));
  for (size_t i = 0; i < column->curve.count; i++) {
    const pc_segment *segment = &column->curve.segments[i];
    const int few = whole || segment->rows <= few_rows;
    pc_refine_target target = {.segment = i, .low = segment->low, .high = segment->high};
    if (!(column->marks[i] & PC_RANGE_RESOLVE) ||
        (few ? segment->rows > kept : column->targets.split > 2 * all))
      continue;
    kept -= few ? segment->rows : 0;
    target.action = few ? PC_REFINE_KEEP : PC_REFINE_SPLIT;
    if (!few)
      target.shift =
          pc_bucket_shift(segment->low, segment->high, ranges_parts(&load, segment->rows, all));
    pc_refine_targets_append(&column->targets, target);
  }
  pc_assert(column->targets.count > 0);
  pc_refine_targets_index(&column->targets);
  return PCAL_OK;
}

/* Sets the targets of the next pass of a column; none: it is resolved. */
static pcal_status ranges_ask(const range_state *state, size_t c, pcal_error *err) {
  range_column *column = &state->columns[c];
  const pc_curve_table table = pc_bucket_curve_table(&column->curve);
  PC_TRY(ranges_find_settled(state->task->env, column, err));
  PC_TRY(state->request->wants(state->request->user, state->task->env, &table, column->settled,
                               column->marks, err));
  ranges_join(column);
  PC_TRY(ranges_note_settled(state->task->env, column, err));
  return ranges_target(state, column, err);
}

/* ---- Passes ---- */

static pcal_status ranges_pass(range_state *state, pcal_error *err) {
  const pc_row_policy policy = {.score_alone = state->request->bare,
                                .probs =
                                    state->request->lean ? PC_PROBS_LEAN : PC_PROBS_FILLED};
  return pc_fit_pass(state->task, &policy, ranges_add, ranges_list, state, err);
}

/* True if all weights are whole and their sums exact in doubles. */
static int ranges_are_counted(const range_state *state) {
  return state->workers[0].fractions == 0 &&
         state->task->calibrator->fit.weight < RANGES_WEIGHT_MAX;
}

static pcal_status ranges_first(range_state *state, pcal_error *err) {
  const pcal_env *env = state->task->env;
  state->first = 1;
  PC_TRY(ranges_pass(state, err));
  for (size_t c = 0; c < state->count && ranges_are_counted(state); c++) {
    PC_TRY(
        pc_bucket_curve_new(env, &state->workers[0].tallies[c], &state->columns[c].curve, err));
    if (state->columns[c].curve.count == 0)
      return pc_fail(err, PCAL_DATA,
                     "a tally is damaged: it has rows without scores; begin the rounds again");
  }
  ranges_drop_tallies(state);
  state->first = 0;
  return PCAL_OK;
}

/* *more: a pass was made. */
static pcal_status ranges_later(range_state *state, int *more, pcal_error *err) {
  *more = 0;
  for (size_t c = 0; c < state->count; c++) {
    PC_TRY(ranges_ask(state, c, err));
    *more |= state->columns[c].targets.count > 0;
  }
  if (!*more)
    return PCAL_OK;
  PC_TRY(ranges_pass(state, err));
  for (size_t c = 0; c < state->count; c++) {
    range_column *column = &state->columns[c];
    if (column->targets.count > 0)
      PC_TRY(pc_bucket_curve_refine(&column->curve, &state->workers[0].tallies[c], err));
  }
  ranges_drop_tallies(state);
  for (size_t c = 0; c < state->count; c++)
    pc_refine_targets_free(&state->columns[c].targets);
  return PCAL_OK;
}

static pcal_status ranges_hand_out(const range_state *state, pcal_error *err) {
  for (size_t c = 0; c < state->count; c++) {
    const pc_curve_table table = pc_bucket_curve_table(&state->columns[c].curve);
    pc_arena scratch;
    PC_TRY(pc_arena_open(&scratch, state->task->env, err));
    const pcal_status status =
        state->request->use_ranges(state->request->user, &scratch.env, c, &table, err);
    pc_arena_close(&scratch);
    PC_TRY(status);
  }
  return PCAL_OK;
}

/* The task's memory is freed at once when the fit ends, so that failures free nothing. */
pcal_status pc_fit_ranges_run(const pc_fit_task *task, const pc_score_columns_request *request,
                              int *whole, pcal_error *err) {
  const pcal_env *env = task->env;
  range_state state = {.task = task,
                       .request = request,
                       .count = request->pooled ? 1 : request->columns,
                       .chunk = pc_chunk_rows(&task->calibrator->layout),
                       .worker_count = pc_worker_count(env)};
  state.layout = pc_bucket_layout_part(state.count, RANGES_BUCKETS, PC_FIT_RANGES_PARTS);
  state.columns = pc_alloc(env, state.count, sizeof *state.columns);
  state.workers = pc_alloc(env, state.worker_count, sizeof *state.workers);
  if (state.columns == NULL || state.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(ranges_first(&state, err));
  *whole = ranges_are_counted(&state);
  for (int more = *whole; more;)
    PC_TRY(ranges_later(&state, &more, err));
  return *whole ? ranges_hand_out(&state, err) : PCAL_OK;
}
