/* Public entry points for reports: check arguments, then call the implementation. */
#include <string.h>

#include "base/budget.h"
#include "report/page.h"

/* Copies a configuration of any release; NULL: the defaults. */
static pcal_status report_config_copy(const pcal_report_config *config,
                                      pcal_report_config *full, pcal_error *err) {
  *full = (pcal_report_config)PCAL_REPORT_CONFIG_INIT;
  if (config != NULL && config->size < sizeof(size_t))
    return pc_fail(err, PCAL_USAGE, "the configuration's size is not set");
  if (config != NULL)
    memcpy(full, config, config->size < sizeof *full ? config->size : sizeof *full);
  return PCAL_OK;
}

static pcal_status report_config(const pcal_report_config *config, pcal_report_config *full,
                                 pcal_error *err) {
  PC_TRY(report_config_copy(config, full, err));
  if (!(full->interval >= 0 && full->interval < 1))
    return pc_fail(
        err, PCAL_USAGE,
        "the level of an interval must be between 0 and 1, such as 0.95; 0 means none");
  if (full->calibrator != NULL && (full->method != NULL || full->val != NULL))
    return pc_fail(err, PCAL_USAGE,
                   "a calibrator that is fitted already needs neither a method nor a second "
                   "set; give one or the other");
  for (size_t i = 0; i < full->spec_count; i++)
    if (full->specs == NULL || full->specs[i] == NULL)
      return pc_fail(err, PCAL_USAGE, "spec number %zu is NULL", i);
  return PCAL_OK;
}

pcal_status pcal_report_run(pcal_source *source, const pcal_report_config *config,
                            const pcal_env *env, pcal_report **out, pcal_error *err) {
  pcal_report_config full;
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (source == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_report_run needs a source and an out pointer");
  PC_TRY(report_config(config, &full, err));
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_page_run(source, &full, &opened, out, err), err);
}

pcal_status pcal_report_from_results(const pcal_results *results,
                                     const pcal_report_config *config, pcal_report **out,
                                     pcal_error *err) {
  pcal_report_config given;
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (results == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_report_from_results needs results and an out pointer");
  PC_TRY(report_config_copy(config, &given, err));
  return pc_budget_explain(&results->env, pc_page_from_results(results, &given, out, err), err);
}

pcal_status pcal_report_write(const pcal_report *report, pcal_format format, pcal_sink sink,
                              void *user, pcal_error *err) {
  pc_text text;
  pcal_status status = PCAL_OK;
  pc_error_clear(err);
  if (report == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_report_write needs a report and a sink");
  if (format != PCAL_HTML && format != PCAL_MARKDOWN && format != PCAL_JSON)
    return pc_fail(err, PCAL_USAGE,
                   "a report is written as PCAL_HTML, PCAL_MARKDOWN or PCAL_JSON");
  pc_text_init(&text, &report->env);
  if (format == PCAL_HTML)
    pc_page_html(report, &text);
  else if (format == PCAL_JSON)
    pc_page_json(report, &text);
  else
    status = pc_page_markdown(report, &text, err);
  if (status == PCAL_OK)
    status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&report->env, status, err);
}

void pcal_report_free(pcal_report *report) {
  pc_page_free(report);
}
