#include "calibrators/fit_pass.h"

#include "base/executor.h"
#include "base/sum.h"
#include "io/source.h"

#define FIT_PASS_ROWS_MAX ((size_t)1 << 20)

typedef struct fit_pass_worker {
  uint64_t rows;
  pc_sum weight;
} fit_pass_worker;

typedef struct fit_pass_state {
  pc_pass_add add;
  void *user;
  fit_pass_worker *workers;
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
  return state->add(state->user, worker, rows, err);
}

static pcal_status fit_pass_read(const pc_fit_task *task, pc_pass *pass, pc_row_counts *counts,
                                 pcal_error *err) {
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

static pcal_status fit_pass_count(const pc_fit_task *task, const fit_pass_state *state,
                                  const pc_row_counts *counts, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_fit_info *fit = &task->calibrator->fit;
  pc_sum weight;
  pc_sum_clear(&weight);
  pc_source_shape(task->source, &shape);
  fit->rows = 0;
  for (size_t w = 0; w < pc_worker_count(task->env); w++) {
    fit->rows += state->workers[w].rows;
    pc_sum_merge(&weight, &state->workers[w].weight);
  }
  fit->weighted = shape.weighted;
  fit->weight = shape.weighted ? pc_sum_value(&weight) : (double)fit->rows;
  fit->normalized = counts->normalized;
  fit->skipped = counts->skipped;
  if (fit->rows > 0)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA, "there are no rows to fit%s; give more data",
                 counts->skipped > 0 ? " (rows with a missing value were skipped)"
                 : shape.weighted    ? " (all weights are zero)"
                                     : "");
}

pcal_status pc_fit_pass(const pc_fit_task *task, const pc_row_policy *policy, pc_pass_add add,
                        void *user, pcal_error *err) {
  const pcal_env *env = task->env;
  pc_row_policy full = *policy;
  pc_row_counts counts = {.fractional_row = PCAL_NO_ROW};
  full.normalize = task->calibrator->normalize;
  full.skip_missing = task->skip_missing;
  fit_pass_state state = {add, user, NULL};
  state.workers = pc_alloc(env, pc_worker_count(env), sizeof *state.workers);
  if (state.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  pc_pass pass;
  PC_TRY(pc_pass_init(&pass, env, &task->calibrator->layout, &full, fit_pass_add, &state, err));
  PC_TRY(fit_pass_read(task, &pass, &counts, err));
  pc_pass_free(&pass);
  PC_TRY(fit_pass_count(task, &state, &counts, err));
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
