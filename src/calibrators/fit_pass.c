#include "calibrators/fit_pass.h"

#include <math.h>

#include "base/executor.h"
#include "base/sum.h"
#include "calibrators/fit_data_warnings.h"
#include "calibrators/fit_replay.h"
#include "data/weight_unit.h"
#include "io/source.h"

#define FIT_PASS_ROWS_MAX ((size_t)1 << 20)

typedef struct fit_pass_worker {
  uint64_t rows;
  pc_sum weight;
  /* Of fits by rounds: */
  pc_row_fingerprint print;
  pc_weight_sums sums;
  double *scaled; /* weights of a chunk */
  size_t capacity;
} fit_pass_worker;

typedef struct fit_pass_state {
  const pc_fit_task *task;
  pc_pass_add add;
  void *user;
  fit_pass_worker *workers;
  pc_row_counts counts;
  double weighted;   /* 1: rows have weights */
  double importance; /* 1: these are importance weights, not scaled yet */
} fit_pass_state;

size_t pc_fit_pass_window(const pcal_shape *shape, size_t bytes) {
  const size_t row =
      shape->columns * (shape->type == PCAL_F32 ? sizeof(float) : sizeof(double));
  const size_t rows = bytes / (row == 0 ? 1 : row);
  return rows < 1 ? 1 : rows > FIT_PASS_ROWS_MAX ? FIT_PASS_ROWS_MAX : rows;
}

/* What a fit by rounds needs of each chunk: its fingerprint, with weights as given, and the sums of
 * these; *scaled is the chunk with scaled weights, if they are scaled. */
static pcal_status fit_pass_note(const fit_pass_state *state, fit_pass_worker *here,
                                 const pc_rows *rows, pc_rows *scaled, pcal_error *err) {
  const pc_fit_replay *replay = state->task->replay;
  void *block = here->scaled;
  pc_row_fingerprint_add(&here->print, rows, (pc_group_hashes){NULL, 0});
  for (size_t i = 0; rows->weights != NULL && i < rows->count; i++)
    pc_weight_sums_add(&here->sums, rows->weights[i]);
  if (rows->weights == NULL)
    pc_weight_sums_add_rows(&here->sums, rows->count);
  if (!(replay->unit > 0.0))
    return PCAL_OK;
  const pcal_status status = pc_reserve(state->task->env, &block, &here->capacity, rows->count,
                                        sizeof *here->scaled, err);
  here->scaled = block;
  PC_TRY(status);
  for (size_t i = 0; i < rows->count; i++) /* rows without weights have the weight 1 */
    here->scaled[i] = rows->weights != NULL ? rows->weights[i] : 1.0;
  pc_weights_scale(here->scaled, rows->count, replay->unit, here->scaled);
  scaled->weights = here->scaled;
  return PCAL_OK;
}

static pcal_status fit_pass_add(void *user, size_t worker, const pc_rows *given,
                                pcal_error *err) {
  const fit_pass_state *state = user;
  fit_pass_worker *here = &state->workers[worker];
  pc_rows scaled = *given;
  const pc_rows *rows = &scaled;
  if (state->task->replay != NULL)
    PC_TRY(fit_pass_note(state, here, given, &scaled, err));
  here->rows += rows->count;
  for (size_t i = 0; rows->weights != NULL && i < rows->count; i++)
    pc_sum_add(&here->weight, rows->weights[i]);
  if (rows->weights == NULL)
    pc_sum_add_units(&here->weight, (int64_t)rows->count, 0);
  return state->add(state->user, worker, rows, err);
}

/* Declared frequencies are whole numbers.  Notes whether the weights are importance weights. */
static pcal_status fit_pass_check_weights(fit_pass_state *state, const pcal_batch *batch,
                                          const pc_row_counts *counts, pcal_error *err) {
  const int fractional = counts->fractional_row != PCAL_NO_ROW;
  if (batch->weights == NULL)
    return PCAL_OK;
  if (batch->weights_are == PCAL_WEIGHTS_FREQUENCY && fractional)
    return pc_fail_row(err, PCAL_DATA, counts->fractional_row,
                       "%s, row %llu: frequencies are whole numbers, and this weight is not; "
                       "leave {weights_are} out, or declare importance weights",
                       batch->weights_name == NULL ? "weights" : batch->weights_name,
                       (unsigned long long)counts->fractional_row);
  if (batch->weights_are == PCAL_WEIGHTS_IMPORTANCE ||
      (batch->weights_are == PCAL_WEIGHTS_AUTO && fractional))
    state->importance = 1.0;
  return PCAL_OK;
}

static pcal_status fit_pass_read(fit_pass_state *state, pc_pass *pass, pc_row_counts *counts,
                                 pcal_error *err) {
  const pc_fit_task *task = state->task;
  pcal_shape shape = {.size = sizeof shape};
  PC_TRY(pc_source_rewind(task->source, err));
  pc_source_shape(task->source, &shape);
  const size_t window = pc_fit_pass_window(&shape, PC_FIT_PASS_BYTES);
  const uint64_t total = shape.row_count == PCAL_NO_ROW ? 0 : shape.row_count;
  for (uint64_t done = 0;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    pc_row_counts here;
    PC_TRY(pc_source_next(task->source, window, &batch, err));
    if (batch.rows == 0)
      return PCAL_OK;
    PC_TRY(pc_pass_batch(pass, &batch, &here, err));
    PC_TRY(fit_pass_check_weights(state, &batch, &here, err));
    counts->normalized += here.normalized;
    counts->skipped += here.skipped;
    done += batch.rows;
    pc_progress(task->env, "fitting", done, total);
    PC_TRY(pc_check_interrupt(task->env, err));
  }
}

static pcal_status fit_pass_count(const fit_pass_state *state, pcal_error *err) {
  const pc_fit_task *task = state->task;
  pc_fit_info *fit = &task->calibrator->fit;
  pc_sum weight;
  pc_sum_clear(&weight);
  fit->rows = 0;
  for (size_t w = 0; w < pc_worker_count(task->env); w++) {
    fit->rows += state->workers[w].rows;
    pc_sum_merge(&weight, &state->workers[w].weight);
  }
  fit->weighted = state->weighted > 0.0;
  fit->weight = fit->weighted ? pc_sum_value(&weight) : (double)fit->rows;
  fit->normalized = state->counts.normalized;
  fit->skipped = state->counts.skipped;
  if (fit->rows > 0)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA, "there are no rows to fit%s; give more data",
                 fit->skipped > 0 ? " (rows with a missing value were skipped)"
                 : fit->weighted  ? " (all weights are zero)"
                                  : "");
}

/* Reads all rows of the source. */
static pcal_status fit_pass_run(fit_pass_state *state, const pc_row_policy *policy,
                                pcal_error *err) {
  const pc_fit_task *task = state->task;
  pcal_shape shape = {.size = sizeof shape};
  pc_row_policy full = *policy;
  pc_pass pass;
  full.normalize = task->calibrator->normalize;
  full.skip_missing = task->skip_missing;
  PC_TRY(pc_pass_init(&pass, task->env, &task->calibrator->layout, &full, fit_pass_add, state,
                      err));
  PC_TRY(fit_pass_read(state, &pass, &state->counts, err));
  pc_pass_free(&pass);
  pc_source_shape(task->source, &shape);
  state->weighted = shape.weighted != 0;
  return PCAL_OK;
}

/* ---- Fits by rounds ---- */

pcal_status pc_fit_replay_stop(pc_fit_replay *replay, pcal_error *err) {
  replay->stopped = 1;
  return pc_fail(err, PCAL_INTERRUPTED, "the fit needs another round");
}

/* The fields of all passes; the counts of rows are those of the first worker alone. */
static pcal_status fit_pass_fields(fit_pass_state *state, size_t w, pc_fit_fields *fields,
                                   pcal_error *err) {
  fit_pass_worker *worker = &state->workers[w];
  uint64_t counts[2] = {w == 0 ? state->counts.normalized : 0,
                        w == 0 ? state->counts.skipped : 0};
  PC_TRY(pc_fit_field_counts(fields, &worker->rows, 1, err));
  PC_TRY(pc_fit_field_counts(fields, counts, 2, err));
  PC_TRY(pc_fit_field_sums(fields, &worker->weight, 1, err));
  PC_TRY(pc_fit_field_most(fields, &state->weighted, 1, err));
  if (fields->taking) {
    state->counts.normalized = counts[0];
    state->counts.skipped = counts[1];
  }
  return PCAL_OK;
}

static pcal_status fit_pass_list(fit_pass_state *state, pc_fit_list_fields list, size_t w,
                                 pc_fit_fields *fields, pcal_error *err) {
  PC_TRY(fit_pass_fields(state, w, fields, err));
  return list(state->user, w, fields, err);
}

/* The fields of tally 0 about weights, after those of the data. */
static pcal_status fit_pass_weigh(fit_pass_state *state, size_t w, pc_fit_fields *fields,
                                  pcal_error *err) {
  pc_weight_sums *sums = &state->workers[w].sums;
  double most[3] = {state->importance, sums->most, sums->most > 0.0 ? -sums->least : -INFINITY};
  PC_TRY(pc_fit_field_sums(fields, &sums->sum, 1, err));
  PC_TRY(pc_fit_field_sums(fields, &sums->square, 1, err));
  PC_TRY(pc_fit_field_most(fields, most, 3, err));
  state->importance = most[0];
  if (fields->taking) {
    sums->most = most[1];
    sums->least = sums->most > 0.0 ? -most[2] : 0.0;
  }
  return PCAL_OK;
}

/* Takes the meaning of the weights from tally 0; of importance weights the first pass is made
 * again, so that it has tally 1. */
static pcal_status fit_pass_take_weights(fit_pass_state *state, pcal_error *err) {
  pc_fit_replay *replay = state->task->replay;
  pc_fit_fields fields = {
      .tally = &replay->answers[0], .next = PC_FIT_REPLAY_DATA_FIELDS, .taking = 1};
  PC_TRY(fit_pass_weigh(state, 0, &fields, err));
  if (!(state->importance > 0.0))
    return PCAL_OK;
  replay->unit = pc_weight_unit(&state->workers[0].sums);
  replay->next = 1;
  state->importance = 0.0;
  pc_weight_sums_clear(&state->workers[0].sums);
  return PCAL_OK;
}

/* Number of fields of a tally before those of its pass. */
static size_t fit_pass_before(size_t number) {
  return number == 0 ? PC_FIT_REPLAY_DATA_FIELDS + PC_FIT_REPLAY_WEIGHT_FIELDS : 0;
}

/* Takes the sums of a pass from its tally. */
static pcal_status fit_pass_take(fit_pass_state *state, size_t number, pc_fit_list_fields list,
                                 pcal_error *err) {
  pc_fit_replay *replay = state->task->replay;
  pc_fit_fields fields = {
      .tally = &replay->answers[number], .next = fit_pass_before(number), .taking = 1};
  PC_TRY(fit_pass_list(state, list, 0, &fields, err));
  return fit_pass_count(state, err);
}

/* Makes the pass over the rows of a worker, and gives its tally. */
static pcal_status fit_pass_give(fit_pass_state *state, const pc_row_policy *policy,
                                 pc_fit_list_fields list, pcal_error *err) {
  const pc_fit_task *task = state->task;
  pc_fit_replay *replay = task->replay;
  pc_row_policy keyed = *policy;
  keyed.need_keys = 1;
  keyed.scores = policy->scores > PC_SCORES_FILLED ? PC_SCORES_FILLED : policy->scores;
  PC_TRY(fit_pass_run(state, &keyed, err));
  if (replay->count == 0)
    PC_TRY(pc_fit_data_warnings_give(task, replay->live, err));
  for (size_t w = 0; w < pc_worker_count(task->env); w++) {
    pc_fit_fields weights = {.tally = replay->live, .next = PC_FIT_REPLAY_DATA_FIELDS};
    pc_fit_fields fields = {.tally = replay->live, .next = fit_pass_before(replay->count)};
    if (replay->count == 0)
      PC_TRY(fit_pass_weigh(state, w, &weights, err));
    PC_TRY(fit_pass_list(state, list, w, &fields, err));
    pc_row_fingerprint_merge(replay->rows, &state->workers[w].print);
  }
  for (size_t f = 0; f < replay->live->count; f++) {
    pc_fit_field *field = &replay->live->fields[f];
    if (field->kind == PC_FIT_SAMPLE || field->kind == PC_FIT_LIST)
      pc_fit_field_sort_rows(field);
  }
  return pc_fit_replay_stop(replay, err);
}

static pcal_status fit_pass_replay(fit_pass_state *state, const pc_row_policy *policy,
                                   pc_fit_list_fields list, pcal_error *err) {
  pc_fit_replay *replay = state->task->replay;
  if (list == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "%s needs all rows at once, so it cannot be fitted in rounds; fit it in one "
                   "process on a sample of the rows",
                   state->task->calibrator->options.name);
  if (replay->next == 0 && replay->count > 0)
    PC_TRY(fit_pass_take_weights(state, err));
  const size_t number = replay->next++;
  if (number < replay->count)
    return fit_pass_take(state, number, list, err);
  return replay->live == NULL ? pc_fit_replay_stop(replay, err)
                              : fit_pass_give(state, policy, list, err);
}

pcal_status pc_fit_pass(const pc_fit_task *task, const pc_row_policy *policy, pc_pass_add add,
                        pc_fit_list_fields list, void *user, pcal_error *err) {
  const pcal_env *env = task->env;
  fit_pass_state state = {
      .task = task, .add = add, .user = user, .counts = {.fractional_row = PCAL_NO_ROW}};
  state.workers = pc_alloc(env, pc_worker_count(env), sizeof *state.workers);
  if (state.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  for (size_t w = 0; w < pc_worker_count(env); w++)
    pc_weight_sums_clear(&state.workers[w].sums);
  if (task->replay != NULL) {
    PC_TRY(fit_pass_replay(&state, policy, list, err));
  } else {
    PC_TRY(fit_pass_run(&state, policy, err));
    PC_TRY(fit_pass_count(&state, err));
  }
  pc_free(env, state.workers);
  return PCAL_OK;
}

pcal_status pc_fit_check_rows(const pc_fit_task *task, size_t parameters, const char *smaller,
                              pcal_error *err) {
  const pc_fit_info *fit = &task->calibrator->fit;
  if (fit->rows >= parameters || fit->weight >= (double)parameters)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s has %zu parameters, too many for %llu row%s; use %s, or give more rows",
                 task->calibrator->method->row.name, parameters, (unsigned long long)fit->rows,
                 fit->rows == 1 ? "" : "s", smaller);
}
