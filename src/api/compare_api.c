/* Public entry points for comparisons: check arguments, then call the implementation. */
#include <string.h>

#include "api/name_checks.h"
#include "base/budget.h"
#include "calibrators/folds.h"
#include "io/source.h"
#include "output/write_comparison.h"

static pcal_status compare_check_models(const pcal_model *models, size_t count,
                                        pcal_error *err) {
  if (models == NULL || count == 0)
    return pc_fail(err, PCAL_USAGE, "pcal_compare_run needs a model");
  for (size_t i = 0; i < count; i++) {
    if (models[i].size < sizeof *models || models[i].source == NULL)
      return pc_fail(err, PCAL_USAGE, "a model to compare needs its size and a source");
    if (count > 1 && models[i].name == NULL)
      return pc_fail(err, PCAL_USAGE, "several models need names");
    if ((models[i].val == NULL) != (models[0].val == NULL))
      return pc_fail(err, PCAL_USAGE,
                     "either all models have rows of their own to fit on, or none");
  }
  return pc_check_model_names(models, count, err);
}

pcal_status pcal_compare_run(const pcal_model *models, size_t model_count,
                             const pcal_compare_config *config, const pcal_env *env,
                             pcal_comparison **out, pcal_error *err) {
  pc_error_clear(err);
  if (out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_compare_run needs an out pointer");
  *out = NULL;
  PC_TRY(compare_check_models(models, model_count, err));
  pcal_compare_config full = PCAL_COMPARE_CONFIG_INIT;
  if (config != NULL && config->size < sizeof(size_t))
    return pc_fail(err, PCAL_USAGE, "the configuration's size is not set");
  if (config != NULL)
    memcpy(&full, config, config->size < sizeof full ? config->size : sizeof full);
  if (full.folds == 1 || full.folds > PC_FOLDS_MAX)
    return pc_fail(err, PCAL_USAGE, "cross-validation takes 2 to %d folds, not %zu",
                   PC_FOLDS_MAX, full.folds);
  if (!(full.budget >= 0.0))
    return pc_fail(err, PCAL_USAGE, "the time budget is a number of seconds, at least 0");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  const int by_cluster = pc_source_has_given_groups(models[0].source);
  return pc_env_close(
      &opened, pc_compare(models, model_count, &full, by_cluster, &opened, out, err), err);
}

void pcal_comparison_free(pcal_comparison *comparison) {
  pc_comparison_free(comparison);
}

pcal_status pcal_comparison_write(const pcal_comparison *comparison, pcal_format format,
                                  pcal_sink sink, void *user, pcal_error *err) {
  pc_error_clear(err);
  if (comparison == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_comparison_write needs a comparison and a sink");
  if (format < PCAL_TEXT || format > PCAL_LATEX)
    return pc_fail(err, PCAL_USAGE, "the format %d is unknown", (int)format);
  pc_text text;
  pc_text_init(&text, &comparison->env);
  pcal_status status = pc_write_comparison(comparison, format, &text, err);
  if (status == PCAL_OK)
    status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&comparison->env, status, err);
}

const char *pcal_comparison_chosen(const pcal_comparison *comparison) {
  return comparison == NULL ? NULL : comparison->name;
}

const pcal_calibrator *pcal_comparison_calibrator(const pcal_comparison *comparison) {
  return comparison == NULL ? NULL : comparison->calibrator;
}
