/* study: experiments as commands. */
#include "common.h"

static const cli_flag study_flags[] = {
    {"metric", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "a metric to study; repeat for more; the study has its own choice when none is given",
     NULL, CLI_METRICS},
    {"sets", 0, CLI_COUNT, "N", offsetof(cli_options, sets),
     "how many data sets are drawn; 1000 when not given", NULL, CLI_ANY},
    {"rows", 0, CLI_COUNT, "N", offsetof(cli_options, set_rows),
     "rows of one set; 1000 when not given", NULL, CLI_ANY},
    {"classes", 0, CLI_COUNT, "K", offsetof(cli_options, set_classes),
     "classes; 10 when not given", NULL, CLI_ANY},
    {"factor", 0, CLI_REAL, "F", offsetof(cli_options, set_factor),
     "logits are multiplied by this; 1 is calibrated, 1.5 when not given", NULL, CLI_ANY},
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, interval),
     "level of the intervals; 0.95 when not given", NULL, CLI_ANY},
    {"interval-method", 0, CLI_TEXT, "WORD", offsetof(cli_options, interval_method),
     "auto (the default), normal, percentile, basic, bca or jackknife",
     "auto|normal|percentile|basic|bca|jackknife", CLI_ANY},
    {"replicas", 0, CLI_COUNT, "N", offsetof(cli_options, replicas),
     "replicas for each interval; 400 when not given", NULL, CLI_ANY},
};

static const cli_flag study_output_flags[] = {
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "text (the default), json, csv or md", "text|json|csv|md", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "the same as --format json", NULL,
     CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "write to a file instead of standard output; it appears whole or not at all", NULL,
     CLI_FILE},
};

static void study_simulation(const cli_options *options, pcal_simulation *simulation) {
  simulation->rows = options->set_rows ? options->set_rows : 1000;
  simulation->classes = options->set_classes ? (size_t)options->set_classes : 10;
  simulation->factor = options->set_factor != 0 ? options->set_factor : 1.5;
}

static pcal_status study_run(cli_session *session, pcal_error *err) {
  const cli_options *options = &session->options;
  cli_page page = CLI_PAGE_INIT;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  if (options->operands.count != 1)
    return cli_fail(err, PCAL_USAGE,
                    "study needs the name of one; `propercal list studies` shows them all");
  config.specs = options->metrics.word;
  config.spec_count = options->metrics.count;
  study_simulation(options, &config.simulation);
  config.sets = options->sets;
  config.interval = options->interval;
  config.replicas = (size_t)options->replicas;
  config.interval_method = options->interval_method;
  const pcal_status status = pcal_study_run(options->operands.word[0], &config, &session->env,
                                            session->format, cli_page_sink, &page, err);
  if (status == PCAL_OK)
    return cli_page_write(session, &page, options->output, err);
  cli_page_free(&page);
  return status;
}

static const cli_section study_section = {"Study", study_flags, CLI_COUNT_OF(study_flags),
                                          NULL};
static const cli_section study_output_section = {"Output", study_output_flags,
                                                 CLI_COUNT_OF(study_output_flags), NULL};
static const cli_section *const study_sections[] = {&study_section, &study_output_section,
                                                    &cli_section_running, &cli_section_help};

static const cli_example study_examples[] = {
    {"propercal study coverage", "how often 95 % intervals hold the true value"},
    {"propercal study coverage --rows 300 --metric ece --metric brier",
     "the same for a small data set and two metrics"},
    {"propercal study coverage --factor 1.2 --sets 10000 -m kuiper -m cox",
     "size and power of two tests"},
};

const cli_verb cli_verb_study = {
    "study",
    "NAME",
    1,
    CLI_ANY,
    "an experiment, as a table",
    "Repeats an experiment about estimators on simulated predictions whose true calibration is "
    "known, so that you can see which numbers to trust at your number of rows. The same seed "
    "gives the same table.",
    study_sections,
    CLI_COUNT_OF(study_sections),
    study_examples,
    CLI_COUNT_OF(study_examples),
    study_run,
};
