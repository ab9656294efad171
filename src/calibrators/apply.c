/* Rules:
 *  1. A calibrator accepts one kind of scores and one number of columns; others are refused.
 *  2. Arithmetic is double; each result is rounded once, to the type of the input.  If the
 *     method keeps the top class, rounding does too: a result that would tie is lowered by one
 *     ulp.
 *  3. Every input row gives one output row: labels, weights and groups are ignored, and a row
 *     with a missing value is an error.
 *  4. Results may be written to the device that holds the scores; a temperature is then applied
 *     there, and other methods here. */
#include "calibrators/apply.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "calibrators/group_calibrators.h"
#include "data/pass.h"
#include "device/device_softmax.h"
#include "kernels/dispatch.h"
#include "kernels/row_kernels.h"

#define APPLY_BLOCK_CELLS 4096 /* numbers of the rows that a method maps at a time */

typedef struct apply_state {
  const pcal_calibrator *calibrator;
  const pcal_env *env;
  const pcal_batch *batch;
  size_t block;     /* rows that are mapped at a time */
  size_t scratch;   /* doubles behind a block of results, for the method */
  double **workers; /* a block of results for each worker, allocated when first needed */
  void *out;
} apply_state;

static const char *apply_flag(pcal_kind kind) {
  switch (kind) {
  case PCAL_PROBABILITY:
    return "{probs}";
  case PCAL_LOGIT:
    return "{logits}";
  case PCAL_LOG_PROBABILITY:
    return "{log_probs}";
  case PCAL_CONFIDENCE:
    return "{confidence}";
  case PCAL_MEAN_VARIANCE:
    return "{mean} and {variance}";
  case PCAL_MEAN_STD:
    return "{mean} and {std}";
  case PCAL_QUANTILES:
    return "{quantiles}";
  case PCAL_SAMPLES:
  case PCAL_SAMPLE_VECTORS:
    return "{samples}";
  }
  return "scores";
}

static pcal_status apply_check(const pcal_calibrator *calibrator, const pcal_batch *batch,
                               pcal_error *err) {
  const pc_layout *layout = &calibrator->layout;
  const char *name = batch->scores_name == NULL ? "scores" : batch->scores_name;
  if (batch->kind == PCAL_LOGIT && layout->kind == PCAL_LOG_PROBABILITY)
    return pc_fail(
        err, PCAL_DATA,
        "%s: the calibrator was fitted on {log_probs}, or on {logits} with {ragged}, "
        "and is applied to {logits} without it; add {ragged} if it was fitted so, or "
        "fit on these",
        name);
  if (batch->kind != layout->kind)
    return pc_fail(err, PCAL_DATA,
                   "%s: the calibrator was fitted on %-s and is applied to %-s; give the same "
                   "kind of scores, or fit on these",
                   name, apply_flag(layout->kind), apply_flag(batch->kind));
  if (batch->columns != layout->columns)
    return pc_fail(err, PCAL_DATA,
                   "%s: the calibrator was fitted on %zu column%s of scores and is applied to "
                   "%zu; give the same classes, or fit on these",
                   name, layout->columns, layout->columns == 1 ? "" : "s", batch->columns);
  return pc_batch_check_device(batch, name, err);
}

/* Stores the output columns of rows: for classes the last ones (of two classes in one column,
 * the second), for predictions of a number the first ones, without the target. */
static void apply_store(const apply_state *state, const double *from, size_t count,
                        uint64_t id) {
  const pc_layout *layout = &state->calibrator->layout;
  const size_t columns = pc_calibrator_columns(state->calibrator);
  const size_t gap = layout->classes - columns;
  const size_t skipped = layout->form == PC_FORM_CLASSES ? gap : 0;
  const size_t at = (size_t)(id - state->batch->first_row) * columns;
  const size_t run = gap == 0 ? count * columns : columns; /* numbers without a gap */
  for (size_t done = 0; done < count * columns; done += run, from += run + gap) {
    float *out = (float *)state->out + at + done;
    if (state->batch->type == PCAL_F64)
      memcpy((double *)state->out + at + done, from + skipped, run * sizeof(double));
    else
      for (size_t j = 0; j < run; j++)
        out[j] = (float)from[skipped + j];
  }
}

/* Keeps `top` the top class: results that rounding made as large as its own are lowered by one
 * ulp. */
static void apply_keep_top(double *row, size_t count, size_t top, int floats) {
  for (size_t j = 0; floats && j < count; j++)
    row[j] = (double)(float)row[j];
  const double most = row[top];
  const double below = floats ? (double)nextafterf((float)most, 0.0f) : nextafter(most, 0.0);
  for (size_t j = 0; j < count; j++)
    if (j < top ? row[j] >= most : row[j] > most)
      row[j] = below;
}

/* The top class of a row; of equal ones the lowest.  Scores are compared if the rows have them,
 * since close logits may have equal probabilities. */
static size_t apply_top(const pc_rows *rows, size_t row, int scores) {
  if (!scores)
    return (size_t)rows->top_label[row];
  const double *in = rows->scores + row * rows->classes;
  size_t top = 0;
  for (size_t j = 1; j < rows->classes; j++)
    top = in[j] > in[top] ? j : top;
  return top;
}

/* True if the calibrator must keep the top class of each row. */
static int apply_keeps_tops(const pcal_calibrator *calibrator) {
  const pc_layout *layout = &calibrator->layout;
  return layout->form == PC_FORM_CLASSES && layout->columns > 1 &&
         pc_calibrator_columns(calibrator) == layout->classes &&
         (pc_calibrator_traits(calibrator) & PC_KEEPS_ACCURACY) != 0;
}

/* Maps a chunk of rows.  No row is skipped, so their ids are consecutive. */
static pcal_status apply_add(void *user, size_t worker, const pc_rows *rows, pcal_error *err) {
  const apply_state *state = user;
  const pcal_calibrator *calibrator = state->calibrator;
  const size_t k = calibrator->layout.classes;
  const double *in = calibrator->method->needs_scores             ? rows->scores
                     : calibrator->layout.kind == PCAL_CONFIDENCE ? rows->top
                                                                  : rows->probs;
  const int keeps = apply_keeps_tops(calibrator);
  double **results = &state->workers[worker];
  if (*results == NULL)
    *results = pc_alloc_raw(state->env, state->block * k + state->scratch, sizeof **results);
  if (*results == NULL)
    return pc_fail_memory(err, "applying a calibrator");
  for (size_t begin = 0; begin < rows->count; begin += state->block) {
    const size_t left = rows->count - begin;
    const size_t count = left < state->block ? left : state->block;
    calibrator->method->apply(calibrator, in + begin * k, count, *results);
    for (size_t i = 0; keeps && i < count; i++)
      apply_keep_top(*results + i * k, k,
                     apply_top(rows, begin + i, calibrator->method->needs_scores),
                     state->batch->type == PCAL_F32);
    apply_store(state, *results, count, rows->ids[begin]);
  }
  return PCAL_OK;
}

/* ---- Contiguous floats ---- */

#define APPLY_TASK_CELLS 65536
#define APPLY_CELL_COST 2.0 /* nanoseconds, for the executor */

static size_t apply_task_rows(const apply_state *state) {
  const size_t rows = APPLY_TASK_CELLS / state->batch->columns;
  return rows < 1 ? 1 : rows;
}

/* True if results would overwrite scores: rows may be read a second time. */
static int apply_overlaps(const apply_state *state) {
  const uintptr_t in = (uintptr_t)state->batch->scores, out = (uintptr_t)state->out;
  const uintptr_t bytes = state->batch->rows * state->batch->columns * sizeof(float);
  return in < out + bytes && out < in + bytes;
}

static int apply_in_floats(const apply_state *state) {
  const pcal_batch *batch = state->batch;
  return batch->device == NULL && state->calibrator->method->apply_floats != NULL &&
         batch->kind == PCAL_LOGIT && batch->type == PCAL_F32 && batch->columns > 1 &&
         batch->columns == state->calibrator->layout.classes &&
         batch->column_stride == (ptrdiff_t)sizeof(float) &&
         batch->row_stride == (ptrdiff_t)(batch->columns * sizeof(float)) &&
         (uintptr_t)batch->scores % sizeof(float) == 0 && !apply_overlaps(state);
}

/* As apply_keep_top for all rows; the scores are finite. */
static void apply_keep_floats(const apply_state *state, const float *in, size_t rows,
                              float *out) {
  const pc_row_kernels *kernels = pc_kernels_best()->row;
  const size_t k = state->batch->columns;
  int finite;
  for (size_t i = 0; i < rows; i++, in += k, out += k) {
    const size_t top = kernels->top_f32(in, k, &finite);
    const float most = out[top], below = nextafterf(most, 0.0f);
    int as_large = 0;
    for (size_t j = 0; j < k; j++)
      as_large += out[j] >= most;
    for (size_t j = 0; as_large > 1 && j < k; j++)
      if (j < top ? out[j] >= most : out[j] > most)
        out[j] = below;
  }
}

/* Fails on scores that are not finite; the caller then takes the general path, which reports
 * the bad row. */
static pcal_status apply_floats_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const apply_state *state = user;
  const size_t rows = apply_task_rows(state), begin = index * rows;
  const size_t left = state->batch->rows - begin, at = begin * state->batch->columns;
  (void)worker;
  const float *in = (const float *)state->batch->scores + at;
  const size_t count = left < rows ? left : rows;
  float *out = (float *)state->out + at;
  if (!state->calibrator->method->apply_floats(state->calibrator, in, count, out))
    return pc_fail(err, PCAL_DATA, "some scores are not finite");
  if (apply_keeps_tops(state->calibrator))
    apply_keep_floats(state, in, count, out);
  return PCAL_OK;
}

static pcal_status apply_floats(apply_state *state, pcal_error *err) {
  const size_t rows = state->batch->rows;
  if (rows == 0)
    return PCAL_OK;
  return pc_run(state->env, (rows - 1) / apply_task_rows(state) + 1,
                APPLY_CELL_COST * (double)rows * (double)state->batch->columns,
                apply_floats_task, state, err);
}

/* ---- Any rows ---- */

static pcal_status apply_batch(apply_state *state, const pcal_batch *batch, pcal_error *err) {
  const pcal_calibrator *calibrator = state->calibrator;
  const int scores = calibrator->method->needs_scores;
  const pc_row_policy policy = {.normalize = calibrator->normalize,
                                .scores = scores ? PC_SCORES_ONLY : PC_SCORES_NONE,
                                .probs = scores ? PC_PROBS_LEAN : PC_PROBS_FILLED,
                                .applying = 1,
                                .unlabelled = 1};
  pc_pass pass;
  pc_row_counts counts;
  PC_TRY(pc_pass_init(&pass, state->env, &calibrator->layout, &policy, apply_add, state, err));
  const pcal_status status = pc_pass_batch(&pass, batch, &counts, err);
  pc_pass_free(&pass);
  return status;
}

static pcal_status apply_here(const pcal_calibrator *calibrator, const pcal_batch *batch,
                              const pcal_env *env, void *out, pcal_error *err) {
  return calibrator->groups == NULL
             ? pc_calibrator_apply_ungrouped(calibrator, batch, env, out, err)
             : pc_group_calibrators_apply(calibrator, batch, env, out, err);
}

/* ---- Results on a device ---- */

static size_t apply_bytes(const pcal_batch *batch, size_t columns) {
  return batch->rows * columns * (batch->type == PCAL_F32 ? sizeof(float) : sizeof(double));
}

/* True if the device of the batch can map its rows. */
static int apply_fits_device(const pcal_calibrator *calibrator, const pcal_batch *batch,
                             const void *out) {
  const size_t bytes = apply_bytes(batch, batch->columns);
  const uintptr_t from = (uintptr_t)batch->scores, to = (uintptr_t)out;
  return calibrator->groups == NULL && calibrator->method->softmax_factor != NULL &&
         batch->kind == PCAL_LOGIT && apply_keeps_tops(calibrator) &&
         pc_batch_fits_device(batch) && (from + bytes <= to || to + bytes <= from) &&
         batch->rows <= PC_DEVICE_ROWS_MAX &&
         pc_device_has_scaled_softmax(batch->device, batch->type, batch->columns);
}

/* Rows that are not finite are left to the host, which reports the first. */
static pcal_status apply_there(const pcal_calibrator *calibrator, const pcal_batch *batch,
                               const pcal_env *env, void *out, pcal_error *err) {
  const size_t bytes = apply_bytes(batch, pc_calibrator_columns(calibrator));
  int odd = 1;
  if (apply_fits_device(calibrator, batch, out))
    PC_TRY(pc_device_scaled_softmax(
        batch->device, batch, calibrator->method->softmax_factor(calibrator), out, &odd, err));
  if (!odd)
    return PCAL_OK;
  void *results = pc_alloc_raw(env, bytes, 1);
  if (results == NULL)
    return pc_fail_memory(err, "applying a calibrator");
  pcal_status status = apply_here(calibrator, batch, env, results, err);
  if (status == PCAL_OK)
    status = pc_device_put(batch->device, batch->stream, results, bytes, out, err);
  pc_free(env, results);
  return status;
}

pcal_status pc_calibrator_apply(const pcal_calibrator *calibrator, const pcal_batch *batch,
                                const pcal_env *env, void *out, pcal_error *err) {
  PC_TRY(apply_check(calibrator, batch, err));
  return batch->device != NULL && batch->rows > 0 && pc_device_holds(batch->device, out)
             ? apply_there(calibrator, batch, env, out, err)
             : apply_here(calibrator, batch, env, out, err);
}

pcal_status pc_calibrator_apply_ungrouped(const pcal_calibrator *calibrator,
                                          const pcal_batch *batch, const pcal_env *env,
                                          void *out, pcal_error *err) {
  pcal_batch bare = *batch;
  const size_t block = APPLY_BLOCK_CELLS / calibrator->layout.classes;
  const size_t workers = pc_worker_count(env);
  bare.labels = NULL;
  bare.targets = NULL;
  bare.weights = NULL;
  bare.groups = NULL;
  apply_state state = {calibrator, env, &bare, block < 1 ? 1 : block, 0, NULL, out};
  if (apply_in_floats(&state)) {
    const pcal_status status = apply_floats(&state, err);
    if (status != PCAL_DATA)
      return status;
    pc_error_clear(err);
  }
  if (calibrator->method->scratch_size != NULL)
    state.scratch = calibrator->method->scratch_size(calibrator);
  state.workers = pc_alloc(env, workers, sizeof *state.workers);
  if (state.workers == NULL)
    return pc_fail_memory(err, "applying a calibrator");
  const pcal_status status = apply_batch(&state, &bare, err);
  for (size_t w = 0; w < workers; w++)
    pc_free(env, state.workers[w]);
  pc_free(env, state.workers);
  return status;
}

pcal_kind pc_calibrator_output_kind(pcal_kind kind) {
  if (pc_kind_form(kind) == PC_FORM_CLASSES)
    return kind == PCAL_CONFIDENCE ? PCAL_CONFIDENCE : PCAL_PROBABILITY;
  return pc_kind_form(kind) == PC_FORM_GAUSSIAN ? PCAL_MEAN_VARIANCE : kind;
}
