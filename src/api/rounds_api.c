/* Public entry points for rounds: check arguments, then call the implementation. */
#include "api/measure_api.h"
#include "base/budget.h"
#include "measure/rounds.h"
#include "measure/rounds_worker.h"

/* ---- the coordinator ---- */

pcal_status pcal_rounds_new(const pcal_measure_config *config, const pcal_env *env,
                            pcal_rounds **out, pcal_error *err) {
  pc_error_clear(err);
  if (config == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_new needs a configuration and an out pointer");
  *out = NULL;
  pcal_measure_config full;
  PC_TRY(pc_measure_config_resolve(config, &full, err));
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_rounds_new(&full, &opened, out, err), err);
}

int pcal_rounds_done(const pcal_rounds *rounds) {
  return rounds != NULL && rounds->done;
}

unsigned pcal_rounds_round(const pcal_rounds *rounds) {
  return rounds == NULL ? 0 : (unsigned)rounds->config.round;
}

pcal_status pcal_rounds_request(const pcal_rounds *rounds, pcal_sink sink, void *user,
                                pcal_error *err) {
  pc_error_clear(err);
  if (rounds == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_request needs rounds and a sink");
  if (rounds->done)
    return pc_fail(err, PCAL_USAGE, "the rounds are done; ask for the results");
  return pc_text_send(&rounds->request, sink, user, err);
}

pcal_status pcal_rounds_absorb(pcal_rounds *rounds, const void *tally, size_t length,
                               pcal_error *err) {
  pc_error_clear(err);
  if (rounds == NULL || (tally == NULL && length > 0))
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_absorb needs rounds and a tally");
  return pc_budget_explain(&rounds->env, pc_rounds_absorb(rounds, tally, length, err), err);
}

pcal_status pcal_rounds_finish(const pcal_rounds *rounds, pcal_results **out, pcal_error *err) {
  pc_error_clear(err);
  if (rounds == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_finish needs rounds and an out pointer");
  *out = NULL;
  const pcal_status status = pc_rounds_finish(rounds, out, err);
  return pc_budget_explain(&rounds->env, pc_results_judge(status, out, err), err);
}

void pcal_rounds_free(pcal_rounds *rounds) {
  pc_rounds_free(rounds);
}

/* ---- workers ---- */

pcal_status pcal_rounds_worker_new(const void *request, size_t length, const pcal_env *env,
                                   pcal_rounds_worker **out, pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if ((request == NULL && length > 0) || out == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_rounds_worker_new needs a request and an out pointer");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_rounds_worker_new(request, length, &opened, out, err), err);
}

pcal_status pcal_rounds_worker_update(pcal_rounds_worker *worker, const pcal_batch *batch,
                                      pcal_error *err) {
  pc_error_clear(err);
  if (worker == NULL || batch == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_worker_update needs a worker and a batch");
  pcal_batch full;
  PC_TRY(pc_batch_resolve(batch, &full, err));
  return pc_budget_explain(&worker->env, pc_rounds_worker_update(worker, &full, err), err);
}

pcal_status pcal_rounds_worker_update_source(pcal_rounds_worker *worker, pcal_source *source,
                                             pcal_error *err) {
  pc_error_clear(err);
  if (worker == NULL || source == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_rounds_worker_update_source needs a worker and a source");
  return pc_budget_explain(&worker->env, pc_rounds_worker_update_source(worker, source, err),
                           err);
}

pcal_status pcal_rounds_worker_tally(pcal_rounds_worker *worker, pcal_sink sink, void *user,
                                     pcal_error *err) {
  pc_error_clear(err);
  if (worker == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_rounds_worker_tally needs a worker and a sink");
  return pc_budget_explain(&worker->env, pc_rounds_worker_tally(worker, sink, user, err), err);
}

void pcal_rounds_worker_free(pcal_rounds_worker *worker) {
  pc_rounds_worker_free(worker);
}

/* ---- tallies ---- */

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
  return pc_env_close(&opened, rounds_merge(tallies, count, &opened, sink, user, err), err);
}
