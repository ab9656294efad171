#include "baseline_gate.h"

#include <math.h>
#include <stdlib.h>

#include "read_file.h"

pcal_status cli_baseline_compare(cli_session *session, pcal_results *results, pcal_error *err) {
  const char *path = session->options.baseline;
  cli_file_bytes file;
  if (!path || !results)
    return PCAL_OK;
  pcal_status status = cli_read_file(session, path, &file, err);
  if (status != PCAL_OK)
    return status;
  status =
      pcal_results_add_baseline(results, file.bytes, file.length, cli_input_name(path), err);
  free(file.bytes);
  return status;
}

/* "ece is 0.08, in main.json 0.04: worse by more than chance, 0.01 to 0.07" */
static char *baseline_gate_message(const cli_session *session, const pcal_result *result,
                                   const pcal_change *change) {
  char now[CLI_NUMBER_MAX], before[CLI_NUMBER_MAX], low[CLI_NUMBER_MAX], high[CLI_NUMBER_MAX];
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  cli_putf(&buffer, "%s%s%s is %s, in %s %s: ", result->label,
           result->group ? " in group " : "", result->group ? result->group : "",
           result->defined ? cli_number(result->value, now) : "undefined",
           cli_input_name(session->options.baseline), cli_number(change->before, before));
  if (isfinite(change->low))
    cli_putf(&buffer, "%s by more than chance; the change is %s to %s",
             change->worse ? "worse" : "not worse", cli_number(change->low, low),
             cli_number(change->high, high));
  else
    cli_put(&buffer, "worse, since it has no finite value");
  if (buffer.failed)
    cli_text_buffer_free(&buffer);
  return buffer.text;
}

static void baseline_gate_print(const char *message) {
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  cli_putf(&buffer, "gate failed: %s", message);
  cli_print_error(buffer.failed ? "gate failed" : buffer.text);
  cli_text_buffer_free(&buffer);
}

/* Without rows nothing shows that the metrics are no worse: a failed gate, as for --fail-if. */
static pcal_status baseline_gate_no_rows(cli_session *session, cli_gate_outcomes *outcomes,
                                         pcal_error *err) {
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  session->gates_failed = 1;
  cli_putf(&buffer, "--baseline %s: there are no rows",
           cli_input_name(session->options.baseline));
  if (buffer.failed) {
    cli_text_buffer_free(&buffer);
    return cli_fail(err, PCAL_MEMORY, "out of memory for the outcomes of gates");
  }
  const cli_gate_outcome outcome = {"baseline", NULL, (double)NAN, 1, buffer.text};
  return cli_gate_outcomes_add(outcomes, &outcome, err);
}

pcal_status cli_baseline_judge(cli_session *session, const pcal_results *results,
                               cli_gate_outcomes *outcomes, pcal_error *err) {
  pcal_status status = PCAL_OK;
  if (!session->options.baseline)
    return PCAL_OK;
  if (!results)
    return baseline_gate_no_rows(session, outcomes, err);
  for (size_t i = 0; i < pcal_results_count(results) && status == PCAL_OK; i++) {
    pcal_result result = {.size = sizeof result};
    pcal_change change = PCAL_CHANGE_INIT;
    if (pcal_results_get(results, i, &result) != PCAL_OK ||
        pcal_results_get_change(results, i, &change) != PCAL_OK || !change.compared)
      continue;
    const cli_gate_outcome outcome = {result.label, result.group,
                                      result.defined ? result.value : (double)NAN, change.worse,
                                      baseline_gate_message(session, &result, &change)};
    if (!outcome.message)
      return cli_fail(err, PCAL_MEMORY, "out of memory for the outcomes of gates");
    if (change.worse) {
      session->gates_failed = 1;
      baseline_gate_print(outcome.message);
    }
    status = cli_gate_outcomes_add(outcomes, &outcome, err);
  }
  return status;
}
