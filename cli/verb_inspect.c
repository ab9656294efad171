/* inspect: describe files and list the problems of a data set. */
#include <string.h>

#include "session.h"

static const cli_flag inspect_flags[] = {
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format), "text (default) or json",
     "text|json", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "output file (default: standard output)", NULL, CLI_FILE},
};

static void inspect_trim(cli_text_buffer *buffer) {
  while (buffer->length > 0 && buffer->text[buffer->length - 1] == '\n')
    buffer->text[--buffer->length] = '\0';
}

static void inspect_put_file(cli_text_buffer *buffer, cli_text_buffer *file, int array,
                             size_t shown) {
  if (!array && shown == 0) { /* moved, as it may be large */
    const cli_text_buffer empty = *buffer;
    *buffer = *file;
    *file = empty;
    return;
  }
  if (array)
    inspect_trim(file);
  cli_put(buffer, !array ? (shown > 0 ? "\n" : "") : shown > 0 ? ",\n" : "[");
  if (file->failed)
    buffer->failed = 1;
  else if (file->length > 0)
    cli_put(buffer, file->text);
}

/* Prints the pending error, if any, and keeps this one for the caller. */
static void inspect_fail(pcal_status status, const pcal_error *failure, pcal_status *first,
                         pcal_error *err) {
  if (*first != PCAL_OK)
    cli_print_failure(err);
  else
    *first = status;
  *err = *failure;
}

/* Describes several files, as one JSON array or as texts separated by empty lines.  Files
 * that fail are reported on standard error, the last one by the caller.  Returns the first
 * failure. */
static pcal_status inspect_files(cli_session *session, cli_text_buffer *buffer,
                                 size_t *problems, pcal_error *err) {
  const cli_words *files = &session->options.operands;
  const int array = session->format == PCAL_JSON && files->count > 1;
  pcal_status first = PCAL_OK;
  size_t shown = 0;
  for (size_t i = 0; i < files->count; i++) {
    cli_text_buffer one = CLI_TEXT_BUFFER_INIT;
    pcal_error failure;
    size_t found = 0;
    cli_signals_watch_input(files->word[i]);
    pcal_status status =
        pcal_inspect_file(files->word[i], cli_header_mode(&session->options), &session->env,
                          session->format, cli_text_buffer_sink, &one, &found, &failure);
    status = cli_text_buffer_status(&one, status, &failure);
    *problems += found;
    if (status == PCAL_OK)
      inspect_put_file(buffer, &one, array, shown++);
    else
      inspect_fail(status, &failure, &first, err);
    cli_text_buffer_free(&one);
  }
  if (array && shown > 0)
    cli_put(buffer, "]\n");
  return first;
}

static pcal_status inspect_source(cli_session *session, cli_text_buffer *buffer,
                                  size_t *problems, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_status status = cli_source_open(session, 0, &source, err);
  if (status == PCAL_OK)
    status = pcal_inspect_source(source, &session->env, session->format, cli_text_buffer_sink,
                                 buffer, problems, err);
  status = cli_text_buffer_status(buffer, status, err);
  pcal_source_free(source);
  return status;
}

static int inspect_any_input(const cli_inputs *in) {
  return in->logits || in->probs || in->log_probs || in->confidence || in->labels ||
         in->correct || in->weights || in->groups || in->time || in->data || in->mean ||
         in->variance || in->std || in->quantiles || in->samples || in->target;
}

static pcal_status inspect_run(cli_session *session, pcal_error *err) {
  const cli_options *options = &session->options;
  const int flags = inspect_any_input(&options->inputs);
  if (!flags && options->operands.count == 0)
    return cli_fail(err, PCAL_USAGE, "inspect needs files or input flags such as --logits");
  if (flags && options->operands.count > 0)
    return cli_fail(err, PCAL_USAGE, "inspect takes either files or input flags; run it twice");
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  size_t problems = 0;
  pcal_status status = flags ? inspect_source(session, &buffer, &problems, err)
                             : inspect_files(session, &buffer, &problems, err);
  if (status != PCAL_OK && buffer.length == 0) {
    cli_text_buffer_free(&buffer);
    return status;
  }
  pcal_error unwritten;
  const pcal_status written =
      cli_text_buffer_write(session, &buffer, options->output, &unwritten);
  if (written != PCAL_OK)
    inspect_fail(written, &unwritten, &status, err);
  if (status == PCAL_OK && problems > 0)
    status = cli_fail(err, PCAL_DATA,
                      "%zu problem%s must be fixed before these data can "
                      "be measured",
                      problems, problems == 1 ? "" : "s");
  return status;
}

static const cli_section inspect_section = {"Output", inspect_flags,
                                            CLI_COUNT_OF(inspect_flags), NULL};
static const cli_section *const inspect_sections[] = {&cli_section_inputs,  &cli_section_labels,
                                                      &cli_section_groups,  &inspect_section,
                                                      &cli_section_running, &cli_section_help};

static const cli_example inspect_examples[] = {
    {"propercal inspect logits.npy labels.npy", "describe each file"},
    {"propercal inspect scores.csv", "describe each column of a CSV file"},
    {"propercal inspect --logits logits.npy --labels labels.npy",
     "check the files together; exit code 3 if they cannot be measured"},
    {"propercal inspect --data scores.csv --json", "print JSON"},
};

const cli_verb cli_verb_inspect = {
    "inspect",
    "[FILE...]",
    SIZE_MAX,
    CLI_FILE,
    "describe files and list the problems of a data set",
    "Describes single files or, with input flags, a whole data set: type, shape, ranges, "
    "class names, distribution of labels, and a guess at which columns of a file are "
    "predictions, outcomes, weights and groups. Lists every problem that prevents measuring, "
    "with its row and a remedy, not only the first one.",
    inspect_sections,
    CLI_COUNT_OF(inspect_sections),
    inspect_examples,
    CLI_COUNT_OF(inspect_examples),
    inspect_run,
};
