/* watch: test calibration of rows as they arrive, with a running state in a file. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file_conflicts.h"
#include "read_file.h"
#include "session.h"
#include "system/paths.h"

#define WATCH_ALPHA 0.05

static const cli_flag watch_flags[] = {
    {"alpha", 0, CLI_REAL, "P", offsetof(cli_options, alpha),
     "largest probability of a false alarm, however often you look (default: 0.05); fixed when "
     "the state is created",
     NULL, CLI_ANY},
    {"allow-repeat", 0, CLI_FLAG, NULL, offsetof(cli_options, allow_repeat),
     "take files whose rows are in the state already", NULL, CLI_ANY},
};

static const cli_flag watch_output_flags[] = {
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format), "text (default) or json",
     "text|json", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "output file (default: standard output); replaced only once it is complete", NULL,
     CLI_FILE},
};

/* The bytes of the state file; `bytes` is NULL if there is none. */
static pcal_status watch_read(cli_session *session, const char *path, cli_file_bytes *out,
                              pcal_error *err) {
  pc_file_info about;
  *out = (cli_file_bytes){NULL, 0};
  if (strcmp(path, "-") == 0)
    return cli_fail(err, PCAL_USAGE, "the state of a watch is a file, not '-'; name one");
  if (pc_path_describe(path, &about) != 0 && errno == ENOENT)
    return PCAL_OK;
  return cli_read_file(session, path, out, err);
}

/* Refuses to replace a state that another command has changed since it was read. */
static pcal_status watch_check_same(cli_session *session, const char *path,
                                    const cli_file_bytes *before, pcal_error *err) {
  cli_file_bytes now;
  pcal_status status = watch_read(session, path, &now, err);
  if (status == PCAL_OK &&
      ((now.bytes == NULL) != (before->bytes == NULL) || now.length != before->length ||
       (now.length > 0 && memcmp(now.bytes, before->bytes, now.length) != 0)))
    status = cli_fail(err, PCAL_IO,
                      "%s has changed while rows were added; run one command at a time on a "
                      "state, and this one again",
                      path);
  free(now.bytes);
  return status;
}

/* The watch in the bytes of a state file, or a new one if there is no such file. */
static pcal_status watch_open(cli_session *session, const char *path,
                              const cli_file_bytes *file, pcal_watch **out, pcal_error *err) {
  const double alpha = session->options.alpha;
  pcal_watch_report report = PCAL_WATCH_REPORT_INIT;
  if (file->bytes == NULL)
    return pcal_watch_new(alpha == CLI_NO_ALPHA ? WATCH_ALPHA : alpha, &session->env, out, err);
  pcal_status status =
      pcal_watch_load(file->bytes, file->length, cli_input_name(path), &session->env, out, err);
  if (status == PCAL_OK)
    status = pcal_watch_get(*out, &report, err);
  if (status == PCAL_OK && alpha != CLI_NO_ALPHA && alpha != report.alpha) {
    char text[CLI_NUMBER_MAX];
    status =
        cli_fail(err, PCAL_USAGE,
                 "%s was created with --alpha %s, which cannot change; leave --alpha out, or "
                 "start a new state",
                 path, cli_number(report.alpha, text));
  }
  return status;
}

static pcal_status watch_add(cli_session *session, pcal_watch *watch, pcal_error *err) {
  const cli_options *options = &session->options;
  const unsigned flags = (options->normalize ? PCAL_WATCH_NORMALIZE : 0) |
                         (options->skip_missing ? PCAL_WATCH_SKIP_MISSING : 0) |
                         (options->allow_repeat ? PCAL_WATCH_ALLOW_REPEAT : 0);
  pcal_source *source = NULL;
  pcal_status status = cli_source_open(session, 1, &source, err);
  if (status == PCAL_OK)
    status = pcal_watch_update(watch, source, flags, err);
  pcal_source_free(source);
  return status;
}

static int watch_has_inputs(const cli_inputs *in) {
  return in->probs || in->logits || in->log_probs || in->confidence || in->mean ||
         in->quantiles || in->samples || in->data || in->labels || in->correct || in->target;
}

/* Adds the files after the state, each as --data, or the inputs of the flags. */
static pcal_status watch_add_all(cli_session *session, pcal_watch *watch, size_t *added,
                                 pcal_error *err) {
  cli_options *options = &session->options;
  pcal_status status = PCAL_OK;
  *added = options->operands.count - 1;
  if (watch_has_inputs(&options->inputs)) {
    if (options->operands.count > 1)
      return cli_fail(err, PCAL_USAGE,
                      "watch takes either files after the state or input flags; run it twice");
    *added = 1;
    return watch_add(session, watch, err);
  }
  for (size_t i = 1; i < options->operands.count && status == PCAL_OK; i++) {
    options->inputs.data = options->operands.word[i];
    status = watch_add(session, watch, err);
  }
  options->inputs.data = NULL;
  return status;
}

/* Writes the report, then replaces the state; both or neither. */
static pcal_status watch_write(cli_session *session, const pcal_watch *watch, const char *path,
                               int changed, pcal_error *err) {
  cli_output report, state;
  cli_output *const both[] = {&report, &state};
  pcal_status status = cli_output_open(session, session->options.output, &report, err);
  if (status != PCAL_OK)
    return status;
  if (changed) {
    status = cli_output_open(session, path, &state, err);
    if (status != PCAL_OK) {
      cli_output_discard(&report);
      return status;
    }
    status = pcal_watch_save(watch, cli_output_sink, &state, err);
  }
  if (status == PCAL_OK)
    status = pcal_watch_write(watch, session->format, cli_output_sink, &report, err);
  return cli_outputs_close(session, both, changed ? 2 : 1, status, err);
}

static pcal_status watch_run(cli_session *session, pcal_error *err) {
  const cli_options *options = &session->options;
  pcal_watch *watch = NULL;
  pcal_watch_report report = PCAL_WATCH_REPORT_INIT;
  size_t added = 0;
  if (options->operands.count == 0)
    return cli_fail(err, PCAL_USAGE,
                    "watch needs a state file: propercal watch state.pcal new.jsonl");
  const char *path = options->operands.word[0];
  cli_file_bytes before;
  if (options->output && strcmp(options->output, "-") != 0 &&
      cli_same_file(options->output, path))
    return cli_fail(err, PCAL_USAGE,
                    "--output %s is the same file as the state and would overwrite it; choose "
                    "another file",
                    options->output);
  pcal_status status = watch_read(session, path, &before, err);
  if (status == PCAL_OK)
    status = watch_open(session, path, &before, &watch, err);
  if (status == PCAL_OK)
    status = watch_add_all(session, watch, &added, err);
  if (status == PCAL_OK)
    status = pcal_watch_get(watch, &report, err);
  if (status == PCAL_OK && added == 0 && report.rows == 0)
    status = cli_fail(err, PCAL_USAGE, "%s: there is no such state yet; give rows to start it",
                      path);
  if (status == PCAL_OK && added > 0)
    status = watch_check_same(session, path, &before, err);
  if (status == PCAL_OK)
    status = watch_write(session, watch, path, added > 0, err);
  if (status == PCAL_OK && report.alarm)
    session->gates_failed = 1;
  pcal_watch_free(watch);
  free(before.bytes);
  return status;
}

static const cli_section watch_section = {"Watch", watch_flags, CLI_COUNT_OF(watch_flags),
                                          NULL};
static const cli_section watch_output_section = {"Output", watch_output_flags,
                                                 CLI_COUNT_OF(watch_output_flags), NULL};
static const cli_section *const watch_sections[] = {
    &watch_section,        &cli_section_inputs,  &cli_section_labels, &cli_section_rows,
    &watch_output_section, &cli_section_running, &cli_section_help};

static const cli_example watch_examples[] = {
    {"propercal watch state.pcal monday.jsonl",
     "add the rows of a day to a running test; the file holds probs and labels"},
    {"propercal watch state.pcal --probs new.csv:p --labels new.csv:y",
     "the same with columns of any name"},
    {"propercal watch state.pcal --json", "look at the state without adding rows"},
    {"propercal watch state.pcal today.csv; [ $? -eq 1 ] && notify-oncall",
     "exit code 1 once the predictions are shown to be uncalibrated; other codes are errors"},
};

const cli_verb cli_verb_watch = {
    "watch",
    "STATE [FILE...]",
    SIZE_MAX,
    CLI_FILE,
    "watch calibration over time, with an alarm",
    "Adds rows, in order of time, to a test of calibration that may be looked at after every "
    "row. Its e-value is the capital of bets against the predictions. Once it reaches 1/alpha "
    "there is an alarm, and the exit code is 1 from then on; for calibrated predictions the "
    "probability that this ever happens is at most alpha, however often you look. The state is "
    "created if it does not exist, and replaced only once it is complete; files of 32 or more "
    "rows that are in it already are refused. A wrong row of probability exactly 0 or 1 is an "
    "alarm at once, so do not round probabilities. Event: class 1 of two classes; of more, and "
    "of confidences, that the prediction is correct; predictions of a number (--mean with "
    "--variance or --std) are tested by their PIT. Every row counts once: --weights is "
    "refused.",
    watch_sections,
    CLI_COUNT_OF(watch_sections),
    watch_examples,
    CLI_COUNT_OF(watch_examples),
    watch_run,
};
