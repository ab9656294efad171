#include "calibrators/score_columns.h"

#include <string.h>

#include "base/executor.h"
#include "calibrators/fit_pass.h"
#include "calibrators/fit_ranges.h"
#include "calibrators/fit_replay.h"
#include "curve/parallel_sort.h"
#include "io/source.h"
#include "machines/machine.h"

#define SCORE_COLUMNS_BLOCK_CELLS ((size_t)1 << 17)
#define SCORE_COLUMNS_BLOCK_ROWS ((size_t)1 << 16)
#define SCORE_COLUMNS_SORT_COST 60.0 /* nanoseconds for each score, for the executor */

/* Scores of up to `capacity` rows, column after column: misses from the front, hits from the
 * back. */
typedef struct score_block {
  struct score_block *next;
  size_t rows;
  size_t *misses;           /* of each column */
  double *scores, *weights; /* weights NULL: all 1 */
} score_block;

typedef struct score_worker {
  score_block *blocks;
  double *space;
  uint32_t *hit;
} score_worker;

typedef struct score_state {
  const pc_fit_task *task;
  const pc_score_columns_request *request;
  size_t first, range; /* the columns kept in this pass */
  size_t capacity;     /* rows of a block */
  size_t chunk;        /* most rows of a call of score_columns_add */
  int weighted;
  score_worker *workers;
  size_t worker_count;
  pc_sorted_column *taken; /* of fits by rounds: misses and hits of each column */
} score_state;

/* ---- Keeping scores ---- */

/* Adds an empty block to those of a worker. */
static pcal_status score_columns_block(const score_state *state, score_worker *worker,
                                       pcal_error *err) {
  const pcal_env *env = state->task->env;
  const size_t cells = state->capacity * state->range;
  const size_t head = (sizeof(score_block) + state->range * sizeof(size_t) + 7) / 8;
  double *space = pc_alloc_raw(env, head + cells * (state->weighted ? 2 : 1), sizeof *space);
  if (space == NULL)
    return pc_fail_memory(err, "keeping scores");
  score_block *block = (void *)space;
  *block = (score_block){.next = worker->blocks};
  block->misses = (size_t *)(void *)(block + 1);
  memset(block->misses, 0, state->range * sizeof *block->misses);
  block->scores = space + head;
  block->weights = state->weighted ? block->scores + cells : NULL;
  worker->blocks = block;
  return PCAL_OK;
}

/* Adds column c of rows [begin, end) without branches: each score is written at both ends of
 * the free range, and the outcome decides which end moves. */
static void score_columns_fill(const score_state *state, const score_block *block, size_t c,
                               const double *scores, const uint32_t *hit, const double *weights,
                               size_t begin, size_t end) {
  const size_t stride = state->request->columns, column = state->first + c;
  double *to = block->scores + c * state->capacity;
  double *weight = block->weights == NULL ? NULL : block->weights + c * state->capacity;
  size_t front = block->misses[c];
  size_t back = state->capacity - (block->rows - front);
  for (size_t i = begin; i < end; i++) {
    const double score = scores[i * stride + column] + 0.0; /* -0 becomes 0 */
    const size_t came_true = hit[i] == column;
    to[front] = score;
    to[back - 1] = score;
    if (weight != NULL)
      weight[front] = weight[back - 1] = weights == NULL ? 1.0 : weights[i];
    front += !came_true;
    back -= came_true;
  }
  block->misses[c] = front;
}

/* Allocates the scratch of a worker when it is first needed. */
static pcal_status score_columns_room(const score_state *state, score_worker *worker,
                                      pcal_error *err) {
  const pc_score_columns_request *request = state->request;
  const pcal_env *env = state->task->env;
  const size_t space = state->chunk * request->row_space + request->space;
  if (worker->hit != NULL)
    return PCAL_OK;
  worker->space = pc_alloc_raw(env, space, sizeof *worker->space);
  if (worker->space != NULL)
    worker->hit = pc_alloc_raw(env, state->chunk, sizeof *worker->hit);
  return worker->hit == NULL ? pc_fail_memory(err, "keeping scores") : PCAL_OK;
}

static pcal_status score_columns_add(void *user, size_t w, const pc_rows *rows,
                                     pcal_error *err) {
  const score_state *state = user;
  score_worker *worker = &state->workers[w];
  PC_TRY(score_columns_room(state, worker, err));
  const double *scores =
      state->request->look(state->request->look_user, rows, worker->space, worker->hit);
  for (size_t begin = 0; begin < rows->count;) {
    if (worker->blocks == NULL || worker->blocks->rows == state->capacity)
      PC_TRY(score_columns_block(state, worker, err));
    score_block *block = worker->blocks;
    const size_t left = rows->count - begin, free_rows = state->capacity - block->rows;
    const size_t end = begin + (left < free_rows ? left : free_rows);
    for (size_t c = 0; c < state->range; c++)
      score_columns_fill(state, block, c, scores, worker->hit, rows->weights, begin, end);
    block->rows += end - begin;
    begin = end;
  }
  return PCAL_OK;
}

/* Frees all blocks. */
static void score_columns_drop(const score_state *state) {
  for (size_t w = 0; w < state->worker_count; w++)
    while (state->workers[w].blocks != NULL) {
      score_block *block = state->workers[w].blocks;
      state->workers[w].blocks = block->next;
      pc_free(state->task->env, block);
    }
}

/* ---- Sorting and handing out ---- */

/* The kept scores of one outcome of columns [begin, end), one part for each block. */
static pcal_status score_columns_parts(const score_state *state, const pcal_env *env,
                                       size_t begin, size_t end, int hits,
                                       pc_outcome_column **out, size_t *count,
                                       pcal_error *err) {
  const size_t capacity = state->capacity;
  size_t blocks = 0;
  for (size_t w = 0; w < state->worker_count; w++)
    for (const score_block *block = state->workers[w].blocks; block != NULL;
         block = block->next)
      blocks++;
  pc_outcome_column *part = pc_alloc_raw(env, blocks * (end - begin), sizeof *part);
  *out = part;
  *count = blocks * (end - begin);
  if (part == NULL)
    return pc_fail_memory(err, "sorting scores");
  for (size_t w = 0; w < state->worker_count; w++)
    for (const score_block *block = state->workers[w].blocks; block != NULL;
         block = block->next)
      for (size_t c = begin; c < end; c++) {
        const size_t misses = block->misses[c];
        const size_t length = hits ? block->rows - misses : misses;
        const size_t from = c * capacity + (hits ? capacity - length : 0);
        *part++ = (pc_outcome_column){block->scores + from,
                                      state->weighted ? block->weights + from : NULL, length};
      }
  return PCAL_OK;
}

/* The only block, or NULL when there are several. */
static const score_block *score_columns_only(const score_state *state) {
  const score_block *only = NULL;
  for (size_t w = 0; w < state->worker_count; w++) {
    const score_block *block = state->workers[w].blocks;
    if (block != NULL && (only != NULL || block->next != NULL))
      return NULL;
    only = block == NULL ? only : block;
  }
  return only;
}

/* Misses and hits, sorted at the same time. */
typedef struct score_sides {
  const pcal_env *env;
  pc_sorted_column sorted[2];
} score_sides;

static pcal_status score_columns_side_task(void *user, size_t side, size_t worker,
                                           pcal_error *err) {
  score_sides *sides = user;
  pc_arena scratch;
  (void)worker;
  PC_TRY(pc_arena_open(&scratch, sides->env, err));
  const pcal_status status = pc_sorted_column_sort(&scratch.env, &sides->sorted[side], err);
  pc_arena_close(&scratch);
  return status;
}

/* One column in one block is sorted in place. */
static pcal_status score_columns_in_place(const score_state *state, const pcal_env *scratch,
                                          const score_block *block, pcal_error *err) {
  const pc_score_columns_request *request = state->request;
  const size_t misses = block->misses[0], back = state->capacity - (block->rows - misses);
  double *weights = block->weights;
  score_sides sides = {
      state->task->env,
      {{block->scores, weights, misses},
       {block->scores + back, weights == NULL ? NULL : weights + back, block->rows - misses}}};
  const double work = SCORE_COLUMNS_SORT_COST * (double)block->rows;
  PC_TRY(pc_run(state->task->env, 2, work, score_columns_side_task, &sides, err));
  return request->use(request->user, scratch, 0, &sides.sorted[0], &sides.sorted[1], err);
}

/* All kept columns as one, sorted by all workers. */
static pcal_status score_columns_single(const score_state *state, const pcal_env *scratch,
                                        pcal_error *err) {
  const pc_score_columns_request *request = state->request;
  pc_sorted_column sorted[2] = {{0}, {0}};
  for (int side = 0; side < 2; side++) {
    pc_outcome_column *parts = NULL;
    size_t count = 0;
    PC_TRY(score_columns_parts(state, scratch, 0, state->range, side, &parts, &count, err));
    PC_TRY(pc_parallel_sort(scratch, parts, count, &sorted[side], err));
    pc_free(scratch, parts);
  }
  score_columns_drop(state);
  return request->use(request->user, scratch, 0, &sorted[0], &sorted[1], err);
}

/* One of several columns, sorted by this thread alone. */
static pcal_status score_columns_column(const score_state *state, const pcal_env *scratch,
                                        size_t c, pcal_error *err) {
  const pc_score_columns_request *request = state->request;
  pc_sorted_column sorted[2] = {{0}, {0}};
  for (int side = 0; side < 2; side++) {
    pc_outcome_column *parts = NULL;
    size_t count = 0;
    PC_TRY(score_columns_parts(state, scratch, c, c + 1, side, &parts, &count, err));
    PC_TRY(pc_single_thread_sort(scratch, parts, count, &sorted[side], err));
    pc_free(scratch, parts);
  }
  return request->use(request->user, scratch, state->first + c, &sorted[0], &sorted[1], err);
}

static pcal_status score_columns_task(void *user, size_t c, size_t worker, pcal_error *err) {
  const score_state *state = user;
  pc_arena scratch;
  (void)worker;
  PC_TRY(pc_arena_open(&scratch, state->task->env, err));
  const pcal_status status = score_columns_column(state, &scratch.env, c, err);
  pc_arena_close(&scratch);
  return status;
}

/* The kept columns as one column. */
static pcal_status score_columns_one(const score_state *state, pcal_error *err) {
  const score_block *only = score_columns_only(state);
  pc_arena scratch;
  PC_TRY(pc_arena_open(&scratch, state->task->env, err));
  const pcal_status status = state->request->columns == 1 && only != NULL
                                 ? score_columns_in_place(state, &scratch.env, only, err)
                                 : score_columns_single(state, &scratch.env, err);
  pc_arena_close(&scratch);
  return status;
}

/* ---- Fits by rounds ---- */

/* Sorts the kept scores of one outcome of columns [begin, end), and adds them to the tally. */
static pcal_status score_columns_give(const score_state *state, size_t begin, size_t end,
                                      int hits, pc_fit_fields *fields, pcal_error *err) {
  const pcal_env *env = state->task->env;
  pc_outcome_column *parts = NULL;
  pc_sorted_column sorted = {0};
  size_t count = 0;
  PC_TRY(score_columns_parts(state, env, begin, end, hits, &parts, &count, err));
  PC_TRY(pc_single_thread_sort(env, parts, count, &sorted, err));
  PC_TRY(pc_fit_field_scores(fields, env, &sorted, err));
  pc_sorted_column_free(env, &sorted);
  pc_free(env, parts);
  return PCAL_OK;
}

/* Misses and hits of each column, or of all columns together. */
static pcal_status score_columns_list(void *user, size_t w, pc_fit_fields *fields,
                                      pcal_error *err) {
  score_state *state = user;
  const size_t range = state->range, lists = state->request->pooled ? 1 : range;
  if (w > 0)
    return PCAL_OK;
  if (fields->taking)
    state->taken = pc_alloc(state->task->env, 2 * lists, sizeof *state->taken);
  if (fields->taking && state->taken == NULL)
    return pc_fail_memory(err, "sorting scores");
  for (size_t i = 0; i < 2 * lists; i++)
    PC_TRY(fields->taking
               ? pc_fit_field_scores(fields, state->task->env, &state->taken[i], err)
               : score_columns_give(state, i / 2 * range / lists, (i / 2 + 1) * range / lists,
                                    (int)(i % 2), fields, err));
  return PCAL_OK;
}

static pcal_status score_columns_hand_out_taken(const score_state *state, pcal_error *err) {
  const pc_score_columns_request *request = state->request;
  const size_t lists = request->pooled ? 1 : state->range;
  for (size_t c = 0; c < lists; c++) {
    pc_arena scratch;
    if (state->taken[2 * c].count + state->taken[2 * c + 1].count == 0)
      return pc_fail(err, PCAL_DATA,
                     "a tally is damaged: it has rows without scores; begin the rounds again");
    PC_TRY(pc_arena_open(&scratch, state->task->env, err));
    const pcal_status status = request->use(
        request->user, &scratch.env, c, &state->taken[2 * c], &state->taken[2 * c + 1], err);
    pc_arena_close(&scratch);
    PC_TRY(status);
  }
  return PCAL_OK;
}

/* Reads the source, keeps the columns of the range, and hands them out. */
static pcal_status score_columns_range(score_state *state, pcal_error *err) {
  const pc_row_policy policy = {.score_alone = state->request->bare,
                                .probs =
                                    state->request->lean ? PC_PROBS_LEAN : PC_PROBS_FILLED};
  PC_TRY(pc_fit_pass(state->task, &policy, score_columns_add, score_columns_list, state, err));
  if (state->taken != NULL)
    return score_columns_hand_out_taken(state, err);
  if (state->request->pooled || state->request->columns == 1)
    return score_columns_one(state, err);
  const double work = SCORE_COLUMNS_SORT_COST * (double)state->task->calibrator->fit.rows *
                      (double)state->range;
  PC_TRY(pc_run(state->task->env, state->range, work, score_columns_task, state, err));
  score_columns_drop(state);
  return PCAL_OK;
}

/* ---- Columns of a pass ---- */

static pcal_status score_columns_nothing(void *user, size_t worker, const pc_rows *rows,
                                         pcal_error *err) {
  (void)user;
  (void)worker;
  (void)rows;
  (void)err;
  return PCAL_OK;
}

/* Upper bound of the number of rows; reads the source if that is unknown. */
static pcal_status score_columns_count(const score_state *state, uint64_t *rows,
                                       pcal_error *err) {
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(state->task->source, &shape);
  *rows = shape.row_count;
  if (*rows != PCAL_NO_ROW)
    return PCAL_OK;
  PC_TRY(pc_fit_pass(state->task, &policy, score_columns_nothing, NULL, NULL, err));
  *rows = state->task->calibrator->fit.rows;
  return PCAL_OK;
}

/* True if the source knows its number of rows. */
static int score_columns_counted(const score_state *state) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(state->task->source, &shape);
  return shape.row_count != PCAL_NO_ROW;
}

/* Number of columns to keep at a time. */
static pcal_status score_columns_plan(const score_state *state, size_t *range,
                                      pcal_error *err) {
  const pcal_env *env = state->task->env;
  const pc_score_columns_request *request = state->request;
  uint64_t rows = 0;
  *range = request->columns;
  if (state->task->replay != NULL)
    return PCAL_OK; /* the passes must not depend on the rows of a worker */
  if (*range == 1 && (env->memory_limit == 0 || !score_columns_counted(state)))
    return PCAL_OK; /* not worth reading the rows to count them */
  PC_TRY(score_columns_count(state, &rows, err));
  const uint64_t column = (rows == 0 ? 1 : rows) * sizeof(double) * (state->weighted ? 2 : 1);
  const uint64_t limit =
      env->memory_limit == 0 || env->memory_limit / 2 > PC_SCORE_COLUMNS_BYTES
          ? PC_SCORE_COLUMNS_BYTES
          : env->memory_limit / 2;
  if (!request->pooled && limit / column < *range)
    *range = limit / column < 1 ? 1 : (size_t)(limit / column);
  return pc_check_memory_limit(env, (size_t)(2 * column) * *range, request->remedy, err);
}

/* Rows of a block: no more than the source has. */
static size_t score_columns_capacity(const score_state *state, size_t range) {
  const size_t rows = SCORE_COLUMNS_BLOCK_CELLS / range;
  const size_t most = rows < state->chunk               ? state->chunk
                      : rows > SCORE_COLUMNS_BLOCK_ROWS ? SCORE_COLUMNS_BLOCK_ROWS
                                                        : rows;
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(state->task->source,
                  &shape); /* PCAL_NO_ROW, the largest number, if unknown */
  return shape.row_count >= most ? most : shape.row_count == 0 ? 1 : (size_t)shape.row_count;
}

static pcal_status score_columns_all(score_state *state, pcal_error *err) {
  const size_t columns = state->request->columns;
  size_t range = 0;
  PC_TRY(score_columns_plan(state, &range, err));
  state->capacity = score_columns_capacity(state, range);
  for (state->first = 0; state->first < columns; state->first += range) {
    const size_t left = columns - state->first;
    state->range = left < range ? left : range;
    PC_TRY(score_columns_range(state, err));
  }
  return PCAL_OK;
}

static pcal_status score_columns_keep(const pc_fit_task *task,
                                      const pc_score_columns_request *request,
                                      pcal_error *err) {
  const pcal_env *env = task->env;
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(task->source, &shape);
  score_state state = {.task = task,
                       .request = request,
                       .chunk = pc_chunk_rows(&task->calibrator->layout),
                       .weighted =
                           shape.weighted || (task->replay != NULL && task->replay->unit > 0.0),
                       .worker_count = pc_worker_count(env)};
  state.workers = pc_alloc(env, state.worker_count, sizeof *state.workers);
  if (state.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(score_columns_all(&state, err));
  score_columns_drop(&state);
  for (size_t w = 0; w < state.worker_count; w++) {
    pc_free(env, state.workers[w].space);
    pc_free(env, state.workers[w].hit);
  }
  pc_free(env, state.workers);
  return PCAL_OK;
}

pcal_status pc_score_columns_run(const pc_fit_task *task,
                                 const pc_score_columns_request *request, pcal_error *err) {
  int whole = 0;
  if (task->replay != NULL && request->wants != NULL)
    PC_TRY(pc_fit_ranges_run(task, request, &whole, err));
  return whole ? PCAL_OK : score_columns_keep(task, request, err);
}

/* ---- Requests for classes ---- */

static const double *score_columns_look_one(const void *user, const pc_rows *rows,
                                            double *space, uint32_t *hit) {
  (void)user;
  (void)space;
  for (size_t i = 0; i < rows->count; i++)
    hit[i] = rows->labels[i] == 1 ? 0 : PC_NO_COLUMN;
  return rows->positive;
}

static const double *score_columns_look_all(const void *user, const pc_rows *rows,
                                            double *space, uint32_t *hit) {
  (void)user;
  (void)space;
  for (size_t i = 0; i < rows->count; i++)
    hit[i] = (uint32_t)rows->labels[i];
  return rows->probs;
}

pc_score_columns_request pc_score_columns_of_classes(const pc_layout *layout) {
  const int one = layout->columns == 1;
  return (pc_score_columns_request){.columns = layout->columns,
                                    .bare = one,
                                    .look =
                                        one ? score_columns_look_one : score_columns_look_all};
}
