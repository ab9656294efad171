#include "data/pass.h"

#include "base/assert.h"
#include "base/executor.h"

#define PASS_SCORE_COST 4.0 /* nanoseconds, for the executor */
#define PASS_FREE_COST 4e4  /* nanoseconds per scratch */
/* Most consecutive chunks of a task; consecutive chunks make use of prefetched data. */
#define PASS_RUN_MAX 4
#define PASS_TASKS 48 /* tasks for each worker, if there are enough chunks */

struct pc_pass_worker {
  int ready;
  pc_scratch scratch;
  pc_row_counts counts;
};

pcal_status pc_pass_init(pc_pass *pass, const pcal_env *env, const pc_layout *layout,
                         const pc_row_policy *policy, pc_pass_add add, void *user,
                         pcal_error *err) {
  pc_assert(pc_row_policy_is_valid(policy));
  *pass = (pc_pass){.env = env,
                    .layout = *layout,
                    .policy = *policy,
                    .add = add,
                    .user = user,
                    .worker_count = pc_worker_count(env)};
  pass->workers = pc_alloc(env, pass->worker_count, sizeof *pass->workers);
  return pass->workers == NULL ? pc_fail_memory(err, "preparing workers") : PCAL_OK;
}

static pcal_status pass_free_scratch(void *user, size_t w, size_t worker, pcal_error *err) {
  const pc_pass *pass = user;
  (void)worker;
  (void)err;
  if (pass->workers[w].ready)
    pc_scratch_free(pass->env, &pass->workers[w].scratch);
  return PCAL_OK;
}

void pc_pass_free(pc_pass *pass) {
  size_t used = 0;
  for (size_t w = 0; pass->workers != NULL && w < pass->worker_count; w++)
    used += pass->workers[w].ready != 0;
  if (used > 0)
    pc_run_quietly(pass->env, pass->worker_count,
                   used > 1 ? PASS_FREE_COST * (double)used : 0.0, pass_free_scratch, pass);
  pc_free(pass->env, pass->workers);
  pass->workers = NULL;
}

typedef struct pass_batch {
  pc_pass *pass;
  const pcal_batch *batch;
  size_t chunk;                     /* rows */
  size_t run;                       /* chunks of a task */
  int check;                        /* rows are only checked, not added */
  const pc_device_softmax *softmax; /* of all rows, computed by a device; else NULL */
} pass_batch;

/* Allocates the scratch of a worker when first needed. */
static pcal_status pass_scratch(const pc_pass *pass, struct pc_pass_worker *worker,
                                pcal_error *err) {
  if (!worker->ready)
    PC_TRY(pc_scratch_new(pass->env, &pass->layout, &worker->scratch, err));
  worker->ready = 1;
  return PCAL_OK;
}

static pcal_status pass_add(const pass_batch *work, size_t w, size_t begin, size_t count,
                            pcal_error *err) {
  const pc_pass *pass = work->pass;
  struct pc_pass_worker *worker = &pass->workers[w];
  pc_rows rows;
  PC_TRY(pass_scratch(pass, worker, err));
  PC_TRY(pc_lazy_labels_fill(&pass->lazy_labels, begin, count, err));
  if (work->softmax != NULL) {
    const pc_device_softmax *all = work->softmax;
    const pc_device_softmax part = {all->rest + begin,
                                    all->rest_square + begin,
                                    all->gap + begin,
                                    all->top + begin,
                                    all->scale == NULL ? NULL : all->scale + begin,
                                    1};
    PC_TRY(pc_rows_convert_device(work->batch, &pass->layout, &pass->policy, &part, begin,
                                  count, &worker->scratch, &rows, &worker->counts, err));
  } else {
    PC_TRY(pc_rows_convert(work->batch, &pass->layout, &pass->policy, begin, count,
                           &worker->scratch, &rows, &worker->counts, err));
  }
  return work->check ? PCAL_OK : pass->add(pass->user, w, &rows, err);
}

/* Passes rows on as stored; lazy labels are converted into the scratch, which is in the
 * cache. */
static pcal_status pass_stored(const pass_batch *work, size_t w, size_t begin, size_t count,
                               pc_stored_rows *out, pcal_error *err) {
  const pc_pass *pass = work->pass;
  const pcal_batch *batch = work->batch;
  *out = (pc_stored_rows){.type = batch->type,
                          .scores = (const char *)batch->scores +
                                    (ptrdiff_t)begin * batch->row_stride,
                          .labels = batch->labels + begin,
                          .count = count};
  if (pass->lazy_labels.fill == NULL)
    return PCAL_OK;
  PC_TRY(pass_scratch(pass, &pass->workers[w], err));
  out->labels = pass->workers[w].scratch.labels;
  return pass->lazy_labels.fill(pass->lazy_labels.user, begin, count,
                                pass->workers[w].scratch.labels, err);
}

static pcal_status pass_chunk(const pass_batch *work, size_t begin, size_t w, pcal_error *err) {
  const pc_pass *pass = work->pass;
  const size_t left = work->batch->rows - begin;
  const size_t count = left < work->chunk ? left : work->chunk;
  if (pass->take != NULL && pc_batch_has_stored_rows(work->batch)) {
    pc_stored_rows rows;
    PC_TRY(pass_stored(work, w, begin, count, &rows, err));
    if (pc_stored_rows_are_plain(&rows))
      return work->check ? PCAL_OK : pass->take(pass->user, w, &rows, err);
  }
  return pass_add(work, w, begin, count, err);
}

static pcal_status pass_task(void *user, size_t index, size_t w, pcal_error *err) {
  const pass_batch *work = user;
  const size_t first = index * work->run;
  for (size_t i = first; i < first + work->run && i * work->chunk < work->batch->rows; i++)
    PC_TRY(pass_chunk(work, i * work->chunk, w, err));
  return PCAL_OK;
}

static size_t pass_run(const pc_pass *pass, size_t chunks) {
  const size_t run = chunks / (PASS_TASKS * pass->worker_count);
  return run < 1 ? 1 : run < PASS_RUN_MAX ? run : PASS_RUN_MAX;
}

static void pass_clear_counts(pc_pass *pass) {
  for (size_t w = 0; w < pass->worker_count; w++)
    pass->workers[w].counts = (pc_row_counts){.fractional_row = PCAL_NO_ROW};
}

static void pass_add_counts(const pc_pass *pass, pc_row_counts *counts) {
  for (size_t w = 0; w < pass->worker_count; w++) {
    const pc_row_counts *here = &pass->workers[w].counts;
    counts->normalized += here->normalized;
    counts->skipped += here->skipped;
    if (here->fractional_row < counts->fractional_row)
      counts->fractional_row = here->fractional_row;
  }
}

/* The message about a bad label depends on the labels of all rows (row_check.h), but lazy
 * labels are converted chunk by chunk.  After a failure this converts all labels and checks the
 * rows again, without adding them, for a better message.  If that finds no bad row, the first
 * error is reported. */
static pcal_status pass_explain(pass_batch *work, size_t tasks, double cost, pcal_error *err) {
  const pc_pass *pass = work->pass;
  pcal_error again;
  pc_error_clear(&again);
  work->check = 1;
  pcal_status status = pc_lazy_labels_fill(&pass->lazy_labels, 0, work->batch->rows, &again);
  if (status == PCAL_OK)
    status = pc_run(pass->env, tasks, cost, pass_task, work, &again);
  if (status != PCAL_DATA)
    return PCAL_DATA;
  if (err != NULL)
    *err = again;
  return PCAL_DATA;
}

/* Passes the rows of a batch on, in parallel. */
static pcal_status pass_rows(pc_pass *pass, const pcal_batch *batch,
                             const pc_device_softmax *softmax, pcal_error *err) {
  const size_t chunk = pc_chunk_rows(&pass->layout), chunks = (batch->rows - 1) / chunk + 1;
  pass_batch work = {.pass = pass,
                     .batch = batch,
                     .chunk = chunk,
                     .run = pass_run(pass, chunks),
                     .softmax = softmax};
  const size_t tasks = (chunks - 1) / work.run + 1;
  const double cost = PASS_SCORE_COST * (double)batch->rows * (double)batch->columns;
  const pcal_status status = pc_run(pass->env, tasks, cost, pass_task, &work, err);
  return status == PCAL_DATA && pass->lazy_labels.fill != NULL
             ? pass_explain(&work, tasks, cost, err)
             : status;
}

/* ---- Rows on a device ---- */

static void pass_device_window(const pcal_batch *batch, size_t begin, size_t rows,
                               pcal_batch *out) {
  *out = *batch;
  out->rows = rows;
  out->scores = (const char *)batch->scores + (ptrdiff_t)begin * batch->row_stride;
  out->labels = batch->labels == NULL ? NULL : batch->labels + begin;
  out->targets = pc_batch_targets(batch, begin);
  out->weights = batch->weights == NULL ? NULL : batch->weights + begin;
  out->groups = batch->groups == NULL ? NULL : batch->groups + begin;
  out->ids = batch->ids == NULL ? NULL : batch->ids + begin;
  out->first_row = batch->first_row + begin;
  if (begin > 0)
    out->place = NULL; /* it counts the rows of the whole batch */
}

typedef struct pass_copy {
  pc_pass *pass;
  const pcal_batch *batch;
} pass_copy;

/* Receives whole rows from the device. */
static pcal_status pass_device_piece(void *user, const void *bytes, size_t begin, size_t count,
                                     pcal_error *err) {
  const pass_copy *copy = user;
  const size_t row = (size_t)copy->batch->row_stride;
  pcal_batch window;
  pass_device_window(copy->batch, begin / row, count / row, &window);
  window.scores = bytes;
  window.device = NULL;
  return pass_rows(copy->pass, &window, NULL, err);
}

_Static_assert(PC_CLASSES_MAX * sizeof(double) <= PC_DEVICE_PIECE, "a row fits a piece");

static pcal_status pass_device_copy(pc_pass *pass, const pcal_batch *batch, pcal_error *err) {
  const size_t row = (size_t)batch->row_stride;
  pass_copy copy = {pass, batch};
  return pc_device_read(batch->device, batch->stream, batch->scores, batch->rows * row,
                        PC_DEVICE_PIECE / row * row, pass_device_piece, &copy, err);
}

/* Rows by their softmax, or by columns of checked probabilities; a window with a row that needs
 * a check on the host is copied. */
static pcal_status pass_device_softmax(pc_pass *pass, const pcal_batch *batch, unsigned *ways,
                                       pcal_error *err) {
  for (size_t begin = 0; begin < batch->rows; begin += PC_DEVICE_ROWS) {
    const size_t left = batch->rows - begin;
    pc_device_softmax softmax;
    pcal_batch window;
    pass_device_window(batch, begin, left < PC_DEVICE_ROWS ? left : PC_DEVICE_ROWS, &window);
    PC_TRY(pass->layout.kind == PCAL_LOGIT
               ? pc_device_softmax_rows(batch->device, &window, &softmax, err)
               : pc_device_prob_rows(batch->device, &window, pass->policy.normalize, &softmax,
                                     err));
    const pcal_status status =
        softmax.finite ? pass_rows(pass, &window, &softmax, err) : PCAL_OK;
    pc_device_softmax_done(batch->device);
    *ways |= softmax.finite ? PC_WAY_SOFTMAX : PC_WAY_COPIED;
    PC_TRY(softmax.finite ? status : pass_device_copy(pass, &window, err));
  }
  return PCAL_OK;
}

static pcal_status pass_fill_labels(pc_pass *pass, size_t rows, pcal_error *err) {
  const pc_lazy_labels labels = pass->lazy_labels;
  pass->lazy_labels = (pc_lazy_labels){.fill = NULL};
  return pc_lazy_labels_fill(&labels, 0, rows, err);
}

/* Rows as columns that the device has computed, if these suffice; else copied. */
static pcal_status pass_device_pass(pc_pass *pass, const pcal_batch *batch, unsigned *ways,
                                    pcal_error *err) {
  if (pc_device_rows_suffice(batch, &pass->layout, &pass->policy))
    return pass_device_softmax(pass, batch, ways, err);
  *ways |= PC_WAY_COPIED;
  return pass_device_copy(pass, batch, err);
}

/* Passes rows on a second time, with all columns of the policy.  They have been counted before. */
static pcal_status pass_device_full(pc_pass *pass, const pcal_batch *batch, unsigned *ways,
                                    pcal_error *err) {
  pc_row_counts before = {.fractional_row = PCAL_NO_ROW};
  pass_add_counts(pass, &before);
  pass->stage = PC_STAGE_FULL;
  const pcal_status status = pass_device_pass(pass, batch, ways, err);
  pass_clear_counts(pass);
  pass->workers[0].counts = before;
  return status;
}

/* Rows that the device has not added up, or not to all states. */
static pcal_status pass_device_rows(pc_pass *pass, const pcal_batch *batch, pc_pass_done done,
                                    pcal_error *err) {
  const pc_row_policy policy = pass->policy;
  pc_row_policy lean = policy;
  unsigned ways = 0, full = 0;
  if (policy.probs == PC_PROBS_FILLED)
    lean.probs = PC_PROBS_LEAN;
  const int split =
      pass->rest == PC_REST_SPLIT && pc_device_rows_suffice(batch, &pass->layout, &lean);
  if (split || pass->rest == PC_REST_LEAN)
    pass->policy = lean;
  pass->stage = split ? PC_STAGE_LEAN : PC_STAGE_ONLY;
  pcal_status status = pass_device_pass(pass, batch, &ways, err);
  pass->policy = policy;
  if (split && status == PCAL_OK)
    status = pass_device_full(pass, batch, &full, err);
  pass->stage = PC_STAGE_ONLY;
  pass->ways |= done == PC_PASS_SOME || split ? ways << PC_WAY_REST : ways;
  pass->ways |= full << PC_WAY_FULL | (split && done == PC_PASS_NONE ? PC_WAY_MISSED : 0);
  return status;
}

static pcal_status pass_device(pc_pass *pass, const pcal_batch *batch, pcal_error *err) {
  const pc_lazy_labels *lazy = &pass->lazy_labels;
  pc_device_labels labels = {NULL, lazy->size};
  if (lazy->device == batch->device && lazy->stream == batch->stream)
    labels.at = lazy->on_device;
  if (labels.at == NULL || pass->sum == NULL)
    PC_TRY(pass_fill_labels(pass, batch->rows, err));
  pass->rest = PC_REST_FULL;
  if (pass->sum == NULL)
    return pass_device_rows(pass, batch, PC_PASS_NONE, err);
  for (size_t begin = 0; begin < batch->rows; begin += PC_DEVICE_SUMS_ROWS) {
    const size_t left = batch->rows - begin;
    pc_device_labels here = labels;
    pcal_batch window;
    pc_pass_done done = PC_PASS_NONE;
    pass_device_window(batch, begin, left < PC_DEVICE_SUMS_ROWS ? left : PC_DEVICE_SUMS_ROWS,
                       &window);
    here.at = labels.at == NULL ? NULL : (const char *)labels.at + begin * labels.size;
    pass->rescaled = 0;
    pass->rest = PC_REST_FULL;
    PC_TRY(pass->sum(pass->user, &window, &here, &done, err));
    pass->ways |= done == PC_PASS_NONE ? 0 : PC_WAY_SUMMED;
    if (done == PC_PASS_ALL) {
      pass->workers[0].counts.normalized += pass->rescaled;
      continue;
    }
    PC_TRY(pass_fill_labels(pass, batch->rows, err));
    PC_TRY(pass_device_rows(pass, &window, done, err));
  }
  return PCAL_OK;
}

pcal_status pc_pass_batch(pc_pass *pass, const pcal_batch *batch, pc_row_counts *counts,
                          pcal_error *err) {
  *counts = (pc_row_counts){.fractional_row = PCAL_NO_ROW};
  PC_TRY(pc_batch_check(batch, &pass->layout, &pass->policy, err));
  if (batch->rows == 0)
    return PCAL_OK;
  pass_clear_counts(pass);
  pass->ways = 0;
  PC_TRY(batch->device == NULL ? pass_rows(pass, batch, NULL, err)
                               : pass_device(pass, batch, err));
  pass_add_counts(pass, counts);
  return PCAL_OK;
}
