#include "figure_help.h"

TEST(test_boxes) {
  pc_placed_text word = {.text = "00", .at = {100, 50}, .size = 10};
  pc_rect box = pc_placed_text_box(&word);
  check_near(box.x, 100, 1e-12);
  check_near(box.width, 12.8, 1e-12);
  check_near(box.y, 42.2, 1e-12);
  check_near(box.height, 10, 1e-12);
  word.anchor = PC_ANCHOR_END;
  check_near(pc_placed_text_box(&word).x, 87.2, 1e-12);
  word.anchor = PC_ANCHOR_MIDDLE;
  word.rotated = 1;
  box = pc_placed_text_box(&word);
  check_near(box.y, 43.6, 1e-12);
  check_near(box.height, 12.8, 1e-12);
  check_near(box.x, 92.2, 1e-12);
  word.look.bold = 1;
  assert_true(pc_placed_text_box(&word).height > 14);
}

TEST(test_named_ticks) {
  const pcal_env env = pc_env_resolve(NULL);
  static check_words words;
  pc_figure figure;
  pc_figure_init(&figure, 400, 200, &env);
  const size_t panel = pc_figure_panel(&figure, (pc_rect){50, 20, 300, 100});
  pc_figure_axis(&figure, panel, PC_SIDE_X, 0, 2, 5, PC_NUMBERS_PLAIN, NULL);
  pc_figure_name_tick(&figure, panel, PC_SIDE_X, 0, "zero");
  pc_figure_name_tick(&figure, panel, PC_SIDE_X, 1, "one");
  pc_figure_name_tick(&figure, panel, PC_SIDE_X, 2, "two");
  pc_figure_each_text(&figure, check_word_add, &words);
  assert_int_equal(words.count, 3);
  assert_string_equal(words.text[1], "one");
  check_near(words.box[1].x + words.box[1].width / 2, 200, 1e-9);
  figure.panels[0].rect.width = 60;
  assert_int_equal(pc_tick_stride(&figure, &figure.panels[0].axis[PC_SIDE_X], PC_SIDE_X,
                                  &(pc_rect){0, 0, 60, 9}),
                   2);
  pc_figure_free(&figure);
}
