/* measure: compute metrics and the verdict. */
#include <stdlib.h>
#include <string.h>

#include "baseline_gate.h"
#include "flags_against.h"
#include "results_output.h"

static const cli_flag measure_flags[] = {
    {"metric", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "metric to compute, with options as in ece:bins=20,norm=l2, or a group of metrics; "
     "repeatable; see `propercal list metrics` and `propercal list groups`",
     NULL, CLI_METRICS},
    {"precision", 0, CLI_TEXT, "WORD", offsetof(cli_options, precision),
     "exact (default), or fast: exponentials of float32 logits in float32, accurate to "
     "about seven digits; sums stay exact, and the output names the precision",
     "exact|fast", CLI_ANY},
    {"device", 0, CLI_TEXT, "WORD", offsetof(cli_options, device),
     "cpu (default), or cuda: --logits are copied to the first NVIDIA GPU and added up there, "
     "and pairs of rows are summed there; results do not depend on it",
     "cpu|cuda", CLI_ANY},
};

static const cli_flag measure_interval_flags[] = {
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, interval),
     "confidence interval for each value at this level, such as 0.95; from standard errors "
     "where a formula exists, else from bootstrap replicas",
     NULL, CLI_ANY},
    {"null", 0, CLI_FLAG, NULL, offsetof(cli_options, null),
     "distribution of each metric for a calibrated model, from labels drawn from the "
     "predictions; the share of draws at least as large as the value is reported as a "
     "p-value, for scores twice the smaller of the two tails",
     NULL, CLI_ANY},
    {"cluster", 0, CLI_TEXT, "FILE", offsetof(cli_options, cluster),
     "cluster of each row, such as a patient with several scans or the subject of a question; "
     "intervals, of level 0.95 unless --interval says otherwise, resample whole clusters; not "
     "with --groups",
     NULL, CLI_FILE},
    {"id", 0, CLI_TEXT, "FILE", offsetof(cli_options, inputs.ids),
     "unique id of each row, the key of its random draws. Default: a hash of the row's "
     "content or, against another model, the row's position",
     NULL, CLI_FILE},
    {"replicas", 0, CLI_POSITIVE, "N", offsetof(cli_options, replicas),
     "replicas for --interval and --null (default: 1000)", NULL, CLI_ANY},
    {"interval-method", 0, CLI_TEXT, "WORD", offsetof(cli_options, interval_method),
     "auto (default) chooses by metric; or normal, percentile, basic, bca, jackknife",
     "auto|normal|percentile|basic|bca|jackknife", CLI_ANY},
};

/* The requested metrics, or the default group, followed by those of the gates. */
static pcal_status measure_specs(const cli_options *options, const cli_gates *gates,
                                 const char ***out, size_t *count, pcal_error *err) {
  const size_t asked = options->metrics.count;
  const char **specs = malloc((asked + gates->count + 1) * sizeof *specs);
  if (!specs)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the list of metrics");
  size_t used = 0;
  if (asked == 0)
    specs[used++] = "default";
  for (size_t i = 0; i < asked; i++)
    specs[used++] = options->metrics.word[i];
  for (size_t i = 0; i < gates->count; i++)
    specs[used++] = gates->gate[i].metric;
  *out = specs;
  *count = used;
  return PCAL_OK;
}

static int measure_null_sink(void *user, const char *bytes, size_t count) {
  (void)user;
  (void)bytes;
  (void)count;
  return 0;
}

/* Saves the state of no rows, so that metrics that cannot be saved are refused before any
 * work. */
static pcal_status measure_try_state(cli_session *session, const pcal_source *source,
                                     const pcal_measure_config *config, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pcal_measure_config empty = *config;
  pcal_measure *measure = NULL;
  pcal_source_get_shape(source, &shape);
  empty.kind = shape.kind;
  empty.columns = shape.columns;
  empty.levels = shape.levels;
  pcal_status status = pcal_measure_new(&empty, &session->env, &measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_save(measure, measure_null_sink, NULL, err);
  pcal_measure_free(measure);
  return status;
}

static pcal_status measure_with_state(cli_session *session, cli_results_output *output,
                                      pcal_source *source, const pcal_measure_config *config,
                                      pcal_results **results, pcal_error *err) {
  pcal_measure *measure = NULL;
  pcal_status status = measure_try_state(session, source, config, err);
  if (status == PCAL_OK)
    status = pcal_measure_from_source(source, config, &session->env, &measure, err);
  if (status == PCAL_OK)
    status = cli_results_output_finish(session, output, measure, results, err);
  pcal_measure_free(measure);
  return status;
}

/* Clusters are passed as groups; results are not computed by group then. */
static pcal_status measure_interval_config(cli_session *session, pcal_measure_config *config,
                                           pcal_error *err) {
  cli_options *options = &session->options;
  const int level_given = options->interval != CLI_NO_INTERVAL;
  config->interval = cli_level(options);
  config->replicas = (size_t)options->replicas;
  config->null = options->null;
  config->by_cluster = options->cluster != NULL;
  if (options->cluster && options->inputs.groups)
    return cli_fail(err, PCAL_USAGE,
                    "--cluster and --groups cannot be combined; give one "
                    "of them");
  if (options->cluster)
    options->inputs.groups = options->cluster;
  config->paired = cli_has_against(options);
  if ((config->paired || options->baseline) && !(config->interval > 0))
    config->interval = 0.95;
  if (options->cluster && !level_given) /* 0 is refused: clusters affect only intervals */
    config->interval = 0.95;
  if (options->prevalence && options->state)
    return cli_fail(err, PCAL_USAGE,
                    "--prevalence needs all rows at once, and --state saves a part; remove one "
                    "of them");
  if (config->paired && options->state)
    return cli_fail(err, PCAL_USAGE,
                    "--state saves one model; remove it or the --against flags");
  return options->interval_method ? pcal_interval_method_parse(options->interval_method,
                                                               &config->interval_method, err)
                                  : PCAL_OK;
}

static pcal_status measure_source(cli_session *session, cli_results_output *output,
                                  const char *const *specs, size_t spec_count,
                                  pcal_results **results, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_status status = measure_interval_config(session, &config, err);
  if (status == PCAL_OK)
    status = cli_source_open(session, 1, &source, err);
  config.specs = specs;
  config.spec_count = spec_count;
  config.normalize = session->options.normalize;
  config.skip_missing = session->options.skip_missing;
  config.curves = session->options.curves;
  config.fast =
      session->options.precision != NULL && strcmp(session->options.precision, "fast") == 0;
  if (status == PCAL_OK && output->has_state)
    status = measure_with_state(session, output, source, &config, results, err);
  else if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, &session->env, results, err);
  if (status == PCAL_OK && config.paired)
    status = cli_measure_against(session, source, &config, *results, err);
  pcal_source_free(source);
  return status;
}

/* Fails if all labels are of one class, unless metrics were requested by name or the state of a
 * part is saved. */
static pcal_status measure_check_classes(const cli_session *session,
                                         const pcal_results *results, pcal_error *err) {
  const cli_options *options = &session->options;
  const char *file = options->inputs.data ? options->inputs.data : options->inputs.labels;
  const int32_t only = pcal_results_only_label(results);
  if (only < 0 || options->metrics.count > 0 || options->state)
    return PCAL_OK;
  return cli_fail(
      err, PCAL_DATA,
      "%s: every label is class %d, and calibration cannot be judged from one class; check "
      "the labels, or choose metrics with --metric",
      file, (int)only);
}

static pcal_status measure_with_gates(cli_session *session, const cli_gates *gates,
                                      pcal_error *err) {
  const char **specs = NULL;
  size_t spec_count = 0;
  pcal_results *results = NULL;
  cli_results_output output;
  pcal_status status = measure_specs(&session->options, gates, &specs, &spec_count, err);
  if (status == PCAL_OK)
    status = cli_results_output_open(session, &output, err);
  if (status == PCAL_OK) {
    status = measure_source(session, &output, specs, spec_count, &results, err);
    if (status == PCAL_OK)
      status = measure_check_classes(session, results, err);
    if (status == PCAL_OK)
      status = cli_baseline_compare(session, results, err);
    status = cli_results_output_close(session, &output, results, gates, status, err);
  }
  pcal_results_free(results);
  free(specs);
  return status;
}

static pcal_status measure_run(cli_session *session, pcal_error *err) {
  cli_gates gates;
  pcal_status status = cli_gates_parse(&session->options, &gates, err);
  if (status == PCAL_OK)
    status = measure_with_gates(session, &gates, err);
  cli_gates_free(&gates);
  return status;
}

static const cli_section measure_section = {"Metrics", measure_flags,
                                            CLI_COUNT_OF(measure_flags), NULL};
static const cli_section measure_interval_section = {
    "How sure", measure_interval_flags, CLI_COUNT_OF(measure_interval_flags), NULL};
static const cli_section *const measure_sections[] = {
    &cli_section_inputs,         &cli_section_labels,  &cli_section_groups, &measure_section,
    &measure_interval_section,   &cli_section_against, &cli_section_gates,  &cli_section_rows,
    &cli_section_results_output, &cli_section_running, &cli_section_help};

static const cli_example measure_examples[] = {
    {"propercal measure --logits logits.npy --labels labels.npy",
     "the default metrics and a verdict"},
    {"propercal measure --probs data.csv:cat..dog --labels data.csv:label",
     "from a CSV file, by column names"},
    {"propercal measure --data d.csv -m ece:bins=20 --interval 0.95 --null --json",
     "one metric with its interval and its values for a calibrated model, as JSON"},
    {"propercal measure --probs p.npy --labels y.npy --fail-if 'ece > 0.05' --quiet",
     "a gate for scripts: exit code 1 if the calibration error is too large"},
    {"zcat scores.csv.gz | propercal measure --confidence -:conf --correct -:hit",
     "CSV from standard input"},
};

const cli_verb cli_verb_measure = {
    "measure",
    "",
    0,
    CLI_ANY,
    "how well calibrated are these predictions?",
    "Reads predictions and true labels in one pass and prints proper scores, calibration "
    "errors of several notions, and a verdict: over- or under-confident, by how much, for "
    "which scores, and what to try. The flag that names a file declares the meaning of its "
    "numbers; nothing is guessed. Rows and classes are counted from 0.",
    measure_sections,
    CLI_COUNT_OF(measure_sections),
    measure_examples,
    CLI_COUNT_OF(measure_examples),
    measure_run,
};
