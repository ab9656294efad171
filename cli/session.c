/* The session: start and end, calibrator files, texts on standard error. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input_files.h"
#include "read_file.h"
#include "run_limits.h"
#include "system/paths.h"
#include "system/program_streams.h"

#define SESSION_THREADS_MAX 1024
#define SESSION_SENTENCE_MAX 4096

static pcal_status session_choose_format(cli_session *session, pcal_error *err) {
  static const struct {
    const char *name;
    pcal_format format;
  } table[] = {{"text", PCAL_TEXT},
               {"json", PCAL_JSON},
               {"csv", PCAL_CSV},
               {"md", PCAL_MARKDOWN},
               {"latex", PCAL_LATEX}};
  const cli_options *options = &session->options;
  const char *name = options->format ? options->format : options->json ? "json" : "text";
  if (options->json && strcmp(name, "json") != 0)
    return cli_fail(err, PCAL_USAGE, "--json contradicts --format %s; give one of them", name);
  for (size_t i = 0; i < CLI_COUNT_OF(table); i++)
    if (strcmp(table[i].name, name) == 0)
      session->format = table[i].format;
  return PCAL_OK;
}

pcal_status cli_session_start(cli_session *session, pcal_error *err) {
  const cli_options *options = &session->options;
  pcal_status status = session_choose_format(session, err);
  if (status != PCAL_OK)
    return status;
  if (options->threads > SESSION_THREADS_MAX)
    return cli_fail(err, PCAL_USAGE, "--threads %llu is too many; the limit is %d",
                    (unsigned long long)options->threads, SESSION_THREADS_MAX);
  status = cli_run_limits_start(session, err);
  if (status != PCAL_OK)
    return status;
  session->env.caller = PCAL_INTERFACE_PROGRAM;
  session->env.threads = (unsigned)options->threads;
  session->env.seed = options->seed;
  session->env.map_files = 1; /* cli/signals.c handles SIGBUS from truncated files */
  if (!options->quiet && !options->no_progress && pc_file_is_terminal(PC_STANDARD_ERROR))
    session->env.progress = cli_progress_draw;
  cli_progress_start();
  if (options->threads == 1)
    return PCAL_OK;
  pc_stop_mask saved;
  pc_stop_signals_block(&saved);
  status = pcal_pool_new(session->env.threads, NULL, &session->env.pool, err);
  pc_stop_signals_unblock(&saved);
  return status;
}

void cli_session_end(cli_session *session) {
  cli_progress_clear();
  pcal_device_free(session->device);
  session->device = NULL;
  pcal_pool_free(session->env.pool);
  session->env.pool = NULL;
  cli_outputs_discard_held(session);
  cli_run_limits_end(session);
  cli_input_files_free(session);
  cli_options_free(&session->options);
}

pcal_status cli_calibrator_load(cli_session *session, const char *path, pcal_calibrator **out,
                                pcal_error *err) {
  cli_file_bytes file;
  pcal_status status = cli_read_file(session, path, &file, err);
  if (status != PCAL_OK)
    return status;
  status = pcal_calibrator_load(file.bytes, file.length, cli_input_name(path), &session->env,
                                out, err);
  free(file.bytes);
  return status;
}

/* ---- Outputs ------------------------------------------------------------ */

const char *cli_file_extension(const char *path) {
  const char *dot = strrchr(path + pc_path_directory(path), '.');
  return dot ? dot + 1 : "";
}

void cli_text_buffer_to_stderr(cli_text_buffer *buffer) {
  cli_progress_clear();
  if (!buffer->failed && buffer->length > 0)
    fwrite(buffer->text, 1, buffer->length, stderr);
  cli_text_buffer_free(buffer);
}

void cli_print_failure(const pcal_error *err) {
  char message[SESSION_SENTENCE_MAX];
  pcal_error_text(err, PCAL_INTERFACE_PROGRAM, message, sizeof message);
  cli_print_error(message);
}

void cli_print_error(const char *sentence) {
  const char *no_color = getenv("NO_COLOR");
  const int color = pc_file_is_terminal(PC_STANDARD_ERROR) && !(no_color && *no_color);
  char plain[SESSION_SENTENCE_MAX];
  cli_escape_terminal(sentence, plain, sizeof plain);
  cli_progress_clear();
  fprintf(stderr, color ? "\033[1;31mpropercal:\033[0m %s\n" : "propercal: %s\n", plain);
}
