#include "figure_help.h"

#include "figure/stat_box.h"

/* Where the numbers go beside a bar from (left, low) to (right, high), in figure units. */
static pc_point corner_place(double left, double low, double right, double high,
                             size_t *lines) {
  static const pc_stat stats[] = {{"ECE", "0.0123"}, {"something else", "12 to 34"}};
  const pcal_env env = pc_env_resolve(NULL);
  pc_figure figure;
  pc_figure_init(&figure, 640, 480, &env);
  const size_t panel = pc_figure_panel(&figure, (pc_rect){80, 60, 520, 360});
  pc_figure_bar(&figure, panel, (pc_look){0}, (pc_point){left, low}, (pc_point){right, high},
                NULL);
  pc_figure_segment(&figure, panel, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1},
                    (pc_point){0, 1}, (pc_point){1, 0});
  pc_figure_stat_box(&figure, panel, stats, 2);
  assert_int_equal(pc_figure_status(&figure, NULL), PCAL_OK);
  pc_point at = {0, 0};
  *lines = 0;
  for (size_t i = figure.mark_count; i-- > 0;)
    if (figure.marks[i].kind == PC_MARK_NOTE) {
      const pc_point origin =
          pc_panel_to_figure(&figure.panels[0], figure.points[figure.marks[i].first]);
      at = (pc_point){origin.x + figure.marks[i].shift.x, origin.y + figure.marks[i].shift.y};
      ++*lines;
    }
  check_words_apart(&figure, "corner");
  pc_figure_free(&figure);
  return at;
}

TEST(test_the_first_free_corner) {
  size_t notes;
  pc_point at = corner_place(0.4, 0.4, 0.6, 0.6, &notes);
  assert_true(at.x < 200 && at.y < 120);
  at = corner_place(0, 0.5, 0.6, 1, &notes);
  assert_true(at.x > 300 && at.y > 300);
  at = corner_place(0, 0, 0.5, 1, &notes);
  assert_true(at.x > 300 && at.y > 300 && notes == 4);
  at = corner_place(0, 0, 1, 0.5, &notes);
  assert_true(at.x < 200 && at.y < 120);
}

TEST(test_without_a_corner_they_stand_above) {
  size_t notes;
  const pc_point at = corner_place(0, 0, 1, 1, &notes);
  assert_true(at.x == 24 && at.y < 90);
  assert_int_equal(notes, 1);
}

TEST(test_a_narrow_panel_has_lines) {
  static const pc_stat stats[] = {{"a name of some length", "0.0123456"},
                                  {"another name of length", "12 to 34"}};
  const pcal_env env = pc_env_resolve(NULL);
  pc_figure figure;
  pc_figure_init(&figure, 300, 300, &env);
  const size_t panel = pc_figure_panel(&figure, (pc_rect){60, 40, 100, 200});
  pc_figure_stat_box(&figure, panel, stats, 2);
  assert_int_equal(figure.mark_count, 2);
  check_near(figure.panels[0].rect.y, 86, 1e-9);
  check_near(figure.panels[0].rect.height, 154, 1e-9);
  check_words_apart(&figure, "corner");
  pc_figure_free(&figure);
}
