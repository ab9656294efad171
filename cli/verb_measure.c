/* measure: how well calibrated are these predictions?
 *
 * A gate, --fail-if 'METRIC OP NUMBER', fails when the comparison holds, and also when the
 * value is undefined or infinite.  It is split at its last < or >. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define MEASURE_SPEC_MAX 512

typedef struct measure_gate {
  char metric[MEASURE_SPEC_MAX];
  char compare; /* '<' or '>' */
  int or_equal;
  double number;
} measure_gate;

static const cli_flag measure_flags[] = {
    {"metric", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "what to measure: a metric with options, as ece:bins=20,norm=l2, or a group of metrics; "
     "repeat for more; `propercal list metrics` and `propercal list groups` show them all",
     NULL, CLI_METRICS},
    {"fail-if", 0, CLI_REPEAT, "GATE", offsetof(cli_options, gates),
     "end with exit code 1 when a comparison holds: 'ece > 0.05'; the operators are < <= > >=; "
     "repeat for more",
     NULL, CLI_ANY},
};

static const cli_flag measure_output_flags[] = {
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "text (the default), json, csv or md", "text|json|csv|md", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "the same as --format json", NULL,
     CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "write to a file instead of standard output; it appears whole or not at all", NULL,
     CLI_FILE},
};

/* ---- Gates -------------------------------------------------------------- */

static const char *measure_last_operator(const char *text) {
  const char *found = NULL;
  for (; *text; text++)
    if (*text == '<' || *text == '>')
      found = text;
  return found;
}

static int measure_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static pcal_status measure_check_gate_metric(const char *text, const measure_gate *gate,
                                             pcal_error *err) {
  static const char *const suffixes[] = {".low", ".high", ".p_value"};
  for (size_t i = 0; i < CLI_COUNT_OF(suffixes); i++)
    if (measure_ends_with(gate->metric, suffixes[i]))
      return cli_fail(err, PCAL_USAGE,
                      "--fail-if '%s': intervals and p-values are not measured yet; write the "
                      "metric without %s",
                      text, suffixes[i]);
  if (pcal_row_find("groups", gate->metric))
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if '%s': %s is a group of metrics; a gate needs one metric", text,
                    gate->metric);
  char canonical[MEASURE_SPEC_MAX];
  return pcal_spec_canonical(gate->metric, canonical, sizeof canonical, err);
}

static pcal_status measure_parse_gate(const char *text, measure_gate *gate, pcal_error *err) {
  const char *sign = measure_last_operator(text);
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
  return measure_check_gate_metric(text, gate, err);
}

static int measure_holds(const measure_gate *gate, double value) {
  if (gate->or_equal && value == gate->number)
    return 1;
  return gate->compare == '<' ? value < gate->number : value > gate->number;
}

/* One line on standard error for a gate that fails. */
static pcal_status measure_judge(cli_session *session, const pcal_results *results,
                                 const measure_gate *gate, pcal_error *err) {
  pcal_result result = {.size = sizeof result};
  const pcal_status status = pcal_results_find(results, gate->metric, &result, err);
  if (status != PCAL_OK)
    return status;
  const int finite = result.defined && isfinite(result.value);
  if (finite && !measure_holds(gate, result.value))
    return PCAL_OK;
  session->gates_failed = 1;
  char value[CLI_NUMBER_MAX], number[CLI_NUMBER_MAX];
  cli_page page = CLI_PAGE_INIT;
  cli_putf(&page, "gate failed: %s is %s", gate->metric,
           result.defined ? cli_number(result.value, value) : "undefined");
  if (finite)
    cli_putf(&page, ", %c%s %s", gate->compare, gate->or_equal ? "=" : "",
             cli_number(gate->number, number));
  else if (result.why)
    cli_putf(&page, ": %s", result.why);
  cli_complain(page.failed ? "gate failed" : page.text);
  cli_page_free(&page);
  return PCAL_OK;
}

/* ---- Measuring ---------------------------------------------------------- */

/* The metrics asked for (or the default ones), and after them those of the gates. */
static pcal_status measure_specs(const cli_options *options, const measure_gate *gates,
                                 const char ***out, size_t *count, pcal_error *err) {
  const size_t asked = options->metrics.count;
  const char **specs = malloc((asked + options->gates.count + 1) * sizeof *specs);
  if (!specs)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the list of metrics");
  size_t used = 0;
  if (asked == 0)
    specs[used++] = "default";
  for (size_t i = 0; i < asked; i++)
    specs[used++] = options->metrics.word[i];
  for (size_t i = 0; i < options->gates.count; i++)
    specs[used++] = gates[i].metric;
  *out = specs;
  *count = used;
  return PCAL_OK;
}

static pcal_status measure_run_source(cli_session *session, const char *const *specs,
                                      size_t spec_count, pcal_results **results,
                                      pcal_error *err) {
  pcal_source *source = NULL;
  pcal_status status = cli_source_open(session, 1, &source, err);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.specs = specs;
  config.spec_count = spec_count;
  config.normalize = session->options.normalize;
  config.skip_missing = session->options.skip_missing;
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, &session->env, results, err);
  pcal_source_free(source);
  return status;
}

static pcal_status measure_with_gates(cli_session *session, const measure_gate *gates,
                                      pcal_error *err) {
  const char **specs = NULL;
  size_t spec_count = 0;
  pcal_results *results = NULL;
  cli_output output;
  pcal_status status = measure_specs(&session->options, gates, &specs, &spec_count, err);
  if (status == PCAL_OK)
    status = cli_output_open(session, session->options.output, &output, err);
  if (status == PCAL_OK) {
    status = measure_run_source(session, specs, spec_count, &results, err);
    if (status == PCAL_OK)
      status = pcal_results_write(results, session->format, cli_output_sink, &output, err);
    status = cli_output_close(&output, status, err);
  }
  for (size_t i = 0; i < session->options.gates.count && status == PCAL_OK; i++)
    status = measure_judge(session, results, &gates[i], err);
  pcal_results_free(results);
  free(specs);
  return status;
}

static pcal_status measure_run(cli_session *session, pcal_error *err) {
  const cli_words *words = &session->options.gates;
  measure_gate *gates = malloc((words->count + 1) * sizeof *gates);
  if (!gates)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the gates");
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < words->count && status == PCAL_OK; i++)
    status = measure_parse_gate(words->word[i], &gates[i], err);
  if (status == PCAL_OK)
    status = measure_with_gates(session, gates, err);
  free(gates);
  return status;
}

static const cli_section measure_section = {"Metrics", measure_flags,
                                            CLI_COUNT_OF(measure_flags), NULL};
static const cli_section measure_output_section = {"Output", measure_output_flags,
                                                   CLI_COUNT_OF(measure_output_flags), NULL};
static const cli_section *const measure_sections[] = {
    &cli_section_inputs,     &measure_section,     &cli_section_rows,
    &measure_output_section, &cli_section_running, &cli_section_help};

static const cli_example measure_examples[] = {
    {"propercal measure --logits logits.npy --labels labels.npy",
     "the default metrics and a verdict in plain words"},
    {"propercal measure --probs data.csv:cat..dog --labels data.csv:label",
     "from a CSV file, by the names of its columns"},
    {"propercal measure --data d.csv --metric ece:bins=20 --metric proper --json",
     "chosen metrics, as JSON"},
    {"propercal measure --probs p.npy --labels y.npy --fail-if 'ece > 0.05' --quiet",
     "a gate for scripts: exit code 1 when the model is not calibrated well enough"},
    {"zcat scores.csv.gz | propercal measure --confidence -:conf --correct -:hit",
     "from standard input, which is read as CSV"},
};

const cli_verb cli_verb_measure = {
    "measure",
    "",
    0,
    CLI_ANY,
    "how well calibrated are these predictions?",
    "Reads predictions and true labels in one pass and says how far the predicted "
    "probabilities can be trusted: proper scores, calibration errors by several notions, and "
    "a verdict in plain words: over- or under-confident, by how much, where, what to try. What "
    "the numbers in a file mean is declared by the flag that names it, never guessed. Rows "
    "and classes are counted from 0.",
    measure_sections,
    CLI_COUNT_OF(measure_sections),
    measure_examples,
    CLI_COUNT_OF(measure_examples),
    measure_run,
};
