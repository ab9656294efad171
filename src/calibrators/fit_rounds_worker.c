/* A worker of a fit by rounds. */
#include "calibrators/fit.h"
#include "calibrators/fit_replay.h"
#include "calibrators/fit_rounds.h"
#include "io/source.h"

pcal_status pc_fit_rounds_worker_new(const void *request, size_t length, const pcal_env *env,
                                     pc_fit_rounds_worker **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_fit_rounds_worker *worker = pc_alloc(&resolved, 1, sizeof *worker);
  if (worker == NULL)
    return pc_fail_memory(err, "answering a request");
  worker->env = resolved;
  worker->answer = (pc_fit_answer){.env = &worker->env};
  pc_fit_tally_init(&worker->answer.tally, &worker->env);
  const pcal_status status =
      pc_fit_request_read(request, length, "the request", &worker->env, &worker->request, err);
  if (status != PCAL_OK) {
    pc_fit_rounds_worker_free(worker);
    return status;
  }
  worker->env.seed = worker->request.seed;
  worker->answer.id = worker->request.id;
  *out = worker;
  return PCAL_OK;
}

void pc_fit_rounds_worker_free(pc_fit_rounds_worker *worker) {
  if (worker == NULL)
    return;
  const pcal_env env = worker->env;
  pc_fit_answer_free(&worker->answer);
  pc_fit_request_free(&worker->request);
  pc_free(&env, worker);
}

/* Fails if the rows have other columns than those before, or than those of the first round. */
static pcal_status worker_check_shape(pc_fit_rounds_worker *worker, pcal_source *source,
                                      pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_fit_data_shape here;
  if (worker->answer.any || worker->request.count > 0)
    PC_TRY(pc_source_widen(source,
                           worker->answer.any ? worker->answer.shape.columns
                                              : worker->request.shape.columns,
                           err));
  pc_source_shape(source, &shape);
  PC_TRY(pc_fit_data_shape_copy(&worker->env, shape.kind, shape.columns, shape.levels,
                                shape.class_names, &here, err));
  const pc_fit_data_shape *known = worker->answer.any          ? &worker->answer.shape
                                   : worker->request.count > 0 ? &worker->request.shape
                                                               : NULL;
  const pcal_status status =
      known == NULL ? PCAL_OK : pc_fit_data_shape_check(known, &here, err);
  if (status != PCAL_OK || worker->answer.any) {
    pc_fit_data_shape_free(&worker->env, &here);
    return status;
  }
  worker->answer.shape = here;
  worker->answer.any = 1;
  return PCAL_OK;
}

static pcal_status worker_run(pc_fit_rounds_worker *worker, pcal_source *source,
                              pcal_error *err) {
  const pc_fit_request *request = &worker->request;
  const pcal_fit_config config = {.size = sizeof config,
                                  .method = request->method,
                                  .normalize = request->normalize,
                                  .skip_missing = request->skip_missing};
  pc_fit_replay replay = {.answers = request->answers,
                          .count = request->count,
                          .live = &worker->answer.tally,
                          .rows = &worker->answer.rows};
  pcal_calibrator *calibrator = NULL;
  PC_TRY(worker_check_shape(worker, source, err));
  const pcal_status status =
      pc_fit_run_replay(source, &config, &replay, &worker->env, &calibrator, err);
  pc_calibrator_free(calibrator);
  if (replay.stopped) {
    pc_error_clear(err);
    return PCAL_OK;
  }
  return status == PCAL_OK
             ? pc_fail(err, PCAL_DATA,
                       "the request is damaged: its answers already determine the fit; ask for "
                       "it again")
             : status;
}

pcal_status pc_fit_rounds_worker_update(pc_fit_rounds_worker *worker, pcal_source *source,
                                        pcal_error *err) {
  if (worker->failed)
    return pc_fail(err, PCAL_USAGE,
                   "an update of this worker failed; answer the request with a new one");
  if (worker->answered)
    return pc_fail(err, PCAL_USAGE,
                   "this worker has given its tally; answer more rows with a new one");
  const pcal_status status = worker_run(worker, source, err);
  worker->failed = status != PCAL_OK;
  return status;
}

pcal_status pc_fit_rounds_worker_tally(pc_fit_rounds_worker *worker, pcal_sink sink, void *user,
                                       pcal_error *err) {
  if (worker->failed)
    return pc_fail(err, PCAL_USAGE,
                   "an update of this worker failed; answer the request with a new one");
  worker->answered = 1;
  return pc_fit_answer_write(&worker->answer, sink, user, err);
}
