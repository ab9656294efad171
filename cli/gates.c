#include "gates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_flag gates_flags[] = {
    {"fail-if", 0, CLI_REPEAT, "GATE", offsetof(cli_options, gates),
     "fail with exit code 1 if the comparison is true or the value undefined: 'ece > "
     "0.05', 'ece.low > 0.02' with --interval, 'kuiper.p_value < 0.01'; operators < <= > "
     ">=; repeatable",
     NULL, CLI_ANY},
};
const cli_section cli_section_gates = {"Gates", gates_flags, CLI_COUNT_OF(gates_flags), NULL};

static const char *gates_last_operator(const char *text) {
  const char *found = NULL;
  for (; *text; text++)
    if (*text == '<' || *text == '>')
      found = text;
  return found;
}

static int gates_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* True if the metric of a spec is a test, whose results have a p-value. */
static int gates_is_test(const char *spec) {
  char name[CLI_SPEC_MAX];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
  const pcal_registry_row *row = pcal_registry_find(PCAL_METRICS, name);
  return row && row->is_test;
}

/* Removes ".low", ".high" or ".p_value" from the metric and sets gate->field. */
static void gates_take_field(cli_gate *gate) {
  static const char *const suffixes[] = {"", ".low", ".high", ".p_value"};
  gate->field = CLI_GATE_VALUE;
  for (int f = CLI_GATE_LOW; f <= CLI_GATE_P_VALUE; f++)
    if (gates_ends_with(gate->metric, suffixes[f])) {
      gate->field = (cli_gate_field)f;
      gate->metric[strlen(gate->metric) - strlen(suffixes[f])] = '\0';
      return;
    }
}

static pcal_status gates_check_metric(const char *text, const cli_options *options,
                                      cli_gate *gate, pcal_error *err) {
  const int saved = options->operands.count > 0; /* merge checks its states instead */
  gates_take_field(gate);
  if (!saved && (gate->field == CLI_GATE_LOW || gate->field == CLI_GATE_HIGH) &&
      !(options->interval > 0))
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if '%s': interval bounds need --interval; add --interval 0.95",
                    text);
  if (!saved && gate->field == CLI_GATE_P_VALUE && !options->null &&
      !gates_is_test(gate->metric))
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if '%s': %s has no p-value of its own; add --null, or choose "
                    "one of `propercal list groups tests`",
                    text, gate->metric);
  if (pcal_registry_find(PCAL_GROUPS, gate->metric))
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if '%s': %s is a group of metrics; a gate needs one metric", text,
                    gate->metric);
  char canonical[CLI_SPEC_MAX];
  return pcal_spec_canonical(gate->metric, canonical, sizeof canonical, err);
}

static pcal_status gates_parse_one(const char *text, const cli_options *options, cli_gate *gate,
                                   pcal_error *err) {
  const char *sign = gates_last_operator(text);
  const char *begin = text + strspn(text, " ");
  if (strstr(text, " and ") || strstr(text, " or ") || strstr(text, "&&") || strstr(text, "||"))
    return cli_fail(
        err, PCAL_USAGE,
        "--fail-if '%s': a gate is one comparison; give --fail-if once for each, and "
        "the run fails if any of them holds",
        text);
  if (!sign || begin >= sign)
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if '%s': a gate is a metric, an operator (< <= > >=) and a "
                    "number, such as 'ece > 0.05'",
                    text);
  const char *end = sign;
  while (end > begin && end[-1] == ' ')
    end--;
  if ((size_t)(end - begin) >= sizeof gate->metric)
    return cli_fail(err, PCAL_USAGE, "--fail-if '%.60s...': the metric is too long", text);
  memcpy(gate->metric, begin, (size_t)(end - begin));
  gate->metric[end - begin] = '\0';
  gate->compare = *sign;
  gate->or_equal = sign[1] == '=';
  const char *number = sign + 1 + gate->or_equal;
  number += strspn(number, " ");
  char digits[64];
  size_t length = strlen(number);
  while (length > 0 && number[length - 1] == ' ')
    length--;
  if (length < sizeof digits) {
    memcpy(digits, number, length);
    digits[length] = '\0';
  }
  if (length >= sizeof digits || !cli_read_real(digits, &gate->number))
    return cli_fail(err, PCAL_USAGE, "--fail-if '%s': \"%s\" is not a number", text, number);
  return gates_check_metric(text, options, gate, err);
}

static int gates_holds(const cli_gate *gate, double value) {
  if (gate->or_equal && value == gate->number)
    return 1;
  return gate->compare == '<' ? value < gate->number : value > gate->number;
}

/* The value that a gate compares; NaN if undefined. */
static double gates_value(const cli_gate *gate, const pcal_result *result) {
  const int bounded = result->defined && result->has_interval;
  switch (gate->field) {
  case CLI_GATE_LOW:
    return bounded ? result->low : (double)NAN;
  case CLI_GATE_HIGH:
    return bounded ? result->high : (double)NAN;
  case CLI_GATE_P_VALUE:
    return result->tested     ? result->p_value
           : result->has_null ? result->null_p_value
                              : (double)NAN;
  case CLI_GATE_VALUE:
    break;
  }
  return result->defined ? result->value : (double)NAN;
}

/* Prints a line on standard error if the gate fails. */
static pcal_status gates_judge(cli_session *session, const pcal_results *results,
                               const cli_gate *gate, pcal_error *err) {
  pcal_result result = {.size = sizeof result};
  const pcal_status status = pcal_results_find(results, gate->metric, &result, err);
  if (status != PCAL_OK)
    return status;
  const double judged = gates_value(gate, &result);
  const int finite = isfinite(judged);
  if (finite && !gates_holds(gate, judged))
    return PCAL_OK;
  session->gates_failed = 1;
  static const char *const fields[] = {"", "the lower bound of ", "the upper bound of ",
                                       "the p-value of "};
  char value[CLI_NUMBER_MAX], number[CLI_NUMBER_MAX];
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  cli_putf(&buffer, "gate failed: %s%s is %s", fields[gate->field], gate->metric,
           isnan(judged) ? "undefined" : cli_number(judged, value));
  if (finite)
    cli_putf(&buffer, ", %c%s %s", gate->compare, gate->or_equal ? "=" : "",
             cli_number(gate->number, number));
  else if (result.why)
    cli_putf(&buffer, ": %s", result.why);
  cli_print_error(buffer.failed ? "gate failed" : buffer.text);
  cli_text_buffer_free(&buffer);
  return PCAL_OK;
}

pcal_status cli_gates_parse(const cli_options *options, cli_gates *out, pcal_error *err) {
  const cli_words *words = &options->gates;
  *out = (cli_gates){malloc((words->count + 1) * sizeof *out->gate), words->count};
  if (!out->gate)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the gates");
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < words->count && status == PCAL_OK; i++)
    status = gates_parse_one(words->word[i], options, &out->gate[i], err);
  return status;
}

void cli_gates_free(cli_gates *gates) {
  free(gates->gate);
  gates->gate = NULL;
}

pcal_status cli_gates_judge(cli_session *session, const cli_gates *gates,
                            const pcal_results *results, pcal_error *err) {
  if (!results && gates->count > 0) {
    session->gates_failed = 1;
    cli_print_error("gate failed: no rows");
    return PCAL_OK;
  }
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < gates->count && status == PCAL_OK; i++)
    status = gates_judge(session, results, &gates->gate[i], err);
  return status;
}
