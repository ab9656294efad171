#include "figure_help.h"

#include "figure/figure_layout.h"
#include "figure/text_extent.h"

static void layout_fill(pc_figure *figure, const char *title, size_t columns, size_t rows) {
  const pc_panel_grid grid = {.columns = columns, .rows = rows, .row_share = {2}};
  figure->title = pc_figure_add_string(figure, title);
  figure->subtitle = pc_figure_add_string(figure, "a subtitle of some length, as they are");
  for (size_t i = 0; i < columns * rows; i++) {
    const size_t panel = pc_figure_grid_panel(figure, i % columns, i / columns, "panel title");
    pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1e6, 11, PC_NUMBERS_PLAIN, "label below");
    pc_figure_axis(figure, panel, PC_SIDE_Y, 0, 0.000123, 9, PC_NUMBERS_PERCENT, "beside");
  }
  pc_figure_legend(figure, PC_SAMPLE_BAR, (pc_look){0}, "an entry");
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){0}, "another entry of the key");
  pc_figure_legend_break(figure);
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){0}, "the last one");
  pc_figure_lay_out(figure, &grid);
}

TEST(test_words_never_touch) {
  const pcal_env env = pc_env_resolve(NULL);
  for (double width = 320; width <= 1600; width += 64)
    for (size_t columns = 1; columns <= (width < 640 ? 1 : 3); columns++) {
      pc_figure figure;
      pc_figure_init(&figure, width, 700, &env);
      layout_fill(&figure, "A title that is rather long for a small figure", columns, 2);
      check_words_apart(&figure, "layout");
      pc_figure_free(&figure);
    }
}

TEST(test_panels_share_the_room) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_figure figure;
  pc_figure_init(&figure, 900, 700, &env);
  layout_fill(&figure, "Title", 2, 2);
  const pc_rect *a = &figure.panels[0].rect, *b = &figure.panels[1].rect;
  const pc_rect *c = &figure.panels[2].rect;
  check_near(a->width, b->width, 1e-9);
  check_near(a->height, 2 * c->height, 1e-9);
  check_near(a->x, c->x, 1e-9);
  assert_true(b->x > a->x + a->width && c->y > a->y + a->height);
  assert_true(b->x + b->width <= 900 && c->y + c->height < figure.legend[0].at.y);
  assert_true(figure.legend[2].at.y > figure.legend[1].at.y && figure.legend[2].at.x == 24);
  pc_figure_free(&figure);
}

TEST(test_long_texts_lose_their_middle) {
  const pcal_env env = pc_env_resolve(NULL);
  char name[4096];
  memset(name, 'm', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  memcpy(name, "<script>", 8);
  pc_figure figure;
  pc_figure_init(&figure, 400, 400, &env);
  pc_figure_legend(&figure, PC_SAMPLE_BAR, (pc_look){0}, name);
  layout_fill(&figure, name, 1, 1);
  const char *title = pc_figure_string(&figure, figure.title);
  assert_non_null(strstr(title, "\xE2\x80\xA6"));
  assert_memory_equal(title, "<script>", 8);
  assert_true(figure.title_size < PC_SIZE_TITLE && figure.title_size >= 0.74 * PC_SIZE_TITLE);
  assert_true(1.125 * pc_text_extent(title, figure.title_size) <= 352.1);
  check_words_apart(&figure, "layout");
  pc_figure_free(&figure);
}

TEST(test_a_given_title_takes_its_place) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_figure figure;
  pc_figure_init(&figure, 400, 400, &env);
  figure.given_title = pc_figure_add_string(&figure, "mine");
  layout_fill(&figure, "Title", 1, 1);
  assert_string_equal(pc_figure_string(&figure, figure.title), "mine");
  pc_figure_free(&figure);
}

TEST(test_names_are_cut_and_thinned) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_panel_grid grid = {.columns = 1, .rows = 1};
  pc_figure figure;
  pc_figure_init(&figure, 400, 300, &env);
  const size_t panel = pc_figure_grid_panel(&figure, 0, 0, NULL);
  pc_figure_axis(&figure, panel, PC_SIDE_Y, 59.5, -0.5, 2, PC_NUMBERS_PLAIN, NULL);
  for (int i = 0; i < 60; i++)
    pc_figure_name_tick(&figure, panel, PC_SIDE_Y, i, "a class with quite a long name indeed");
  pc_figure_lay_out(&figure, &grid);
  assert_true(figure.panels[0].rect.x < 220);
  check_words_apart(&figure, "names");
  pc_figure_free(&figure);
}

TEST(test_every_allocation_may_fail) {
  check_memory memory = {0};
  const pcal_env env = check_env(&memory);
  pcal_status status = PCAL_MEMORY;
  for (size_t n = 1; status != PCAL_OK; n++) {
    memory = (check_memory){.fail = n};
    pc_figure figure;
    pc_figure_init(&figure, 330, 500, &env);
    layout_fill(&figure, "A title that is rather long for such a small figure", 1, 2);
    status = pc_figure_status(&figure, NULL);
    assert_int_equal(status, memory.calls < n ? PCAL_OK : PCAL_MEMORY);
    pc_figure_free(&figure);
    assert_int_equal(memory.live, 0);
    assert_true(n < 1000);
  }
}
