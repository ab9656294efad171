/* plot: draw one figure as SVG, PNG or PDF. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "figure_render.h"
#include "flags_val.h"
#include "models.h"

static const cli_flag plot_flags[] = {
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "x.svg, x.png, x.pdf (PNG and PDF need the program rsvg-convert), or '-' for SVG on "
     "standard output",
     NULL, CLI_FILE},
    {"theme", 0, CLI_TEXT, "WORD", offsetof(cli_options, theme),
     "light, dark or auto; auto follows the viewer's preference in SVG and is light in PNG "
     "and PDF",
     "auto|light|dark", CLI_ANY},
    {"title", 0, CLI_TEXT, "TEXT", offsetof(cli_options, title),
     "title of the figure, in place of its own; '' for none", NULL, CLI_ANY},
    {"width", 0, CLI_POSITIVE, "N", offsetof(cli_options, figure_width),
     "width in pixels, 240 to 10000; the size of text does not change", NULL, CLI_ANY},
    {"height", 0, CLI_POSITIVE, "N", offsetof(cli_options, figure_height),
     "height in pixels, 240 to 10000", NULL, CLI_ANY},
    {"dpi", 0, CLI_POSITIVE, "N", offsetof(cli_options, dpi),
     "resolution of PNG: pixels for 96 units of --width and --height (default: 96)", NULL,
     CLI_ANY},
    {"transparent", 0, CLI_FLAG, NULL, offsetof(cli_options, transparent),
     "no background, for slides and posters", NULL, CLI_ANY},
};

static const cli_flag plot_model_flags[] = {
    {"model", 0, CLI_REPEAT, "NAME=KIND:FILE", offsetof(cli_options, models),
     "one of several models, such as epoch10=logits:e10.npy; KIND is logits, probs, "
     "log-probs or confidence; all models share the rows of --labels; repeatable",
     NULL, CLI_ANY},
    {"case", 0, CLI_REPEAT, "NAME=FILE", offsetof(cli_options, cases),
     "one of several models, each with its own --data file; repeatable", NULL, CLI_ANY},
};

static const cli_flag plot_interval_flags[] = {
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, figure_interval),
     "level of intervals and bands (default: 0.95); 0 for none", NULL, CLI_ANY},
    {"replicas", 0, CLI_POSITIVE, "N", offsetof(cli_options, replicas),
     "bootstrap replicas (default: 1000)", NULL, CLI_ANY},
};

static const cli_flag plot_calibrator_flags[] = {
    {"calibrator", 0, CLI_TEXT, "FILE", offsetof(cli_options, calibrator),
     "calibrator saved by `propercal fit`, applied before drawing", NULL, CLI_FILE},
};

static pcal_status plot_check(const cli_options *options, const char **format,
                              pcal_error *err) {
  if (options->operands.count == 0)
    return cli_fail(
        err, PCAL_USAGE,
        "plot needs the name of a figure, such as reliability; `propercal list figures` "
        "shows all");
  char figure[64];
  snprintf(figure, sizeof figure, "%.*s", (int)strcspn(options->operands.word[0], ":"),
           options->operands.word[0]);
  /* Without any figure in this build, the library says so. */
  if (pcal_registry_count(PCAL_FIGURES) > 0 && !pcal_registry_find(PCAL_FIGURES, figure)) {
    const char *nearest = pcal_registry_nearest(PCAL_FIGURES, figure);
    if (!nearest && strchr(figure, '.'))
      return cli_fail(err, PCAL_USAGE,
                      "%s is no figure; name one before the data, as in propercal plot "
                      "reliability --data %s",
                      figure, figure);
    return cli_fail(err, PCAL_USAGE, "unknown figure \"%s\"; %s%s%s", figure,
                    nearest ? "did you mean \"" : "`propercal list figures` shows all",
                    nearest ? nearest : "", nearest ? "\"?" : "");
  }
  if (strcmp(figure, "drift") != 0 && (options->inputs.time || options->inputs.every))
    return cli_fail(
        err, PCAL_USAGE,
        "figure %s shows all rows together; --time and --every are for figure drift", figure);
  if (!options->output || !*options->output)
    return cli_fail(err, PCAL_USAGE,
                    "plot needs an output file; give -o x.svg, -o x.png, "
                    "-o x.pdf or -o -");
  if (options->dpi > 2400)
    return cli_fail(err, PCAL_USAGE, "--dpi is at most 2400");
  *format = cli_figure_render_format(options->output);
  if (!*format)
    return cli_fail(err, PCAL_USAGE, "-o %s: the extension must be .svg, .png or .pdf",
                    options->output);
  return PCAL_OK;
}

/* True if a flag names data; some figures need none. */
static int plot_has_source(const cli_options *options) {
  const cli_inputs *in = &options->inputs;
  return cli_has_inputs(in) || in->labels || in->correct || in->target || in->weights;
}

/* Opens one model from the common flags, or several. */
static pcal_status plot_open(cli_session *session, cli_models *models, pcal_source **source,
                             pcal_error *err) {
  const cli_options *options = &session->options;
  if (options->models.count + options->cases.count == 0)
    return plot_has_source(options) ? cli_source_open(session, 1, source, err) : PCAL_OK;
  if (cli_has_inputs(&options->inputs))
    return cli_fail(err, PCAL_USAGE,
                    "give predictions with --model, with --case, or with --logits, --probs "
                    "and so on, not with several of these");
  if (options->inputs.groups)
    return cli_fail(err, PCAL_USAGE,
                    "--groups draws the groups of one model; leave it out, or give one model "
                    "with --logits, --probs and so on");
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
  config.transparent = options->transparent;
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
    status = cli_val_open(session, &config.val, err);
  config.calibrator = calibrator;
  if (status == PCAL_OK)
    status = pcal_figure_run(source, &config, &session->env, figure, err);
  pcal_source_free(source);
  cli_models_free(&models);
  pcal_source_free(config.val);
  pcal_calibrator_free(calibrator);
  return status;
}

static pcal_status plot_draw(cli_session *session, const char *format, cli_text_buffer *buffer,
                             pcal_error *err) {
  pcal_figure *figure = NULL;
  pcal_status status = plot_build(session, &figure, err);
  if (status == PCAL_OK)
    status = cli_figure_render(session, figure, format, buffer, err);
  pcal_figure_free(figure);
  return status;
}

static pcal_status plot_run(cli_session *session, pcal_error *err) {
  const char *format = NULL;
  cli_output output;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  pcal_status status = plot_check(&session->options, &format, err);
  if (status == PCAL_OK)
    status = cli_output_open(session, session->options.output, &output, err);
  if (status != PCAL_OK)
    return status;
  status = plot_draw(session, format, &buffer, err);
  if (status == PCAL_OK)
    cli_output_sink(&output, buffer.text, buffer.length);
  cli_text_buffer_free(&buffer);
  return cli_output_close(session, &output, status, err);
}

static const cli_section plot_section = {"Output", plot_flags, CLI_COUNT_OF(plot_flags), NULL};
static const cli_section plot_model_section = {
    "Several models, in the order in which they are drawn (reliability, range-bounds)",
    plot_model_flags, CLI_COUNT_OF(plot_model_flags), NULL};
static const cli_section plot_interval_section = {"How sure", plot_interval_flags,
                                                  CLI_COUNT_OF(plot_interval_flags), NULL};
static const cli_section plot_calibrator_section = {"After calibration", plot_calibrator_flags,
                                                    CLI_COUNT_OF(plot_calibrator_flags), NULL};
static const cli_section *const plot_sections[] = {
    &cli_section_inputs, &cli_section_labels,    &cli_section_groups,      &plot_model_section,
    &plot_section,       &plot_interval_section, &plot_calibrator_section, &cli_section_val,
    &cli_section_rows,   &cli_section_running,   &cli_section_help};

static const cli_example plot_examples[] = {
    {"propercal plot reliability --logits logits.npy --labels labels.npy -o r.svg",
     "confidence against accuracy, as SVG"},
    {"propercal plot reliability:band=consistency --data scores.csv -o r.png",
     "with an option of the figure, as PNG, through rsvg-convert"},
    {"propercal plot reliability --data d.npz --calibrator cal.json -o r.svg",
     "after a calibrator"},
    {"propercal plot reliability --model a=probs:a.npy --model b=probs:b.npy ...",
     "two models in one diagram"},
    {"propercal plot range-bounds --case epoch1=1.npz --case epoch9=9.npz -o r.svg",
     "how the ranges of adaptive bins change during training"},
};

const cli_verb cli_verb_plot = {
    "plot",
    "FIGURE",
    1,
    CLI_FIGURES,
    "draw a figure of predictions",
    "Draws one figure from predictions and true labels. `propercal list figures` lists the "
    "figures, `propercal list figures NAME` the options of one. The output is SVG with "
    "selectable text; PNG and PDF are converted by rsvg-convert, if it is installed. An "
    "existing file is replaced only once the new one is complete.",
    plot_sections,
    CLI_COUNT_OF(plot_sections),
    plot_examples,
    CLI_COUNT_OF(plot_examples),
    plot_run,
};
