/* compare: which repair, or which model, is best? */
#include <string.h>

#include "models.h"

static const cli_flag compare_flags[] = {
    {"method", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, methods),
     "a calibrator to compare; repeat for more; all that suit the data when not given", NULL,
     CLI_METHODS},
    {"model", 0, CLI_REPEAT, "NAME=KIND:FILE", offsetof(cli_options, models),
     "a model to compare, as old=logits:old.npy; repeat for more; KIND is logits, probs, "
     "log-probs or confidence, and all models have the rows of --labels; for numbers it is "
     "quantiles, samples, or mean-std or mean-variance with two columns, as "
     "old=mean-std:old.csv:mu,sigma, beside --target; with --method each is also repaired by "
     "each method",
     NULL, CLI_ANY},
    {"by", 0, CLI_TEXT, "SPEC", offsetof(cli_options, by),
     "the metric that ranks and chooses, best a proper score: brier when not given; dss for "
     "means with variances, crps for quantiles and samples",
     NULL, CLI_METRICS},
    {"metric", 0, CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "what else to tell; repeat for more; those of the group compare when not given", NULL,
     CLI_METRICS},
    {"folds", 0, CLI_COUNT, "N", offsetof(cli_options, folds),
     "of the cross-validation, where there is no second set; 5 when not given", NULL, CLI_ANY},
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, interval),
     "level of the intervals; 0.95 when not given", NULL, CLI_ANY},
    {"replicas", 0, CLI_COUNT, "N", offsetof(cli_options, replicas),
     "how often rows are drawn anew for them; 1000 when not given", NULL, CLI_ANY},
};

static const cli_flag compare_output_flags[] = {
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "save the chosen calibrator, for `propercal apply`, fitted to all rows that there are for "
     "fitting; the table still goes to standard output",
     NULL, CLI_FILE},
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "of the table: text (the default), json, csv or md", "text|json|csv|md", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "the same as --format json", NULL,
     CLI_ANY},
};

static pcal_status compare_check(const cli_options *options, pcal_error *err) {
  if (options->models.count == 0)
    return PCAL_OK;
  if (options->models.count == 1)
    return cli_fail(err, PCAL_USAGE,
                    "--model is for several models; give another one, or this one without a "
                    "name as --logits, --probs or --mean");
  if (cli_has_inputs(&options->inputs))
    return cli_fail(
        err, PCAL_USAGE,
        "predictions are given with --model or with --logits, --probs and the like, "
        "not with both");
  if (cli_has_val(options))
    return cli_fail(err, PCAL_USAGE,
                    "a second set is for one model; leave the --val flags out, and each model "
                    "is repaired by cross-validation");
  return PCAL_OK;
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
  config.interval = options->interval;
  config.replicas = (size_t)options->replicas;
  config.normalize = options->normalize;
  config.skip_missing = options->skip_missing;
  pcal_status status = compare_check(options, err);
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
  return cli_output_close(&output, status, err);
}

static pcal_status compare_run(cli_session *session, pcal_error *err) {
  const char *path = session->options.output;
  pcal_comparison *comparison = NULL;
  cli_text_buffer page = CLI_TEXT_BUFFER_INIT;
  if (path && (!*path || strcmp(path, "-") == 0))
    return cli_fail(
        err, PCAL_USAGE,
        "-o needs the name of a file, such as best.json; the table goes to standard "
        "output");
  pcal_status status =
      path ? compare_save(session, &comparison, err) : compare_learn(session, &comparison, err);
  if (status == PCAL_OK)
    status =
        pcal_comparison_write(comparison, session->format, cli_text_buffer_sink, &page, err);
  status = cli_text_buffer_status(&page, status, err);
  pcal_comparison_free(comparison);
  if (status == PCAL_OK)
    return cli_text_buffer_write(session, &page, NULL, err);
  cli_text_buffer_free(&page);
  return status;
}

static const cli_section compare_section = {"Comparison", compare_flags,
                                            CLI_COUNT_OF(compare_flags), NULL};
static const cli_section compare_output_section = {"Output", compare_output_flags,
                                                   CLI_COUNT_OF(compare_output_flags), NULL};
static const cli_section *const compare_sections[] = {
    &cli_section_inputs,     &cli_section_val,     &compare_section, &cli_section_rows,
    &compare_output_section, &cli_section_running, &cli_section_help};

static const cli_example compare_examples[] = {
    {"propercal compare --logits z.npy --labels y.npy -o best.json",
     "all methods by cross-validation; the best one is saved"},
    {"propercal compare --data test.csv --val-data val.csv",
     "fitted on one set, judged on another"},
    {"propercal compare --data d.csv -m temperature -m isotonic --by log",
     "two methods, ranked by the log score"},
    {"propercal compare --labels y.npy --model a=probs:p.npy --model b=probs:q.npy",
     "two models side by side"},
    {"propercal compare --data test.csv --val-data val.csv --by crps",
     "columns mean, std, target: repairs of predicted variances"},
};

const cli_verb cli_verb_compare = {
    "compare",
    "",
    0,
    CLI_ANY,
    "which repair, or which model, is best?",
    "Fits calibrators and judges each on rows that it has not seen: on a first set when there "
    "is a second one (--val-...) to fit on, else by cross-validation. Ranks them by a proper "
    "score, tells "
    "which differences are real by intervals of paired differences, and chooses; when nothing "
    "helps beyond doubt it says so, and leaving the predictions alone is the choice. Several "
    "models are compared in the same way.",
    compare_sections,
    CLI_COUNT_OF(compare_sections),
    compare_examples,
    CLI_COUNT_OF(compare_examples),
    compare_run,
};
