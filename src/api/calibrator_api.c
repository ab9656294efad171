/* Public entry points for calibrators: check arguments, then call the implementation. */
#include <string.h>

#include "api/measure_api.h"
#include "base/budget.h"
#include "calibrators/apply.h"
#include "calibrators/calibrator_describe.h"
#include "calibrators/calibrator_file.h"
#include "calibrators/fit.h"
#include "calibrators/group_calibrators.h"
#include "export/export.h"
#include "io/source.h"

pcal_status pc_fit_config_resolve(const pcal_fit_config *config, const char *function,
                                  pcal_fit_config *out, pcal_error *err) {
  *out = (pcal_fit_config)PCAL_FIT_CONFIG_INIT;
  if (config != NULL && config->size < sizeof(size_t))
    return pc_fail(err, PCAL_USAGE, "the configuration's size is not set");
  if (config != NULL)
    memcpy(out, config, config->size < sizeof *out ? config->size : sizeof *out);
  if (out->method == NULL)
    return pc_fail(err, PCAL_USAGE, "%s needs a method such as \"temperature\"", function);
  return PCAL_OK;
}

pcal_status pcal_fit_run(pcal_source *source, const pcal_fit_config *config,
                         const pcal_env *env, pcal_calibrator **out, pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (source == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_fit_run needs a source and an out pointer");
  pcal_fit_config full;
  PC_TRY(pc_fit_config_resolve(config, "pcal_fit_run", &full, err));
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  pc_source_allow_soft(source);
  const pcal_status status = pc_fit_run(source, &full, &opened, out, err);
  pc_source_forget_pages(source, &opened);
  return pc_env_close(&opened, status, err);
}

void pcal_calibrator_free(pcal_calibrator *calibrator) {
  pc_calibrator_free(calibrator);
}

pcal_status pcal_calibrator_describe(const pcal_calibrator *calibrator, pcal_format format,
                                     pcal_sink sink, void *user, pcal_error *err) {
  pc_error_clear(err);
  if (calibrator == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_calibrator_describe needs a calibrator and a sink");
  if (format != PCAL_TEXT && format != PCAL_JSON)
    return pc_fail(err, PCAL_USAGE, "a calibrator is described as PCAL_TEXT or PCAL_JSON");
  pc_text text;
  pc_text_init(&text, &calibrator->env);
  (format == PCAL_JSON ? pc_calibrator_describe_json : pc_calibrator_describe_text)(calibrator,
                                                                                    &text);
  const pcal_status status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&calibrator->env, status, err);
}

pcal_status pcal_calibrator_save(const pcal_calibrator *calibrator, pcal_sink sink, void *user,
                                 pcal_error *err) {
  pc_error_clear(err);
  if (calibrator == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_calibrator_save needs a calibrator and a sink");
  pc_text text;
  pc_text_init(&text, &calibrator->env);
  pc_calibrator_save(calibrator, &text);
  const pcal_status status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&calibrator->env, status, err);
}

pcal_status pcal_calibrator_load(const void *bytes, size_t length, const char *name,
                                 const pcal_env *env, pcal_calibrator **out, pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (out == NULL || (bytes == NULL && length > 0))
    return pc_fail(err, PCAL_USAGE, "pcal_calibrator_load needs bytes and an out pointer");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(
      &opened,
      pc_calibrator_load(bytes, length, name == NULL ? "calibrator" : name, &opened, out, err),
      err);
}

pcal_status pcal_calibrator_export(const pcal_calibrator *calibrator, pcal_format format,
                                   const char *name, pcal_sink sink, void *user,
                                   pcal_error *err) {
  pc_error_clear(err);
  if (calibrator == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_calibrator_export needs a calibrator and a sink");
  if (format != PCAL_C && format != PCAL_ONNX)
    return pc_fail(err, PCAL_USAGE, "a calibrator is exported as PCAL_C or PCAL_ONNX");
  pc_text text;
  pc_text_init(&text, &calibrator->env);
  pcal_status status =
      pc_calibrator_export(calibrator, format, name == NULL ? "calibrate" : name, &text, err);
  if (status == PCAL_OK)
    status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&calibrator->env, status, err);
}

size_t pcal_calibrator_column_count(const pcal_calibrator *calibrator) {
  return calibrator == NULL ? 0 : pc_calibrator_columns(calibrator);
}

size_t pcal_calibrator_group_count(const pcal_calibrator *calibrator) {
  return calibrator == NULL || calibrator->groups == NULL ? 0 : calibrator->groups->count;
}

const char *pcal_calibrator_group_name(const pcal_calibrator *calibrator, size_t group) {
  return group < pcal_calibrator_group_count(calibrator)
             ? calibrator->groups->members[group].name
             : NULL;
}

size_t pcal_calibrator_find_group(const pcal_calibrator *calibrator, const char *name) {
  uint32_t found = UINT32_MAX;
  if (name != NULL && pcal_calibrator_group_count(calibrator) > 0)
    pc_group_calibrators_match(calibrator->groups, &name, 1, &found);
  return found == UINT32_MAX ? PCAL_NO_COLUMN : found;
}

pcal_status pcal_calibrator_apply(const pcal_calibrator *calibrator, const pcal_batch *batch,
                                  const pcal_env *env, void *out, pcal_error *err) {
  pc_error_clear(err);
  if (calibrator == NULL || batch == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_calibrator_apply needs a calibrator and a batch");
  pcal_batch full;
  PC_TRY(pc_batch_resolve(batch, &full, err));
  if (out == NULL && full.rows > 0)
    return pc_fail(err, PCAL_USAGE, "pcal_calibrator_apply needs an out pointer");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_calibrator_apply(calibrator, &full, &opened, out, err), err);
}

pcal_status pcal_calibrator_apply_source(const pcal_calibrator *calibrator, pcal_source *source,
                                         pcal_format format, const pcal_env *env,
                                         pcal_sink sink, void *user, pcal_error *err) {
  pc_error_clear(err);
  if (source == NULL || calibrator == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_calibrator_apply_source needs a calibrator, a source and a sink");
  if (format != PCAL_NPY && format != PCAL_CSV)
    return pc_fail(err, PCAL_USAGE, "calibrated rows are written as PCAL_NPY or PCAL_CSV");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  const pcal_status status =
      pc_calibrator_apply_source(source, calibrator, format, &opened, sink, user, err);
  pc_source_forget_pages(source, &opened);
  return pc_env_close(&opened, status, err);
}
