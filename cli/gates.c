#include "gates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline_gate.h"

static const cli_flag gates_flags[] = {
    {"fail-if", 0, CLI_REPEAT, "GATE", offsetof(cli_options, gates),
     "fail with exit code 1 if the comparison is true or the value undefined: 'ece > "
     "0.05', 'ece.low > 0.02' with --interval, 'kuiper.p_value < 0.01'; with --groups "
     "'ece@each > 0.1' for every group, 'ece@worst > 0.1' for the worst one, 'ece@north > "
     "0.1' for one; operators < <= > >=; repeatable",
     NULL, CLI_ANY},
    {"baseline", 0, CLI_TEXT, "FILE", offsetof(cli_options, baseline),
     "fail with exit code 1 if a metric, in all rows or in a group, is worse than in the JSON "
     "output of an earlier run by more than chance; both runs with --interval (default: 0.95)",
     NULL, CLI_FILE},
    {"gate-report", 0, CLI_TEXT, "FILE", offsetof(cli_options, gate_report),
     "also write the outcome of every gate: NAME.json, or NAME.xml in the JUnit format", NULL,
     CLI_FILE},
    {"annotate", 0, CLI_FLAG, NULL, offsetof(cli_options, annotate),
     "also print failed gates as error annotations of GitHub Actions, on standard error", NULL,
     CLI_ANY},
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

static const char *const gates_suffixes[] = {"", ".low", ".high", ".p_value"};

/* The field that a text ends with; CLI_GATE_VALUE: none. */
static cli_gate_field gates_field_of(const char *text) {
  for (int f = CLI_GATE_LOW; f <= CLI_GATE_P_VALUE; f++)
    if (gates_ends_with(text, gates_suffixes[f]))
      return (cli_gate_field)f;
  return CLI_GATE_VALUE;
}

/* Removes ".low", ".high" or ".p_value" from the metric and sets gate->field. */
static void gates_take_field(cli_gate *gate) {
  gate->field = gates_field_of(gate->metric);
  gate->metric[strlen(gate->metric) - strlen(gates_suffixes[gate->field])] = '\0';
}

/* "ece@worst.low" for "ece.low@worst". */
static pcal_status gates_fail_order(const char *text, const char *metric, const char *group,
                                    pcal_error *err) {
  const char *suffix = gates_suffixes[gates_field_of(group)];
  if (gates_field_of(metric) != CLI_GATE_VALUE)
    return cli_fail(err, PCAL_USAGE, "--fail-if '%s': %s is one field too many; leave it out",
                    text, suffix);
  return cli_fail(err, PCAL_USAGE,
                  "--fail-if '%s': %s belongs to the metric, before the @; write %s%s@%.*s",
                  text, suffix, metric, suffix, (int)(strlen(group) - strlen(suffix)), group);
}

/* "worst.low", "each.high": not the name of a group. */
static int gates_is_misplaced(const char *group) {
  const size_t name = strcspn(group, ".");
  return gates_field_of(group) != CLI_GATE_VALUE &&
         ((name == 5 && strncmp(group, "worst", name) == 0) ||
          (name == 4 && strncmp(group, "each", name) == 0));
}

/* Removes "@each", "@worst" or "@NAME" from the metric and sets gate->scope. */
static pcal_status gates_take_scope(const char *text, const cli_options *options,
                                    cli_gate *gate, pcal_error *err) {
  char *at = strchr(gate->metric, '@');
  gate->scope = CLI_GATE_ALL;
  if (!at)
    return PCAL_OK;
  *at++ = '\0';
  gate->group = at;
  if (gates_is_misplaced(at))
    return gates_fail_order(text, gate->metric, at, err);
  gate->scope = strcmp(at, "each") == 0    ? CLI_GATE_EACH
                : strcmp(at, "worst") == 0 ? CLI_GATE_WORST
                                           : CLI_GATE_NAMED;
  if (options->operands.count == 0 && !options->inputs.groups && !options->inputs.time &&
      !options->inputs.data)
    return cli_fail(err, PCAL_USAGE, "--fail-if '%s': there are no groups; add --groups", text);
  return PCAL_OK;
}

static pcal_status gates_check_metric(const char *text, const cli_options *options,
                                      cli_gate *gate, pcal_error *err) {
  const int saved = options->operands.count > 0; /* merge checks its states instead */
  const pcal_status scoped = gates_take_scope(text, options, gate, err);
  if (scoped != PCAL_OK)
    return scoped;
  gates_take_field(gate);
  if (!saved && (gate->field == CLI_GATE_LOW || gate->field == CLI_GATE_HIGH) &&
      !(options->interval > 0) && !options->cluster)
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
  gate->text = text;
  const char *begin = text + strspn(text, " ");
  const char *first = strpbrk(text, "<>"); /* before it such words are part of a group's name */
  if (first && (strstr(first, " and ") || strstr(first, " or ") || strstr(first, "&&") ||
                strstr(first, "||")))
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

/* "the lower bound of ece in group north is 0.08, > 0.05" */
static char *gates_message(const cli_gate *gate, const pcal_result *result, double judged,
                           int failed) {
  static const char *const fields[] = {"", "the lower bound of ", "the upper bound of ",
                                       "the p-value of "};
  char value[CLI_NUMBER_MAX], number[CLI_NUMBER_MAX];
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  cli_putf(&buffer, "%s%s%s%s is %s", fields[gate->field], gate->metric,
           result->group ? " in group " : "", result->group ? result->group : "",
           isnan(judged) ? "undefined" : cli_number(judged, value));
  if (isfinite(judged))
    cli_putf(&buffer, ", %s%c%s %s", failed ? "" : "not ", gate->compare,
             gate->or_equal ? "=" : "", cli_number(gate->number, number));
  else if (result->why)
    cli_putf(&buffer, ": %s", result->why);
  if (buffer.failed)
    cli_text_buffer_free(&buffer);
  return buffer.text;
}

/* Adds the outcome of a gate on one result; prints a line on standard error if it fails. */
static pcal_status gates_judge_result(cli_session *session, const cli_gate *gate,
                                      const pcal_result *result, cli_gate_outcomes *outcomes,
                                      pcal_error *err) {
  const double judged = gates_value(gate, result);
  const int failed = !isfinite(judged) || gates_holds(gate, judged);
  const cli_gate_outcome outcome = {gate->text, result->group, judged, failed,
                                    gates_message(gate, result, judged, failed)};
  if (!outcome.message)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the outcomes of gates");
  if (failed) {
    cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
    session->gates_failed = 1;
    cli_putf(&buffer, "gate failed: %s", outcome.message);
    cli_print_error(buffer.failed ? "gate failed" : buffer.text);
    cli_text_buffer_free(&buffer);
  }
  return cli_gate_outcomes_add(outcomes, &outcome, err);
}

/* True if `judged` is worse than `worst` for a gate; undefined values are worst. */
static int gates_is_worse(const cli_gate *gate, double judged, double worst) {
  if (!isfinite(worst))
    return 0;
  return !isfinite(judged) || (gate->compare == '<' ? judged < worst : judged > worst);
}

/* Judges the groups of a gate: each, the worst, or the named one. */
static pcal_status gates_judge_groups(cli_session *session, const pcal_results *results,
                                      const cli_gate *gate, const char *spec,
                                      cli_gate_outcomes *outcomes, pcal_error *err) {
  pcal_result result = {.size = sizeof result}, worst = {.size = sizeof worst};
  pcal_status status = PCAL_OK;
  size_t groups = 0;
  for (size_t i = 0; i < pcal_results_count(results) && status == PCAL_OK; i++) {
    if (pcal_results_get(results, i, &result) != PCAL_OK || !result.group ||
        strcmp(result.spec, spec) != 0 ||
        (gate->scope == CLI_GATE_NAMED && strcmp(result.group, gate->group) != 0))
      continue;
    if (gate->scope != CLI_GATE_WORST)
      status = gates_judge_result(session, gate, &result, outcomes, err);
    else if (groups == 0 ||
             gates_is_worse(gate, gates_value(gate, &result), gates_value(gate, &worst)))
      worst = result;
    groups++;
  }
  if (status == PCAL_OK && groups > 0 && gate->scope == CLI_GATE_WORST)
    status = gates_judge_result(session, gate, &worst, outcomes, err);
  if (status != PCAL_OK || groups > 0)
    return status;
  if (gate->scope == CLI_GATE_NAMED && gates_field_of(gate->group) != CLI_GATE_VALUE)
    return gates_fail_order(gate->text, gate->metric, gate->group, err);
  return cli_fail(err, PCAL_USAGE,
                  gate->scope == CLI_GATE_NAMED
                      ? "--fail-if '%s': no row is in that group; check its name"
                      : "--fail-if '%s': there are no groups; add --groups",
                  gate->text);
}

static pcal_status gates_judge(cli_session *session, const pcal_results *results,
                               const cli_gate *gate, cli_gate_outcomes *outcomes,
                               pcal_error *err) {
  pcal_result result = {.size = sizeof result};
  const pcal_status status = pcal_results_find(results, gate->metric, &result, err);
  if (status != PCAL_OK)
    return status;
  return gate->scope == CLI_GATE_ALL
             ? gates_judge_result(session, gate, &result, outcomes, err)
             : gates_judge_groups(session, results, gate, result.spec, outcomes, err);
}

pcal_status cli_gates_parse(const cli_options *options, cli_gates *out, pcal_error *err) {
  const cli_words *words = &options->gates;
  *out = (cli_gates){malloc((words->count + 1) * sizeof *out->gate), words->count};
  if (!out->gate)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the gates");
  pcal_status status = cli_gate_report_check(options, err);
  for (size_t i = 0; i < words->count && status == PCAL_OK; i++)
    status = gates_parse_one(words->word[i], options, &out->gate[i], err);
  return status;
}

void cli_gates_free(cli_gates *gates) {
  free(gates->gate);
  gates->gate = NULL;
}

static pcal_status gates_no_rows(cli_session *session, const cli_gate *gate,
                                 cli_gate_outcomes *outcomes, pcal_error *err) {
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  session->gates_failed = 1;
  cli_putf(&buffer, "%s: there are no rows", gate->text);
  const cli_gate_outcome outcome = {gate->text, NULL, (double)NAN, 1, buffer.text};
  if (buffer.failed)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the outcomes of gates");
  return cli_gate_outcomes_add(outcomes, &outcome, err);
}

pcal_status cli_gates_judge(cli_session *session, const cli_gates *gates,
                            const pcal_results *results, pcal_error *err) {
  cli_gate_outcomes outcomes = {NULL, 0, 0};
  pcal_status status = PCAL_OK;
  if (!results && (gates->count > 0 || session->options.baseline))
    cli_print_error("gate failed: no rows");
  for (size_t i = 0; i < gates->count && status == PCAL_OK; i++)
    status = results ? gates_judge(session, results, &gates->gate[i], &outcomes, err)
                     : gates_no_rows(session, &gates->gate[i], &outcomes, err);
  if (status == PCAL_OK)
    status = cli_baseline_judge(session, results, &outcomes, err);
  if (status == PCAL_OK)
    status = cli_gate_report_write(session, &outcomes, err);
  cli_gate_outcomes_free(&outcomes);
  return status;
}
