#include "figure_help.h"

#include <math.h>

#include "figure/text_extent.h"

#define THIN "\xE2\x80\x89"

static void reliability_draw(const pc_reliability_data *data, pc_figure *figure,
                             const pcal_env *env) {
  pcal_error err;
  pc_figure_init(figure, 640, 720, env);
  if (pc_reliability_draw(data, figure, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

static int reliability_same(double a, double b) {
  return fabs(a - b) < 1e-12;
}

/* How many marks of the panel have this kind, tone and points. */
static size_t reliability_marks(const pc_figure *figure, size_t panel, pc_mark_kind kind,
                                pc_tone tone, pc_point first, pc_point second) {
  size_t count = 0;
  for (size_t i = 0; i < figure->mark_count; i++) {
    const pc_mark *mark = &figure->marks[i];
    const pc_point *at = figure->points + mark->first;
    count += mark->panel == panel && mark->kind == kind && mark->look.tone == tone &&
             reliability_same(at[0].x, first.x) && reliability_same(at[0].y, first.y) &&
             (mark->count < 2 ||
              (reliability_same(at[1].x, second.x) && reliability_same(at[1].y, second.y)));
  }
  return count;
}

static const pc_mark *reliability_note(const pc_figure *figure, const char *text) {
  for (size_t i = 0; i < figure->mark_count; i++)
    if (figure->marks[i].kind == PC_MARK_NOTE &&
        strncmp(pc_figure_string(figure, figure->marks[i].text), text, strlen(text)) == 0)
      return &figure->marks[i];
  fail_msg("no note %s", text);
  return NULL;
}

static int reliability_key_has(const pc_figure *figure, const char *text) {
  for (size_t i = 0; i < figure->legend_count; i++)
    if (strcmp(pc_figure_string(figure, figure->legend[i].text), text) == 0)
      return 1;
  return 0;
}

TEST(test_bins_are_where_they_belong) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_reliability_data data = check_data();
  pc_figure figure;
  reliability_draw(&data, &figure, &env);
  assert_int_equal(reliability_marks(&figure, 0, PC_MARK_BAR, PC_TONE_WARM,
                                     (pc_point){0.0075, 0.2}, (pc_point){0.2425, 0.1}),
                   1);
  assert_int_equal(reliability_marks(&figure, 0, PC_MARK_BAR, PC_TONE_COOL,
                                     (pc_point){0.5075, 0.6}, (pc_point){0.7425, 0.8}),
                   1);
  assert_int_equal(reliability_marks(&figure, 0, PC_MARK_POINT, PC_TONE_INK,
                                     (pc_point){0.2, 0.1}, (pc_point){0, 0}),
                   1);
  assert_int_equal(reliability_marks(&figure, 0, PC_MARK_POINT, PC_TONE_MUTED,
                                     (pc_point){0.6, 0.8}, (pc_point){0, 0}),
                   1);
  assert_int_equal(reliability_marks(&figure, 0, PC_MARK_SEGMENT, PC_TONE_MUTED,
                                     (pc_point){0, 0}, (pc_point){1, 1}),
                   1);
  assert_int_equal(reliability_marks(&figure, 1, PC_MARK_BAR, PC_TONE_FILL,
                                     (pc_point){0.0075, 0}, (pc_point){0.2425, 0.5}),
                   1);
  const pc_mark *note = reliability_note(&figure, "0.0790");
  assert_int_equal(note->panel, 0);
  assert_string_equal(pc_figure_string(&figure, figure.description),
                      "Reliability diagram in 4 bins. n 200, ECE 0.0790, mean confidence "
                      "0.5065, accuracy 0.4855.");
  pc_figure_free(&figure);
}

TEST(test_uncertainty_is_printed) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_reliability_data data = check_data();
  data.has_interval = data.has_null = data.has_before = 1;
  data.level = 0.9;
  data.low = 0.05;
  data.high = 0.12;
  data.null_low = 0.0101;
  data.null_high = 0.0202;
  data.before = 0.25;
  pc_figure figure;
  reliability_draw(&data, &figure, &env);
  reliability_note(&figure, "90% interval");
  reliability_note(&figure, "0.050 to 0.120");
  reliability_note(&figure, "if calibrated");
  reliability_note(&figure, "0.0101 to 0.0202");
  reliability_note(&figure, "ECE before");
  reliability_note(&figure, "0.2500");
  assert_true(reliability_key_has(&figure, "bin with 90% interval"));
  pc_figure_free(&figure);
}

TEST(test_consistency_band) {
  const pcal_env env = pc_env_resolve(NULL);
  const double half = 1.959963984540054 * sqrt(0.2 * 0.8 / 100);
  pc_reliability_data data = check_data();
  data.band = PC_BAND_CONSISTENCY;
  pc_figure figure;
  reliability_draw(&data, &figure, &env);
  assert_int_equal(reliability_marks(&figure, 0, PC_MARK_BAR, PC_TONE_INK,
                                     (pc_point){0, 0.2 - half}, (pc_point){0.25, 0.2 + half}),
                   1);
  assert_true(reliability_key_has(&figure, "95% of bins if calibrated"));
  assert_true(reliability_key_has(&figure, "bin"));
  pc_figure_free(&figure);
}

TEST(test_thirty_rows_are_not_few) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_bin bin = {0.5, 1, 30, 0.8, 0.7};
  pc_reliability_data data = check_data();
  data.bins = &bin;
  data.bin_count = 1;
  data.rows = 30;
  pc_figure figure;
  reliability_draw(&data, &figure, &env);
  assert_false(reliability_key_has(&figure, "fewer than 30 rows"));
  pc_figure_free(&figure);
  bin.weight = 29.5;
  reliability_draw(&data, &figure, &env);
  assert_true(reliability_key_has(&figure, "fewer than 30 rows"));
  pc_figure_free(&figure);
}

TEST(test_words_of_the_views) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_reliability_data data = check_data();
  data.class_1 = 1;
  data.has_ece = 0;
  pc_figure figure;
  reliability_draw(&data, &figure, &env);
  assert_string_equal(pc_figure_string(&figure, figure.panels[1].axis[PC_SIDE_X].label),
                      "predicted probability of class 1");
  assert_true(reliability_key_has(&figure, "predicted too low"));
  assert_string_equal(
      pc_figure_string(&figure, figure.description),
      "Reliability diagram in 4 bins. n 200, mean prediction 0.5065, base rate 0.4855.");
  pc_figure_free(&figure);
}

TEST(test_scores_at_and_beyond_the_edge) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_bin bin = {14. / 15, 1, 1000, 1.000009, 1};
  pc_reliability_data data = check_data();
  data.bins = &bin;
  data.bin_count = 1;
  data.rows = 1000;
  data.mean_score = 1.000009;
  data.hit_rate = 1;
  pc_figure figure;
  reliability_draw(&data, &figure, &env);
  assert_int_equal(reliability_marks(&figure, 0, PC_MARK_POINT, PC_TONE_INK, (pc_point){1, 1},
                                     (pc_point){0, 0}),
                   1);
  pc_figure_free(&figure);
}

/* Every pair of means, wide and narrow: names stay apart, inside, and below the upper panel. */
TEST(test_names_of_means_never_overlap) {
  const pcal_env env = pc_env_resolve(NULL);
  for (int i = 0; i < 2 * 21 * 21; i++) {
    pc_reliability_data data = check_data();
    data.class_1 = i % 2;
    data.mean_score = i / 2 % 21 / 20.0;
    data.hit_rate = i / 42 / 20.0;
    pc_figure figure;
    pc_figure_init(&figure, i % 3 ? 640 : 400, 720, &env);
    assert_int_equal(pc_reliability_draw(&data, &figure, NULL), PCAL_OK);
    check_words_apart(&figure, "reliability");
    for (size_t j = 0; j < figure.mark_count; j++)
      if (figure.marks[j].kind == PC_MARK_NOTE && figure.marks[j].panel == 1) {
        const pc_rect *upper = &figure.panels[0].rect;
        const pc_point at =
            pc_panel_to_figure(&figure.panels[1], figure.points[figure.marks[j].first]);
        assert_true(at.y + figure.marks[j].shift.y - 15 >= upper->y + upper->height);
      }
    pc_figure_free(&figure);
  }
}

static void reliability_refused(const pc_reliability_data *data, const char *part) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_figure figure;
  pcal_error err;
  pc_figure_init(&figure, 640, 720, &env);
  assert_int_equal(pc_reliability_draw(data, &figure, &err), PCAL_DATA);
  if (strstr(err.message, part) == NULL)
    fail_msg("%s", err.message);
  pc_figure_free(&figure);
}

TEST(test_nothing_to_draw) {
  pcal_bin bin = {0, 1, 0, NAN, NAN};
  pc_reliability_data data = check_data();
  data.bins = &bin;
  data.bin_count = 1;
  data.rows = 0;
  reliability_refused(&data, "there are no rows to draw; measure at least one row");
  data.rows = bin.weight = 3;
  reliability_refused(&data, "bin 0 holds a number that is not finite");
  bin.confidence = bin.frequency = 0.5;
  data.hit_rate = NAN;
  reliability_refused(&data, "the mean score or the share of hits is not finite");
  data.bin_count = 0;
  reliability_refused(&data, "no rows");
}
