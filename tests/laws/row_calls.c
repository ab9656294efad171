#include "row_calls.h"

#include <stdlib.h>

#include "base/error.h"
#include "call_sources.h"
#include "sinks.h"

/* ---- metrics ---- */

static pcal_measure_config call_measure_config(const row_call *call) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.specs = &call->name;
  config.spec_count = 1;
  config.interval = 0.9;
  config.replicas = CALL_REPLICAS;
  return config;
}

static pcal_status call_write_results(const row_call *call, const pcal_results *results,
                                      pcal_error *err) {
  for (int format = PCAL_TEXT; format <= PCAL_LATEX; format++)
    PC_TRY(pcal_results_write(results, (pcal_format)format, call->sink, call->sink_user, err));
  for (size_t i = 0; pcal_results_table_name(results, i) != NULL; i++)
    PC_TRY(pcal_results_table_write(results, i, call->sink, call->sink_user, err));
  return PCAL_OK;
}

pcal_status call_metric(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_measure_config config = call_measure_config(call);
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  config.null = 1;
  config.curves = 1;
  pcal_status status = call_source(call->data, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, env, &results, err);
  if (status == PCAL_OK)
    status = call_write_results(call, results, err);
  if (status == PCAL_OK) /* nothing to compare, after all allocations */
    status = call_unless_refused(
        pcal_results_add_baseline(results, "{\"results\": []}", 15, NULL, err));
  pcal_results_free(results);
  pcal_source_free(source);
  return status;
}

static pcal_status call_write_difference(const row_call *call, const pcal_results *results,
                                         pcal_error *err) {
  pcal_plan_config plan = PCAL_PLAN_CONFIG_INIT;
  plan.width = 0.05;
  plan.power = 0.8;
  PC_TRY(call_write_results(call, results, err));
  for (int format = PCAL_TEXT; format <= PCAL_LATEX; format++)
    PC_TRY(call_unless_refused(pcal_plan_write(results, &plan, (pcal_format)format, call->sink,
                                               call->sink_user, err)));
  return PCAL_OK;
}

pcal_status call_difference(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_measure_config config = call_measure_config(call);
  pcal_model models[2];
  pcal_results *results[2] = {NULL, NULL};
  config.paired = 1;
  pcal_status status = call_models(call->data, env, models, err);
  for (size_t m = 0; m < 2 && status == PCAL_OK; m++)
    status = pcal_measure_run(models[m].source, &config, env, &results[m], err);
  if (status == PCAL_OK)
    status = pcal_results_add_difference(results[0], results[1], err);
  if (status == PCAL_OK)
    status = call_write_difference(call, results[0], err);
  pcal_results_free(results[0]);
  pcal_results_free(results[1]);
  call_models_free(models);
  return status;
}

/* Saves a measure and merges what is loaded again into it. */
static pcal_status call_merge_saved(const pcal_env *env, pcal_measure *measure,
                                    pcal_error *err) {
  sink_bytes state = {0};
  pcal_measure *again = NULL;
  pcal_status status = pcal_measure_save(measure, sink_collect, &state, err);
  if (status == PCAL_OK)
    status = pcal_measure_load(state.bytes, state.length, "state", env, &again, err);
  if (status == PCAL_OK)
    status = pcal_measure_merge(measure, again, err);
  pcal_measure_free(again);
  free(state.bytes);
  return status;
}

pcal_status call_state(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_measure_config config = call_measure_config(call);
  pcal_source *source = NULL;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  config.interval = 0;
  pcal_status status = call->data >= CALL_NORMALS
                           ? call_source(call->data, env, &source, err)
                           : call_named_source(call->data, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_from_source(source, &config, env, &measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_save(measure, call->sink, call->sink_user, err);
  if (status == PCAL_OK)
    status = call_merge_saved(env, measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_describe(measure, call->sink, call->sink_user, err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, &results, err);
  pcal_results_free(results);
  pcal_measure_free(measure);
  pcal_source_free(source);
  return status;
}

/* ---- rounds and watches ---- */

/* The rows of rounds: in groups with names, where the rows have classes and no calibrator is
 * fitted. */
static pcal_status call_rounds_source(const pcal_env *env, const row_call *call, int fit,
                                      pcal_source **out, pcal_error *err) {
  return fit                          ? call_plain_source(call->data, env, out, err)
         : call->data >= CALL_NORMALS ? call_source(call->data, env, out, err)
                                      : call_named_source(call->data, env, out, err);
}

/* A worker answers a request, and its tally is merged with nothing else. */
static pcal_status call_answer(const pcal_env *env, const row_call *call, int fit,
                               const sink_bytes *request, sink_bytes *out, pcal_error *err) {
  pcal_rounds_worker *worker = NULL;
  pcal_source *source = NULL;
  sink_bytes tally = {0};
  pcal_status status =
      pcal_rounds_worker_new(request->bytes, request->length, env, &worker, err);
  if (status == PCAL_OK)
    status = call_rounds_source(env, call, fit, &source, err);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_update_source(worker, source, err);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_tally(worker, sink_collect, &tally, err);
  const pcal_bytes all = {tally.bytes, tally.length};
  if (status == PCAL_OK)
    status = pcal_tally_merge(&all, 1, env, call->sink, call->sink_user, err);
  if (status == PCAL_OK)
    status = pcal_tally_merge(&all, 1, env, sink_collect, out, err);
  pcal_rounds_worker_free(worker);
  pcal_source_free(source);
  free(tally.bytes);
  return status;
}

/* Replaces rounds by those that resume from their first request. */
static pcal_status call_resume(const pcal_env *env, const sink_bytes *request,
                               pcal_rounds **rounds, pcal_error *err) {
  pcal_rounds *resumed = NULL;
  PC_TRY(pcal_rounds_resume(request->bytes, request->length, env, &resumed, err));
  pcal_rounds_free(*rounds);
  *rounds = resumed;
  return PCAL_OK;
}

/* Runs rounds to their end. */
static pcal_status call_run_rounds(const pcal_env *env, const row_call *call,
                                   pcal_rounds **rounds, pcal_error *err) {
  pcal_status status = PCAL_OK;
  for (int first = 1; status == PCAL_OK && !pcal_rounds_done(*rounds); first = 0) {
    sink_bytes request = {0}, tally = {0};
    status = pcal_rounds_request(*rounds, call->sink, call->sink_user, err);
    if (status == PCAL_OK)
      status = pcal_rounds_request(*rounds, sink_collect, &request, err);
    if (status == PCAL_OK && first)
      status = call_resume(env, &request, rounds, err);
    if (status == PCAL_OK)
      status = call_answer(env, call, pcal_rounds_is_fit(*rounds), &request, &tally, err);
    if (status == PCAL_OK)
      status = pcal_rounds_absorb(*rounds, tally.bytes, tally.length, err);
    free(request.bytes);
    free(tally.bytes);
  }
  return status;
}

pcal_status call_rounds(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_measure_config config = call_measure_config(call);
  pcal_rounds *rounds = NULL;
  pcal_results *results = NULL;
  if (call->data == CALL_QUANTILES)
    return pc_fail(err, PCAL_USAGE, "levels belong to the source");
  config.interval = 0;
  config.kind = call_kinds[call->data];
  config.columns = call_columns[call->data];
  pcal_status status = pcal_rounds_new(&config, env, &rounds, err);
  if (status == PCAL_OK)
    status = call_run_rounds(env, call, &rounds, err);
  if (status == PCAL_OK)
    status = pcal_rounds_finish(rounds, &results, err);
  pcal_results_free(results);
  pcal_rounds_free(rounds);
  return status;
}

pcal_status call_rounds_fit(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_rounds *rounds = NULL;
  pcal_calibrator *calibrator = NULL;
  config.method = call->name;
  pcal_status status = pcal_rounds_new_fit(&config, env, &rounds, err);
  if (status == PCAL_OK)
    status = call_run_rounds(env, call, &rounds, err);
  if (status == PCAL_OK)
    status = pcal_rounds_calibrator(rounds, &calibrator, err);
  pcal_calibrator_free(calibrator);
  pcal_rounds_free(rounds);
  return status;
}

static pcal_status call_write_watch(const row_call *call, const pcal_watch *watch,
                                    const pcal_env *env, pcal_error *err) {
  sink_bytes saved = {0};
  pcal_watch *again = NULL;
  pcal_status status = PCAL_OK;
  for (int format = PCAL_TEXT; format <= PCAL_JSON && status == PCAL_OK; format++)
    status = pcal_watch_write(watch, (pcal_format)format, call->sink, call->sink_user, err);
  if (status == PCAL_OK)
    status = pcal_watch_save(watch, call->sink, call->sink_user, err);
  if (status == PCAL_OK)
    status = pcal_watch_save(watch, sink_collect, &saved, err);
  if (status == PCAL_OK)
    status = pcal_watch_load(saved.bytes, saved.length, "saved", env, &again, err);
  pcal_watch_free(again);
  free(saved.bytes);
  return status;
}

pcal_status call_watch(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_watch *watch = NULL;
  pcal_source *source = NULL;
  pcal_status status = call_plain_source(call->data, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_watch_new(0.05, env, &watch, err);
  if (status == PCAL_OK)
    status = pcal_watch_update(watch, source, 0, err);
  if (status == PCAL_OK)
    status = call_write_watch(call, watch, env, err);
  pcal_watch_free(watch);
  pcal_source_free(source);
  return status;
}

pcal_status call_inspect(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_source *source = NULL;
  size_t problems = 0;
  pcal_status status = call_source(call->data, env, &source, err);
  for (int format = PCAL_TEXT; format <= PCAL_JSON && status == PCAL_OK; format++) {
    status = pcal_inspect_source(source, env, (pcal_format)format, call->sink, call->sink_user,
                                 &problems, err);
    if (status == PCAL_OK)
      status = pcal_source_rewind(source, err);
  }
  pcal_source_free(source);
  return status;
}

/* ---- calibrators ---- */

static pcal_status call_load_again(const row_call *call, const pcal_calibrator *calibrator,
                                   const pcal_env *env, pcal_error *err) {
  sink_bytes file = {0};
  pcal_calibrator *again = NULL;
  pcal_status status = pcal_calibrator_save(calibrator, call->sink, call->sink_user, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_save(calibrator, sink_collect, &file, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_load(file.bytes, file.length, "cal.json", env, &again, err);
  pcal_calibrator_free(again);
  free(file.bytes);
  return status;
}

static pcal_status call_use_calibrator(const row_call *call, const pcal_calibrator *calibrator,
                                       const pcal_env *env, pcal_error *err) {
  static float out[CALL_ROWS * CALL_CLASSES];
  PC_TRY(pcal_calibrator_describe(calibrator, PCAL_TEXT, call->sink, call->sink_user, err));
  PC_TRY(pcal_calibrator_describe(calibrator, PCAL_JSON, call->sink, call->sink_user, err));
  PC_TRY(call_load_again(call, calibrator, env, err));
  if (call->data != CALL_QUANTILES) { /* their levels are in the source */
    const pcal_batch batch = call_batch(call->data);
    PC_TRY(pcal_calibrator_apply(calibrator, &batch, env, out, err));
  }
  PC_TRY(call_unless_refused(
      pcal_calibrator_export(calibrator, PCAL_C, NULL, call->sink, call->sink_user, err)));
  return call_unless_refused(
      pcal_calibrator_export(calibrator, PCAL_ONNX, NULL, call->sink, call->sink_user, err));
}

static pcal_status call_fit(const row_call *call, int by_group, const pcal_env *env,
                            pcal_error *err) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  config.method = call->name;
  config.by_group = by_group;
  pcal_status status = by_group ? call_named_source(call->data, env, &source, err)
                                : call_source(call->data, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, env, &calibrator, err);
  if (status == PCAL_OK)
    status = call_use_calibrator(call, calibrator, env, err);
  for (int npy = 0; npy < 2 && status == PCAL_OK; npy++)
    status = pcal_calibrator_apply_source(calibrator, source, npy ? PCAL_NPY : PCAL_CSV, env,
                                          call->sink, call->sink_user, err);
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
  return status;
}

pcal_status call_calibrator(const pcal_env *env, const row_call *call, pcal_error *err) {
  return call_fit(call, 0, env, err);
}

pcal_status call_calibrator_by_group(const pcal_env *env, const row_call *call,
                                     pcal_error *err) {
  return call_fit(call, 1, env, err);
}
