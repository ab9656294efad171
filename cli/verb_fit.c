/* fit: learn a recalibration and save it. */
#include <string.h>

#include "session.h"

static const cli_flag fit_flags[] = {
    {"method", 'm', CLI_TEXT, "SPEC", offsetof(cli_options, method),
     "what to learn: a calibrator with options, as temperature:objective=brier; temperature "
     "when not given; `propercal list calibrators` shows them all",
     NULL, CLI_METHODS},
    {"groups", 0, CLI_TEXT, "FILE", offsetof(cli_options, inputs.groups),
     "a group for each row: learns also for each group by itself; how far a group of n rows "
     "goes its own way, n / (n + kappa), is chosen by cross-validation",
     NULL, CLI_FILE},
};

static const cli_flag fit_output_flags[] = {
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "save the calibrator, for `propercal apply`: JSON in which every number reads back "
     "exactly; '-' is standard output",
     NULL, CLI_FILE},
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "of the description: text (the default) or json", "text|json", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "the same as --format json", NULL,
     CLI_ANY},
};

static pcal_status fit_learn(cli_session *session, pcal_calibrator **calibrator,
                             pcal_error *err) {
  const cli_options *options = &session->options;
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  if (options->method)
    config.method = options->method;
  config.normalize = options->normalize;
  config.by_group = options->inputs.groups != NULL;
  config.skip_missing = options->skip_missing;
  pcal_status status = cli_source_open(session, 1, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, &session->env, calibrator, err);
  pcal_source_free(source);
  return status;
}

static void fit_put_apply(cli_text_buffer *page, const char *file, const char *flag) {
  cli_put(page, "\nNext: propercal apply ");
  cli_put_escaped(page, PCAL_FOR_SHELL, file);
  cli_putf(page, " %s -o calibrated.npy\n", flag);
}

/* What one would do now. */
static void fit_put_next(cli_text_buffer *page, const cli_options *options) {
  const cli_inputs *in = &options->inputs;
  const char *flag = in->logits       ? "--logits new.npy"
                     : in->probs      ? "--probs new.npy"
                     : in->log_probs  ? "--log-probs new.npy"
                     : in->confidence ? "--confidence new.npy"
                     : in->mean       ? in->std ? "--mean new.npy --std std.npy"
                                                : "--mean new.npy --variance variance.npy"
                     : in->samples    ? "--samples new.npy"
                     : in->quantiles  ? "--quantiles new.npy --levels ..."
                                      : "--data new.csv";
  if (!options->output)
    cli_put(page, "\nNot saved: give -o cal.json to keep it for propercal apply\n");
  else if (strcmp(options->output, "-") != 0)
    fit_put_apply(page, options->output, flag);
}

/* The description gives way to a calibrator on standard output; --quiet drops it when the
 * calibrator went to a file. */
static pcal_status fit_tell(cli_session *session, const pcal_calibrator *calibrator,
                            pcal_error *err) {
  const cli_options *options = &session->options;
  const int json = session->format == PCAL_JSON;
  if (options->quiet && options->output && !json)
    return PCAL_OK;
  cli_text_buffer page = CLI_TEXT_BUFFER_INIT;
  pcal_status status =
      pcal_calibrator_describe(calibrator, session->format, cli_text_buffer_sink, &page, err);
  status = cli_text_buffer_status(&page, status, err);
  if (status != PCAL_OK) {
    cli_text_buffer_free(&page);
    return status;
  }
  if (!json)
    fit_put_next(&page, options);
  if (!options->output || strcmp(options->output, "-") != 0)
    return cli_text_buffer_write(session, &page, NULL, err);
  if (options->quiet)
    cli_text_buffer_free(&page);
  else
    cli_text_buffer_to_stderr(&page);
  return PCAL_OK;
}

static pcal_status fit_save(cli_session *session, pcal_calibrator **calibrator,
                            pcal_error *err) {
  cli_output output;
  pcal_status status = cli_output_open(session, session->options.output, &output, err);
  if (status != PCAL_OK)
    return status;
  status = fit_learn(session, calibrator, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_save(*calibrator, cli_output_sink, &output, err);
  return cli_output_close(&output, status, err);
}

static pcal_status fit_run(cli_session *session, pcal_error *err) {
  pcal_calibrator *calibrator = NULL;
  if (session->options.output && !*session->options.output)
    return cli_fail(err, PCAL_USAGE, "-o needs the name of a file, such as cal.json");
  pcal_status status = session->options.output ? fit_save(session, &calibrator, err)
                                               : fit_learn(session, &calibrator, err);
  if (status == PCAL_OK)
    status = fit_tell(session, calibrator, err);
  pcal_calibrator_free(calibrator);
  return status;
}

static const cli_section fit_section = {"Method", fit_flags, CLI_COUNT_OF(fit_flags), NULL};
static const cli_section fit_output_section = {"Output", fit_output_flags,
                                               CLI_COUNT_OF(fit_output_flags), NULL};
static const cli_section *const fit_sections[] = {&cli_section_inputs,  &fit_section,
                                                  &cli_section_rows,    &fit_output_section,
                                                  &cli_section_running, &cli_section_help};

static const cli_example fit_examples[] = {
    {"propercal fit --logits val.npy --labels val_labels.npy -o cal.json",
     "learn a temperature on held-out rows and save it"},
    {"propercal apply cal.json --logits test.npy -o calibrated.npy",
     "then use it on other rows"},
    {"propercal fit -m histogram:bins=20 --probs p.npy --labels y.npy -o h.json",
     "another method"},
    {"propercal fit --logits z.npy --labels y.npy --groups site.npy -o cal.json",
     "a calibrator for each site, mixed with that of all by how many rows it has"},
    {"propercal fit --method temperature:objective=brier --data val.csv --json",
     "look at the outcome without saving it: status, gradient, before and after"},
};

const cli_verb cli_verb_fit = {
    "fit",
    "",
    0,
    CLI_ANY,
    "learn how to repair these predictions",
    "Learns a recalibration from predictions and true labels that the model was not trained "
    "on, "
    "and saves it as a small JSON file that people can read. Says how the fit went: converged, "
    "stopped at a bound, identity when nothing was better than leaving the predictions alone, "
    "or closed-form where no search was needed; these are outcomes, not errors. Neither the "
    "order of rows nor the number of threads shows in the result; only kappa of --groups comes "
    "from a cross-validation that deals rows by their number and the seed.",
    fit_sections,
    CLI_COUNT_OF(fit_sections),
    fit_examples,
    CLI_COUNT_OF(fit_examples),
    fit_run,
};
