/* Public entry points for measuring: check arguments, then call the implementation. */
#include <string.h>

#include "api/measure_api.h"
#include "api/name_checks.h"
#include "base/budget.h"
#include "base/text.h"
#include "io/source.h"
#include "measure/measure_source.h"
#include "measure/saved_state.h"
#include "output/verdict.h"
#include "stats/interval.h"

const char *pcal_interval_method_name(pcal_interval_method method) {
  return (int)method >= PCAL_INTERVAL_AUTO && method <= PCAL_INTERVAL_INVERSION
             ? pc_interval_method_name(method)
             : NULL;
}

pcal_status pcal_interval_method_parse(const char *name, pcal_interval_method *out,
                                       pcal_error *err) {
  pc_error_clear(err);
  if (name == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_interval_method_parse needs a name and an out pointer");
  for (int m = PCAL_INTERVAL_AUTO; m <= PCAL_INTERVAL_JACKKNIFE; m++)
    if (m != PCAL_INTERVAL_WILSON &&
        strcmp(name, pc_interval_method_name((pcal_interval_method)m)) == 0) {
      *out = (pcal_interval_method)m;
      return PCAL_OK;
    }
  return pc_fail(err, PCAL_USAGE, "there is no interval method \"%.60s\"; choose one of %s",
                 name, pc_interval_methods);
}

pcal_status pc_measure_config_resolve(const pcal_measure_config *config,
                                      pcal_measure_config *out, pcal_error *err) {
  if (config != NULL && config->size < sizeof(size_t))
    return pc_fail(err, PCAL_USAGE, "the configuration's size is not set");
  *out = (pcal_measure_config)PCAL_MEASURE_CONFIG_INIT;
  if (config != NULL)
    memcpy(out, config, config->size < sizeof *out ? config->size : sizeof *out);
  if (out->spec_count > 0 && out->specs == NULL)
    return pc_fail(err, PCAL_USAGE, "spec_count is %zu but there are no specs",
                   out->spec_count);
  for (size_t i = 0; i < out->spec_count; i++)
    if (out->specs[i] == NULL)
      return pc_fail(err, PCAL_USAGE, "spec number %zu is NULL", i);
  for (size_t i = 0; i < out->spec_count; i++)
    PC_TRY(pc_check_metric_name(out->specs[i], err));
  return PCAL_OK;
}

pcal_status pcal_measure_new(const pcal_measure_config *config, const pcal_env *env,
                             pcal_measure **out, pcal_error *err) {
  pc_error_clear(err);
  if (config == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_measure_new needs a configuration and an out pointer");
  *out = NULL;
  pcal_measure_config full;
  PC_TRY(pc_measure_config_resolve(config, &full, err));
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_measure_new(&full, &opened, out, err), err);
}

pcal_status pcal_measure_update(pcal_measure *measure, const pcal_batch *batch,
                                pcal_error *err) {
  pc_error_clear(err);
  if (measure == NULL || batch == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_measure_update needs a measure and a batch");
  pcal_batch full;
  PC_TRY(pc_batch_resolve(batch, &full, err));
  return pc_budget_explain(&measure->env, pc_measure_update(measure, &full, err), err);
}

pcal_status pcal_measure_merge(pcal_measure *measure, const pcal_measure *other,
                               pcal_error *err) {
  pc_error_clear(err);
  if (measure == NULL || other == NULL || measure == other)
    return pc_fail(err, PCAL_USAGE, "pcal_measure_merge needs two different measures");
  return pc_budget_explain(&measure->env, pc_measure_merge(measure, other, err), err);
}

pcal_status pcal_measure_set_names(pcal_measure *measure, const char *const *class_names,
                                   size_t class_count, const char *const *group_names,
                                   size_t group_count, pcal_error *err) {
  pc_error_clear(err);
  if (measure == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_measure_set_names needs a measure");
  return pc_budget_explain(
      &measure->env,
      pc_measure_set_names(measure, class_names, class_count, group_names, group_count, err),
      err);
}

pcal_status pc_results_judge(pcal_status status, pcal_results **out, pcal_error *err) {
  if (status == PCAL_OK)
    status = pc_verdict_attach(*out, err);
  if (status == PCAL_OK)
    return PCAL_OK;
  pc_results_free(*out);
  *out = NULL;
  return status;
}

pcal_status pcal_measure_finish(const pcal_measure *measure, pcal_results **out,
                                pcal_error *err) {
  pc_error_clear(err);
  if (measure == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_measure_finish needs a measure and an out pointer");
  *out = NULL;
  const pcal_status status = pc_measure_finish(measure, out, err);
  return pc_budget_explain(&measure->env, pc_results_judge(status, out, err), err);
}

void pcal_measure_free(pcal_measure *measure) {
  pc_measure_free(measure);
}

void pcal_measure_keep_curves(pcal_measure *measure, int keep) {
  if (measure != NULL)
    measure->curves = keep != 0;
}

/* ---- from a source in one call ---- */

pcal_status pcal_measure_from_source(pcal_source *source, const pcal_measure_config *config,
                                     const pcal_env *env, pcal_measure **out, pcal_error *err) {
  pc_error_clear(err);
  if (source == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_measure_from_source needs a source and an out pointer");
  *out = NULL;
  pcal_measure_config full;
  PC_TRY(pc_measure_config_resolve(config, &full, err));
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_measure_source(source, &full, 0, &opened, out, err), err);
}

pcal_status pcal_measure_run(pcal_source *source, const pcal_measure_config *config,
                             const pcal_env *env, pcal_results **out, pcal_error *err) {
  pc_error_clear(err);
  if (source == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_measure_run needs a source and an out pointer");
  *out = NULL;
  pcal_measure_config full;
  PC_TRY(pc_measure_config_resolve(config, &full, err));
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  pc_source_allow_soft(source);
  const pcal_status status = pc_measure_once(source, &full, &opened, out, err);
  pc_source_forget_pages(source, &opened);
  return pc_env_close(&opened, pc_results_judge(status, out, err), err);
}

/* ---- saved states ---- */

pcal_status pcal_measure_save(const pcal_measure *measure, pcal_sink sink, void *user,
                              pcal_error *err) {
  pc_error_clear(err);
  if (measure == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_measure_save needs a measure and a sink");
  return pc_budget_explain(&measure->env, pc_state_save(measure, sink, user, err), err);
}

pcal_status pcal_measure_load(const void *bytes, size_t length, const char *name,
                              const pcal_env *env, pcal_measure **out, pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if ((bytes == NULL && length > 0) || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_measure_load needs bytes and an out pointer");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(
      &opened,
      pc_state_load(bytes, length, name == NULL ? "the state" : name, &opened, out, err), err);
}

pcal_status pcal_measure_describe(const pcal_measure *measure, pcal_sink sink, void *user,
                                  pcal_error *err) {
  pc_error_clear(err);
  if (measure == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_measure_describe needs a measure and a sink");
  pc_text text;
  pc_text_init(&text, &measure->env);
  pc_state_describe(measure, &text);
  const pcal_status status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&measure->env, status, err);
}
