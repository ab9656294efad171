/* Gates: what makes a measurement fail. */
#include "gates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_flag gates_flags[] = {
    {"fail-if", 0, CLI_REPEAT, "GATE", offsetof(cli_options, gates),
     "end with exit code 1 when a comparison holds: 'ece > 0.05' or 'kuiper.p_value < 0.01'; "
     "the operators are < <= > >=; "
     "repeat for more",
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

/* Is the metric of a spec one of the group of tests? */
static int gates_is_test(const char *spec) {
  const pcal_row *tests = pcal_row_find("groups", "tests");
  const size_t length = strcspn(spec, ":");
  for (const char *word = tests ? tests->formula : ""; *word;) {
    const size_t here = strcspn(word, " :");
    if (here == length && strncmp(word, spec, length) == 0)
      return 1;
    word += strcspn(word, " ");
    word += strspn(word, " ");
  }
  return 0;
}

static pcal_status gates_check_metric(const char *text, cli_gate *gate, pcal_error *err) {
  static const char *const suffixes[] = {".low", ".high"};
  for (size_t i = 0; i < CLI_COUNT_OF(suffixes); i++)
    if (gates_ends_with(gate->metric, suffixes[i]))
      return cli_fail(
          err, PCAL_USAGE,
          "--fail-if '%s': intervals are not measured yet; write the metric without "
          "%s",
          text, suffixes[i]);
  gate->of_p_value = gates_ends_with(gate->metric, ".p_value");
  if (gate->of_p_value) {
    gate->metric[strlen(gate->metric) - strlen(".p_value")] = '\0';
    if (!gates_is_test(gate->metric))
      return cli_fail(err, PCAL_USAGE,
                      "--fail-if '%s': %s has no p-value; `propercal list groups tests` shows "
                      "what has",
                      text, gate->metric);
  }
  if (pcal_row_find("groups", gate->metric))
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if '%s': %s is a group of metrics; a gate needs one metric", text,
                    gate->metric);
  char canonical[CLI_SPEC_MAX];
  return pcal_spec_canonical(gate->metric, canonical, sizeof canonical, err);
}

static pcal_status gates_parse_one(const char *text, cli_gate *gate, pcal_error *err) {
  const char *sign = gates_last_operator(text);
  const char *begin = text + strspn(text, " ");
  if (!sign || begin >= sign)
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if '%s': a gate is a metric, one of < <= > >= and a number, as "
                    "'ece > 0.05'",
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
  return gates_check_metric(text, gate, err);
}

static int gates_holds(const cli_gate *gate, double value) {
  if (gate->or_equal && value == gate->number)
    return 1;
  return gate->compare == '<' ? value < gate->number : value > gate->number;
}

/* One line on standard error for a gate that fails. */
static pcal_status gates_judge(cli_session *session, const pcal_results *results,
                               const cli_gate *gate, pcal_error *err) {
  pcal_result result = {.size = sizeof result};
  const pcal_status status = pcal_results_find(results, gate->metric, &result, err);
  if (status != PCAL_OK)
    return status;
  const double judged = gate->of_p_value ? result.p_value : result.value;
  const int finite = result.defined && isfinite(judged);
  if (finite && !gates_holds(gate, judged))
    return PCAL_OK;
  session->gates_failed = 1;
  char value[CLI_NUMBER_MAX], number[CLI_NUMBER_MAX];
  cli_page page = CLI_PAGE_INIT;
  cli_putf(&page, "gate failed: %s%s is %s", gate->of_p_value ? "the p-value of " : "",
           gate->metric, result.defined ? cli_number(judged, value) : "undefined");
  if (finite)
    cli_putf(&page, ", %c%s %s", gate->compare, gate->or_equal ? "=" : "",
             cli_number(gate->number, number));
  else if (result.why)
    cli_putf(&page, ": %s", result.why);
  cli_complain(page.failed ? "gate failed" : page.text);
  cli_page_free(&page);
  return PCAL_OK;
}

pcal_status cli_gates_parse(const cli_options *options, cli_gates *out, pcal_error *err) {
  const cli_words *words = &options->gates;
  *out = (cli_gates){malloc((words->count + 1) * sizeof *out->gate), words->count};
  if (!out->gate)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the gates");
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < words->count && status == PCAL_OK; i++)
    status = gates_parse_one(words->word[i], &out->gate[i], err);
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
    cli_complain("gate failed: there are no rows");
    return PCAL_OK;
  }
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < gates->count && status == PCAL_OK; i++)
    status = gates_judge(session, results, &gates->gate[i], err);
  return status;
}
