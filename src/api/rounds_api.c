/* Public entry points for rounds: check arguments, then call the implementation. */
#include "api/rounds_api.h"

#include "api/measure_api.h"
#include "base/budget.h"
#include "io/source.h"

/* ---- the coordinator ---- */

static pcal_status rounds_wrap(const pcal_rounds *made, pcal_status status, pcal_rounds **out,
                               pcal_error *err) {
  PC_TRY(status);
  *out = pc_alloc(&made->env, 1, sizeof **out);
  if (*out == NULL) {
    pc_measure_rounds_free(made->measure);
    pc_fit_rounds_free(made->fit);
    return pc_fail_memory(err, "preparing rounds");
  }
  **out = *made;
  return PCAL_OK;
}

pcal_status pcal_rounds_new(const pcal_measure_config *config, const pcal_env *env,
                            pcal_rounds **out, pcal_error *err) {
  pc_error_clear(err);
  if (config == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_new needs a configuration and an out pointer");
  *out = NULL;
  pcal_measure_config full;
  PC_TRY(pc_measure_config_resolve(config, &full, err));
  pcal_rounds made = {.measure = NULL};
  PC_TRY(pc_env_open(env, &made.env, err));
  const pcal_status status = pc_measure_rounds_new(&full, &made.env, &made.measure, err);
  return pc_env_close(&made.env, rounds_wrap(&made, status, out, err), err);
}

pcal_status pcal_rounds_new_fit(const pcal_fit_config *config, const pcal_env *env,
                                pcal_rounds **out, pcal_error *err) {
  pc_error_clear(err);
  if (out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_new_fit needs an out pointer");
  *out = NULL;
  pcal_fit_config full;
  PC_TRY(pc_fit_config_resolve(config, "pcal_rounds_new_fit", &full, err));
  pcal_rounds made = {.fit = NULL};
  PC_TRY(pc_env_open(env, &made.env, err));
  const pcal_status status = pc_fit_rounds_new(&full, &made.env, &made.fit, err);
  return pc_env_close(&made.env, rounds_wrap(&made, status, out, err), err);
}

pcal_status pcal_rounds_resume(const void *request, size_t length, const pcal_env *env,
                               pcal_rounds **out, pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if ((request == NULL && length > 0) || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_resume needs a request and an out pointer");
  pcal_rounds made = {.measure = NULL};
  PC_TRY(pc_env_open(env, &made.env, err));
  const pcal_status status =
      pc_fit_request_is(request, length)
          ? pc_fit_rounds_resume(request, length, &made.env, &made.fit, err)
          : pc_measure_rounds_resume(request, length, &made.env, &made.measure, err);
  return pc_env_close(&made.env, rounds_wrap(&made, status, out, err), err);
}

int pcal_rounds_is_fit(const pcal_rounds *rounds) {
  return rounds != NULL && rounds->fit != NULL;
}

int pcal_rounds_done(const pcal_rounds *rounds) {
  if (rounds == NULL)
    return 0;
  return rounds->fit != NULL ? rounds->fit->calibrator != NULL : rounds->measure->done;
}

unsigned pcal_rounds_round(const pcal_rounds *rounds) {
  if (rounds == NULL)
    return 0;
  return (unsigned)(rounds->fit != NULL ? rounds->fit->next.round
                                        : rounds->measure->config.round);
}

int pcal_rounds_draws(const pcal_rounds *rounds) {
  return rounds != NULL && rounds->measure != NULL && !rounds->measure->done &&
         rounds->measure->config.draws;
}

pcal_status pcal_rounds_request(const pcal_rounds *rounds, pcal_sink sink, void *user,
                                pcal_error *err) {
  pc_error_clear(err);
  if (rounds == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_request needs rounds and a sink");
  if (pcal_rounds_done(rounds))
    return pc_fail(err, PCAL_USAGE, "the rounds are done; ask for the %s",
                   rounds->fit != NULL ? "calibrator" : "results");
  return pc_text_send(rounds->fit != NULL ? &rounds->fit->request : &rounds->measure->request,
                      sink, user, err);
}

pcal_status pcal_rounds_absorb(pcal_rounds *rounds, const void *tally, size_t length,
                               pcal_error *err) {
  pc_error_clear(err);
  if (rounds == NULL || (tally == NULL && length > 0))
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_absorb needs rounds and a tally");
  return pc_budget_explain(&rounds->env,
                           rounds->fit != NULL
                               ? pc_fit_rounds_absorb(rounds->fit, tally, length, err)
                               : pc_measure_rounds_absorb(rounds->measure, tally, length, err),
                           err);
}

pcal_status pcal_rounds_finish(const pcal_rounds *rounds, pcal_results **out, pcal_error *err) {
  pc_error_clear(err);
  if (rounds == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_finish needs rounds and an out pointer");
  *out = NULL;
  if (rounds->fit != NULL)
    return pc_fail(err, PCAL_USAGE, "these rounds fit a calibrator; ask for that");
  const pcal_status status = pc_measure_rounds_finish(rounds->measure, out, err);
  return pc_budget_explain(&rounds->env, pc_results_judge(status, out, err), err);
}

pcal_status pcal_rounds_calibrator(const pcal_rounds *rounds, pcal_calibrator **out,
                                   pcal_error *err) {
  pc_error_clear(err);
  if (rounds == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_calibrator needs rounds and an out pointer");
  *out = NULL;
  if (rounds->fit == NULL)
    return pc_fail(err, PCAL_USAGE, "these rounds measure; ask for the results");
  return pc_budget_explain(&rounds->env, pc_fit_rounds_finish(rounds->fit, out, err), err);
}

void pcal_rounds_free(pcal_rounds *rounds) {
  if (rounds == NULL)
    return;
  const pcal_env env = rounds->env;
  pc_measure_rounds_free(rounds->measure);
  pc_fit_rounds_free(rounds->fit);
  pc_free(&env, rounds);
}

/* ---- workers ---- */

static pcal_status rounds_worker_open(const void *request, size_t length,
                                      pcal_rounds_worker *made, pcal_rounds_worker **out,
                                      pcal_error *err) {
  PC_TRY(pc_fit_request_is(request, length)
             ? pc_fit_rounds_worker_new(request, length, &made->env, &made->fit, err)
             : pc_measure_rounds_worker_new(request, length, &made->env, &made->measure, err));
  *out = pc_alloc(&made->env, 1, sizeof **out);
  if (*out == NULL) {
    pc_measure_rounds_worker_free(made->measure);
    pc_fit_rounds_worker_free(made->fit);
    return pc_fail_memory(err, "answering a request");
  }
  **out = *made;
  return PCAL_OK;
}

pcal_status pcal_rounds_worker_new(const void *request, size_t length, const pcal_env *env,
                                   pcal_rounds_worker **out, pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if ((request == NULL && length > 0) || out == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_rounds_worker_new needs a request and an out pointer");
  pcal_rounds_worker made = {.measure = NULL};
  PC_TRY(pc_env_open(env, &made.env, err));
  return pc_env_close(&made.env, rounds_worker_open(request, length, &made, out, err), err);
}

/* Fails for rows with groups: the fit would ignore them. */
static pcal_status rounds_worker_refuse_groups(int has_groups, pcal_error *err) {
  return has_groups ? pc_fail(err, PCAL_USAGE,
                              "calibrators of groups cannot be fitted in rounds; remove "
                              "{groups}, or fit in one process")
                    : PCAL_OK;
}

/* Adds a batch to the fit of a worker, as a source. */
static pcal_status rounds_worker_fit_batch(pc_fit_rounds_worker *worker,
                                           const pcal_batch *batch, pcal_error *err) {
  pcal_source *source = NULL;
  PC_TRY(rounds_worker_refuse_groups(batch->groups != NULL, err));
  if (batch->rows == 0)
    return PCAL_OK;
  pcal_status status = pc_source_borrow(batch, NULL, &worker->env, &source, err);
  if (status == PCAL_OK)
    status = pc_fit_rounds_worker_update(worker, source, err);
  pc_source_free(source);
  return status;
}

pcal_status pcal_rounds_worker_update(pcal_rounds_worker *worker, const pcal_batch *batch,
                                      pcal_error *err) {
  pc_error_clear(err);
  if (worker == NULL || batch == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_worker_update needs a worker and a batch");
  pcal_batch full;
  PC_TRY(pc_batch_resolve(batch, &full, err));
  return pc_budget_explain(&worker->env,
                           worker->fit != NULL
                               ? rounds_worker_fit_batch(worker->fit, &full, err)
                               : pc_measure_rounds_worker_update(worker->measure, &full, err),
                           err);
}

pcal_status pcal_rounds_worker_update_source(pcal_rounds_worker *worker, pcal_source *source,
                                             pcal_error *err) {
  pc_error_clear(err);
  if (worker == NULL || source == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_rounds_worker_update_source needs a worker and a source");
  PC_TRY(pc_source_check_parts(source, err));
  if (worker->fit != NULL)
    PC_TRY(rounds_worker_refuse_groups(pc_source_has_given_groups(source), err));
  return pc_budget_explain(
      &worker->env,
      worker->fit != NULL
          ? pc_fit_rounds_worker_update(worker->fit, source, err)
          : pc_measure_rounds_worker_update_source(worker->measure, source, err),
      err);
}

pcal_status pcal_rounds_worker_tally(pcal_rounds_worker *worker, pcal_sink sink, void *user,
                                     pcal_error *err) {
  pc_error_clear(err);
  if (worker == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_worker_tally needs a worker and a sink");
  return pc_budget_explain(
      &worker->env,
      worker->fit != NULL ? pc_fit_rounds_worker_tally(worker->fit, sink, user, err)
                          : pc_measure_rounds_worker_tally(worker->measure, sink, user, err),
      err);
}

void pcal_rounds_worker_free(pcal_rounds_worker *worker) {
  if (worker == NULL)
    return;
  const pcal_env env = worker->env;
  pc_measure_rounds_worker_free(worker->measure);
  pc_fit_rounds_worker_free(worker->fit);
  pc_free(&env, worker);
}

/* ---- tallies ---- */

pcal_status pcal_tally_rows(const void *tally, size_t length, uint64_t *rows,
                            uint64_t fingerprint[2], pcal_error *err) {
  pc_row_fingerprint found;
  pc_error_clear(err);
  if ((tally == NULL && length > 0) || rows == NULL || fingerprint == NULL)
    return pc_fail(
        err, PCAL_USAGE,
        "pcal_tally_rows needs a tally and pointers for the rows and the fingerprint");
  PC_TRY(pc_fit_answer_is(tally, length)
             ? pc_fit_answer_rows(tally, length, "the tally", &found, err)
             : pc_round_tally_rows(tally, length, "the tally", &found, err));
  *rows = found.rows;
  fingerprint[0] = (uint64_t)found.sum;
  fingerprint[1] = (uint64_t)(found.sum >> 64);
  return PCAL_OK;
}

/* Adds tallies 1 .. count - 1 to the first, which `into` holds. */
static pcal_status rounds_merge_others(const pcal_bytes *tallies, size_t count,
                                       const pcal_env *env, pc_round_tally *into,
                                       pcal_error *err) {
  for (size_t i = 1; i < count; i++) {
    pc_round_tally other;
    pcal_status status = pc_round_tally_read(tallies[i].bytes, tallies[i].length,
                                             "one of the tallies", env, &other, err);
    if (status == PCAL_OK)
      status = pc_round_tally_merge(into, &other, err);
    pc_round_tally_free(&other);
    PC_TRY(status);
    PC_TRY(pc_check_interrupt(env, err));
  }
  return PCAL_OK;
}

static pcal_status rounds_merge(const pcal_bytes *tallies, size_t count, const pcal_env *env,
                                pcal_sink sink, void *user, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_round_tally merged;
  pcal_status status = pc_round_tally_read(tallies[0].bytes, tallies[0].length,
                                           "one of the tallies", &resolved, &merged, err);
  if (status == PCAL_OK)
    status = rounds_merge_others(tallies, count, &resolved, &merged, err);
  if (status == PCAL_OK)
    status = pc_round_tally_write(&merged, sink, user, err);
  pc_round_tally_free(&merged);
  return status;
}

/* The same for tallies of a fit. */
static pcal_status rounds_merge_fit(const pcal_bytes *tallies, size_t count,
                                    const pcal_env *env, pcal_sink sink, void *user,
                                    pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_fit_answer merged;
  pcal_status status = pc_fit_answer_read(tallies[0].bytes, tallies[0].length,
                                          "one of the tallies", &resolved, &merged, err);
  for (size_t i = 1; i < count && status == PCAL_OK; i++) {
    pc_fit_answer other;
    status = pc_fit_answer_read(tallies[i].bytes, tallies[i].length, "one of the tallies",
                                &resolved, &other, err);
    if (status == PCAL_OK)
      status = pc_fit_answer_merge(&merged, &other, err);
    pc_fit_answer_free(&other);
    if (status == PCAL_OK)
      status = pc_check_interrupt(&resolved, err);
  }
  if (status == PCAL_OK)
    status = pc_fit_answer_write(&merged, sink, user, err);
  pc_fit_answer_free(&merged);
  return status;
}

pcal_status pcal_tally_merge(const pcal_bytes *tallies, size_t count, const pcal_env *env,
                             pcal_sink sink, void *user, pcal_error *err) {
  pc_error_clear(err);
  if (tallies == NULL || count == 0 || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_tally_merge needs at least one tally and a sink");
  for (size_t i = 0; i < count; i++)
    if (tallies[i].bytes == NULL && tallies[i].length > 0)
      return pc_fail(err, PCAL_USAGE, "tally number %zu is NULL", i);
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  const int fit = pc_fit_answer_is(tallies[0].bytes, tallies[0].length);
  return pc_env_close(
      &opened,
      (fit ? rounds_merge_fit : rounds_merge)(tallies, count, &opened, sink, user, err), err);
}
