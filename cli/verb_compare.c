/* compare: rank calibration methods or models on held-out rows. */
#include <stdio.h>
#include <string.h>

#include "models.h"
#include "table_files.h"

static const cli_flag compare_flags[] = {
    {"method", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, methods),
     "calibrator to compare; repeatable (default: all that fit the data)", NULL, CLI_METHODS},
    {"model", 0, CLI_REPEAT, "NAME=KIND:FILE", offsetof(cli_options, models),
     "model to compare, such as old=logits:old.npy; repeatable. KIND is logits, probs, "
     "log-probs or confidence; all models share the rows of --labels. For regression KIND "
     "is quantiles, samples, or mean-std or mean-variance with two columns, such as "
     "old=mean-std:old.csv:mu,sigma, with --target. With --method each model is also "
     "calibrated by each method",
     NULL, CLI_ANY},
    {"by", 0, CLI_TEXT, "SPEC", offsetof(cli_options, by),
     "metric to rank by, preferably a proper score (default: brier; dss for means with "
     "variances, crps for quantiles and samples)",
     NULL, CLI_METRICS},
    {"metric", 0, CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "further metric to report; repeatable (default: the group compare)", NULL, CLI_METRICS},
    {"folds", 0, CLI_POSITIVE, "N", offsetof(cli_options, folds),
     "folds of the cross-validation, used without a second set (default: 5)", NULL, CLI_ANY},
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, interval),
     "level of the intervals (default: 0.95)", NULL, CLI_ANY},
    {"replicas", 0, CLI_POSITIVE, "N", offsetof(cli_options, replicas),
     "bootstrap replicas (default: 1000)", NULL, CLI_ANY},
    {"cluster", 0, CLI_TEXT, "FILE", offsetof(cli_options, cluster),
     "cluster of each row, such as a patient with several scans: its rows are in one fold, and "
     "intervals exchange whole clusters",
     NULL, CLI_FILE},
    {"budget", 0, CLI_REAL, "SECONDS", offsetof(cli_options, budget),
     "time for fitting and judging methods, cheap ones first; those that are not fitted in "
     "time are listed with that reason (default: no limit)",
     NULL, CLI_ANY},
};

static const cli_flag compare_output_flags[] = {
    CLI_TABLES_FLAG("methods, or models with --model"),
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "save the chosen calibrator, refitted to all rows available for fitting, for "
     "`propercal apply`; the table still goes to standard output",
     NULL, CLI_FILE},
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "format of the table: text (default), json, csv, md or latex", "text|json|csv|md|latex",
     CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
};

static pcal_status compare_check(const cli_options *options, pcal_error *err) {
  if (options->interval == 0)
    return cli_fail(
        err, PCAL_USAGE,
        "--interval 0: methods are compared by intervals; give a level such as 0.95");
  if (options->models.count == 0)
    return PCAL_OK;
  if (options->models.count == 1)
    return cli_fail(err, PCAL_USAGE,
                    "--model needs at least two models; add another one, or give this one "
                    "as --logits, --probs or --mean");
  if (cli_has_inputs(&options->inputs))
    return cli_fail(
        err, PCAL_USAGE,
        "give predictions with --model or with --logits, --probs and so on, not with both");
  if (cli_has_val(options))
    return cli_fail(err, PCAL_USAGE,
                    "the --val flags work with one model; without them each model is "
                    "calibrated by cross-validation");
  return PCAL_OK;
}

/* Prints the outcome of one method while the others are still to come. */
static void compare_show(void *user, const char *name, const char *outcome) {
  (void)user;
  cli_progress_clear();
  fprintf(stderr, "%-18s %s\n", name, outcome);
}

static pcal_status compare_learn(cli_session *session, pcal_comparison **out, pcal_error *err) {
  const cli_options *options = &session->options;
  cli_models models = CLI_MODELS_INIT;
  pcal_compare_config config = PCAL_COMPARE_CONFIG_INIT;
  config.methods = options->methods.word;
  config.method_count = options->methods.count;
  config.specs = options->metrics.word;
  config.spec_count = options->metrics.count;
  config.by = options->by;
  config.folds = (size_t)options->folds;
  config.interval = cli_level(options);
  config.replicas = (size_t)options->replicas;
  config.budget = options->budget;
  if (session->env.progress)
    config.judged = compare_show;
  config.normalize = options->normalize;
  config.skip_missing = options->skip_missing;
  config.rank_only = session->format != PCAL_JSON;
  config.no_calibrator = options->output == NULL;
  pcal_status status = compare_check(options, err);
  if (status == PCAL_OK && options->cluster) /* clusters are passed as groups */
    session->options.inputs.groups = options->cluster;
  if (status == PCAL_OK)
    status = cli_models_open(session, &models, err);
  if (status == PCAL_OK)
    status = pcal_compare_run(models.list, models.count, &config, &session->env, out, err);
  cli_models_free(&models);
  return status;
}

static pcal_status compare_save(cli_session *session, pcal_comparison **comparison,
                                pcal_error *err) {
  cli_output output;
  pcal_status status = cli_output_open(session, session->options.output, &output, err);
  if (status != PCAL_OK)
    return status;
  status = compare_learn(session, comparison, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_save(pcal_comparison_calibrator(*comparison), cli_output_sink,
                                  &output, err);
  return cli_output_hold(session, &output, status, err);
}

/* The only table of a comparison, and its name. */
typedef struct compare_table {
  const pcal_comparison *comparison;
  const char *name;
} compare_table;

static const char *compare_table_name(const void *of, size_t index) {
  return index == 0 ? ((const compare_table *)of)->name : NULL;
}

static pcal_status compare_table_write(const void *of, size_t index, pcal_sink sink, void *user,
                                       pcal_error *err) {
  (void)index;
  return pcal_comparison_write(((const compare_table *)of)->comparison, PCAL_CSV, sink, user,
                               err);
}

static pcal_status compare_tables(cli_session *session, const pcal_comparison *comparison,
                                  pcal_error *err) {
  const compare_table table = {comparison,
                               session->options.models.count > 0 ? "models" : "methods"};
  const cli_tables tables = {&table, compare_table_name, compare_table_write};
  return cli_table_files_write(session, &tables, err);
}

static pcal_status compare_run(cli_session *session, pcal_error *err) {
  const char *path = session->options.output;
  pcal_comparison *comparison = NULL;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  if (path && (!*path || strcmp(path, "-") == 0))
    return cli_fail(
        err, PCAL_USAGE,
        "-o needs a file name, such as best.json; the table goes to standard output");
  pcal_status status = cli_table_files_check(session, err);
  if (status == PCAL_OK)
    status = path ? compare_save(session, &comparison, err)
                  : compare_learn(session, &comparison, err);
  if (status == PCAL_OK)
    status = compare_tables(session, comparison, err);
  if (status == PCAL_OK)
    status =
        pcal_comparison_write(comparison, session->format, cli_text_buffer_sink, &buffer, err);
  status = cli_text_buffer_status(&buffer, status, err);
  pcal_comparison_free(comparison);
  if (status == PCAL_OK)
    return cli_text_buffer_write(session, &buffer, NULL, err);
  cli_text_buffer_free(&buffer);
  return status;
}

static const cli_section compare_section = {"Comparison", compare_flags,
                                            CLI_COUNT_OF(compare_flags), NULL};
static const cli_section compare_output_section = {"Output", compare_output_flags,
                                                   CLI_COUNT_OF(compare_output_flags), NULL};
static const cli_section *const compare_sections[] = {
    &cli_section_inputs, &cli_section_labels,     &cli_section_val,     &compare_section,
    &cli_section_rows,   &compare_output_section, &cli_section_running, &cli_section_help};

static const cli_example compare_examples[] = {
    {"propercal compare --logits z.npy --labels y.npy -o best.json",
     "cross-validate all methods and save the best"},
    {"propercal compare --data test.csv --val-data val.csv",
     "fit to one set, judge on another"},
    {"propercal compare --data d.csv -m temperature -m isotonic --by log",
     "two methods, ranked by the log score"},
    {"propercal compare --data d.csv --budget 60",
     "all methods that can be fitted in a minute"},
    {"propercal compare --labels y.npy --model a=probs:p.npy --model b=probs:q.npy",
     "compare two models"},
};

const cli_verb cli_verb_compare = {
    "compare",
    "",
    0,
    CLI_ANY,
    "rank calibration methods or models on held-out rows",
    "Fits calibrators and judges each on rows that it was not fitted to. With a second set "
    "(--val-...) they are fitted to the second and judged on the first, otherwise by "
    "cross-validation. Ranks them by a proper score, reports confidence intervals of "
    "paired differences, and chooses a method; if no improvement is significant, it "
    "recommends leaving the predictions unchanged. Several models are compared in the same "
    "way.",
    compare_sections,
    CLI_COUNT_OF(compare_sections),
    compare_examples,
    CLI_COUNT_OF(compare_examples),
    compare_run,
};
