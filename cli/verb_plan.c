/* plan: estimate the number of labelled rows needed. */
#include "flags_against.h"
#include "session.h"

static const cli_flag plan_flags[] = {
    {"metric", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "metric to plan for; repeatable (default: brier, log, ece and ks)", NULL, CLI_METRICS},
    {"width", 0, CLI_REAL, "W", offsetof(cli_options, width),
     "largest acceptable width of the interval", NULL, CLI_ANY},
    {"power", 0, CLI_REAL, "P", offsetof(cli_options, power),
     "probability of detecting a difference from another model (--against-logits and so "
     "on), such as 0.8",
     NULL, CLI_ANY},
    {"difference", 0, CLI_REAL, "D", offsetof(cli_options, difference),
     "difference to detect (default: that of the pilot set)", NULL, CLI_ANY},
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, interval),
     "level of the interval (default: 0.95)", NULL, CLI_ANY},
    {"replicas", 0, CLI_POSITIVE, "N", offsetof(cli_options, replicas),
     "bootstrap replicas (default: 1000)", NULL, CLI_ANY},
};

static const cli_flag plan_output_flags[] = {
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "text (default), json, csv, md or latex", "text|json|csv|md|latex", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "output file (default: standard output); replaced only once it is complete", NULL,
     CLI_FILE},
};

static pcal_status plan_measure(cli_session *session, pcal_results **results, pcal_error *err) {
  static const char *const usual[] = {"brier", "log", "ece", "ks"};
  const cli_options *options = &session->options;
  const int own = options->metrics.count == 0;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  config.specs = own ? usual : options->metrics.word;
  config.spec_count = own ? CLI_COUNT_OF(usual) : options->metrics.count;
  config.normalize = options->normalize;
  config.skip_missing = options->skip_missing;
  config.interval = options->interval > 0 ? options->interval : 0.95;
  config.replicas = (size_t)options->replicas;
  config.paired = cli_has_against(options);
  pcal_status status = cli_source_open(session, 1, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, &session->env, results, err);
  if (status == PCAL_OK && config.paired)
    status = cli_measure_against(session, source, &config, *results, err);
  pcal_source_free(source);
  return status;
}

static pcal_status plan_run(cli_session *session, pcal_error *err) {
  const cli_options *options = &session->options;
  pcal_results *results = NULL;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  pcal_plan_config config = PCAL_PLAN_CONFIG_INIT;
  config.width = options->width;
  config.power = options->power;
  config.difference = options->difference;
  pcal_status status = plan_measure(session, &results, err);
  if (status == PCAL_OK)
    status =
        pcal_plan_write(results, &config, session->format, cli_text_buffer_sink, &buffer, err);
  status = cli_text_buffer_status(&buffer, status, err);
  pcal_results_free(results);
  if (status == PCAL_OK)
    return cli_text_buffer_write(session, &buffer, options->output, err);
  cli_text_buffer_free(&buffer);
  return status;
}

static const cli_section plan_section = {"Plan", plan_flags, CLI_COUNT_OF(plan_flags), NULL};
static const cli_section plan_output_section = {"Output", plan_output_flags,
                                                CLI_COUNT_OF(plan_output_flags), NULL};
static const cli_section *const plan_sections[] = {
    &cli_section_inputs,  &cli_section_against, &plan_section,    &cli_section_rows,
    &plan_output_section, &cli_section_running, &cli_section_help};

static const cli_example plan_examples[] = {
    {"propercal plan --probs p.npy --labels y.npy --width 0.01",
     "rows needed for intervals of width 0.01"},
    {"propercal plan --probs p.npy --labels y.npy -m ece --width 0.02 --interval 0.9",
     "the same for one metric at another level"},
    {"propercal plan --probs p.npy --labels y.npy --against-probs q.npy --power 0.8",
     "rows needed to detect the improvement of a new model with probability 0.8"},
};

const cli_verb cli_verb_plan = {
    "plan",
    "",
    0,
    CLI_ANY,
    "estimate how many labelled rows are needed",
    "Estimates from a pilot set how many rows an interval of a given width needs, or how "
    "many are needed to detect a difference between two models with a given probability. "
    "Standard errors are taken from the pilot set and scaled by the square root of the "
    "number of rows.",
    plan_sections,
    CLI_COUNT_OF(plan_sections),
    plan_examples,
    CLI_COUNT_OF(plan_examples),
    plan_run,
};
