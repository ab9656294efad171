#include "figure_help.h"

#include <math.h>
#include <stdio.h>

#include "figure/svg.h"

typedef struct svg_fixture {
  check_memory memory;
  pcal_env env;
  pc_figure figure;
  pc_text out;
} svg_fixture;

static void svg_begin(svg_fixture *fixture) {
  memset(fixture, 0, sizeof *fixture);
  fixture->env = check_env(&fixture->memory);
  pc_figure_init(&fixture->figure, 200, 100, &fixture->env);
  pc_text_init(&fixture->out, &fixture->env);
}

static const char *svg_written(svg_fixture *fixture) {
  assert_int_equal(pc_svg_write(&fixture->figure, PCAL_THEME_AUTO, &fixture->out, NULL),
                   PCAL_OK);
  check_xml(fixture->out.bytes);
  return fixture->out.bytes;
}

static void svg_done(svg_fixture *fixture) {
  pc_text_free(&fixture->out);
  pc_figure_free(&fixture->figure);
  assert_int_equal(fixture->memory.live, 0);
}

static void svg_contains(const char *text, const char *part) {
  if (strstr(text, part) == NULL)
    fail_msg("%s is not in\n%s", part, text);
}

TEST(test_frame) {
  svg_fixture fixture;
  svg_begin(&fixture);
  fixture.figure.title = pc_figure_add_string(&fixture.figure, "A title");
  fixture.figure.description = pc_figure_add_string(&fixture.figure, "In words.");
  const char *svg = svg_written(&fixture);
  const char *head = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pcal\" role=\"img\" "
                     "width=\"200\" height=\"100\" viewBox=\"0 0 200 100\">\n"
                     "<title>A title</title>\n<desc>In words.</desc>\n<style>\n";
  assert_memory_equal(svg, head, strlen(head));
  svg_contains(svg, "prefers-color-scheme:dark");
  assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
  svg_done(&fixture);
}

TEST(test_coordinates) {
  svg_fixture fixture;
  svg_begin(&fixture);
  const pc_look warm = {.tone = PC_TONE_WARM, .pale = 1};
  const pc_look line = {.tone = PC_TONE_INK, .dashed = 1, .size = 1.5};
  const size_t panel = pc_figure_panel(&fixture.figure, (pc_rect){10, 10, 90, 80});
  pc_figure_bar(&fixture.figure, panel, warm, (pc_point){0, 0}, (pc_point){1. / 3, 0.25}, NULL);
  pc_figure_bar(&fixture.figure, panel, warm, (pc_point){0, 0}, (pc_point){1, 1e-4}, NULL);
  pc_figure_segment(&fixture.figure, panel, line, (pc_point){0, 0}, (pc_point){1, 1});
  pc_figure_point(&fixture.figure, panel, (pc_look){.tone = PC_TONE_MUTED, .hollow = 1},
                  (pc_point){0.123456, 0.5}, "a < b");
  const pc_point points[] = {{0, 0}, {0.5, 1}, {1, 0}};
  pc_figure_line(&fixture.figure, panel, line, points, 3);
  pc_figure_band(&fixture.figure, panel, warm, points, 3);
  const char *svg = svg_written(&fixture);
  svg_contains(svg, "<rect class=\"f-warm pale\" x=\"10\" y=\"70\" width=\"30\" "
                    "height=\"20\"/>");
  svg_contains(svg, "<rect class=\"f-warm pale\" x=\"10\" y=\"89\" width=\"90\" "
                    "height=\"1\"/>");
  svg_contains(svg, "<line class=\"s-ink dash\" x1=\"10\" y1=\"90\" x2=\"100\" y2=\"10\" "
                    "stroke-width=\"1.5\"/>");
  svg_contains(svg, "<circle class=\"f-paper s-muted\" cx=\"21.11\" cy=\"50\" r=\"4\" "
                    "stroke-width=\"1.5\"><title>a &lt; b</title></circle>");
  svg_contains(svg, "<path class=\"s-ink line dash\" d=\"M10 90L55 10L100 90\" "
                    "stroke-width=\"1.5\"/>");
  svg_contains(svg, "<path class=\"f-warm pale\" d=\"M10 90L55 10L100 90Z\"/>");
  svg_done(&fixture);
}

TEST(test_names_are_never_markup) {
  svg_fixture fixture;
  svg_begin(&fixture);
  const char *evil = "<script>alert(\"1\")</script>&amp;\x01\x80\n'";
  const size_t panel = pc_figure_panel(&fixture.figure, (pc_rect){10, 10, 90, 80});
  fixture.figure.title = pc_figure_add_string(&fixture.figure, evil);
  fixture.figure.subtitle = pc_figure_add_string(&fixture.figure, evil);
  fixture.figure.description = pc_figure_add_string(&fixture.figure, evil);
  pc_figure_axis(&fixture.figure, panel, PC_SIDE_X, 0, 1, 2, PC_NUMBERS_PLAIN, evil);
  pc_figure_axis(&fixture.figure, panel, PC_SIDE_Y, 0, 1, 2, PC_NUMBERS_PLAIN, evil);
  pc_figure_point(&fixture.figure, panel, (pc_look){0}, (pc_point){0, 0}, evil);
  pc_figure_note(&fixture.figure, panel, (pc_look){0}, (pc_point){0, 0}, (pc_point){0, 0},
                 PC_ANCHOR_MIDDLE, evil);
  pc_figure_legend(&fixture.figure, PC_SAMPLE_LINE, (pc_look){0}, evil);
  const char *svg = svg_written(&fixture);
  assert_null(strstr(svg, "<script"));
  assert_int_equal(check_count(svg, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;amp;"
                                    "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD'"),
                   9);
  svg_done(&fixture);
}

TEST(test_tick_labels) {
  svg_fixture fixture;
  svg_begin(&fixture);
  pc_figure *figure = &fixture.figure;
  const size_t panel = pc_figure_panel(figure, (pc_rect){10, 10, 400, 300});
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, 0.02, 5, PC_NUMBERS_PERCENT, NULL);
  const char *svg = svg_written(&fixture);
  svg_contains(svg, " text-anchor=\"middle\">0.0</text>");
  svg_contains(svg, " text-anchor=\"middle\">0.2</text>");
  svg_contains(svg, " text-anchor=\"middle\">1.0</text>");
  svg_contains(svg, " text-anchor=\"end\">0.5%</text>");
  svg_contains(svg, " text-anchor=\"end\">2.0%</text>");
  svg_done(&fixture);
}

TEST(test_tick_labels_never_touch) {
  for (double width = 20; width < 400; width += 20) {
    svg_fixture fixture;
    svg_begin(&fixture);
    const size_t panel = pc_figure_panel(&fixture.figure, (pc_rect){0, 0, width, 50});
    pc_figure_axis(&fixture.figure, panel, PC_SIDE_X, 0, 10000, 11, PC_NUMBERS_PLAIN, NULL);
    const char *svg = svg_written(&fixture);
    const size_t labels = check_count(svg, "</text>");
    assert_true(labels >= 1 && (labels == 1 || 30 * (double)labels < width + 60));
    assert_int_equal(check_count(svg, "<line class=\"s-faint\""), 11);
    svg_done(&fixture);
  }
}

TEST(test_hidden_numbers) {
  svg_fixture fixture;
  svg_begin(&fixture);
  const size_t panel = pc_figure_panel(&fixture.figure, (pc_rect){0, 0, 100, 50});
  pc_figure_axis(&fixture.figure, panel, PC_SIDE_X, 0, 1, 3, PC_NUMBERS_NONE, NULL);
  const char *svg = svg_written(&fixture);
  assert_null(strstr(svg, ">0.5</text>"));
  assert_int_equal(check_count(svg, "<line class=\"s-faint\""), 3);
  svg_done(&fixture);
}

TEST(test_key_samples) {
  svg_fixture fixture;
  svg_begin(&fixture);
  pc_figure *figure = &fixture.figure;
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){0}, "one");
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_C, .wash = 1}, "two");
  figure->legend[0].at = (pc_point){10, 62};
  figure->legend[1].at = (pc_point){10, 86};
  const char *svg = svg_written(&fixture);
  svg_contains(svg, "x=\"42\" y=\"67.4\" font-size=\"15\">one<");
  svg_contains(svg, "x=\"42\" y=\"91.4\" font-size=\"15\">two<");
  svg_contains(svg, "<circle class=\"f-ink s-ink\" cx=\"22\" cy=\"62\"");
  svg_contains(svg, "<line class=\"s-c wash\" x1=\"10\" y1=\"86\" x2=\"34\" y2=\"86\"");
  svg_done(&fixture);
}

TEST(test_themes) {
  static const char *const names[] = {"auto", "light", "dark"};
  for (int i = 0; i < 3; i++) {
    svg_fixture fixture;
    pcal_theme theme;
    svg_begin(&fixture);
    assert_int_equal(pc_theme_find(names[i], &theme, NULL), PCAL_OK);
    assert_int_equal(theme, i);
    assert_int_equal(pc_svg_write(&fixture.figure, theme, &fixture.out, NULL), PCAL_OK);
    assert_int_equal(check_count(fixture.out.bytes, "prefers-color-scheme"), i == 0);
    assert_int_equal(check_count(fixture.out.bytes, ".f-paper{fill:#fff}"), i < 2);
    assert_int_equal(check_count(fixture.out.bytes, ".f-paper{fill:#14171c}"), i != 1);
    svg_done(&fixture);
  }
  pcal_theme theme = PCAL_THEME_DARK;
  pcal_error err;
  assert_int_equal(pc_theme_find(NULL, &theme, &err), PCAL_OK);
  assert_int_equal(theme, PCAL_THEME_AUTO);
  assert_int_equal(pc_theme_find("pink", &theme, &err), PCAL_USAGE);
  assert_string_equal(err.message, "there is no theme 'pink'; choose auto, light or dark");
}

/* The stroke of a series, as a red, green and blue in linear light; the second set is dark. */
static void svg_stroke(const char *svg, char series, int dark, double out[3]) {
  char rule[32];
  unsigned red, green, blue;
  snprintf(rule, sizeof rule, ".pcal .s-%c{stroke:#", series);
  const char *at = strstr(svg, rule);
  if (dark && at != NULL)
    at = strstr(at + 1, rule);
  assert_non_null(at);
  assert_int_equal(sscanf(at + strlen(rule), "%2x%2x%2x", &red, &green, &blue), 3);
  const unsigned all[] = {red, green, blue};
  for (size_t i = 0; i < 3; i++)
    out[i] = pow((all[i] / 255.0 + 0.055) / 1.055, 2.4);
}

/* The colour as a reader with weak or no green cones sees it (Machado et al. 2009). */
static void svg_without_green(const double in[3], double out[3]) {
  static const double seen[3][3] = {{0.367322, 0.860646, -0.227968},
                                    {0.280085, 0.672501, 0.047413},
                                    {-0.011820, 0.042940, 0.968881}};
  for (size_t i = 0; i < 3; i++)
    out[i] = fmax(seen[i][0] * in[0] + seen[i][1] * in[1] + seen[i][2] * in[2], 0);
}

/* Oklab, in which equal distances look equally different (Ottosson 2020). */
static void svg_oklab(const double in[3], double out[3]) {
  static const double cones[3][3] = {{0.4122214708, 0.5363325363, 0.0514459929},
                                     {0.2119034982, 0.6806995451, 0.1073969566},
                                     {0.0883024619, 0.2817188376, 0.6299787005}};
  static const double axes[3][3] = {{0.2104542553, 0.7936177850, -0.0040720468},
                                    {1.9779984951, -2.4285922050, 0.4505937099},
                                    {0.0259040371, 0.7827717662, -0.8086757660}};
  double root[3];
  for (size_t i = 0; i < 3; i++)
    root[i] = cbrt(cones[i][0] * in[0] + cones[i][1] * in[1] + cones[i][2] * in[2]);
  for (size_t i = 0; i < 3; i++)
    out[i] = axes[i][0] * root[0] + axes[i][1] * root[1] + axes[i][2] * root[2];
}

/* The difference of two series; 0.02 is just visible side by side. */
static double svg_difference(const char *svg, int dark, int weak, char one, char other) {
  double linear[2][3], seen[2][3], lab[2][3], sum = 0;
  svg_stroke(svg, one, dark, linear[0]);
  svg_stroke(svg, other, dark, linear[1]);
  for (size_t s = 0; s < 2; s++) {
    svg_without_green(linear[s], seen[s]);
    svg_oklab(weak ? seen[s] : linear[s], lab[s]);
  }
  for (size_t i = 0; i < 3; i++)
    sum += (lab[0][i] - lab[1][i]) * (lab[0][i] - lab[1][i]);
  return sqrt(sum);
}

/* Nine series have distinct colours in both themes, also for readers with deuteranopia. */
TEST(test_nine_colours) {
  svg_fixture fixture;
  svg_begin(&fixture);
  const size_t panel = pc_figure_panel(&fixture.figure, (pc_rect){10, 10, 90, 80});
  for (size_t s = 0; s < PC_SERIES_TONES; s++) {
    assert_false(pc_series_look(s, 2).dashed);
    pc_figure_segment(&fixture.figure, panel, pc_series_look(s, 2), (pc_point){0, 0},
                      (pc_point){1, 1});
  }
  const pc_look tenth = pc_series_look(PC_SERIES_TONES, 2);
  assert_true(tenth.dashed && tenth.tone == PC_TONE_A);
  const char *svg = svg_written(&fixture);
  for (char one = 'a'; one <= 'i'; one++)
    for (char other = 'a'; other < one; other++)
      for (int dark = 0; dark < 2; dark++) {
        assert_true(svg_difference(svg, dark, 0, one, other) > 0.1);
        assert_true(svg_difference(svg, dark, 1, one, other) > 0.05);
      }
  svg_done(&fixture);
}

/* Figures with fewer series carry no rules for the others. */
TEST(test_rules_of_five_colours) {
  svg_fixture fixture;
  svg_begin(&fixture);
  const char *svg = svg_written(&fixture);
  svg_contains(svg, ".pcal .s-e{");
  assert_null(strstr(svg, ".pcal .s-f{"));
  svg_done(&fixture);
}

TEST(test_failed_figure_is_not_written) {
  svg_fixture fixture;
  svg_begin(&fixture);
  pcal_error err;
  fixture.memory.fail = 1;
  pc_figure_panel(&fixture.figure, (pc_rect){0, 0, 1, 1});
  assert_int_equal(pc_svg_write(&fixture.figure, PCAL_THEME_AUTO, &fixture.out, &err),
                   PCAL_MEMORY);
  assert_int_equal(err.status, PCAL_MEMORY);
  assert_int_equal(fixture.out.length, 0);
  svg_done(&fixture);
}
