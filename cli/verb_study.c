/* study: run an experiment. */
#include <string.h>

#include "figure_render.h"
#include "models.h"
#include "table_files.h"

static const cli_flag study_data_flags[] = {
    {"model", 0, CLI_REPEAT, "NAME=KIND:FILE", offsetof(cli_options, models),
     "one of several models, such as old=logits:old.npy; KIND is logits, probs, log-probs "
     "or confidence; all models share the rows of --labels; repeatable",
     NULL, CLI_ANY},
    {"case", 0, CLI_REPEAT, "NAME=FILE[,FILE]", offsetof(cli_options, cases),
     "one of several data sets, given as --data files; the second file is the set to fit "
     "to; repeatable",
     NULL, CLI_ANY},
    {"features", 0, CLI_TEXT, "FILE", offsetof(cli_options, features),
     "features for studies that train a model, with --target", NULL, CLI_FILE},
};

static const cli_flag study_flags[] = {
    {"metric", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "metric to study; repeatable (default: chosen by the study)", NULL, CLI_METRICS},
    {"method", 0, CLI_REPEAT, "SPEC", offsetof(cli_options, methods),
     "calibrator to study; repeatable (default: chosen by the study)", NULL, CLI_METHODS},
    {"repeats", 0, CLI_POSITIVE, "N", offsetof(cli_options, repeats),
     "repetitions of each step (default: as in the paper)", NULL, CLI_ANY},
    {"sets", 0, CLI_POSITIVE, "N", offsetof(cli_options, sets),
     "number of simulated data sets (default: 1000)", NULL, CLI_ANY},
    {"null-sets", 0, CLI_POSITIVE, "N", offsetof(cli_options, null_sets),
     "number of calibrated data sets for the size of tests (default: --sets)", NULL, CLI_ANY},
    {"rows", 0, CLI_TEXT, "N/N", offsetof(cli_options, set_rows),
     "rows of a data set; several values separated by / are studied in turn (default: "
     "chosen by the study)",
     NULL, CLI_ANY},
    {"classes", 0, CLI_POSITIVE, "K", offsetof(cli_options, set_classes),
     "classes of simulated rows (default: chosen by the study)", NULL, CLI_ANY},
    {"factor", 0, CLI_TEXT, "F/F", offsetof(cli_options, set_factors),
     "factor on the logits, a temperature of 1/F; 1 is calibrated; several values "
     "separated by / are studied in turn (default: chosen by the study)",
     NULL, CLI_ANY},
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, interval),
     "level of the intervals (default: 0.95)", NULL, CLI_ANY},
    {"interval-method", 0, CLI_TEXT, "WORD", offsetof(cli_options, interval_method),
     "auto (default), normal, percentile, basic, bca or jackknife",
     "auto|normal|percentile|basic|bca|jackknife", CLI_ANY},
    {"replicas", 0, CLI_POSITIVE, "N", offsetof(cli_options, replicas),
     "replicas for each interval (default: 400)", NULL, CLI_ANY},
};

static const cli_flag study_output_flags[] = {
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "text (default), json, csv, md or latex", "text|json|csv|md|latex", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "x.svg, x.png or x.pdf for the figure, with the tables on standard output; any other "
     "name for the tables",
     NULL, CLI_FILE},
    CLI_TABLES_FLAG("NAME is made of the first words of its title"),
    {"theme", 0, CLI_TEXT, "WORD", offsetof(cli_options, theme),
     "theme of the figure: light, dark or, in SVG, auto", "auto|light|dark", CLI_ANY},
};

#define STUDY_LIST_MAX 16
#define STUDY_WORD_MAX 32

/* Values of --rows and --factor. */
typedef struct study_lists {
  uint64_t rows[STUDY_LIST_MAX];
  double factors[STUDY_LIST_MAX];
  size_t row_count, factor_count;
} study_lists;

/* Copies the next word of a list separated by '/' and advances *list, to NULL at the end.
 * Returns 0 if the word is empty or too long. */
static int study_next(const char **list, char word[STUDY_WORD_MAX]) {
  const size_t length = strcspn(*list, "/");
  if (length == 0 || length >= STUDY_WORD_MAX)
    return 0;
  memcpy(word, *list, length);
  word[length] = '\0';
  *list = (*list)[length] == '/' ? *list + length + 1 : NULL;
  return 1;
}

/* Returns 1 if all words of a list are whole numbers; list may be NULL. */
static int study_rows(const char *list, study_lists *out) {
  char word[STUDY_WORD_MAX];
  for (; list; out->row_count++)
    if (out->row_count == STUDY_LIST_MAX || !study_next(&list, word) ||
        !cli_read_count(word, &out->rows[out->row_count]))
      return 0;
  return 1;
}

static int study_factors(const char *list, study_lists *out) {
  char word[STUDY_WORD_MAX];
  for (; list; out->factor_count++)
    if (out->factor_count == STUDY_LIST_MAX || !study_next(&list, word) ||
        !cli_read_real(word, &out->factors[out->factor_count]))
      return 0;
  return 1;
}

static pcal_status study_read(const cli_options *options, study_lists *out, pcal_error *err) {
  if (!study_rows(options->set_rows, out))
    return cli_fail(err, PCAL_USAGE,
                    "--rows %s: the value must be at most %d whole numbers, such as "
                    "300/1000",
                    options->set_rows, STUDY_LIST_MAX);
  if (!study_factors(options->set_factors, out))
    return cli_fail(err, PCAL_USAGE,
                    "--factor %s: the value must be at most %d numbers, such as 1.2/1.5",
                    options->set_factors, STUDY_LIST_MAX);
  return PCAL_OK;
}

/* Features are read as samples: rows of numbers with a target. */
static pcal_status study_features(cli_session *session, pcal_source **out, pcal_error *err) {
  cli_inputs inputs = session->options.inputs;
  if (!session->options.features)
    return PCAL_OK;
  inputs.samples = session->options.features;
  return cli_inputs_open(session, &inputs, out, err);
}

static pcal_status study_open(cli_session *session, cli_models *models, pcal_error *err) {
  const cli_options *options = &session->options;
  const int several = options->models.count + options->cases.count > 0;
  const int plain = cli_has_inputs(&options->inputs);
  if (several && plain)
    return cli_fail(err, PCAL_USAGE,
                    "give predictions with --model, with --case, or with --logits, --probs "
                    "and so on, not with several of these");
  if (!several && !plain && cli_has_val(options))
    return cli_fail(err, PCAL_USAGE,
                    "the --val flags give a second set; give the first "
                    "set too");
  return several || plain ? cli_models_open(session, models, err) : PCAL_OK;
}

static pcal_status study_work(cli_session *session, pcal_study_config *config, pcal_study **out,
                              pcal_error *err) {
  const cli_options *options = &session->options;
  cli_models models = CLI_MODELS_INIT;
  pcal_source *features = NULL;
  pcal_status status = study_open(session, &models, err);
  if (status == PCAL_OK)
    status = study_features(session, &features, err);
  config->models = models.list;
  config->model_count = models.count;
  config->features = features;
  if (status == PCAL_OK)
    status = pcal_study_run(options->operands.word[0], config, &session->env, out, err);
  pcal_source_free(features);
  cli_models_free(&models);
  return status;
}

static pcal_status study_learn(cli_session *session, pcal_study **out, pcal_error *err) {
  const cli_options *options = &session->options;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  study_lists lists = {.row_count = 0};
  const pcal_status read = study_read(options, &lists, err);
  if (read != PCAL_OK)
    return read;
  config.specs = options->metrics.word;
  config.spec_count = options->metrics.count;
  config.methods = options->methods.word;
  config.method_count = options->methods.count;
  config.simulation.rows = lists.rows[0];
  config.simulation.classes = (size_t)options->set_classes;
  config.simulation.factor = lists.factors[0];
  config.row_counts = lists.rows;
  config.row_count_count = lists.row_count;
  config.factors = lists.factors;
  config.factor_count = lists.factor_count;
  config.null_sets = options->null_sets;
  config.sets = options->sets;
  config.repeats = options->repeats;
  config.interval = cli_level(options);
  config.replicas = (size_t)options->replicas;
  config.normalize = options->normalize;
  config.skip_missing = options->skip_missing;
  if (options->interval_method) {
    const pcal_status known =
        pcal_interval_method_parse(options->interval_method, &config.interval_method, err);
    if (known != PCAL_OK)
      return known;
  }
  return study_work(session, &config, out, err);
}

/* Runs the study; the file of its figure is opened first. */
static pcal_status study_draw(cli_session *session, const char *format, pcal_study **study,
                              pcal_error *err) {
  cli_output output;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  pcal_figure *figure = NULL;
  pcal_status status = cli_output_open(session, session->options.output, &output, err);
  if (status != PCAL_OK)
    return status;
  status = study_learn(session, study, err);
  if (status == PCAL_OK)
    status = pcal_figure_from_study(*study, NULL, &figure, err);
  if (status == PCAL_OK)
    status = cli_figure_render(session, figure, format, &buffer, err);
  if (status == PCAL_OK)
    cli_output_sink(&output, buffer.text, buffer.length);
  pcal_figure_free(figure);
  cli_text_buffer_free(&buffer);
  return cli_output_hold(session, &output, status, err);
}

static const char *study_table_name(const void *of, size_t index) {
  return pcal_study_table_name(of, index);
}

static pcal_status study_table_write(const void *of, size_t index, pcal_sink sink, void *user,
                                     pcal_error *err) {
  return pcal_study_table_write(of, index, sink, user, err);
}

static pcal_status study_run(cli_session *session, pcal_error *err) {
  const cli_options *options = &session->options;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  pcal_study *study = NULL;
  if (options->operands.count != 1)
    return cli_fail(err, PCAL_USAGE,
                    "study needs the name of a study; `propercal list studies` shows all");
  const char *path = options->output;
  const char *format =
      path && *cli_file_extension(path) ? cli_figure_render_format(path) : NULL;
  pcal_status status = cli_table_files_check(session, err);
  if (status == PCAL_OK)
    status =
        format ? study_draw(session, format, &study, err) : study_learn(session, &study, err);
  const cli_tables tables = {study, study_table_name, study_table_write};
  if (status == PCAL_OK)
    status = cli_table_files_write(session, &tables, err);
  if (status == PCAL_OK)
    status = pcal_study_write(study, session->format, cli_text_buffer_sink, &buffer, err);
  status = cli_text_buffer_status(&buffer, status, err);
  pcal_study_free(study);
  if (status == PCAL_OK)
    return cli_text_buffer_write(session, &buffer, format ? NULL : path, err);
  cli_text_buffer_free(&buffer);
  return status;
}

static const cli_section study_section = {"Study", study_flags, CLI_COUNT_OF(study_flags),
                                          NULL};
static const cli_section study_output_section = {"Output", study_output_flags,
                                                 CLI_COUNT_OF(study_output_flags), NULL};
static const cli_section study_data_section = {"Several sets", study_data_flags,
                                               CLI_COUNT_OF(study_data_flags), NULL};
static const cli_section *const study_sections[] = {
    &cli_section_inputs, &cli_section_val,      &study_data_section,  &study_section,
    &cli_section_rows,   &study_output_section, &cli_section_running, &cli_section_help};

static const cli_example study_examples[] = {
    {"propercal study coverage", "how often 95 % intervals contain the true value"},
    {"propercal study coverage --rows 300 --metric ece --metric brier",
     "the same for a small data set and two metrics"},
    {"propercal study test-size --data d.npz --repeats 200 -o sizes.svg",
     "how metrics change with the number of rows, as tables and a figure"},
    {"propercal study coverage --factor 1.1/1.5 --null-sets 5000 -m kuiper",
     "size of a test, and its power against two temperatures"},
};

const cli_verb cli_verb_study = {
    "study",
    "NAME",
    1,
    CLI_ANY,
    "run an experiment on calibration metrics and methods",
    "Runs an experiment from the literature on your predictions or on simulated ones of "
    "known calibration, to show which metrics are reliable at your number of rows. "
    "`propercal list studies` lists the studies, `propercal list studies NAME` the inputs "
    "and options of one; options are given as NAME:option=value. Equal seeds give equal "
    "tables.",
    study_sections,
    CLI_COUNT_OF(study_sections),
    study_examples,
    CLI_COUNT_OF(study_examples),
    study_run,
};
