/* fit: fit a calibrator and save it. */
#include <string.h>

#include "session.h"

static const cli_flag fit_flags[] = {
    {"method", 'm', CLI_TEXT, "SPEC", offsetof(cli_options, method),
     "calibrator to fit, with options as in temperature:objective=brier (default: "
     "temperature); see `propercal list calibrators`",
     NULL, CLI_METHODS},
    {"groups", 0, CLI_TEXT, "FILE", offsetof(cli_options, inputs.groups),
     "group of each row: fits one calibrator for each group too; a group of n rows gets "
     "weight n/(n+kappa), the common calibrator the rest; kappa is cross-validated",
     NULL, CLI_FILE},
    {"device", 0, CLI_TEXT, "WORD", offsetof(cli_options, device),
     "cpu (default), or cuda: a temperature is fitted to --logits on the first NVIDIA GPU; "
     "results do not depend on it",
     "cpu|cuda", CLI_ANY},
};

static const cli_flag fit_output_flags[] = {
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "save the calibrator as JSON, for `propercal apply`; numbers are exact; '-' is "
     "standard output",
     NULL, CLI_FILE},
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "format of the summary: text (default) or json", "text|json", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
};

static pcal_status fit_run_source(cli_session *session, pcal_calibrator **calibrator,
                                  pcal_error *err) {
  const cli_options *options = &session->options;
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  if (options->method)
    config.method = options->method;
  config.normalize = options->normalize;
  config.by_group = options->inputs.groups != NULL;
  config.skip_missing = options->skip_missing;
  pcal_status status = cli_source_open(session, 0, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, &session->env, calibrator, err);
  pcal_source_free(source);
  return status;
}

/* The columns of --data that were named. */
static void fit_put_columns(cli_text_buffer *buffer, const cli_options *options) {
  const cli_inputs *in = &options->inputs;
  const struct {
    const char *flag, *column;
  } named[] = {{"--logits", in->logits},
               {"--probs", in->probs},
               {"--log-probs", in->log_probs},
               {"--confidence", in->confidence},
               {"--mean", in->mean},
               {"--variance", in->variance},
               {"--std", in->std},
               {"--quantiles", in->quantiles},
               {"--samples", in->samples}};
  for (size_t i = 0; in->data && i < CLI_COUNT_OF(named); i++)
    if (named[i].column) {
      const char *colon = strrchr(named[i].column, ':');
      cli_putf(buffer, " %s ", named[i].flag);
      cli_put_escaped(buffer, PCAL_FOR_SHELL, colon ? colon + 1 : named[i].column);
    }
  if (in->quantiles && in->levels) {
    cli_put(buffer, " --levels ");
    cli_put_escaped(buffer, PCAL_FOR_SHELL, in->levels);
  }
}

/* The inputs of new rows, in files of the same kind. */
static void fit_put_inputs(cli_text_buffer *buffer, const cli_inputs *in) {
  const char *kind = in->data ? cli_file_extension(in->data) : "";
  const int is_packed = strcmp(kind, "gz") == 0 || strcmp(kind, "zst") == 0;
  if (in->data && strcmp(in->data, "-") == 0)
    cli_put(buffer, " --data -");
  else if (in->data)
    cli_putf(buffer, " --data new.%s", *kind == '\0' || is_packed ? "csv" : kind);
  else
    cli_putf(buffer, " %s",
             in->logits            ? "--logits new.npy"
             : in->probs           ? "--probs new.npy"
             : in->log_probs       ? "--log-probs new.npy"
             : in->confidence      ? "--confidence new.npy"
             : in->mean && in->std ? "--mean new.npy --std std.npy"
             : in->mean            ? "--mean new.npy --variance variance.npy"
             : in->samples         ? "--samples new.npy"
                                   : "--quantiles new.npy");
}

static void fit_put_apply(cli_text_buffer *buffer, const cli_options *options) {
  cli_put(buffer, "\nNext: propercal apply ");
  cli_put_escaped(buffer, PCAL_FOR_SHELL, options->output);
  fit_put_inputs(buffer, &options->inputs);
  fit_put_columns(buffer, options);
  if (options->ragged)
    cli_put(buffer, " --ragged");
  if (options->score_scale)
    cli_putf(buffer, " --scale %s", options->score_scale);
  if (options->event) {
    cli_put(buffer, " --event ");
    cli_put_escaped(buffer, PCAL_FOR_SHELL, options->event);
  }
  if (options->inputs.groups) {
    cli_put(buffer, " --groups ");
    cli_put_escaped(buffer, PCAL_FOR_SHELL,
                    options->inputs.data ? options->inputs.groups : "groups.npy");
  }
  cli_put(buffer, " -o calibrated.npy\n");
}

/* Suggests the next command. */
static void fit_put_next(cli_text_buffer *buffer, const cli_options *options) {
  if (!options->output)
    cli_put(buffer, "\nNot saved; use -o cal.json to save it for propercal apply\n");
  else if (strcmp(options->output, "-") != 0)
    fit_put_apply(buffer, options);
}

/* Prints the summary of the fit, unless the calibrator itself goes to standard output, or
 * --quiet is given and the calibrator is saved in a file. */
static pcal_status fit_print_summary(cli_session *session, const pcal_calibrator *calibrator,
                                     pcal_error *err) {
  const cli_options *options = &session->options;
  const int json = session->format == PCAL_JSON;
  if (options->quiet && options->output && !json)
    return PCAL_OK;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  pcal_status status =
      pcal_calibrator_describe(calibrator, session->format, cli_text_buffer_sink, &buffer, err);
  status = cli_text_buffer_status(&buffer, status, err);
  if (status != PCAL_OK) {
    cli_text_buffer_free(&buffer);
    return status;
  }
  if (!json)
    fit_put_next(&buffer, options);
  if (!options->output || strcmp(options->output, "-") != 0)
    return cli_text_buffer_write(session, &buffer, NULL, err);
  if (options->quiet)
    cli_text_buffer_free(&buffer);
  else
    cli_text_buffer_to_stderr(&buffer);
  return PCAL_OK;
}

static pcal_status fit_save(cli_session *session, pcal_calibrator **calibrator,
                            pcal_error *err) {
  cli_output output;
  pcal_status status = cli_output_open(session, session->options.output, &output, err);
  if (status != PCAL_OK)
    return status;
  status = fit_run_source(session, calibrator, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_save(*calibrator, cli_output_sink, &output, err);
  return cli_output_close(session, &output, status, err);
}

static pcal_status fit_run(cli_session *session, pcal_error *err) {
  pcal_calibrator *calibrator = NULL;
  if (session->options.output && !*session->options.output)
    return cli_fail(err, PCAL_USAGE, "-o needs a file name, such as cal.json");
  pcal_status status = session->options.output ? fit_save(session, &calibrator, err)
                                               : fit_run_source(session, &calibrator, err);
  if (status == PCAL_OK)
    status = fit_print_summary(session, calibrator, err);
  pcal_calibrator_free(calibrator);
  return status;
}

static const cli_section fit_section = {"Method", fit_flags, CLI_COUNT_OF(fit_flags), NULL};
static const cli_section fit_output_section = {"Output", fit_output_flags,
                                               CLI_COUNT_OF(fit_output_flags), NULL};
static const cli_section *const fit_sections[] = {
    &cli_section_inputs, &cli_section_labels,  &fit_section,     &cli_section_rows,
    &fit_output_section, &cli_section_running, &cli_section_help};

static const cli_example fit_examples[] = {
    {"propercal fit --logits val.npy --labels val_labels.npy -o cal.json",
     "fit a temperature to held-out rows and save it"},
    {"propercal apply cal.json --logits test.npy -o calibrated.npy",
     "then apply it to other rows"},
    {"propercal fit -m histogram:bins=20 --probs p.npy --labels y.npy -o h.json",
     "another method"},
    {"propercal fit --logits z.npy --labels y.npy --groups site.npy -o cal.json",
     "one calibrator for each site, shrunk towards the common one"},
    {"propercal fit --method temperature:objective=brier --data val.csv --json",
     "print status, gradient, and scores before and after, without saving"},
};

const cli_verb cli_verb_fit = {
    "fit",
    "",
    0,
    CLI_ANY,
    "fit a calibrator to predictions and labels",
    "Fits a calibrator to predictions and true labels that the model was not trained on, "
    "and saves it as a small, readable JSON file. Prints the status of the fit: converged; "
    "stopped at a bound; identity, if no parameters were better than leaving the "
    "predictions unchanged; or closed-form, if no search was needed. None of these is an "
    "error. The result does not depend on the order of rows or on the number of threads, "
    "except for the kappa of --groups, whose cross-validation assigns rows to folds by row "
    "number and seed.",
    fit_sections,
    CLI_COUNT_OF(fit_sections),
    fit_examples,
    CLI_COUNT_OF(fit_examples),
    fit_run,
};
