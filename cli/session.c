/* Shared by all verbs: common flags, the session, progress, inputs and outputs. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flags_against.h"
#include "input_files.h"
#include "read_file.h"
#include "run_limits.h"
#include "system/clock.h"
#include "system/paths.h"
#include "system/program_streams.h"
#include "text_lists.h"

#define SESSION_THREADS_MAX 1024
#define SESSION_BAR 30
#define SESSION_STEP 64
#define SESSION_SENTENCE_MAX 4096

/* ---- Flags -------------------------------------------------------------- */

#define SESSION_INPUT(field) offsetof(cli_options, inputs.field)

static const cli_flag session_inputs[] = {
    {"logits", 0, CLI_TEXT, "FILE", SESSION_INPUT(logits),
     "scores before the softmax, rows x classes; one column is the logit of class 1 in a "
     "binary problem",
     NULL, CLI_INPUT},
    {"probs", 0, CLI_TEXT, "FILE", SESSION_INPUT(probs),
     "probabilities, rows x classes; one column is the probability of class 1 in a binary "
     "problem",
     NULL, CLI_INPUT},
    {"log-probs", 0, CLI_TEXT, "FILE", SESSION_INPUT(log_probs),
     "natural logarithms of probabilities, rows x classes", NULL, CLI_INPUT},
    {"confidence", 0, CLI_TEXT, "FILE", SESSION_INPUT(confidence),
     "probability of the predicted class only; requires --correct", NULL, CLI_INPUT},
    {"correct", 0, CLI_TEXT, "FILE", SESSION_INPUT(correct),
     "1 for each correct prediction, 0 for each wrong one", NULL, CLI_INPUT},
    {"labels", 0, CLI_TEXT, "FILE", SESSION_INPUT(labels),
     "true classes: numbers from 0, one-hot rows or, in CSV, names of score columns", NULL,
     CLI_INPUT},
    {"mean", 0, CLI_TEXT, "FILE", SESSION_INPUT(mean),
     "regression: means of predicted normal distributions; requires --variance or --std, "
     "and --target",
     NULL, CLI_INPUT},
    {"variance", 0, CLI_TEXT, "FILE", SESSION_INPUT(variance),
     "variances of the normal "
     "distributions",
     NULL, CLI_INPUT},
    {"std", 0, CLI_TEXT, "FILE", SESSION_INPUT(std),
     "standard deviations of the normal "
     "distributions",
     NULL, CLI_INPUT},
    {"quantiles", 0, CLI_TEXT, "FILE", SESSION_INPUT(quantiles),
     "regression: predicted quantiles, rows x levels; requires --levels and --target", NULL,
     CLI_INPUT},
    {"levels", 0, CLI_TEXT, "LIST", SESSION_INPUT(levels),
     "levels of the quantiles in column order, for example 0.05,0.5,0.95", NULL, CLI_ANY},
    {"samples", 0, CLI_TEXT, "FILE", SESSION_INPUT(samples),
     "regression: samples of the predicted distributions, or ensemble members, rows x "
     "samples; requires --target",
     NULL, CLI_INPUT},
    {"target", 0, CLI_TEXT, "FILE", SESSION_INPUT(target),
     "regression: the observed "
     "numbers",
     NULL, CLI_INPUT},
    {"event", 0, CLI_TEXT, "EVENT", offsetof(cli_options, event),
     "regression: measure the predicted probability of an event, such as '> 20' or '<= 0', as "
     "a "
     "binary prediction of its outcome",
     NULL, CLI_ANY},
    {"weights", 0, CLI_TEXT, "FILE", SESSION_INPUT(weights), "row weights (default: 1)", NULL,
     CLI_INPUT},
    {"weights-are", 0, CLI_TEXT, "WORD", SESSION_INPUT(weights_are),
     "frequency: a row of weight 3 stands for three equal rows; importance: each row is "
     "one observation and the weight its share of the result. Default: frequency if all "
     "weights are whole numbers, else importance",
     "frequency|importance", CLI_ANY},
    {"data", 0, CLI_TEXT, "FILE", SESSION_INPUT(data),
     "one file with all inputs, named like these flags: arrays of a .npz file, fields of a "
     ".jsonl file, or CSV columns (logits.0, logits.1, ..., labels). Beside it, a plain word "
     "after another flag is a column of the file: --probs p --labels y",
     NULL, CLI_INPUT},
    {"first-row", 0, CLI_COUNT, "N", SESSION_INPUT(first_row),
     "index of the first row, if the files are one part of a larger data set; --state "
     "needs none: parts are recognised by their content",
     NULL, CLI_ANY},
    {"header", 0, CLI_TEXT, "WORD", offsetof(cli_options, header),
     "whether the first line of CSV and TSV files is a header: yes, no or auto (default); "
     "auto detects a header, and ambiguous files are refused",
     "yes|no|auto", CLI_ANY},
    {"input-format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, input_format),
     "format of standard input, pipes and files whose extension names none; without it, "
     "standard input and pipes are recognised by their first bytes",
     "csv|tsv|jsonl|npy|npz|arrow", CLI_ANY},
};
const cli_section cli_section_inputs = {
    "Inputs", session_inputs, CLI_COUNT_OF(session_inputs),
    "FILE is file.npy, file.npz:ARRAY, file.jsonl:FIELD or file.csv:COLUMNS. COLUMNS is a "
    "name, a number counted from 0, a list a,b,c or a range first..last. '-' is standard "
    "input in any of these formats; '-:3' takes one of its columns. Tables of Arrow IPC "
    "(.arrow, .feather) are read like CSV. All of them may be compressed: .gz, or .zst "
    "unless propercal was built without libzstd."};

static const cli_flag session_groups[] = {
    {"groups", 0, CLI_TEXT, "FILE", SESSION_INPUT(groups),
     "group of each row, such as g.csv:team, or with --data FILE the name of its column: "
     "results are also computed for each group; several columns, as in g.csv:site,sex, are "
     "groups that overlap",
     NULL, CLI_INPUT},
    {"time", 0, CLI_TEXT, "FILE", SESSION_INPUT(time),
     "time of each row, such as log.csv:when, or with --data FILE the name of its column: "
     "results are also computed for each period of --every. Times are ISO 8601 "
     "(2026-03-02T10:15:00+01:00; UTC without an offset) or seconds since 1970",
     NULL, CLI_INPUT},
    {"every", 0, CLI_TEXT, "PERIOD", SESSION_INPUT(every),
     "length of the periods, in UTC: hour, day, week (from Monday), month, quarter, year, or "
     "a number with s, min, h or d, such as 6h. Without --time the column time of --data",
     NULL, CLI_ANY},
};
const cli_section cli_section_groups = {"Groups", session_groups, CLI_COUNT_OF(session_groups),
                                        NULL};

static const cli_flag session_labels[] = {
    {"classes", 0, CLI_TEXT, "LIST", offsetof(cli_options, class_names),
     "names of the classes in the order of the score columns, for example cat,dog,bird; "
     "labels may then be these names. With --ragged also those of choices that no row has",
     NULL, CLI_ANY},
    {"positive", 0, CLI_TEXT, "LABEL", offsetof(cli_options, positive),
     "binary problem with one column of scores: the label of class 1, for example malignant "
     "or yes; the other label is class 0",
     NULL, CLI_ANY},
    {"scale", 0, CLI_TEXT, "WORD", offsetof(cli_options, score_scale),
     "percent: --probs and --confidence run from 0 to 100", "percent", CLI_ANY},
    {"ragged", 0, CLI_FLAG, NULL, offsetof(cli_options, ragged),
     "rows have different numbers of choices: missing scores, shorter lists and names that an "
     "object lacks are choices that the row does not have, of probability 0",
     NULL, CLI_ANY},
    {"abstain", 0, CLI_TEXT, "FILE", SESSION_INPUT(abstain),
     "beside --confidence: 1 for each row in which the model did not answer, else 0; such a "
     "row "
     "counts as an answer with confidence 0 that is wrong",
     NULL, CLI_INPUT},
    {"prevalence", 0, CLI_TEXT, "LIST", offsetof(cli_options, prevalence),
     "as if the classes were so frequent: of class 1 of two, or of each class as "
     "0.2,0.3,0.5; rows are weighted by their class",
     NULL, CLI_ANY},
};
const cli_section cli_section_labels = {"Meaning of the columns", session_labels,
                                        CLI_COUNT_OF(session_labels), NULL};
/* Without --abstain and --prevalence, the last two, which need all rows at once. */
const cli_section cli_section_part_labels = {"Meaning of the columns", session_labels,
                                             CLI_COUNT_OF(session_labels) - 2, NULL};

static const cli_flag session_rows[] = {
    {"normalize", 0, CLI_FLAG, NULL, offsetof(cli_options, normalize),
     "rescale rows of probabilities whose sum is off by 1e-5 to 1e-2, and report how many",
     NULL, CLI_ANY},
    {"skip-missing", 0, CLI_FLAG, NULL, offsetof(cli_options, skip_missing),
     "drop rows with a missing value, and report how many", NULL, CLI_ANY},
};
const cli_section cli_section_rows = {"Rows", session_rows, CLI_COUNT_OF(session_rows), NULL};

static const cli_flag session_running[] = {
    {"threads", 0, CLI_COUNT, "N", offsetof(cli_options, threads),
     "number of threads (default 0: one for each processor available to the program, "
     "within its affinity and container quota); results do not depend on it",
     NULL, CLI_ANY},
    {"seed", 0, CLI_COUNT, "N", offsetof(cli_options, seed),
     "seed of the random numbers (default: 0)", NULL, CLI_ANY},
    {"memory-limit", 0, CLI_TEXT, "SIZE", offsetof(cli_options, memory_limit),
     "limit on allocated memory, for example 500MB or 2GiB, or none; above it the run "
     "fails with exit code 6 and names the largest consumer. Default: three quarters of "
     "the memory of the machine or container. Mapped files do not count; results do not "
     "depend on it",
     NULL, CLI_ANY},
    {"timeout", 0, CLI_REAL, "SECONDS", offsetof(cli_options, timeout),
     "stop after that time with exit code 124, leaving output files unchanged (default 0: "
     "no limit)",
     NULL, CLI_ANY},
    {"quiet", 'q', CLI_FLAG, NULL, offsetof(cli_options, quiet),
     "print neither progress nor notes, only errors", NULL, CLI_ANY},
    {"no-progress", 0, CLI_FLAG, NULL, offsetof(cli_options, no_progress),
     "no progress bar (shown only on a terminal)", NULL, CLI_ANY},
};
const cli_section cli_section_running = {"Running", session_running,
                                         CLI_COUNT_OF(session_running), NULL};

static const cli_flag session_help[] = {
    {"help", 'h', CLI_FLAG, NULL, offsetof(cli_options, help), "print this help", NULL,
     CLI_ANY},
    {"version", 0, CLI_FLAG, NULL, offsetof(cli_options, version),
     "print version, compiler and features", NULL, CLI_ANY},
};
const cli_section cli_section_help = {"Help", session_help, CLI_COUNT_OF(session_help), NULL};

/* ---- Progress ----------------------------------------------------------- */

typedef struct session_progress {
  int shown;
  double started, drawn; /* seconds */
  char what[SESSION_STEP];
  double step_started; /* of the step `what` */
  uint64_t step_first, step_done;
} session_progress;

static session_progress session_bar;

/* Notices that a step begins: another name, or fewer done than before. */
static void session_follow_step(const char *what, uint64_t done, double now) {
  if (strncmp(session_bar.what, what, sizeof session_bar.what - 1) != 0 ||
      done < session_bar.step_done) {
    snprintf(session_bar.what, sizeof session_bar.what, "%s", what);
    session_bar.step_started = now;
    session_bar.step_first = done;
  }
  session_bar.step_done = done;
}

/* Writes how long a step will take at its pace so far; "" in its first second. */
static void session_write_time_left(uint64_t done, uint64_t total, double now, char *out,
                                    size_t size) {
  const double passed = now - session_bar.step_started;
  const uint64_t made = done - session_bar.step_first;
  *out = '\0';
  if (passed < 1.0 || made == 0)
    return;
  const double left = passed * (double)(total - done) / (double)made;
  if (left < 120.0)
    snprintf(out, size, "%.0f s left", left);
  else if (left < 7200.0)
    snprintf(out, size, "%.0f min left", left / 60.0);
  else
    snprintf(out, size, "%.0f h left", left / 3600.0);
}

/* Draws at most ten times a second, and nothing in the first half second. */
static void session_draw(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)user;
  const double now = pc_clock_seconds();
  session_follow_step(what, done, now);
  if (now - session_bar.started < 0.5 || now - session_bar.drawn < 0.1)
    return;
  session_bar.drawn = now;
  session_bar.shown = 1;
  cli_signals_progress(1);
  if (total == 0 || total == PCAL_NO_ROW || done > total) {
    fprintf(stderr, "\r%-20.20s %20llu %-16s", what, (unsigned long long)done, "");
    return;
  }
  const double share = (double)done / (double)total;
  char bar[SESSION_BAR + 1], left[32];
  session_write_time_left(done, total, now, left, sizeof left);
  for (int i = 0; i < SESSION_BAR; i++)
    bar[i] = i < (int)(share * SESSION_BAR) ? '#' : '.';
  bar[SESSION_BAR] = '\0';
  fprintf(stderr, "\r%-20.20s [%s] %3d%% %-14s", what, bar, (int)(share * 100), left);
}

void cli_progress_clear(void) {
  if (!session_bar.shown)
    return;
  fprintf(stderr, "\r%76s\r", "");
  session_bar.shown = 0;
  cli_signals_progress(0);
}

/* ---- Session ------------------------------------------------------------ */

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
  session->env.threads = (unsigned)options->threads;
  session->env.seed = options->seed;
  session->env.map_files = 1; /* cli/signals.c handles SIGBUS from truncated files */
  if (!options->quiet && !options->no_progress && pc_file_is_terminal(PC_STANDARD_ERROR))
    session->env.progress = session_draw;
  session_bar.started = pc_clock_seconds();
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

/* ---- Inputs ------------------------------------------------------------- */

/* True if --data is only the file of columns that other flags choose, the scores among them. */
static int session_chooses_columns(const cli_session *session) {
  const cli_inputs *in = &session->options.inputs;
  const char *const scores[] = {in->logits, in->probs,     in->log_probs, in->confidence,
                                in->mean,   in->quantiles, in->samples};
  for (size_t i = 0; i < CLI_COUNT_OF(scores); i++)
    if (cli_input_is_column(session, scores[i]))
      return 1;
  return 0;
}

static pcal_status session_check_inputs(const cli_session *session, int labelled,
                                        pcal_error *err) {
  const cli_inputs *in = &session->options.inputs;
  const char *verb = session->verb->name;
  const int data = in->data && !session_chooses_columns(session);
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
static pcal_status session_open_named(cli_session *session, pcal_inputs *inputs,
                                      pcal_source **out, pcal_error *err) {
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
static pcal_status session_fill_input(cli_session *session, const char *value,
                                      pcal_input *input, pcal_error *err) {
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
static int session_is_part(const cli_options *options) {
  return options->state != NULL && !cli_has_against(options);
}

/* Opens the GPU of --device. */
static pcal_status session_open_device(cli_session *session, pcal_error *err) {
  const char *device = session->options.device;
  return device == NULL || strcmp(device, "cuda") != 0 || session->device != NULL
             ? PCAL_OK
             : pcal_device_open(NULL, &session->env, &session->device, err);
}

/* Formats whose results are numbers alone. */
static int session_is_bare(const char *format) {
  return format != NULL && (strcmp(format, "csv") == 0 || strcmp(format, "openmetrics") == 0);
}

/* Says once on standard error that files have semicolons, unless the results say it. */
static void session_note_notation(cli_session *session, const pcal_source *source) {
  const cli_options *options = &session->options;
  const int in_results = session->verb == &cli_verb_inspect ||
                         (session->verb == &cli_verb_report && options->preset == NULL) ||
                         (session->verb == &cli_verb_measure && options->state == NULL &&
                          !session_is_bare(options->format));
  const char *notation = pcal_source_notation(source);
  if (notation == NULL || in_results || options->quiet || session->notation_printed)
    return;
  session->notation_printed = 1;
  cli_progress_clear();
  fprintf(stderr, "note: read as text with %s\n", notation);
}

pcal_status cli_source_open(cli_session *session, int labelled, pcal_source **out,
                            pcal_error *err) {
  const cli_inputs *in = &session->options.inputs;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  double levels[PCAL_LEVELS_MAX], prevalence[PCAL_LEVELS_MAX];
  const struct {
    const char *file;
    const pcal_input **field;
  } files[] = {{in->probs, &inputs.probs},
               {in->logits, &inputs.logits},
               {in->log_probs, &inputs.log_probs},
               {in->confidence, &inputs.confidence},
               {in->mean, &inputs.mean},
               {in->variance, &inputs.variance},
               {in->std, &inputs.std},
               {in->quantiles, &inputs.quantiles},
               {in->samples, &inputs.samples},
               {session_chooses_columns(session) ? NULL : in->data, &inputs.data},
               {in->labels, &inputs.labels},
               {in->correct, &inputs.correct},
               {in->target, &inputs.target},
               {in->weights, &inputs.weights},
               {in->groups, &inputs.groups},
               {in->ids, &inputs.ids},
               {in->time, &inputs.time},
               {in->abstain, &inputs.abstain}};
  pcal_input items[CLI_COUNT_OF(files)];
  pcal_status status = session_check_inputs(session, labelled, err);
  if (status == PCAL_OK)
    status = cli_read_levels("levels", in->levels, levels, &inputs.level_count, err);
  if (status == PCAL_OK)
    status = cli_read_levels("prevalence", session->options.prevalence, prevalence,
                             &inputs.prevalence_count, err);
  for (size_t i = 0; i < CLI_COUNT_OF(files) && status == PCAL_OK; i++) {
    status = session_fill_input(session, files[i].file, &items[i], err);
    if (files[i].file)
      *files[i].field = &items[i];
  }
  if (status != PCAL_OK)
    return status;
  inputs.levels = levels;
  inputs.weights_are = !in->weights_are                            ? PCAL_WEIGHTS_AUTO
                       : strcmp(in->weights_are, "frequency") == 0 ? PCAL_WEIGHTS_FREQUENCY
                                                                   : PCAL_WEIGHTS_IMPORTANCE;
  inputs.first_row = in->first_row != CLI_NO_FIRST_ROW    ? in->first_row
                     : session_is_part(&session->options) ? PCAL_FIRST_ROW_AUTO
                                                          : 0;
  inputs.header = cli_header_mode(&session->options);
  inputs.file_format = session->options.input_format;
  inputs.positive = session->options.positive;
  inputs.percent = session->options.score_scale != NULL;
  inputs.prevalence = prevalence;
  inputs.every = in->every;
  inputs.event = session->options.event;
  inputs.ragged = session->options.ragged;
  status = session_open_device(session, err);
  inputs.device = session->device;
  if (status == PCAL_OK)
    status = session_open_named(session, &inputs, out, err);
  if (status == PCAL_OK)
    session_note_notation(session, *out);
  return status;
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
