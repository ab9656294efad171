/* plot: one figure, as SVG or, through rsvg-convert, as PNG or PDF. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "figure_render.h"
#include "flags_val.h"
#include "models.h"

static const cli_flag plot_flags[] = {
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "x.svg, x.png or x.pdf (the last two need the program rsvg-convert), or '-' for SVG on "
     "standard output",
     NULL, CLI_FILE},
    {"theme", 0, CLI_TEXT, "WORD", offsetof(cli_options, theme),
     "light, dark or, in SVG, auto: what the reader's page asks for, light when converted",
     "auto|light|dark", CLI_ANY},
    {"title", 0, CLI_TEXT, "TEXT", offsetof(cli_options, title),
     "instead of the figure's own title", NULL, CLI_ANY},
    {"width", 0, CLI_COUNT, "N", offsetof(cli_options, figure_width),
     "of the figure, 240 to 10000; text keeps its size and ticks give way", NULL, CLI_ANY},
    {"height", 0, CLI_COUNT, "N", offsetof(cli_options, figure_height), "the same", NULL,
     CLI_ANY},
};

static const cli_flag plot_model_flags[] = {
    {"model", 0, CLI_REPEAT, "NAME=KIND:FILE", offsetof(cli_options, models),
     "one of several models, as epoch10=logits:e10.npy; KIND is logits, probs, log-probs or "
     "confidence, and all models have the rows of --labels",
     NULL, CLI_ANY},
    {"case", 0, CLI_REPEAT, "NAME=FILE", offsetof(cli_options, cases),
     "one of several models, each with its own file of scores and labels as for --data", NULL,
     CLI_ANY},
};

static const cli_flag plot_surety_flags[] = {
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, figure_interval),
     "of what shows how sure a value is; 0.95 when not given, 0 for none", NULL, CLI_ANY},
    {"replicas", 0, CLI_COUNT, "N", offsetof(cli_options, replicas),
     "how often rows are drawn anew for that; 1000 when not given", NULL, CLI_ANY},
};

static const cli_flag plot_calibrator_flags[] = {
    {"calibrator", 0, CLI_TEXT, "FILE", offsetof(cli_options, calibrator),
     "a file from propercal fit: scores are drawn after this calibrator", NULL, CLI_FILE},
};

static pcal_status plot_check(const cli_options *options, const char **format,
                              pcal_error *err) {
  if (options->operands.count == 0)
    return cli_fail(
        err, PCAL_USAGE,
        "plot needs a figure, such as reliability; `propercal list figures` shows them all");
  char figure[64];
  snprintf(figure, sizeof figure, "%.*s", (int)strcspn(options->operands.word[0], ":"),
           options->operands.word[0]);
  if (!pcal_registry_find(PCAL_FIGURES, figure)) {
    const char *nearest = pcal_registry_nearest(PCAL_FIGURES, figure);
    return cli_fail(err, PCAL_USAGE, "there is no figure \"%s\"; %s%s%s", figure,
                    nearest ? "did you mean \"" : "`propercal list figures` shows them all",
                    nearest ? nearest : "", nearest ? "\"?" : "");
  }
  if (!options->output || !*options->output)
    return cli_fail(err, PCAL_USAGE, "plot needs -o: x.svg, x.png, x.pdf or '-'");
  *format = cli_figure_render_format(options->output);
  if (!*format)
    return cli_fail(err, PCAL_USAGE,
                    "-o %s: a figure is written as .svg, .png or .pdf; choose one of these "
                    "endings",
                    options->output);
  return PCAL_OK;
}

/* Whether any flag speaks of the data; some figures have their own. */
static int plot_has_source(const cli_options *options) {
  const cli_inputs *in = &options->inputs;
  return cli_has_inputs(in) || in->labels || in->correct || in->target || in->weights;
}

/* One model by the common flags, or several. */
static pcal_status plot_open(cli_session *session, cli_models *models, pcal_source **source,
                             pcal_error *err) {
  const cli_options *options = &session->options;
  if (options->models.count + options->cases.count == 0)
    return plot_has_source(options) ? cli_source_open(session, 1, source, err) : PCAL_OK;
  if (cli_has_inputs(&options->inputs))
    return cli_fail(err, PCAL_USAGE,
                    "predictions are given with --model, with --case, or with --logits, "
                    "--probs and the like, not with several of them");
  return cli_models_open(session, models, err);
}

static pcal_status plot_build(cli_session *session, pcal_figure **figure, pcal_error *err) {
  const cli_options *options = &session->options;
  pcal_source *source = NULL;
  cli_models models = CLI_MODELS_INIT;
  pcal_calibrator *calibrator = NULL;
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  config.figure = options->operands.word[0];
  config.normalize = options->normalize;
  config.skip_missing = options->skip_missing;
  config.interval = options->figure_interval;
  config.replicas = (size_t)options->replicas;
  config.width = (double)options->figure_width;
  config.height = (double)options->figure_height;
  config.title = options->title;
  pcal_status status = options->calibrator
                           ? cli_calibrator_load(session, options->calibrator, &calibrator, err)
                           : PCAL_OK;
  if (status == PCAL_OK)
    status = plot_open(session, &models, &source, err);
  config.models = models.list;
  config.model_count = models.count;
  if (status == PCAL_OK)
    status = cli_val_open(session, &config.fitting, err);
  config.calibrator = calibrator;
  if (status == PCAL_OK)
    status = pcal_figure_run(source, &config, &session->env, figure, err);
  pcal_source_free(source);
  cli_models_free(&models);
  pcal_source_free(config.fitting);
  pcal_calibrator_free(calibrator);
  return status;
}

static pcal_status plot_draw(cli_session *session, const char *format, cli_text_buffer *page,
                             pcal_error *err) {
  pcal_figure *figure = NULL;
  pcal_status status = plot_build(session, &figure, err);
  if (status == PCAL_OK)
    status = cli_figure_render(session, figure, format, page, err);
  pcal_figure_free(figure);
  return status;
}

static pcal_status plot_run(cli_session *session, pcal_error *err) {
  const char *format = NULL;
  cli_output output;
  cli_text_buffer page = CLI_TEXT_BUFFER_INIT;
  pcal_status status = plot_check(&session->options, &format, err);
  if (status == PCAL_OK)
    status = cli_output_open(session, session->options.output, &output, err);
  if (status != PCAL_OK)
    return status;
  status = plot_draw(session, format, &page, err);
  if (status == PCAL_OK)
    cli_output_sink(&output, page.text, page.length);
  cli_text_buffer_free(&page);
  return cli_output_close(&output, status, err);
}

static const cli_section plot_section = {"Output", plot_flags, CLI_COUNT_OF(plot_flags), NULL};
static const cli_section plot_model_section = {
    "Several models, in the order in which they are drawn (range-bounds)", plot_model_flags,
    CLI_COUNT_OF(plot_model_flags), NULL};
static const cli_section plot_surety_section = {"How sure", plot_surety_flags,
                                                CLI_COUNT_OF(plot_surety_flags), NULL};
static const cli_section plot_calibrator_section = {"After calibration", plot_calibrator_flags,
                                                    CLI_COUNT_OF(plot_calibrator_flags), NULL};
static const cli_section *const plot_sections[] = {
    &cli_section_inputs,  &plot_model_section,      &plot_section,
    &plot_surety_section, &plot_calibrator_section, &cli_section_val,
    &cli_section_rows,    &cli_section_running,     &cli_section_help};

static const cli_example plot_examples[] = {
    {"propercal plot reliability --logits logits.npy --labels labels.npy -o r.svg",
     "confidence against accuracy, as SVG"},
    {"propercal plot reliability:band=consistency --data scores.csv -o r.png",
     "with an option of the figure, as PNG, through rsvg-convert"},
    {"propercal plot ks-graph:rank=2 --data d.npz --theme dark -o ks.svg",
     "cumulated scores and outcomes of the second-ranked class, on a dark page"},
    {"propercal plot reliability --data d.npz --calibrator cal.json -o r.svg",
     "after a calibrator"},
    {"propercal plot range-bounds --case epoch1=1.npz --case epoch9=9.npz -o r.svg",
     "how the ranges of adaptive bins move over a training"},
};

const cli_verb cli_verb_plot = {
    "plot",
    "FIGURE",
    1,
    CLI_FIGURES,
    "one figure of these predictions",
    "Draws one figure from predictions and true labels; `propercal list figures` names what "
    "there is, and `propercal list figures NAME` its options. The picture is SVG, with all "
    "text as text; names that end in .png or .pdf are "
    "converted by rsvg-convert when it is installed. An existing file is replaced only when "
    "the new one is complete.",
    plot_sections,
    CLI_COUNT_OF(plot_sections),
    plot_examples,
    CLI_COUNT_OF(plot_examples),
    plot_run,
};
