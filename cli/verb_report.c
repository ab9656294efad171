/* report: write a report about one model as HTML, Markdown or JSON. */
#include <string.h>

#include "command_echo.h"
#include "flags_val.h"

static const cli_flag report_flags[] = {
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "output file, or '-' for standard output; replaced only once it is complete", NULL,
     CLI_FILE},
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "html, md or json (default: as the file ends, else html)", "html|md|json", CLI_ANY},
    {"preset", 0, CLI_TEXT, "NAME", offsetof(cli_options, preset),
     "clinical: one page about predicted risks for a paper, with the metrics of the group "
     "clinical, a calibration curve, a decision curve, and the sentences for methods and "
     "results",
     "clinical", CLI_ANY},
    {"title", 0, CLI_TEXT, "TEXT", offsetof(cli_options, title), "title of the report", NULL,
     CLI_ANY},
};

static const cli_flag report_measure_flags[] = {
    {"metric", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "metric or group for the table; repeatable (default: the group default); added to those "
     "of a preset",
     NULL, CLI_METRICS},
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, figure_interval),
     "level of the intervals (default: 0.95); 0 for none", NULL, CLI_ANY},
    {"replicas", 0, CLI_POSITIVE, "N", offsetof(cli_options, replicas),
     "bootstrap replicas (default: 1000)", NULL, CLI_ANY},
    {"cluster", 0, CLI_TEXT, "FILE", offsetof(cli_options, cluster),
     "cluster of each row, such as a patient with several scans; intervals and folds keep "
     "clusters whole; not with --groups",
     NULL, CLI_FILE},
};

static const cli_flag report_repair_flags[] = {
    {"calibrator", 0, CLI_TEXT, "FILE", offsetof(cli_options, calibrator),
     "calibrator saved by `propercal fit`; the report shows results before and after it", NULL,
     CLI_FILE},
    {"method", 0, CLI_TEXT, "SPEC", offsetof(cli_options, method),
     "calibrator to fit, to the second set or, without one, by cross-validation", NULL,
     CLI_METHODS},
};

static const cli_section report_section = {"Output", report_flags, CLI_COUNT_OF(report_flags),
                                           NULL};
static const cli_section report_measure_section = {"Metrics", report_measure_flags,
                                                   CLI_COUNT_OF(report_measure_flags), NULL};
static const cli_section report_repair_section = {
    "Before and after", report_repair_flags, CLI_COUNT_OF(report_repair_flags),
    "With a second set and neither of these flags, all methods that fit the data are "
    "fitted to it, and the best by the Brier score is shown if its improvement is "
    "significant. Regression uses dss for means with variances and crps for quantiles and "
    "samples."};

static const cli_section *const report_sections[] = {
    &cli_section_inputs,     &cli_section_labels,    &cli_section_groups, &report_section,
    &report_measure_section, &report_repair_section, &cli_section_val,    &cli_section_rows,
    &cli_section_running,    &cli_section_help};

static pcal_format report_format(const cli_options *options) {
  const char *dot = strrchr(options->output, '.');
  const char *word = options->format ? options->format : dot ? dot + 1 : "html";
  return strcmp(word, "md") == 0     ? PCAL_MARKDOWN
         : strcmp(word, "json") == 0 ? PCAL_JSON
                                     : PCAL_HTML;
}

static pcal_status report_check(const cli_options *options, pcal_error *err) {
  if (!options->output || !*options->output)
    return cli_fail(err, PCAL_USAGE,
                    "report needs an output file; give -o report.html or "
                    "-o -");
  if (options->calibrator && (options->method || cli_has_val(options)))
    return cli_fail(
        err, PCAL_USAGE,
        "--calibrator is already fitted; remove it, or remove --method and the --val flags");
  if (options->cluster && options->inputs.groups)
    return cli_fail(err, PCAL_USAGE,
                    "--cluster and --groups cannot be combined; give one of them");
  return PCAL_OK;
}

/* The command and the flags of its inputs, for the reader to reproduce the report. */
typedef struct report_words {
  cli_text_buffer command, inputs, val;
} report_words;

static void report_put_words(const cli_options *options, report_words *words) {
  cli_options shown = *options;
  shown.quiet = shown.no_progress = 0;
  shown.threads = 0;
  cli_put(&words->command, "propercal report");
  for (size_t i = 0; i < CLI_COUNT_OF(report_sections); i++)
    cli_put_flags(&words->command, &shown, report_sections[i], "");
  cli_put_flags(&words->inputs, options, &cli_section_inputs, "");
  cli_put_flags(&words->inputs, options, &cli_section_labels, "");
  cli_put_flags(&words->inputs, options, &cli_section_groups, "");
  cli_put_flags(&words->inputs, options, &cli_section_rows, "");
  if (options->cluster) {
    cli_put(&words->inputs, " --cluster ");
    cli_put_escaped(&words->inputs, PCAL_FOR_SHELL, options->cluster);
  }
  cli_put_flags(&words->val, options, &cli_section_val, "val-");
  if (options->val.quantiles && options->inputs.levels) {
    cli_put(&words->val, " --levels ");
    cli_put_escaped(&words->val, PCAL_FOR_SHELL, options->inputs.levels);
  }
  cli_put_flags(&words->val, options, &cli_section_labels, "");
  cli_put_flags(&words->val, options, &cli_section_rows, "");
}

static void report_words_free(report_words *words) {
  cli_text_buffer_free(&words->command);
  cli_text_buffer_free(&words->inputs);
  cli_text_buffer_free(&words->val);
}

static pcal_status report_words_check(const report_words *words, pcal_error *err) {
  pcal_status status = cli_text_buffer_check(&words->command, err);
  if (status == PCAL_OK)
    status = cli_text_buffer_check(&words->inputs, err);
  return status == PCAL_OK ? cli_text_buffer_check(&words->val, err) : status;
}

/* The flags without the leading space; NULL if there are none. */
static const char *report_flags_of(const cli_text_buffer *buffer) {
  return buffer->length > 0 ? buffer->text + 1 : NULL;
}

static pcal_status report_measure(cli_session *session, pcal_report_config *config,
                                  pcal_report **out, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  const char *file = session->options.calibrator;
  pcal_status status = file ? cli_calibrator_load(session, file, &calibrator, err) : PCAL_OK;
  if (session->options.cluster) /* clusters are passed as groups */
    session->options.inputs.groups = session->options.cluster;
  if (status == PCAL_OK)
    status = cli_source_open(session, 1, &source, err);
  if (status == PCAL_OK)
    status = cli_val_open(session, &config->val, err);
  config->calibrator = calibrator;
  if (status == PCAL_OK)
    status = pcal_report_run(source, config, &session->env, out, err);
  pcal_source_free(source);
  pcal_source_free(config->val);
  pcal_calibrator_free(calibrator);
  return status;
}

static pcal_status report_write(cli_session *session, cli_output *output, pcal_error *err) {
  const cli_options *options = &session->options;
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  report_words words = {CLI_TEXT_BUFFER_INIT, CLI_TEXT_BUFFER_INIT, CLI_TEXT_BUFFER_INIT};
  pcal_report *report = NULL;
  report_put_words(options, &words);
  config.method = options->method;
  config.specs = options->metrics.word;
  config.spec_count = options->metrics.count;
  config.interval = options->figure_interval;
  config.replicas = (size_t)options->replicas;
  config.normalize = options->normalize;
  config.skip_missing = options->skip_missing;
  config.title = options->title;
  config.command = words.command.text;
  config.input_flags = report_flags_of(&words.inputs);
  config.val_flags = report_flags_of(&words.val);
  config.calibrator_file = options->calibrator;
  config.preset = options->preset;
  config.by_cluster = options->cluster != NULL;
  pcal_status status = report_words_check(&words, err);
  if (status == PCAL_OK)
    status = report_measure(session, &config, &report, err);
  if (status == PCAL_OK)
    status = pcal_report_write(report, report_format(options), cli_output_sink, output, err);
  pcal_report_free(report);
  report_words_free(&words);
  return status;
}

static pcal_status report_run(cli_session *session, pcal_error *err) {
  cli_output output;
  pcal_status status = report_check(&session->options, err);
  if (status == PCAL_OK)
    status = cli_output_open(session, session->options.output, &output, err);
  if (status != PCAL_OK)
    return status;
  status = report_write(session, &output, err);
  return cli_output_close(session, &output, status, err);
}

static const cli_example report_examples[] = {
    {"propercal report --logits logits.npy --labels labels.npy -o report.html",
     "a self-contained HTML page"},
    {"propercal report --data test.npz --val-data val.npz -o report.html",
     "before and after the best method, fitted to the second set"},
    {"propercal report --probs p.npy --labels y.npy --method beta -o report.html",
     "one method, judged by cross-validation on the same rows"},
    {"propercal report --data test.npz --format md -o - | gh pr comment -F -",
     "Markdown for a pull request"},
    {"propercal report --preset clinical --data risks.csv -o page.html",
     "one page about predicted risks, for a paper"},
};

const cli_verb cli_verb_report = {
    "report",
    "",
    0,
    CLI_ANY,
    "write an HTML report about one model",
    "Writes one self-contained HTML page: the verdict, metrics with intervals, figures "
    "with values on hover, results of each class, problems of the data, the commands that "
    "reproduce it, conventions and sources. The page also contains all numbers as JSON. "
    "With a calibrator every result is shown before and after it. Equal rows give equal "
    "bytes.",
    report_sections,
    CLI_COUNT_OF(report_sections),
    report_examples,
    CLI_COUNT_OF(report_examples),
    report_run,
};
