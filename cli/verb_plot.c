/* plot: one figure, as SVG or, through rsvg-convert, as PNG or PDF. */
#include <string.h>
#include <strings.h>

#include "common.h"
#include "convert.h"

static const cli_flag plot_flags[] = {
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "x.svg, x.png or x.pdf (the last two need the program rsvg-convert), or '-' for SVG on "
     "standard output",
     NULL, CLI_FILE},
};

/* Format by the ending of a path: "svg", "png", "pdf", or NULL.  A name without an ending, such
 * as a pipe or a device, gets SVG. */
static const char *plot_format(const char *path) {
  static const char *const formats[] = {"svg", "png", "pdf"};
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(slash ? slash + 1 : path, '.');
  if (!dot)
    return "svg";
  for (size_t i = 0; i < CLI_COUNT_OF(formats); i++)
    if (strcasecmp(dot + 1, formats[i]) == 0)
      return formats[i];
  return NULL;
}

static pcal_status plot_check(const cli_options *options, const char **format,
                              pcal_error *err) {
  if (options->operands.count == 0)
    return cli_fail(
        err, PCAL_USAGE,
        "plot needs a figure, such as reliability; `propercal list figures` shows them all");
  const char *figure = options->operands.word[0];
  if (!pcal_row_find("figures", figure)) {
    const char *nearest = pcal_row_nearest("figures", figure);
    return cli_fail(err, PCAL_USAGE, "there is no figure \"%s\"; %s%s%s", figure,
                    nearest ? "did you mean \"" : "`propercal list figures` shows them all",
                    nearest ? nearest : "", nearest ? "\"?" : "");
  }
  if (!options->output || !*options->output)
    return cli_fail(err, PCAL_USAGE, "plot needs -o: x.svg, x.png, x.pdf or '-'");
  *format = plot_format(options->output);
  if (!*format)
    return cli_fail(err, PCAL_USAGE,
                    "-o %s: a figure is written as .svg, .png or .pdf; choose one of these "
                    "endings",
                    options->output);
  return PCAL_OK;
}

static pcal_status plot_measure(cli_session *session, pcal_results **results, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.normalize = session->options.normalize;
  config.skip_missing = session->options.skip_missing;
  pcal_status status = cli_source_open(session, 1, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, &session->env, results, err);
  pcal_source_free(source);
  return status;
}

static pcal_status plot_draw(cli_session *session, const char *format, cli_page *page,
                             pcal_error *err) {
  pcal_results *results = NULL;
  pcal_status status = plot_measure(session, &results, err);
  if (status == PCAL_OK)
    status =
        pcal_figure_write(results, session->options.operands.word[0], cli_page_sink, page, err);
  pcal_results_free(results);
  if (status != PCAL_OK || strcmp(format, "svg") == 0)
    return status;
  cli_page svg = *page;
  *page = (cli_page)CLI_PAGE_INIT;
  status = cli_page_check(&svg, err);
  if (status == PCAL_OK)
    status = cli_convert(&svg, format, session->options.output, page, err);
  cli_page_free(&svg);
  return status;
}

static pcal_status plot_run(cli_session *session, pcal_error *err) {
  const char *format = NULL;
  cli_output output;
  cli_page page = CLI_PAGE_INIT;
  pcal_status status = plot_check(&session->options, &format, err);
  if (status == PCAL_OK)
    status = cli_output_open(session, session->options.output, &output, err);
  if (status != PCAL_OK)
    return status;
  status = plot_draw(session, format, &page, err);
  if (status == PCAL_OK)
    status = cli_page_check(&page, err);
  if (status == PCAL_OK)
    cli_output_sink(&output, page.text, page.length);
  cli_page_free(&page);
  return cli_output_close(&output, status, err);
}

static const cli_section plot_section = {"Output", plot_flags, CLI_COUNT_OF(plot_flags), NULL};
static const cli_section *const plot_sections[] = {&cli_section_inputs, &plot_section,
                                                   &cli_section_rows, &cli_section_running,
                                                   &cli_section_help};

static const cli_example plot_examples[] = {
    {"propercal plot reliability --logits logits.npy --labels labels.npy -o r.svg",
     "confidence against accuracy, as SVG"},
    {"propercal plot reliability --data scores.csv -o r.png", "as PNG, through rsvg-convert"},
    {"propercal plot reliability --probs p.npy --labels y.npy -o - > r.svg",
     "to standard output"},
};

const cli_verb cli_verb_plot = {
    "plot",
    "FIGURE",
    1,
    CLI_FIGURES,
    "one figure of these predictions",
    "Draws one figure from predictions and true labels; `propercal list figures` names what "
    "there is. The picture is SVG, with all text as text; names that end in .png or .pdf are "
    "converted by rsvg-convert when it is installed. An existing file is replaced only when "
    "the new one is complete.",
    plot_sections,
    CLI_COUNT_OF(plot_sections),
    plot_examples,
    CLI_COUNT_OF(plot_examples),
    plot_run,
};
