/* Calls of row_calls.h whose results are pages: figures, studies, reports and comparisons. */
#include "base/error.h"
#include "call_sources.h"

/* ---- figures ---- */

static pcal_status call_draw(const row_call *call, const pcal_figure *figure, pcal_error *err) {
  PC_TRY(
      pcal_figure_write(figure, PCAL_SVG, PCAL_THEME_LIGHT, call->sink, call->sink_user, err));
  return pcal_figure_write(figure, PCAL_JSON, PCAL_THEME_AUTO, call->sink, call->sink_user,
                           err);
}

static pcal_figure_config call_figure_config(const row_call *call) {
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  config.figure = call->name;
  config.replicas = CALL_REPLICAS;
  return config;
}

/* Makes and draws a figure; `source` may be NULL. */
static pcal_status call_draw_source(const row_call *call, pcal_source *source,
                                    const pcal_figure_config *config, const pcal_env *env,
                                    pcal_error *err) {
  pcal_figure *figure = NULL;
  pcal_status status = pcal_figure_run(source, config, env, &figure, err);
  if (status == PCAL_OK)
    status = call_draw(call, figure, err);
  pcal_figure_free(figure);
  return status;
}

pcal_status call_figure(const pcal_env *env, const row_call *call, pcal_error *err) {
  const pcal_figure_config config = call_figure_config(call);
  pcal_source *source = NULL;
  pcal_status status = call_plain_source(call->data, env, &source, err);
  if (status == PCAL_OK)
    status = call_draw_source(call, source, &config, env, err);
  pcal_source_free(source);
  return status;
}

pcal_status call_figure_of_groups(const pcal_env *env, const row_call *call, pcal_error *err) {
  const pcal_figure_config config = call_figure_config(call);
  pcal_source *source = NULL;
  pcal_status status = call_named_source(call->data, env, &source, err);
  if (status == PCAL_OK)
    status = call_draw_source(call, source, &config, env, err);
  pcal_source_free(source);
  return status;
}

pcal_status call_figure_of_models(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_figure_config config = call_figure_config(call);
  pcal_model models[2];
  config.models = models;
  config.model_count = 2;
  pcal_status status = call_models(call->data, env, models, err);
  if (status == PCAL_OK)
    status = call_draw_source(call, NULL, &config, env, err);
  call_models_free(models);
  return status;
}

pcal_status call_figure_of_many_models(const pcal_env *env, const row_call *call,
                                       pcal_error *err) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
  enum { MODELS = sizeof names / sizeof *names };
  pcal_figure_config config = call_figure_config(call);
  pcal_model models[MODELS];
  pcal_status status = PCAL_OK;
  for (size_t m = 0; m < MODELS; m++) {
    models[m] = (pcal_model)PCAL_MODEL_INIT;
    models[m].name = names[m];
    if (status == PCAL_OK)
      status = call_plain_source(call->data, env, &models[m].source, err);
  }
  config.models = models;
  config.model_count = MODELS;
  if (status == PCAL_OK)
    status = call_draw_source(call, NULL, &config, env, err);
  for (size_t m = 0; m < MODELS; m++)
    pcal_source_free(models[m].source);
  return status;
}

static pcal_status call_fit_first(call_data data, pcal_source *source, const pcal_env *env,
                                  pcal_calibrator **out, pcal_error *err) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  config.method = data == CALL_LOGITS    ? "temperature"
                  : data < CALL_NORMALS  ? "isotonic"
                  : data == CALL_NORMALS ? "variance-scale"
                                         : "quantile-isotonic";
  PC_TRY(pcal_fit_run(source, &config, env, out, err));
  return pcal_source_rewind(source, err);
}

pcal_status call_figure_recalibrated(const pcal_env *env, const row_call *call,
                                     pcal_error *err) {
  pcal_figure_config config = call_figure_config(call);
  pcal_model models[2];
  pcal_calibrator *calibrator = NULL;
  config.interval = 0.9;
  pcal_status status = call_models(call->data, env, models, err);
  if (status == PCAL_OK)
    status = call_fit_first(call->data, models[1].source, env, &calibrator, err);
  config.calibrator = calibrator;
  config.val = models[1].source;
  config.title = "Recalibrated";
  config.width = 400;
  if (status == PCAL_OK)
    status = call_draw_source(call, models[0].source, &config, env, err);
  pcal_calibrator_free(calibrator);
  call_models_free(models);
  return status;
}

/* ---- studies ---- */

static pcal_status call_write_study(const row_call *call, const pcal_study *study,
                                    pcal_error *err) {
  pcal_figure *figure = NULL;
  for (int format = PCAL_TEXT; format <= PCAL_LATEX; format++)
    PC_TRY(pcal_study_write(study, (pcal_format)format, call->sink, call->sink_user, err));
  for (size_t i = 0; pcal_study_table_name(study, i) != NULL; i++)
    PC_TRY(pcal_study_table_write(study, i, call->sink, call->sink_user, err));
  pcal_status status = pcal_figure_from_study(study, NULL, &figure, err);
  if (status == PCAL_OK)
    status = call_draw(call, figure, err);
  pcal_figure_free(figure);
  return call_unless_refused(status);
}

pcal_status call_study(const pcal_env *env, const row_call *call, pcal_error *err) {
  static const uint64_t row_counts[] = {12};
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_study *study = NULL;
  config.simulation = (pcal_simulation){sizeof(pcal_simulation), 12, 3, 2.0, 0.01, 0};
  config.sets = config.null_sets = 2;
  config.replicas = CALL_REPLICAS;
  config.repeats = 2;
  config.row_counts = row_counts;
  config.row_count_count = 1;
  model.name = "model";
  pcal_status status = call_plain_source(call->data, env, &model.source, err);
  if (status == PCAL_OK)
    status = call_plain_source(call->data, env, &model.val, err);
  config.models = &model;
  config.model_count = 1;
  if (status == PCAL_OK)
    status = pcal_study_run(call->name, &config, env, &study, err);
  if (status == PCAL_OK)
    status = call_write_study(call, study, err);
  pcal_study_free(study);
  pcal_source_free(model.source);
  pcal_source_free(model.val);
  return status;
}

/* ---- reports ---- */

static pcal_report_config call_report_config(void) {
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  config.replicas = CALL_REPLICAS;
  config.command = "propercal report";
  return config;
}

static pcal_status call_write_report(const row_call *call, pcal_source *source,
                                     const pcal_report_config *config, const pcal_env *env,
                                     pcal_error *err) {
  pcal_report *report = NULL;
  pcal_status status = pcal_report_run(source, config, env, &report, err);
  for (int format = PCAL_TEXT; status == PCAL_OK && format <= PCAL_HTML; format++)
    status = call_unless_refused(
        pcal_report_write(report, (pcal_format)format, call->sink, call->sink_user, err));
  pcal_report_free(report);
  return status;
}

pcal_status call_report(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_report_config config = call_report_config();
  pcal_source *source = NULL;
  config.method = call->name;
  pcal_status status = call_source(call->data, env, &source, err);
  if (status == PCAL_OK)
    status = call_write_report(call, source, &config, env, err);
  pcal_source_free(source);
  return status;
}

pcal_status call_report_chosen(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_report_config config = call_report_config();
  pcal_model models[2];
  config.specs = &call->name;
  config.spec_count = 1;
  config.title = "The best of all";
  pcal_status status = call_models(call->data, env, models, err);
  config.val = models[1].source;
  if (status == PCAL_OK)
    status = call_write_report(call, models[0].source, &config, env, err);
  call_models_free(models);
  return status;
}

pcal_status call_report_clinical(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_report_config config = call_report_config();
  pcal_source *source = NULL;
  config.specs = &call->name;
  config.spec_count = 1;
  config.preset = "clinical";
  pcal_status status = call_named_source(call->data, env, &source, err);
  if (status == PCAL_OK)
    status = call_write_report(call, source, &config, env, err);
  pcal_source_free(source);
  return status;
}

/* ---- comparisons ---- */

static pcal_status call_run_compare(const row_call *call, const pcal_model *models,
                                    size_t count, const pcal_compare_config *config,
                                    const pcal_env *env, pcal_error *err) {
  pcal_comparison *comparison = NULL;
  pcal_status status = pcal_compare_run(models, count, config, env, &comparison, err);
  for (int format = PCAL_TEXT; status == PCAL_OK && format <= PCAL_LATEX; format++)
    status = pcal_comparison_write(comparison, (pcal_format)format, call->sink, call->sink_user,
                                   err);
  pcal_comparison_free(comparison);
  return status;
}

pcal_status call_compare(const pcal_env *env, const row_call *call, pcal_error *err) {
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  config.methods = &call->name;
  config.method_count = 1;
  config.replicas = CALL_REPLICAS;
  config.folds = 2;
  pcal_status status = call_source(call->data, env, &model.source, err);
  if (status == PCAL_OK)
    status = call_run_compare(call, &model, 1, &config, env, err);
  pcal_source_free(model.source);
  return status;
}

pcal_status call_compare_models(const pcal_env *env, const row_call *call, pcal_error *err) {
  static const char *const methods[] = {"temperature", "isotonic"};
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  pcal_model models[2];
  config.methods = methods;
  config.method_count = 2;
  config.by = call->name;
  config.replicas = CALL_REPLICAS;
  config.folds = 2;
  pcal_status status = call_models(call->data, env, models, err);
  if (status == PCAL_OK)
    status = call_run_compare(call, models, 2, &config, env, err);
  call_models_free(models);
  return status;
}
