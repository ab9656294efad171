/* Public entry points for studies: check arguments, then call the implementation. */
#include <string.h>

#include "base/budget.h"
#include "base/text.h"
#include "studies/study.h"

static pcal_status study_run(const char *study, const pcal_study_config *config,
                             const pcal_env *env, pcal_study **out, pcal_error *err) {
  pcal_study *made = pc_alloc(env, 1, sizeof *made);
  if (made == NULL)
    return pc_fail_memory(err, "running a study");
  made->env = *env;
  pc_findings_init(&made->findings, &made->env, "");
  const pcal_status status = pc_study_run(study, config, &made->findings, err);
  if (status == PCAL_OK)
    *out = made;
  else
    pcal_study_free(made);
  return status;
}

pcal_status pcal_study_run(const char *study, const pcal_study_config *config,
                           const pcal_env *env, pcal_study **out, pcal_error *err) {
  pc_error_clear(err);
  if (study == NULL || out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_study_run needs a study and an out pointer");
  *out = NULL;
  if (config != NULL && config->size < sizeof(size_t))
    return pc_fail(err, PCAL_USAGE, "the configuration's size is not set");
  pcal_study_config full = PCAL_STUDY_CONFIG_INIT;
  if (config != NULL)
    memcpy(&full, config, config->size < sizeof full ? config->size : sizeof full);
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, study_run(study, &full, &opened, out, err), err);
}

void pcal_study_free(pcal_study *study) {
  if (study == NULL)
    return;
  const pcal_env env = study->env;
  pc_findings_free(&study->findings);
  pc_free(&env, study);
}

pcal_status pcal_study_write(const pcal_study *study, pcal_format format, pcal_sink sink,
                             void *user, pcal_error *err) {
  pc_error_clear(err);
  if (study == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_study_write needs a study and a sink");
  if (format < PCAL_TEXT || format > PCAL_LATEX)
    return pc_fail(err, PCAL_USAGE, "the format %d is unknown", (int)format);
  pc_text text;
  pc_text_init(&text, &study->env);
  pc_findings_write(&study->findings, format, &text);
  const pcal_status status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&study->env, status, err);
}

const char *pcal_study_table_name(const pcal_study *study, size_t index) {
  const int there = study != NULL && index < study->findings.table_count;
  return there ? study->findings.tables[index].name : NULL;
}

pcal_status pcal_study_table_write(const pcal_study *study, size_t index, pcal_sink sink,
                                   void *user, pcal_error *err) {
  pc_error_clear(err);
  if (sink == NULL || pcal_study_table_name(study, index) == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_study_table_write needs a study, a sink and the index of a table");
  pc_text text;
  pc_text_init(&text, &study->env);
  pc_table_write_body(&study->findings.tables[index], PCAL_CSV, &text);
  const pcal_status status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&study->env, status, err);
}
