/* Opens the source that the input flags name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flags_against.h"
#include "input_files.h"
#include "session.h"
#include "text_lists.h"

/* True if --data is only the file of columns that other flags choose, the scores among them. */
static int open_chooses_columns(const cli_session *session) {
  const cli_inputs *in = &session->options.inputs;
  const char *const scores[] = {in->logits, in->probs,     in->log_probs, in->confidence,
                                in->mean,   in->quantiles, in->samples};
  for (size_t i = 0; i < CLI_COUNT_OF(scores); i++)
    if (cli_input_is_column(session, scores[i]))
      return 1;
  return 0;
}

static pcal_status open_check_inputs(const cli_session *session, int labelled,
                                     pcal_error *err) {
  const cli_inputs *in = &session->options.inputs;
  const char *verb = session->verb->name;
  const int data = in->data && !open_chooses_columns(session);
  const int scores = (in->logits != NULL) + (in->probs != NULL) + (in->log_probs != NULL) +
                     (in->confidence != NULL) + (in->mean != NULL) + (in->quantiles != NULL) +
                     (in->samples != NULL) + data;
  if (scores == 0)
    return cli_fail(err, PCAL_USAGE,
                    "%s needs predictions; give one of --logits, --probs, --log-probs, "
                    "--confidence or --data, or for regression --mean, --quantiles or "
                    "--samples",
                    verb);
  if (scores > 1)
    return cli_fail(err, PCAL_USAGE,
                    "only one of --logits, --probs, --log-probs, --confidence, --mean, "
                    "--quantiles, --samples and --data may be given");
  if (data || !labelled)
    return PCAL_OK;
  if (in->confidence && !in->correct)
    return cli_fail(err, PCAL_USAGE,
                    "--confidence requires --correct; %s needs to know which predictions "
                    "were correct",
                    verb);
  if ((in->mean || in->quantiles || in->samples) && !in->target)
    return in->labels ? PCAL_OK /* refused when the files are opened */
                      : cli_fail(err, PCAL_USAGE,
                                 "%s needs --target, the observed number of each row", verb);
  if (!in->confidence && !in->labels && !in->target)
    return cli_fail(err, PCAL_USAGE, "%s needs --labels, the true class of each row", verb);
  return PCAL_OK;
}

pcal_header cli_header_mode(const cli_options *options) {
  const char *header = options->header ? options->header : "auto";
  return strcmp(header, "yes") == 0  ? PCAL_HEADER_YES
         : strcmp(header, "no") == 0 ? PCAL_HEADER_NO
                                     : PCAL_HEADER_AUTO;
}

/* Opens the inputs with the names of --classes. */
static pcal_status open_named(cli_session *session, pcal_inputs *inputs, pcal_source **out,
                              pcal_error *err) {
  const char *given = session->options.class_names;
  if (!given)
    return pcal_source_open(inputs, &session->env, out, err);
  char *text = strdup(given);
  const char **names = NULL;
  pcal_status status =
      text ? cli_read_classes(text, &names, &inputs->class_count, err)
           : cli_fail(err, PCAL_MEMORY, "out of memory for the names of classes");
  inputs->class_names = names;
  if (status == PCAL_OK)
    status = pcal_source_open(inputs, &session->env, out, err);
  free(names);
  free(text);
  return status;
}

/* The files of one input. */
static pcal_status open_fill_input(cli_session *session, const char *value, pcal_input *input,
                                   pcal_error *err) {
  const cli_words *files = NULL;
  *input = (pcal_input)PCAL_INPUT_INIT;
  if (!value)
    return PCAL_OK;
  const pcal_status status = cli_input_files(session, value, &files, err);
  if (status != PCAL_OK)
    return status;
  for (size_t i = 0; i < files->count; i++)
    cli_signals_watch_input(files->word[i]);
  if (files->count == 1) {
    input->file = files->word[0];
  } else {
    input->files = files->word;
    input->file_count = files->count;
  }
  return PCAL_OK;
}

/* True if the rows are saved as a part of a data set.  Rows of two models need the same indices. */
static int open_is_part(const cli_options *options) {
  return options->state != NULL && !cli_has_against(options);
}

/* Opens the GPU of --device. */
static pcal_status open_device(cli_session *session, pcal_error *err) {
  const char *device = session->options.device;
  return device == NULL || strcmp(device, "cuda") != 0 || session->device != NULL
             ? PCAL_OK
             : pcal_device_open(NULL, &session->env, &session->device, err);
}

/* Formats whose results are numbers alone. */
static int open_is_bare(const char *format) {
  return format != NULL && (strcmp(format, "csv") == 0 || strcmp(format, "openmetrics") == 0);
}

/* Says once on standard error that files have semicolons, unless the results say it. */
static void open_note_notation(cli_session *session, const pcal_source *source) {
  const cli_options *options = &session->options;
  const int in_results = session->verb == &cli_verb_inspect ||
                         (session->verb == &cli_verb_report && options->preset == NULL) ||
                         (session->verb == &cli_verb_measure && options->state == NULL &&
                          !open_is_bare(options->format));
  const char *notation = pcal_source_notation(source);
  if (notation == NULL || in_results || options->quiet || session->notation_printed)
    return;
  session->notation_printed = 1;
  cli_progress_clear();
  fprintf(stderr, "note: read as text with %s\n", notation);
}

/* An input: the value of its flag, NULL if it is not given, and its field. */
typedef struct open_file {
  const char *value;
  const pcal_input **field;
} open_file;

/* items: memory for what the fields point to. */
static pcal_status open_fill_inputs(cli_session *session, const open_file *files, size_t count,
                                    pcal_input *items, pcal_error *err) {
  for (size_t i = 0; i < count; i++) {
    const pcal_status status = open_fill_input(session, files[i].value, &items[i], err);
    if (status != PCAL_OK)
      return status;
    if (files[i].value)
      *files[i].field = &items[i];
  }
  return PCAL_OK;
}

/* Fills what needs no file and cannot fail. */
static void open_set_options(const cli_options *options, pcal_inputs *inputs) {
  const cli_inputs *in = &options->inputs;
  inputs->weights_are = !in->weights_are                            ? PCAL_WEIGHTS_AUTO
                        : strcmp(in->weights_are, "frequency") == 0 ? PCAL_WEIGHTS_FREQUENCY
                                                                    : PCAL_WEIGHTS_IMPORTANCE;
  inputs->first_row = in->first_row != CLI_NO_FIRST_ROW ? in->first_row
                      : open_is_part(options)           ? PCAL_FIRST_ROW_AUTO
                                                        : 0;
  inputs->header = cli_header_mode(options);
  inputs->file_format = options->input_format;
  inputs->positive = options->positive;
  inputs->percent = options->score_scale != NULL;
  inputs->every = in->every;
  inputs->event = options->event;
  inputs->ragged = options->ragged;
}

pcal_status cli_source_open(cli_session *session, int labelled, pcal_source **out,
                            pcal_error *err) {
  const cli_inputs *in = &session->options.inputs;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  double levels[PCAL_LEVELS_MAX], prevalence[PCAL_LEVELS_MAX];
  const open_file files[] = {{in->probs, &inputs.probs},
                             {in->logits, &inputs.logits},
                             {in->log_probs, &inputs.log_probs},
                             {in->confidence, &inputs.confidence},
                             {in->mean, &inputs.mean},
                             {in->variance, &inputs.variance},
                             {in->std, &inputs.std},
                             {in->quantiles, &inputs.quantiles},
                             {in->samples, &inputs.samples},
                             {open_chooses_columns(session) ? NULL : in->data, &inputs.data},
                             {in->labels, &inputs.labels},
                             {in->correct, &inputs.correct},
                             {in->target, &inputs.target},
                             {in->weights, &inputs.weights},
                             {in->groups, &inputs.groups},
                             {in->ids, &inputs.ids},
                             {in->time, &inputs.time},
                             {in->abstain, &inputs.abstain}};
  pcal_input items[CLI_COUNT_OF(files)];
  open_set_options(&session->options, &inputs);
  inputs.levels = levels;
  inputs.prevalence = prevalence;
  pcal_status status = open_check_inputs(session, labelled, err);
  if (status == PCAL_OK)
    status = cli_read_levels("levels", in->levels, levels, &inputs.level_count, err);
  if (status == PCAL_OK)
    status = cli_read_levels("prevalence", session->options.prevalence, prevalence,
                             &inputs.prevalence_count, err);
  if (status == PCAL_OK)
    status = open_fill_inputs(session, files, CLI_COUNT_OF(files), items, err);
  if (status == PCAL_OK)
    status = open_device(session, err);
  inputs.device = session->device;
  if (status == PCAL_OK)
    status = open_named(session, &inputs, out, err);
  if (status == PCAL_OK)
    open_note_notation(session, *out);
  return status;
}
