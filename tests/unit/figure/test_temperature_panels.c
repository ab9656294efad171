/* Curves over temperatures; numbers in brackets are the edge cases of temperature_panels.c. */
#include "figure_help.h"

#include <math.h>

#include "figure/figure_layout.h"
#include "figure/svg.h"
#include "figure/temperature_panels.h"

/* value = (octave - least)^2 + 1 */
static void panels_parabola(double least, pc_temperature_curve *out) {
  for (size_t i = 0; i < PC_TEMPERATURES; i++) {
    const double octave = log2(pc_temperature_at(i));
    out->value[i] = (octave - least) * (octave - least) + 1;
  }
}

/* A parabola has its minimum at its vertex, or at the lowest point that was measured. */
TEST(minimum_of_a_parabola) {
  pc_temperature_curve curve;
  panels_parabola(0.53, &curve);
  pc_temperature_curve_end(&curve, 1);
  check_near(curve.best, 0.53, 1e-9);
  pc_temperature_curve_end(&curve, 0);
  check_near(curve.best, 0.5, 1e-12);
  assert_true(curve.least == curve.value[curve.lowest]);
}

/* No parabola at the ends, beside a point without a value, or where the curve is flat. */
TEST(minimum_without_a_parabola) {
  pc_temperature_curve curve;
  panels_parabola(-9, &curve);
  pc_temperature_curve_end(&curve, 1);
  assert_true(curve.lowest == 0 && curve.best == curve.octave[0]);
  panels_parabola(9, &curve);
  pc_temperature_curve_end(&curve, 1);
  assert_int_equal(curve.lowest, PC_TEMPERATURES - 1);
  assert_true(curve.best == curve.octave[PC_TEMPERATURES - 1]);
  for (int side = -1; side <= 1; side += 2) {
    panels_parabola(0.53, &curve);
    pc_temperature_curve_end(&curve, 0);
    const size_t lowest = curve.lowest;
    curve.value[(size_t)((long)lowest + side)] = INFINITY; /* [2] */
    pc_temperature_curve_end(&curve, 1);
    assert_int_equal(curve.lowest, lowest);
    assert_true(curve.best == curve.octave[lowest]);
    assert_true(isnan(curve.value[(size_t)((long)lowest + side)]));
  }
  for (size_t i = 0; i < PC_TEMPERATURES; i++)
    curve.value[i] = i == 0 ? 2 : 1;
  pc_temperature_curve_end(&curve, 1);
  assert_true(curve.lowest == 1 && curve.best > curve.octave[1] - 1);
  for (size_t i = 0; i < PC_TEMPERATURES; i++)
    curve.value[i] = NAN;
  pc_temperature_curve_end(&curve, 1);
  assert_int_equal(curve.lowest, PC_TEMPERATURES);
}

/* Returns the drawing; the title of the panel must be `title`. */
static char *panels_draw(const char *title, const pc_temperature_curve *curve,
                         const pc_temperature_curve *second) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_panel_grid grid = {.columns = 1, .rows = 1};
  pc_figure figure;
  pc_text text;
  pc_figure_init(&figure, 480, 320, &env);
  pc_text_init(&text, &env);
  pc_temperature_panel(&figure, 0, curve, "log", 1);
  pc_temperature_legend(&figure, second != NULL);
  pc_figure_lay_out(&figure, &grid);
  pc_temperature_marks(&figure, 0, PC_TONE_A, curve, second);
  assert_false(figure.failed);
  assert_string_equal(pc_figure_string(&figure, figure.panels[0].title), title);
  assert_int_equal(pc_svg_write(&figure, PCAL_THEME_LIGHT, &text, NULL), PCAL_OK);
  assert_false(text.failed);
  char *copy = malloc(text.length + 1);
  assert_non_null(copy);
  memcpy(copy, text.bytes, text.length + 1);
  pc_text_free(&text);
  pc_figure_free(&figure);
  return copy;
}

/* [1], [3]: with values missing at either end, at T = 1, or everywhere but at one temperature, the panel is drawn
 * and names the minimum. */
TEST(panels_with_values_missing) {
  const size_t one = -PC_TEMPERATURE_FIRST * PC_TEMPERATURE_STEPS, last = PC_TEMPERATURES - 1;
  for (int which = 0; which < 8; which++) {
    pc_temperature_curve curve, second;
    panels_parabola(0.5, &curve);
    panels_parabola(-0.5, &second);
    curve.value[0] = which & 1 ? NAN : curve.value[0];
    curve.value[last] = which & 2 ? INFINITY : curve.value[last];
    curve.value[one] = which & 4 ? NAN : curve.value[one];
    pc_temperature_curve_end(&curve, 1);
    pc_temperature_curve_end(&second, 1);
    char *svg = panels_draw("log \xC2\xB7 lowest, 1.00, at T = 1.41", &curve,
                            which & 1 ? &second : NULL);
    check_xml(svg);
    assert_int_equal(strstr(svg, "second set") != NULL, which & 1);
    free(svg);
  }
  pc_temperature_curve single;
  for (size_t i = 0; i < PC_TEMPERATURES; i++)
    single.value[i] = i == one ? 0.0 : (double)NAN;
  pc_temperature_curve_end(&single, 1);
  free(panels_draw("log \xC2\xB7 lowest, 0.00, at T = 1.00", &single, NULL));
  for (size_t i = 0; i < PC_TEMPERATURES; i++)
    single.value[i] = 3.0; /* flat */
  pc_temperature_curve_end(&single, 0);
  free(panels_draw("log \xC2\xB7 lowest, 3.00, at T = 0.250", &single, NULL));
}

TEST(confidences_are_refused) {
  pc_layout layout;
  pc_figure_request request = {0};
  pcal_error err = PCAL_ERROR_INIT;
  assert_int_equal(pc_layout_make(PCAL_CONFIDENCE, 1, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_temperature_request("x", &layout, &request, &err), PCAL_USAGE);
  assert_non_null(strstr(err.message, "figure x needs the scores of all classes"));
  assert_int_equal(request.temperature_count, 0);
  assert_int_equal(pc_layout_make(PCAL_LOGIT, 3, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_temperature_request("x", &layout, &request, &err), PCAL_OK);
  assert_int_equal(request.temperature_count, PC_TEMPERATURES);
}
