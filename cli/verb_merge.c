/* merge: results of a data set from the saved states of its parts. */
#include <stdint.h>
#include <stdlib.h>

#include "baseline_gate.h"
#include "read_file.h"
#include "results_output.h"

static pcal_status merge_load(cli_session *session, const char *path, pcal_measure **out,
                              pcal_error *err) {
  cli_file_bytes file;
  pcal_status status = cli_read_file(session, path, &file, err);
  if (status == PCAL_OK)
    status = pcal_measure_load(file.bytes, file.length, cli_input_name(path), &session->env,
                               out, err);
  free(file.bytes);
  return status;
}

static pcal_status merge_all(cli_session *session, pcal_measure **whole, pcal_error *err) {
  const cli_words *parts = &session->options.operands;
  pcal_status status = merge_load(session, parts->word[0], whole, err);
  for (size_t i = 1; i < parts->count && status == PCAL_OK; i++) {
    pcal_measure *part = NULL;
    status = merge_load(session, parts->word[i], &part, err);
    if (status == PCAL_OK)
      status = pcal_measure_merge(*whole, part, err);
    pcal_measure_free(part);
    if (session->env.progress)
      session->env.progress(session->env.user, "merging", i + 1, parts->count);
  }
  return status;
}

/* True if the parts were measured with --interval or, with interval == 0, with --null. */
static int merge_any(const pcal_results *results, int interval) {
  for (size_t i = 0; i < pcal_results_count(results); i++) {
    pcal_result result = {.size = sizeof result};
    if (pcal_results_get(results, i, &result) == PCAL_OK &&
        (interval ? result.has_interval : result.has_null))
      return 1;
  }
  return 0;
}

static pcal_status merge_check_gate(const pcal_results *results, const cli_gate *gate,
                                    pcal_error *err) {
  const int ends = gate->field == CLI_GATE_LOW || gate->field == CLI_GATE_HIGH;
  pcal_result result = {.size = sizeof result};
  if (pcal_results_find(results, gate->metric, &result, NULL) != PCAL_OK)
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if: the saved states do not contain %s; measure the parts with "
                    "--metric %s",
                    gate->metric, gate->metric);
  if (ends && !merge_any(results, 1))
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if: the saved states contain no interval of %s; measure the "
                    "parts with --interval 0.95",
                    gate->metric);
  if (gate->field == CLI_GATE_P_VALUE && !result.tested && !merge_any(results, 0))
    return cli_fail(err, PCAL_USAGE,
                    "--fail-if: the saved states contain no p-value of %s; measure the "
                    "parts with --null, or choose one of `propercal list groups tests`",
                    gate->metric);
  return PCAL_OK;
}

/* Fails if a gate needs a metric, interval or p-value that the parts do not have. */
static pcal_status merge_check_gates(const pcal_results *results, const cli_gates *gates,
                                     pcal_error *err) {
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < gates->count && status == PCAL_OK; i++)
    status = merge_check_gate(results, &gates->gate[i], err);
  return status;
}

static pcal_status merge_results(cli_session *session, cli_results_output *output,
                                 const cli_gates *gates, pcal_results **results,
                                 pcal_error *err) {
  pcal_measure *whole = NULL;
  pcal_status status = merge_all(session, &whole, err);
  pcal_measure_keep_curves(whole, session->options.curves);
  if (status == PCAL_OK)
    status = cli_results_output_finish(session, output, whole, results, err);
  if (status == PCAL_OK && *results)
    status = merge_check_gates(*results, gates, err);
  pcal_measure_free(whole);
  return status;
}

static pcal_status merge_with_gates(cli_session *session, const cli_gates *gates,
                                    pcal_error *err) {
  pcal_results *results = NULL;
  cli_results_output output;
  pcal_status status = cli_results_output_open(session, &output, err);
  if (status != PCAL_OK)
    return status;
  status = merge_results(session, &output, gates, &results, err);
  if (status == PCAL_OK)
    status = cli_baseline_compare(session, results, err);
  status = cli_results_output_close(session, &output, results, gates, status, err);
  pcal_results_free(results);
  return status;
}

static pcal_status merge_run(cli_session *session, pcal_error *err) {
  cli_gates gates;
  if (session->options.operands.count == 0)
    return cli_fail(err, PCAL_USAGE, "merge needs saved states: propercal merge a.pcal b.pcal");
  pcal_status status = cli_gates_parse(&session->options, &gates, err);
  if (status == PCAL_OK)
    status = merge_with_gates(session, &gates, err);
  cli_gates_free(&gates);
  return status;
}

static const cli_section *const merge_sections[] = {
    &cli_section_results_output, &cli_section_gates, &cli_section_running, &cli_section_help};

static const cli_example merge_examples[] = {
    {"propercal measure --data a.csv --state a.pcal",
     "measure each part, possibly on another machine: rows 0 to 4999 ..."},
    {"propercal measure --data b.csv --first-row 5000 --state b.pcal",
     "... and rows from 5000"},
    {"propercal merge a.pcal b.pcal", "the results of all rows, exact to the last digit"},
    {"propercal merge parts/*.pcal --state all.pcal --json",
     "print JSON and save the merged state for later merges"},
    {"propercal merge parts/*.pcal --fail-if 'ece > 0.05' --quiet", "a gate on the merged "
                                                                    "results"},
};

const cli_verb cli_verb_merge = {
    "merge",
    "STATE...",
    SIZE_MAX,
    CLI_FILE,
    "merge measurements of parts of a data set",
    "Merges states that `propercal measure --state FILE` saved for parts of a data set, "
    "and prints the results of the whole: byte for byte those of measuring all rows at "
    "once, for any division into parts and any order of the files. All parts must be "
    "measured with the same metrics, --interval, --null, --normalize and --skip-missing; "
    "intervals and null are then those of all rows. The same part twice is refused: parts "
    "are recognised by their content. --first-row of a part is not needed; if given, "
    "messages use it, groups are sorted by it, and overlapping rows are refused. Groups are "
    "matched by name. Metrics over pairs of rows, such as skce, cannot be saved.",
    merge_sections,
    CLI_COUNT_OF(merge_sections),
    merge_examples,
    CLI_COUNT_OF(merge_examples),
    merge_run,
};
