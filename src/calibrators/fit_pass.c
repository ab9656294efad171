#include "calibrators/fit_pass.h"

#include "base/executor.h"
#include "base/sum.h"
#include "calibrators/fit_data_warnings.h"
#include "calibrators/fit_replay.h"
#include "io/source.h"

#define FIT_PASS_ROWS_MAX ((size_t)1 << 20)

typedef struct fit_pass_worker {
  uint64_t rows;
  pc_sum weight;
  pc_row_fingerprint print; /* of fits by rounds */
} fit_pass_worker;

typedef struct fit_pass_state {
  const pc_fit_task *task;
  pc_pass_add add;
  void *user;
  fit_pass_worker *workers;
  pc_row_counts counts;
  double weighted; /* 1: rows have weights */
} fit_pass_state;

size_t pc_fit_pass_window(const pcal_shape *shape, size_t bytes) {
  const size_t row =
      shape->columns * (shape->type == PCAL_F32 ? sizeof(float) : sizeof(double));
  const size_t rows = bytes / (row == 0 ? 1 : row);
  return rows < 1 ? 1 : rows > FIT_PASS_ROWS_MAX ? FIT_PASS_ROWS_MAX : rows;
}

static pcal_status fit_pass_add(void *user, size_t worker, const pc_rows *rows,
                                pcal_error *err) {
  const fit_pass_state *state = user;
  fit_pass_worker *here = &state->workers[worker];
  here->rows += rows->count;
  for (size_t i = 0; rows->weights != NULL && i < rows->count; i++)
    pc_sum_add(&here->weight, rows->weights[i]);
  if (rows->weights == NULL)
    pc_sum_add_units(&here->weight, (int64_t)rows->count, 0);
  if (state->task->replay != NULL)
    pc_row_fingerprint_add(&here->print, rows, (pc_group_hashes){NULL, 0});
  return state->add(state->user, worker, rows, err);
}

static pcal_status fit_pass_read(const fit_pass_state *state, pc_pass *pass,
                                 pc_row_counts *counts, pcal_error *err) {
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

/* Takes the sums of a pass from its tally. */
static pcal_status fit_pass_take(fit_pass_state *state, size_t number, pc_fit_list_fields list,
                                 pcal_error *err) {
  pc_fit_replay *replay = state->task->replay;
  pc_fit_fields fields = {.tally = &replay->answers[number],
                          .next = number == 0 ? PC_FIT_REPLAY_DATA_FIELDS : 0,
                          .taking = 1};
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
    pc_fit_fields fields = {.tally = replay->live,
                            .next = replay->count == 0 ? PC_FIT_REPLAY_DATA_FIELDS : 0};
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
