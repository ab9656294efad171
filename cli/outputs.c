/* Output files of a command: all become new together, or none does. */
#include <string.h>

#include "session.h"
#include "system/files.h"
#include "system/program_streams.h"

/* As many as pcal_output_commit_all takes. */
#define OUTPUTS_MAX 16

pcal_status cli_output_open(cli_session *session, const char *path, cli_output *out,
                            pcal_error *err) {
  const char *name = path ? path : "-";
  *out = (cli_output){NULL, strcmp(name, "-") == 0, -1, 0, 0};
  pc_stop_mask saved;
  pc_stop_signals_block(&saved);
  const pcal_status status = pcal_output_open(name, &session->env, &out->file, err);
  if (status == PCAL_OK)
    out->slot = cli_signals_add_temporary(pcal_output_temporary_path(out->file));
  pc_stop_signals_unblock(&saved);
  return status;
}

int cli_output_sink(void *output, const char *bytes, size_t count) {
  cli_output *out = output;
  if (out->to_stdout)
    cli_progress_clear();
  const int failed = pcal_output_write(out->file, bytes, count);
  out->sink_failed |= failed != 0;
  return failed;
}

/* Flushes first, which may be slow; signals are blocked only during the renames. */
static pcal_status outputs_commit(cli_output *const *outputs, size_t count, pcal_error *err) {
  pcal_output *files[OUTPUTS_MAX];
  pcal_status flushed = PCAL_OK;
  for (size_t i = 0; i < count; i++) {
    files[i] = outputs[i]->file;
    if (flushed == PCAL_OK)
      flushed = pcal_output_flush(files[i], err);
  }
  for (size_t i = 0; i < count && flushed != PCAL_OK; i++)
    pcal_output_discard(files[i]);
  if (flushed != PCAL_OK)
    return flushed;
  pc_stop_mask saved;
  pc_stop_signals_block(&saved);
  const pcal_status status = pcal_output_commit_all(files, count, err);
  pc_stop_signals_unblock(&saved);
  return status;
}

/* True if standard output is a pipe that its reader has closed. */
static int outputs_reader_gone(const cli_output *output, pcal_status status) {
  return status == PCAL_IO && output->to_stdout && pc_program_reader_gone(PC_STANDARD_OUTPUT);
}

static pcal_status outputs_close(cli_output *const *outputs, size_t count, pcal_status status,
                                 pcal_error *err) {
  int sink_failed = 0;
  for (size_t i = 0; i < count; i++)
    sink_failed |= outputs[i]->sink_failed;
  if (status == PCAL_OK || sink_failed) {
    const pcal_status committed = outputs_commit(outputs, count, err);
    status = committed == PCAL_OK ? status : committed;
  } else {
    for (size_t i = 0; i < count; i++)
      pcal_output_discard(outputs[i]->file);
  }
  int gone = 0;
  for (size_t i = 0; i < count; i++) {
    cli_signals_drop_temporary(outputs[i]->slot);
    outputs[i]->file = NULL;
    outputs[i]->reader_gone = outputs_reader_gone(outputs[i], status);
    gone |= outputs[i]->reader_gone;
  }
  return gone ? PCAL_OK : status;
}

/* Standard output is closed first: a closed pipe must not discard the files. */
pcal_status cli_outputs_close(cli_session *session, cli_output *const *outputs, size_t count,
                              pcal_status status, pcal_error *err) {
  cli_output *files[OUTPUTS_MAX];
  size_t used = 0;
  for (size_t i = 0; i < session->held_count; i++)
    files[used++] = &session->held[i];
  session->held_count = 0;
  for (size_t i = 0; i < count; i++)
    if (outputs[i]->to_stdout)
      status = outputs_close(&outputs[i], 1, status, err);
    else
      files[used++] = outputs[i];
  return used > 0 ? outputs_close(files, used, status, err) : status;
}

pcal_status cli_output_close(cli_session *session, cli_output *output, pcal_status status,
                             pcal_error *err) {
  return cli_outputs_close(session, &output, 1, status, err);
}

void cli_output_discard(cli_output *output) {
  (void)outputs_close(&output, 1, PCAL_USAGE, NULL);
}

void cli_outputs_discard_held(cli_session *session) {
  while (session->held_count > 0)
    cli_output_discard(&session->held[--session->held_count]);
}

pcal_status cli_output_hold(cli_session *session, cli_output *output, pcal_status status,
                            pcal_error *err) {
  if (output->to_stdout)
    return outputs_close(&output, 1, status, err);
  if (status == PCAL_OK && session->held_count == CLI_HELD_MAX)
    status = cli_fail(err, PCAL_USAGE, "more than %d files in one command; ask for fewer",
                      CLI_HELD_MAX);
  if (status == PCAL_OK)
    session->held[session->held_count++] = *output;
  else
    cli_output_discard(output);
  return status;
}

static pcal_status outputs_write_text(cli_session *session, cli_text_buffer *buffer,
                                      const char *path, cli_output *out, pcal_error *err) {
  pcal_status status = cli_text_buffer_check(buffer, err);
  if (status == PCAL_OK)
    status = cli_output_open(session, path, out, err);
  if (status == PCAL_OK)
    cli_output_sink(out, buffer->text, buffer->length);
  cli_text_buffer_free(buffer);
  return status;
}

pcal_status cli_text_buffer_hold(cli_session *session, cli_text_buffer *buffer,
                                 const char *path, pcal_error *err) {
  cli_output output;
  const pcal_status status = outputs_write_text(session, buffer, path, &output, err);
  return status == PCAL_OK ? cli_output_hold(session, &output, status, err) : status;
}

pcal_status cli_text_buffer_write(cli_session *session, cli_text_buffer *buffer,
                                  const char *path, pcal_error *err) {
  cli_output output;
  const pcal_status status = outputs_write_text(session, buffer, path, &output, err);
  return status == PCAL_OK ? cli_output_close(session, &output, status, err) : status;
}
