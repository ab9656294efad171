/* report: everything about one model, before and after, in one HTML file. */
#include <string.h>

#include "command_echo.h"
#include "flags_val.h"

static const cli_flag report_flags[] = {
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "the report, or '-' for standard output; it appears whole or not at all", NULL, CLI_FILE},
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "html (the default), md for a pull request, or json", "html|md|json", CLI_ANY},
    {"title", 0, CLI_TEXT, "TEXT", offsetof(cli_options, title), "of the report", NULL,
     CLI_ANY},
};

static const cli_flag report_measure_flags[] = {
    {"metric", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "a metric or group for the table; repeat for more; default when not given", NULL,
     CLI_METRICS},
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, figure_interval),
     "level of the intervals; 0.95 when not given, 0 for none", NULL, CLI_ANY},
    {"replicas", 0, CLI_COUNT, "N", offsetof(cli_options, replicas),
     "how often rows are drawn anew for them; 1000 when not given", NULL, CLI_ANY},
};

static const cli_flag report_repair_flags[] = {
    {"calibrator", 0, CLI_TEXT, "FILE", offsetof(cli_options, calibrator),
     "a file from propercal fit: the report shows before and after it", NULL, CLI_FILE},
    {"method", 0, CLI_TEXT, "SPEC", offsetof(cli_options, method),
     "a calibrator to fit: to the second set or, without one, by cross-validation", NULL,
     CLI_METHODS},
};

static const cli_section report_section = {"Output", report_flags, CLI_COUNT_OF(report_flags),
                                           NULL};
static const cli_section report_measure_section = {"Metrics", report_measure_flags,
                                                   CLI_COUNT_OF(report_measure_flags), NULL};
static const cli_section report_repair_section = {
    "Before and after", report_repair_flags, CLI_COUNT_OF(report_repair_flags),
    "With a second set and neither of these, all methods that suit the data are fitted to it, "
    "and the best by the Brier score is shown, if it is better beyond doubt; predictions of a "
    "number are judged by dss, quantiles and samples by crps."};

static const cli_section *const report_sections[] = {
    &cli_section_inputs, &report_section,   &report_measure_section, &report_repair_section,
    &cli_section_val,    &cli_section_rows, &cli_section_running,    &cli_section_help};

static pcal_format report_format(const cli_options *options) {
  if (options->format && strcmp(options->format, "md") == 0)
    return PCAL_MARKDOWN;
  return options->format && strcmp(options->format, "json") == 0 ? PCAL_JSON : PCAL_HTML;
}

static pcal_status report_check(const cli_options *options, pcal_error *err) {
  if (!options->output || !*options->output)
    return cli_fail(err, PCAL_USAGE, "report needs -o: a file such as report.html, or '-'");
  if (options->calibrator && (options->method || cli_has_val(options)))
    return cli_fail(
        err, PCAL_USAGE,
        "--calibrator is fitted already; leave --method and the --val flags out, or "
        "leave it out");
  return PCAL_OK;
}

/* What a reader needs to do it again. */
typedef struct report_words {
  cli_text_buffer command, inputs, fitting;
} report_words;

static void report_put_words(const cli_options *options, report_words *words) {
  cli_options told = *options;
  told.quiet = told.no_progress = 0;
  told.threads = 0;
  cli_put(&words->command, "propercal report");
  for (size_t i = 0; i < CLI_COUNT_OF(report_sections); i++)
    cli_put_flags(&words->command, &told, report_sections[i], "");
  cli_put_flags(&words->inputs, options, &cli_section_inputs, "");
  cli_put_flags(&words->inputs, options, &cli_section_rows, "");
  cli_put_flags(&words->fitting, options, &cli_section_val, "val-");
  if (options->val.quantiles && options->inputs.levels) {
    cli_put(&words->fitting, " --levels ");
    cli_put_escaped(&words->fitting, PCAL_FOR_SHELL, options->inputs.levels);
  }
  cli_put_flags(&words->fitting, options, &cli_section_rows, "");
}

static void report_words_free(report_words *words) {
  cli_text_buffer_free(&words->command);
  cli_text_buffer_free(&words->inputs);
  cli_text_buffer_free(&words->fitting);
}

static pcal_status report_words_check(const report_words *words, pcal_error *err) {
  pcal_status status = cli_text_buffer_check(&words->command, err);
  if (status == PCAL_OK)
    status = cli_text_buffer_check(&words->inputs, err);
  return status == PCAL_OK ? cli_text_buffer_check(&words->fitting, err) : status;
}

/* Without the space that each flag begins with. */
static const char *report_flags_of(const cli_text_buffer *page) {
  return page->length > 0 ? page->text + 1 : NULL;
}

static pcal_status report_measure(cli_session *session, pcal_report_config *config,
                                  pcal_report **out, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  const char *file = session->options.calibrator;
  pcal_status status = file ? cli_calibrator_load(session, file, &calibrator, err) : PCAL_OK;
  if (status == PCAL_OK)
    status = cli_source_open(session, 1, &source, err);
  if (status == PCAL_OK)
    status = cli_val_open(session, &config->fitting, err);
  config->calibrator = calibrator;
  if (status == PCAL_OK)
    status = pcal_report_run(source, config, &session->env, out, err);
  pcal_source_free(source);
  pcal_source_free(config->fitting);
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
  config.fitting_flags = report_flags_of(&words.fitting);
  config.calibrator_file = options->calibrator;
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
  return cli_output_close(&output, status, err);
}

static const cli_example report_examples[] = {
    {"propercal report --logits logits.npy --labels labels.npy -o report.html",
     "a page to mail to a colleague"},
    {"propercal report --data test.npz --val-data val.npz -o report.html",
     "with the best repair, learnt on other rows, before and after"},
    {"propercal report --data test.npz --calibrator cal.json -o report.html",
     "before and after a calibrator from propercal fit"},
    {"propercal report --probs p.npy --labels y.npy --method beta -o report.html",
     "one method, judged by cross-validation on the same rows"},
    {"propercal report --data test.npz --format md -o - | gh pr comment -F -",
     "as Markdown, for a pull request"},
};

const cli_verb cli_verb_report = {
    "report",
    "",
    0,
    CLI_ANY,
    "everything about one model, before and after, in one HTML file",
    "Writes one page that can be mailed: it needs no network and no other file. The verdict in "
    "plain words stands first, then the metrics with their intervals, figures whose marks tell "
    "their numbers, classes, problems of the data, the commands that make it again, "
    "conventions "
    "and sources; all numbers are in the page as JSON too. A calibrator adds an after to every "
    "before. The same rows give the same bytes.",
    report_sections,
    CLI_COUNT_OF(report_sections),
    report_examples,
    CLI_COUNT_OF(report_examples),
    report_run,
};
