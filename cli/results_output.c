#include "results_output.h"

#include <string.h>

#include "openmetrics.h"
#include "table_files.h"
#include "text_plot.h"

static const cli_flag results_output_flags[] = {
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "text (default), json, csv, md, latex, or openmetrics for Prometheus",
     "text|json|csv|md|latex|openmetrics", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
    {"curves", 0, CLI_FLAG, NULL, offsetof(cli_options, curves),
     "also write the data behind each value, for plots: cumulative scores and outcomes of "
     "ks, bins of binned errors; JSON only",
     NULL, CLI_ANY},
    {"plot", 0, CLI_FLAG, NULL, offsetof(cli_options, plot),
     "draw a reliability diagram in text characters below the results; text only", NULL,
     CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "output file (default: standard output); replaced only once it is complete", NULL,
     CLI_FILE},
    CLI_TABLES_FLAG("values, groups and bins"),
    {"state", 0, CLI_TEXT, "FILE", offsetof(cli_options, state),
     "also save the state of the measurement, for `propercal merge`; results are still "
     "printed",
     NULL, CLI_FILE},
};
const cli_section cli_section_results_output = {"Output", results_output_flags,
                                                CLI_COUNT_OF(results_output_flags), NULL};

static pcal_status results_output_check(const cli_session *session, pcal_error *err) {
  const cli_options *options = &session->options;
  if (options->curves && session->format != PCAL_JSON)
    return cli_fail(err, PCAL_USAGE, "--curves needs JSON output; add --json");
  if (options->plot && session->format != PCAL_TEXT)
    return cli_fail(err, PCAL_USAGE,
                    "--plot needs text output; remove --plot or the other format, or use "
                    "`propercal plot reliability`");
  const char *results = options->output ? options->output : "-";
  if (!options->state || strcmp(options->state, results) != 0)
    return PCAL_OK;
  if (strcmp(results, "-") == 0)
    return cli_fail(err, PCAL_USAGE,
                    "--state - and the results would both go to standard output; give a "
                    "file for the results with -o");
  return PCAL_OK; /* one file for both: see file_conflicts.h */
}

pcal_status cli_results_output_open(cli_session *session, cli_results_output *output,
                                    pcal_error *err) {
  const cli_options *options = &session->options;
  output->has_state = options->state != NULL;
  pcal_status status = results_output_check(session, err);
  if (status == PCAL_OK)
    status = cli_table_files_check(session, err);
  if (status == PCAL_OK)
    status = cli_output_open(session, options->output, &output->results, err);
  if (status != PCAL_OK || !output->has_state)
    return status;
  status = cli_output_open(session, options->state, &output->state, err);
  if (status != PCAL_OK)
    cli_output_discard(&output->results);
  return status;
}

/* pcal_measure_finish failed with PCAL_DATA: the part has no valid rows, which is allowed. */
static void results_output_no_rows(const cli_session *session, const pcal_error *why) {
  if (session->options.quiet)
    return;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  char message[2 * sizeof why->message];
  pcal_error_text(why, PCAL_INTERFACE_PROGRAM, message, sizeof message);
  cli_putf(&buffer, "no results, only the state %s: %s", session->options.state, message);
  cli_print_error(buffer.failed ? message : buffer.text);
  cli_text_buffer_free(&buffer);
}

pcal_status cli_results_output_finish(cli_session *session, cli_results_output *output,
                                      const pcal_measure *measure, pcal_results **results,
                                      pcal_error *err) {
  pcal_status status = PCAL_OK;
  if (output->has_state) {
    status = pcal_measure_save(measure, cli_output_sink, &output->state, err);
    if (status == PCAL_OK || output->state.sink_failed)
      status = pcal_output_flush(output->state.file, err);
  }
  if (status != PCAL_OK)
    return status;
  status = pcal_measure_finish(measure, results, err);
  if (status != PCAL_DATA || !output->has_state)
    return status;
  results_output_no_rows(session, err);
  return PCAL_OK;
}

/* Without results the output for them is discarded, which is not a failure. */
static pcal_status results_output_close(cli_session *session, cli_results_output *output,
                                        int any_results, pcal_status status, pcal_error *err) {
  cli_output *const both[] = {&output->results, &output->state};
  if (any_results || status != PCAL_OK)
    return cli_outputs_close(session, both, output->has_state ? 2 : 1, status, err);
  cli_output_discard(&output->results);
  return output->has_state ? cli_output_close(session, &output->state, status, err) : status;
}

static pcal_status results_output_openmetrics(cli_results_output *output,
                                              const pcal_results *results, pcal_error *err) {
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  cli_put_openmetrics(&buffer, results);
  const pcal_status status = cli_text_buffer_check(&buffer, err);
  if (status == PCAL_OK)
    cli_output_sink(&output->results, buffer.text, buffer.length);
  cli_text_buffer_free(&buffer);
  return status;
}

static pcal_status results_output_picture(cli_results_output *output,
                                          const pcal_results *results, pcal_error *err) {
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  cli_put_reliability(&buffer, results);
  const pcal_status status = cli_text_buffer_check(&buffer, err);
  if (status == PCAL_OK && buffer.length > 0)
    cli_output_sink(&output->results, buffer.text, buffer.length);
  cli_text_buffer_free(&buffer);
  return status;
}

pcal_status cli_results_output_close(cli_session *session, cli_results_output *output,
                                     const pcal_results *results, const cli_gates *gates,
                                     pcal_status status, pcal_error *err) {
  const int openmetrics = cli_openmetrics_wanted(&session->options);
  const cli_tables tables = cli_tables_of_results(results);
  if (status == PCAL_OK && results)
    status = cli_table_files_write(session, &tables, err);
  if (status == PCAL_OK && results && openmetrics)
    status = results_output_openmetrics(output, results, err);
  else if (status == PCAL_OK && results)
    status =
        pcal_results_write(results, session->format, cli_output_sink, &output->results, err);
  if (status == PCAL_OK && results && session->options.plot)
    status = results_output_picture(output, results, err);
  if (status == PCAL_OK)
    status = cli_gates_judge(session, gates, results, err);
  return results_output_close(session, output, results != NULL, status, err);
}
