/* Public entry points for inspection: check arguments, then call the implementation. */
#include "base/budget.h"
#include "base/text.h"
#include "output/inspect.h"

static pcal_status inspect_send(pc_text *text, pcal_status status, pcal_sink sink, void *user,
                                pcal_error *err) {
  if (status == PCAL_OK)
    status = pc_text_send(text, sink, user, err);
  pc_text_free(text);
  return status;
}

pcal_status pcal_inspect_file(const char *file, pcal_header header, const pcal_env *env,
                              pcal_format format, pcal_sink sink, void *user,
                              size_t *problems_found, pcal_error *err) {
  pc_error_clear(err);
  if (file == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_inspect_file needs a file and a sink");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  size_t problems = 0;
  pc_text text;
  pc_text_init(&text, &opened);
  const pcal_status status =
      pc_inspect_file(file, header, &opened, format, &text, &problems, err);
  if (problems_found != NULL)
    *problems_found = problems;
  return pc_env_close(&opened, inspect_send(&text, status, sink, user, err), err);
}

pcal_status pcal_inspect_source(pcal_source *source, const pcal_env *env, pcal_format format,
                                pcal_sink sink, void *user, size_t *problems_found,
                                pcal_error *err) {
  pc_error_clear(err);
  if (source == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_inspect_source needs a source and a sink");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  size_t problems = 0;
  pc_text text;
  pc_text_init(&text, &opened);
  const pcal_status status = pc_inspect_source(source, &opened, format, &text, &problems, err);
  if (problems_found != NULL)
    *problems_found = problems;
  return pc_env_close(&opened, inspect_send(&text, status, sink, user, err), err);
}
