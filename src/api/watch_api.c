/* Public entry points for watching: check arguments, then call the implementation. */
#include <string.h>

#include "base/budget.h"
#include "watch/watch.h"

pcal_status pcal_watch_new(double alpha, const pcal_env *env, pcal_watch **out,
                           pcal_error *err) {
  pc_error_clear(err);
  if (out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_watch_new needs an out pointer");
  *out = NULL;
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_watch_new(alpha, &opened, out, err), err);
}

void pcal_watch_free(pcal_watch *watch) {
  pc_watch_free(watch);
}

pcal_status pcal_watch_update(pcal_watch *watch, pcal_source *source, unsigned flags,
                              pcal_error *err) {
  pc_error_clear(err);
  if (watch == NULL || source == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_watch_update needs a watch and a source");
  return pc_budget_explain(&watch->env, pc_watch_update(watch, source, flags, err), err);
}

pcal_status pcal_watch_get(const pcal_watch *watch, pcal_watch_report *out, pcal_error *err) {
  pc_error_clear(err);
  if (watch == NULL || out == NULL || out->size < sizeof(size_t))
    return pc_fail(err, PCAL_USAGE, "pcal_watch_get needs a watch and a report with its size");
  pcal_watch_report full = PCAL_WATCH_REPORT_INIT;
  pc_watch_report(watch, &full);
  full.size = out->size < sizeof full ? out->size : sizeof full;
  memcpy(out, &full, full.size);
  return PCAL_OK;
}

pcal_status pcal_watch_write(const pcal_watch *watch, pcal_format format, pcal_sink sink,
                             void *user, pcal_error *err) {
  pc_error_clear(err);
  if (watch == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_watch_write needs a watch and a sink");
  if (format != PCAL_TEXT && format != PCAL_JSON)
    return pc_fail(err, PCAL_USAGE, "a watch is written as text or JSON");
  pc_text text;
  pc_text_init(&text, &watch->env);
  if (format == PCAL_JSON)
    pc_watch_write_json(watch, &text);
  else
    pc_watch_write_text(watch, &text);
  const pcal_status status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&watch->env, status, err);
}

pcal_status pcal_watch_save(const pcal_watch *watch, pcal_sink sink, void *user,
                            pcal_error *err) {
  pc_error_clear(err);
  if (watch == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_watch_save needs a watch and a sink");
  return pc_watch_save(watch, sink, user, err);
}

pcal_status pcal_watch_load(const void *bytes, size_t length, const char *name,
                            const pcal_env *env, pcal_watch **out, pcal_error *err) {
  pc_error_clear(err);
  if (out == NULL || (bytes == NULL && length > 0))
    return pc_fail(err, PCAL_USAGE, "pcal_watch_load needs bytes and an out pointer");
  *out = NULL;
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(
      &opened,
      pc_watch_load(bytes, length, name == NULL ? "the state" : name, &opened, out, err), err);
}
