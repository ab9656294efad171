#include "gate_report.h"

#include <stdlib.h>
#include <string.h>

pcal_status cli_gate_outcomes_add(cli_gate_outcomes *outcomes, const cli_gate_outcome *outcome,
                                  pcal_error *err) {
  if (outcomes->count == outcomes->capacity) {
    const size_t capacity = 2 * outcomes->capacity + 8;
    cli_gate_outcome *list = realloc(outcomes->list, capacity * sizeof *list);
    if (!list) {
      free(outcome->message);
      return cli_fail(err, PCAL_MEMORY, "out of memory for the outcomes of gates");
    }
    outcomes->list = list;
    outcomes->capacity = capacity;
  }
  outcomes->list[outcomes->count++] = *outcome;
  return PCAL_OK;
}

void cli_gate_outcomes_free(cli_gate_outcomes *outcomes) {
  for (size_t i = 0; i < outcomes->count; i++)
    free(outcomes->list[i].message);
  free(outcomes->list);
  *outcomes = (cli_gate_outcomes){NULL, 0, 0};
}

pcal_status cli_gate_report_check(const cli_options *options, pcal_error *err) {
  if (!options->gate_report)
    return PCAL_OK;
  const char *extension = cli_file_extension(options->gate_report);
  if (strcmp(extension, "json") != 0 && strcmp(extension, "xml") != 0)
    return cli_fail(err, PCAL_USAGE,
                    "--gate-report %s: the name must end in .json, or in .xml for JUnit",
                    options->gate_report);
  return options->gates.count > 0 || options->baseline
             ? PCAL_OK
             : cli_fail(err, PCAL_USAGE,
                        "--gate-report needs gates; add --fail-if 'ece > 0.05'");
}

static void gate_report_json(const cli_gate_outcomes *outcomes, cli_text_buffer *out) {
  size_t failed = 0;
  for (size_t i = 0; i < outcomes->count; i++)
    failed += (size_t)outcomes->list[i].failed;
  cli_putf(out, "{\n  \"passed\": %s,\n  \"gates\": [", failed > 0 ? "false" : "true");
  for (size_t i = 0; i < outcomes->count; i++) {
    const cli_gate_outcome *outcome = &outcomes->list[i];
    cli_put(out, i == 0 ? "\n    {\"gate\": " : ",\n    {\"gate\": ");
    cli_put_json(out, outcome->gate);
    cli_put(out, ", \"group\": ");
    cli_put_json(out, outcome->group);
    cli_put(out, ", \"value\": ");
    cli_put_json_number(out, outcome->value);
    cli_putf(out, ", \"passed\": %s, \"message\": ", outcome->failed ? "false" : "true");
    cli_put_json(out, outcome->message);
    cli_put(out, "}");
  }
  cli_put(out, "\n  ]\n}\n");
}

static void gate_report_junit(const cli_gate_outcomes *outcomes, cli_text_buffer *out) {
  size_t failed = 0;
  for (size_t i = 0; i < outcomes->count; i++)
    failed += (size_t)outcomes->list[i].failed;
  cli_putf(out,
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<testsuite name=\"propercal gates\" tests=\"%zu\" failures=\"%zu\">\n",
           outcomes->count, failed);
  for (size_t i = 0; i < outcomes->count; i++) {
    const cli_gate_outcome *outcome = &outcomes->list[i];
    cli_put(out, "  <testcase classname=\"propercal\" name=\"");
    cli_put_escaped(out, PCAL_FOR_MARKUP, outcome->gate);
    if (outcome->group) {
      cli_put(out, " [");
      cli_put_escaped(out, PCAL_FOR_MARKUP, outcome->group);
      cli_put(out, "]");
    }
    if (!outcome->failed) {
      cli_put(out, "\"/>\n");
      continue;
    }
    cli_put(out, "\">\n    <failure message=\"");
    cli_put_escaped(out, PCAL_FOR_MARKUP, outcome->message);
    cli_put(out, "\"/>\n  </testcase>\n");
  }
  cli_put(out, "</testsuite>\n");
}

/* The text of a workflow command: as on a terminal, and % is escaped.  Line ends are escapes
 * already. */
static void gate_report_command_text(const char *text, cli_text_buffer *out) {
  cli_text_buffer plain = CLI_TEXT_BUFFER_INIT;
  cli_put_escaped(&plain, PCAL_FOR_TERMINAL, text);
  for (size_t i = 0; i < plain.length && !plain.failed; i++)
    if (plain.text[i] == '%')
      cli_put(out, "%25");
    else
      cli_put_bytes(out, &plain.text[i], 1);
  cli_text_buffer_free(&plain);
}

static void gate_report_annotate(const cli_gate_outcomes *outcomes) {
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  for (size_t i = 0; i < outcomes->count; i++) {
    if (!outcomes->list[i].failed)
      continue;
    cli_put(&buffer, "::error title=propercal gate::");
    gate_report_command_text(outcomes->list[i].message, &buffer);
    cli_put(&buffer, "\n");
  }
  cli_text_buffer_to_stderr(&buffer);
}

pcal_status cli_gate_report_write(cli_session *session, const cli_gate_outcomes *outcomes,
                                  pcal_error *err) {
  const char *path = session->options.gate_report;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  if (session->options.annotate)
    gate_report_annotate(outcomes);
  if (!path)
    return PCAL_OK;
  if (strcmp(cli_file_extension(path), "xml") == 0)
    gate_report_junit(outcomes, &buffer);
  else
    gate_report_json(outcomes, &buffer);
  return cli_text_buffer_hold(session, &buffer, path, err);
}
