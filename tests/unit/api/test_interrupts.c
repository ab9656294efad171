/* The caller stops a call at any of its checks: PCAL_INTERRUPTED, and nothing left over.  Measures,
 * every calibrator and figure, reports, comparisons, rounds and watches; of many checks about
 * INTERRUPT_POINTS are tried. */
#include "../measure/rounds_help.h"

#include "io/source.h"

enum { INTERRUPT_ROWS = 60, INTERRUPT_POINTS = 24 };

typedef struct interrupt_call {
  const rounds_data *data;
  const char *spec;
} interrupt_call;

/* ---- the sweep ---- */

typedef struct interrupt_clock {
  size_t checks, stop_at; /* 0: never */
} interrupt_clock;

static int interrupt_now(void *user) {
  interrupt_clock *clock = user;
  return ++clock->checks == clock->stop_at;
}

static size_t interrupt_run(unit_scenario scenario, void *user, size_t stop_at,
                            pcal_status *status) {
  unit_memory memory = {0};
  interrupt_clock clock = {0, stop_at};
  pcal_env env = unit_env(&memory);
  pcal_error err = PCAL_ERROR_INIT;
  env.threads = 1;
  env.interrupted = interrupt_now;
  env.user = &clock;
  *status = scenario(&env, user, &err);
  assert_int_equal(atomic_load(&memory.live), 0);
  return clock.checks;
}

static void interrupt_sweep(unit_scenario scenario, const rounds_data *data, const char *spec) {
  interrupt_call call = {data, spec};
  pcal_status status;
  const size_t checks = interrupt_run(scenario, &call, 0, &status);
  if (status == PCAL_USAGE || status == PCAL_DATA) /* the row is not for this data */
    return;
  assert_int_equal(status, PCAL_OK);
  for (size_t n = 1; n <= checks; n += 1 + checks / INTERRUPT_POINTS) {
    interrupt_run(scenario, &call, n, &status);
    if (status != PCAL_INTERRUPTED)
      fail_msg("%s: check %zu of %zu: status %d", spec, n, checks, (int)status);
  }
}

/* ---- calls ---- */

static pcal_status interrupt_source(const interrupt_call *call, const pcal_env *env,
                                    pcal_source **out, pcal_error *err) {
  const pcal_batch batch = rounds_batch(call->data, 0, call->data->rows);
  return pc_source_borrow(&batch, NULL, env, out, err);
}

static pcal_status interrupt_measure(const pcal_env *env, void *user, pcal_error *err) {
  const interrupt_call *call = user;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  config.specs = &call->spec;
  config.spec_count = 1;
  config.interval = 0.9;
  config.null = 1;
  config.replicas = 20;
  pcal_status status = interrupt_source(call, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, env, &results, err);
  pcal_results_free(results);
  pcal_source_free(source);
  return status;
}

static pcal_status interrupt_fit(const pcal_env *env, void *user, pcal_error *err) {
  const interrupt_call *call = user;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  config.method = call->spec;
  pcal_status status = interrupt_source(call, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, env, &calibrator, err);
  if (status == PCAL_OK)
    status = pcal_source_rewind(source, err);
  if (status == PCAL_OK)
    status =
        pcal_calibrator_apply_source(calibrator, source, PCAL_NPY, env, sink_count, NULL, err);
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
  return status;
}

static pcal_status interrupt_figure(const pcal_env *env, void *user, pcal_error *err) {
  const interrupt_call *call = user;
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_figure *figure = NULL;
  config.figure = call->spec;
  config.replicas = 20;
  pcal_status status = interrupt_source(call, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_figure_run(source, &config, env, &figure, err);
  pcal_figure_free(figure);
  pcal_source_free(source);
  return status;
}

static pcal_status interrupt_report(const pcal_env *env, void *user, pcal_error *err) {
  const interrupt_call *call = user;
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_report *report = NULL;
  config.method = call->spec;
  config.replicas = 20;
  pcal_status status = interrupt_source(call, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_report_run(source, &config, env, &report, err);
  pcal_report_free(report);
  pcal_source_free(source);
  return status;
}

static pcal_status interrupt_compare(const pcal_env *env, void *user, pcal_error *err) {
  const interrupt_call *call = user;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_comparison *comparison = NULL;
  config.methods = &call->spec;
  config.method_count = 1;
  config.replicas = 20;
  config.folds = 2;
  pcal_status status = interrupt_source(call, env, &model.source, err);
  if (status == PCAL_OK)
    status = pcal_compare_run(&model, 1, &config, env, &comparison, err);
  pcal_comparison_free(comparison);
  pcal_source_free(model.source);
  return status;
}

/* A worker over a source, with names of none. */
static pcal_status interrupt_rounds(const pcal_env *env, void *user, pcal_error *err) {
  const interrupt_call *call = user;
  const pcal_measure_config config = rounds_config(call->data, &call->spec, 1);
  pcal_rounds *rounds = NULL;
  pcal_status status = pcal_rounds_new(&config, env, &rounds, err);
  while (status == PCAL_OK && !pcal_rounds_done(rounds)) {
    sink_bytes request = {0}, tally = {0};
    pcal_rounds_worker *worker = NULL;
    pcal_source *source = NULL;
    status = pcal_rounds_request(rounds, sink_collect, &request, err);
    if (status == PCAL_OK)
      status = pcal_rounds_worker_new(request.bytes, request.length, env, &worker, err);
    if (status == PCAL_OK)
      status = interrupt_source(call, env, &source, err);
    if (status == PCAL_OK)
      status = pcal_rounds_worker_update_source(worker, source, err);
    if (status == PCAL_OK)
      status = pcal_rounds_worker_tally(worker, sink_collect, &tally, err);
    const pcal_bytes both[] = {{tally.bytes, tally.length}};
    sink_bytes merged = {0};
    if (status == PCAL_OK)
      status = pcal_tally_merge(both, 1, env, sink_collect, &merged, err);
    if (status == PCAL_OK)
      status = pcal_rounds_absorb(rounds, merged.bytes, merged.length, err);
    pcal_rounds_worker_free(worker);
    pcal_source_free(source);
    free(request.bytes);
    free(tally.bytes);
    free(merged.bytes);
  }
  pcal_rounds_free(rounds);
  return status;
}

static pcal_status interrupt_watch(const pcal_env *env, void *user, pcal_error *err) {
  pcal_watch *watch = NULL;
  pcal_source *source = NULL;
  pcal_status status = interrupt_source(user, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_watch_new(0.05, env, &watch, err);
  if (status == PCAL_OK)
    status = pcal_watch_update(watch, source, 0, err);
  pcal_watch_free(watch);
  pcal_source_free(source);
  return status;
}

/* ---- rows ---- */

static void interrupt_rows(pcal_registry kind, unit_scenario scenario) {
  rounds_data binary = rounds_data_draw(INTERRUPT_ROWS, 1, 0, 0, 0);
  rounds_data classes = rounds_data_draw(INTERRUPT_ROWS, 3, 0, 1, 2);
  for (size_t i = 0; i < pcal_registry_count(kind); i++) {
    const char *name = pcal_registry_at(kind, i)->name;
    interrupt_sweep(scenario, &binary, name);
    interrupt_sweep(scenario, &classes, name);
  }
  rounds_data_free(&binary);
  rounds_data_free(&classes);
}

TEST(metrics_stop) {
  interrupt_rows(PCAL_METRICS, interrupt_measure);
}

TEST(calibrators_stop) {
  interrupt_rows(PCAL_CALIBRATORS, interrupt_fit);
}

TEST(figures_stop) {
  interrupt_rows(PCAL_FIGURES, interrupt_figure);
}

TEST(reports_comparisons_rounds_and_watches_stop) {
  rounds_data data = rounds_data_draw(INTERRUPT_ROWS, 1, 0, 0, 0);
  interrupt_sweep(interrupt_report, &data, "platt");
  interrupt_sweep(interrupt_compare, &data, "isotonic");
  interrupt_sweep(interrupt_rounds, &data, "ks");
  interrupt_sweep(interrupt_watch, &data, "watch");
  rounds_data_free(&data);
}
