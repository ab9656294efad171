#include "figure_help.h"

static const pc_look figure_plain = {.tone = PC_TONE_INK};

TEST(test_strings_are_copied) {
  check_memory memory = {0};
  const pcal_env env = check_env(&memory);
  pc_figure figure;
  pc_figure_init(&figure, 10, 10, &env);
  char word[] = "first";
  const pc_string_id first = pc_figure_add_string(&figure, word);
  word[0] = 'x';
  const pc_string_id second = pc_figure_add_string(&figure, "second");
  assert_string_equal(pc_figure_string(&figure, first), "first");
  assert_string_equal(pc_figure_string(&figure, second), "second");
  assert_int_equal(pc_figure_add_string(&figure, NULL), 0);
  assert_int_equal(pc_figure_add_string(&figure, ""), 0);
  assert_string_equal(pc_figure_string(&figure, 0), "");
  pc_figure_free(&figure);
  assert_int_equal(memory.live, 0);
}

TEST(test_places) {
  pc_panel panel = {.rect = {10, 20, 100, 50}, .axis = {{.low = -1, .high = 1}, {.high = 4}}};
  pc_point at = pc_panel_to_figure(&panel, (pc_point){0, 1});
  assert_true(at.x == 60 && at.y == 57.5);
  at = pc_panel_to_figure(&panel, (pc_point){-1, 4});
  assert_true(at.x == 10 && at.y == 20);
  panel.axis[PC_SIDE_X].high = -1;
  assert_true(pc_panel_to_figure(&panel, (pc_point){-1, 0}).x == 60);
}

TEST(test_marks_keep_order_and_points) {
  check_memory memory = {0};
  const pcal_env env = check_env(&memory);
  const pc_point three[] = {{1, 2}, {3, 4}, {5, 6}};
  pc_figure figure;
  pc_figure_init(&figure, 10, 10, &env);
  assert_int_equal(pc_figure_panel(&figure, (pc_rect){0, 0, 1, 1}), 0);
  assert_int_equal(pc_figure_panel(&figure, (pc_rect){0, 0, 1, 1}), 1);
  pc_figure_band(&figure, 1, figure_plain, three, 3);
  pc_figure_line(&figure, 0, figure_plain, three, 1);
  pc_figure_band(&figure, 0, figure_plain, three, 2);
  pc_figure_note(&figure, 0, figure_plain, three[2], three[0], PC_ANCHOR_END, "here");
  assert_int_equal(figure.mark_count, 2);
  assert_int_equal(figure.marks[0].kind, PC_MARK_BAND);
  assert_int_equal(figure.marks[0].panel, 1);
  assert_int_equal(figure.marks[0].count, 3);
  assert_int_equal(figure.marks[1].first, 3);
  assert_true(figure.points[3].x == 5 && figure.marks[1].shift.y == 2);
  assert_string_equal(pc_figure_string(&figure, figure.marks[1].text), "here");
  assert_int_equal(pc_figure_status(&figure, NULL), PCAL_OK);
  pc_figure_free(&figure);
  assert_int_equal(memory.live, 0);
}

static void figure_fill(pc_figure *figure) {
  const size_t panel = pc_figure_panel(figure, (pc_rect){0, 0, 10, 10});
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 5, 6, PC_NUMBERS_PLAIN, "label");
  pc_figure_legend_break(figure);
  pc_figure_legend(figure, PC_SAMPLE_BAR, figure_plain, "entry");
  for (int i = 0; i < 100; i++) {
    pc_figure_bar(figure, panel, figure_plain, (pc_point){0, 0}, (pc_point){1, 1}, "hint");
    pc_figure_point(figure, panel, figure_plain, (pc_point){i, i}, NULL);
    pc_figure_segment(figure, panel, figure_plain, (pc_point){0, 0}, (pc_point){1, 1});
  }
}

TEST(test_failure_stays_and_leaks_nothing) {
  check_memory memory = {0};
  const pcal_env env = check_env(&memory);
  pcal_status status = PCAL_MEMORY;
  for (size_t n = 1; status != PCAL_OK; n++) {
    memory = (check_memory){.fail = n};
    pcal_error err;
    pc_figure figure;
    pc_figure_init(&figure, 10, 10, &env);
    figure_fill(&figure);
    status = pc_figure_status(&figure, &err);
    assert_int_equal(status, memory.calls < n ? PCAL_OK : PCAL_MEMORY);
    assert_true(status == PCAL_OK || err.status == PCAL_MEMORY);
    if (status == PCAL_OK) {
      assert_int_equal(figure.mark_count, 300);
      assert_int_equal(figure.point_count, 500);
      assert_true(figure.legend[0].begins_row);
    }
    pc_figure_free(&figure);
    assert_int_equal(memory.live, 0);
    assert_true(n < 200);
  }
}
