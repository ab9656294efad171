/* Public entry points for output files and npy headers: check arguments, then call the
 * implementation. */
#include "base/budget.h"
#include "io/formats/npy_write.h"
#include "io/output_file.h"
#include "io/output_journal.h"

static pcal_status output_missing(pcal_error *err, const char *call, const char *what) {
  return pc_fail(err, PCAL_USAGE, "%s needs %s; NULL was given", call, what);
}

pcal_status pcal_output_open(const char *path, const pcal_env *env, pcal_output **out,
                             pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (path == NULL || out == NULL)
    return output_missing(err, "pcal_output_open", "a path and an out pointer");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_output_file_open(path, &opened, out, err), err);
}

int pcal_output_write(void *output, const char *bytes, size_t count) {
  return output == NULL || bytes == NULL ? 1 : pc_output_file_sink(output, bytes, count);
}

const char *pcal_output_temporary_path(const pcal_output *output) {
  return output == NULL ? NULL : pc_output_file_temporary(output);
}

pcal_status pcal_output_flush(pcal_output *output, pcal_error *err) {
  pc_error_clear(err);
  if (output == NULL)
    return output_missing(err, "pcal_output_flush", "an output");
  return pc_output_file_flush(output, err);
}

pcal_status pcal_output_commit_all(pcal_output *const *outputs, size_t count, pcal_error *err) {
  pc_error_clear(err);
  if (outputs == NULL && count > 0)
    return output_missing(err, "pcal_output_commit_all", "outputs");
  for (size_t i = 0; i < count; i++)
    if (outputs[i] == NULL)
      return output_missing(err, "pcal_output_commit_all", "outputs");
  return pc_output_file_commit_all(outputs, count, err);
}

void pcal_output_recover(const char *path) {
  const pcal_env env = pc_env_resolve_serial(NULL);
  if (path != NULL)
    pc_output_journal_replay(path, &env);
}

pcal_status pcal_output_commit(pcal_output *output, pcal_error *err) {
  pc_error_clear(err);
  if (output == NULL)
    return output_missing(err, "pcal_output_commit", "an output");
  return pc_output_file_commit(output, err);
}

void pcal_output_discard(pcal_output *output) {
  pc_output_file_discard(output);
}

pcal_status pcal_npy_header_write(pcal_type type, uint64_t rows, size_t columns, pcal_sink sink,
                                  void *user, pcal_error *err) {
  pc_error_clear(err);
  if (sink == NULL)
    return output_missing(err, "pcal_npy_header_write", "a sink");
  const char *code = type == PCAL_F32   ? "<f4"
                     : type == PCAL_F64 ? "<f8"
                     : type == PCAL_I32 ? "<i4"
                                        : NULL;
  if (code == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "element type %d cannot be written; use PCAL_F32, PCAL_F64 or PCAL_I32",
                   (int)type);
  return pc_npy_header_write(code, rows, columns, sink, user, err);
}
