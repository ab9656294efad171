#include "../measure/measure_help.h"
#include "io/source.h"

#define DRAWING_ROWS 8

static const given_data drawing_data = {
    .kind = PCAL_PROBABILITY,
    .rows = DRAWING_ROWS,
    .columns = 2,
    .scores = (const double[]){0.5, 0.5, 0.25, 0.75, 0.9, 0.1, 0.2, 0.8, 0.6, 0.4, 0.3, 0.7,
                               0.1, 0.9, 0.8, 0.2},
    .labels = (const int32_t[]){0, 1, 0, 1, 1, 1, 1, 0},
};

static pcal_source *drawing_source(void) {
  const pcal_batch batch = given_batch(&drawing_data);
  pcal_source *source = NULL;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  return source;
}

TEST(test_a_figure_in_both_forms) {
  pcal_source *source = drawing_source();
  pcal_figure *figure = NULL;
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_error err;
  sink_bytes text = {0};
  config.title = "<b>";
  assert_int_equal(pcal_figure_run(source, &config, NULL, &figure, &err), PCAL_OK);
  assert_int_equal(
      pcal_figure_write(figure, PCAL_SVG, PCAL_THEME_DARK, sink_collect, &text, &err), PCAL_OK);
  assert_contains(text.bytes, "<title>&lt;b&gt;</title>");
  assert_null(strstr(text.bytes, "prefers-color-scheme"));
  free(text.bytes);
  text = (sink_bytes){0};
  assert_int_equal(
      pcal_figure_write(figure, PCAL_JSON, PCAL_THEME_AUTO, sink_collect, &text, &err),
      PCAL_OK);
  assert_contains(text.bytes, "\"title\": \"<b>\"");
  free(text.bytes);
  pcal_theme theme = PCAL_THEME_DARK;
  assert_int_equal(pcal_theme_parse("pink", &theme, &err), PCAL_USAGE);
  assert_contains(err.message, "auto, light or dark");
  assert_int_equal(pcal_theme_parse("light", &theme, &err), PCAL_OK);
  assert_int_equal(theme, PCAL_THEME_LIGHT);
  assert_int_equal(pcal_theme_parse(NULL, &theme, &err), PCAL_OK);
  assert_int_equal(theme, PCAL_THEME_AUTO);
  assert_int_equal(
      pcal_figure_write(figure, PCAL_SVG, (pcal_theme)9, sink_collect, &text, &err),
      PCAL_USAGE);
  assert_string_equal(err.message, "theme 9 is unknown; use a value of pcal_theme");
  assert_int_equal(pcal_figure_write(figure, PCAL_CSV, theme, sink_collect, &text, &err),
                   PCAL_USAGE);
  assert_string_equal(err.message, "a figure is written as PCAL_SVG or PCAL_JSON");
  assert_int_equal(pcal_figure_write(figure, PCAL_SVG, theme, sink_refuse, NULL, &err),
                   PCAL_IO);
  assert_int_equal(pcal_figure_write(figure, PCAL_JSON, theme, sink_refuse, NULL, &err),
                   PCAL_IO);
  assert_int_equal(pcal_figure_write(NULL, PCAL_SVG, theme, sink_collect, &text, &err),
                   PCAL_USAGE);
  assert_int_equal(pcal_figure_write(figure, PCAL_SVG, theme, NULL, &text, &err), PCAL_USAGE);
  pcal_figure_free(figure);
  pcal_figure_free(NULL);
  pcal_source_free(source);
}

static void drawing_refused(const pcal_figure_config *config, const char *part) {
  pcal_source *source = drawing_source();
  pcal_figure *figure = (pcal_figure *)(void *)source;
  pcal_error err;
  assert_int_equal(pcal_figure_run(source, config, NULL, &figure, &err), PCAL_USAGE);
  assert_null(figure);
  assert_contains(err.message, part);
  pcal_source_free(source);
}

TEST(test_what_is_refused) {
  pcal_figure_config config = PCAL_FIGURE_CONFIG_INIT;
  pcal_figure *figure = NULL;
  pcal_error err;
  assert_int_equal(pcal_figure_run(NULL, &config, NULL, &figure, &err), PCAL_USAGE);
  config.figure = NULL;
  drawing_refused(&config, "needs the name of a figure");
  config.figure = "pie";
  drawing_refused(&config, "there is no figure called 'pie'");
  config.figure = "reliability:bins=0";
  drawing_refused(&config, "bins");
  config.figure = "reliability";
  config.width = 100;
  drawing_refused(&config, "the width of a figure must be between 240 and 10000");
  config.width = 0;
  config.height = 1e9;
  drawing_refused(&config, "the height of a figure");
  config.height = 0;
  config.interval = 1;
  drawing_refused(&config, "the level of an interval");
  config.size = 1;
  drawing_refused(&config, "size is not set");
}

/* Some figures can be drawn from results alone; for the others the error says which metric or
 * data is missing. */
TEST(test_figures_of_results) {
  pcal_results *results = given_results(&drawing_data, "ece ks");
  sink_bytes text = {0};
  pcal_error err;
  assert_int_equal(given_figure(results, "reliability", &text, &err), PCAL_OK);
  assert_contains(text.bytes, "</svg>");
  free(text.bytes);
  text = (sink_bytes){0};
  assert_int_equal(given_figure(results, "ks-graph", &text, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "figure ks-graph is drawn from ks and its curve, which these results lack; "
                  "measure it with curves, or plot from the data");
  assert_int_equal(given_figure(results, "temperature", &text, &err), PCAL_USAGE);
  assert_contains(err.message, "needs the data, not only results");
  assert_int_equal(given_figure(results, "taxonomy", &text, &err), PCAL_USAGE);
  assert_contains(err.message, "is drawn from rbs and others");
  assert_int_equal(text.length, 0);
  pcal_results_free(results);
}
