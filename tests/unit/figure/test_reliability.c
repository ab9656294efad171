#include "figure_check.h"

#include <math.h>

#include "figure/gallery.h"
#include "figure/label.h"
#include "figure/reliability.h"

#define THIN "\xE2\x80\x89"

/* Draws into memory that the caller frees. */
static char *reliability_svg(const pc_figure_data *data) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  pc_text out;
  pc_text_init(&out, &env);
  const pcal_status status = pc_figure_draw("reliability", data, NULL, &out, &err);
  if (status != PCAL_OK)
    fail_msg("%s", err.message);
  check_xml(out.bytes);
  assert_null(strstr(out.bytes, "nan"));
  assert_null(strstr(out.bytes, "=\"inf"));
  return out.bytes;
}

static void reliability_contains(const char *svg, const char *part) {
  if (strstr(svg, part) == NULL)
    fail_msg("%s is not in\n%s", part, svg);
}

static void test_wilson(void **state) {
  (void)state;
  const double z2 = 1.959963984540054 * 1.959963984540054;
  double low, high;
  pc_wilson_interval(0.5, 10, &low, &high);
  check_near(low, 0.2365930905, 1e-10);
  check_near(high, 0.7634069095, 1e-10);
  pc_wilson_interval(0, 7, &low, &high);
  check_near(low, 0, 1e-15);
  check_near(high, z2 / (7 + z2), 1e-15);
  pc_wilson_interval(1, 7, &low, &high);
  check_near(low, 7 / (7 + z2), 1e-15);
  check_near(high, 1, 1e-15);
  pc_wilson_interval(0.25, 1e18, &low, &high);
  check_near(low, 0.25, 1e-8);
}

static void test_bins_are_where_they_belong(void **state) {
  (void)state;
  const pc_figure_data data = check_data();
  char *svg = reliability_svg(&data);
  reliability_contains(svg, "<rect class=\"f-warm\" x=\"91.96\" y=\"381.6\" width=\"124.08\" "
                            "height=\"37.2\"/>");
  reliability_contains(svg, "<circle class=\"f-ink s-ink\" cx=\"193.6\" cy=\"418.8\" r=\"4\" "
                            "stroke-width=\"1.5\"><title>0.000 to 0.250: mean confidence "
                            "0.2000, accuracy 0.1000, 100 rows</title></circle>");
  reliability_contains(svg, "<rect class=\"f-cool pale\" x=\"355.96\"");
  reliability_contains(svg, "<circle class=\"f-paper s-muted\" cx=\"404.8\" cy=\"158.4\"");
  reliability_contains(svg, "<circle class=\"f-ink s-ink\" cx=\"563.2\" cy=\"121.2\"");
  reliability_contains(svg, "<line class=\"s-muted dash\" x1=\"88\" y1=\"456\" x2=\"616\" "
                            "y2=\"84\"");
  assert_int_equal(check_count(svg, "<title>0."), 6);
  assert_int_equal(check_count(svg, "f-fill\" x="), 3);
  free(svg);
}

static void test_thirty_rows_are_not_few(void **state) {
  (void)state;
  pcal_bin bin = {0.5, 1, 30, 0.8, 0.7};
  pc_figure_data data = check_data();
  data.bins = &bin;
  data.bin_count = 1;
  data.rows = 30;
  char *svg = reliability_svg(&data);
  assert_null(strstr(svg, "fewer than 30 rows"));
  free(svg);
  bin.weight = 29.5;
  svg = reliability_svg(&data);
  reliability_contains(svg, "fewer than 30 rows");
  free(svg);
}

static void test_words_of_the_views(void **state) {
  (void)state;
  pc_figure_data data = check_data();
  char *svg = reliability_svg(&data);
  reliability_contains(svg, ">confidence (probability of the predicted class)<");
  reliability_contains(svg, ">scores.npy \xC2\xB7 10 classes<");
  reliability_contains(svg, ">over-confident<");
  reliability_contains(svg, ">under-confident<");
  reliability_contains(svg, "ECE 0.0790, n 200, mean confidence 0.5065, accuracy 0.4855.");
  free(svg);
  data.view = "positive";
  data.has_ece = 0;
  svg = reliability_svg(&data);
  reliability_contains(svg, ">predicted probability of class 1<");
  reliability_contains(svg, ">observed frequency<");
  reliability_contains(svg, ">scores.npy<");
  reliability_contains(svg, ">predicted too low<");
  reliability_contains(svg, "n 200, mean prediction 0.5065, base rate 0.4855.");
  assert_null(strstr(svg, "ECE"));
  free(svg);
}

static void test_numbers_of_rows(void **state) {
  (void)state;
  pcal_bin bin = {0.5, 1, 1e9, 0.8, 0.7};
  pc_figure_data data = check_data();
  data.bins = &bin;
  data.bin_count = 1;
  data.rows = 1e9;
  char *svg = reliability_svg(&data);
  reliability_contains(svg, ">1" THIN "000" THIN "000" THIN "000<");
  free(svg);
  data.rows = bin.weight = 9999;
  svg = reliability_svg(&data);
  reliability_contains(svg, ">9999<");
  free(svg);
  data.rows = bin.weight = 12345.25;
  svg = reliability_svg(&data);
  reliability_contains(svg, ">12" THIN "345.2<");
  free(svg);
  data.rows = bin.weight = 1;
  svg = reliability_svg(&data);
  reliability_contains(svg, ", 1 row</title>");
  free(svg);
}

static void test_scores_at_and_beyond_the_edge(void **state) {
  (void)state;
  pcal_bin bin = {14. / 15, 1, 1000, 1.000009, 1};
  pc_figure_data data = check_data();
  data.bins = &bin;
  data.bin_count = 1;
  data.rows = 1000;
  data.mean_score = 1.000009;
  data.hit_rate = 1;
  char *svg = reliability_svg(&data);
  reliability_contains(svg, "cx=\"616\" cy=\"84\"");
  free(svg);
}

static void test_escaped_and_shortened_name(void **state) {
  (void)state;
  char name[4096];
  memset(name, 'm', sizeof name - 1);
  memcpy(name, "<script>", 8);
  name[sizeof name - 1] = '\0';
  pc_figure_data data = check_data();
  data.source_name = name;
  char *svg = reliability_svg(&data);
  reliability_contains(svg, ">&lt;script&gt;mm");
  assert_null(strstr(svg, "<script"));
  assert_true(strlen(svg) < 20000);
  free(svg);
  data.source_name = NULL;
  data.classes = 0;
  svg = reliability_svg(&data);
  assert_null(strstr(svg, "classes"));
  free(svg);
}

static void test_same_bytes(void **state) {
  (void)state;
  const pc_figure_data data = check_data();
  char *first = reliability_svg(&data), *second = reliability_svg(&data);
  assert_string_equal(first, second);
  free(first);
  free(second);
}

static const pc_mark *reliability_note(const pc_figure *figure, const char *text) {
  for (size_t i = 0; i < figure->mark_count; i++)
    if (figure->marks[i].kind == PC_MARK_NOTE &&
        strncmp(pc_figure_string(figure, figure->marks[i].text), text, strlen(text)) == 0)
      return &figure->marks[i];
  fail_msg("no note %s", text);
  return NULL;
}

/* Where the summary goes for two bins with the given frequencies. */
static pc_point reliability_summary_at(double left, double right) {
  const pcal_env env = pc_env_resolve(NULL);
  const pcal_bin bins[] = {{0, 0.5, 1e6, 0.25, left}, {0.5, 1, 1e6, 0.75, right}};
  pc_figure_data data = check_data();
  data.bins = bins;
  data.bin_count = 2;
  data.rows = 2e6;
  pc_figure figure;
  pc_figure_init(&figure, 0, 0, &env);
  assert_int_equal(pc_reliability_build(&data, &figure, NULL), PCAL_OK);
  const pc_mark *note = reliability_note(&figure, "ECE");
  const pc_point at = note->shift;
  pc_figure_free(&figure);
  return at;
}

static void test_summary_avoids_data(void **state) {
  (void)state;
  pc_point at = reliability_summary_at(0.2, 0.7);
  assert_true(at.x > 0 && at.x < 100 && at.y > 0 && at.y < 100);
  at = reliability_summary_at(0.9, 0.9);
  assert_true(at.x > 264 && at.y > 186);
  at = reliability_summary_at(0.9, 0.1);
  assert_true(at.y < 0);
}

typedef struct reliability_box {
  double left, right, top, bottom;
} reliability_box;

static reliability_box reliability_box_of(const pc_figure *figure, const pc_mark *note) {
  const pc_point at = pc_panel_place(&figure->panels[note->panel], figure->points[note->first]);
  const double width = pc_label_width(pc_figure_string(figure, note->text), note->look.size);
  const double x = at.x + note->shift.x, y = at.y + note->shift.y;
  const int end = note->anchor == PC_ANCHOR_END;
  return (reliability_box){end ? x - width : x, end ? x : x + width, y - note->look.size, y};
}

/* The line of a mean is the segment of the lower panel at that place. */
static reliability_box reliability_line_of(const pc_figure *figure, const pc_mark *note) {
  for (size_t i = 0; i < figure->mark_count; i++) {
    const pc_mark *mark = &figure->marks[i];
    const pc_point *points = figure->points + mark->first;
    if (mark->kind != PC_MARK_SEGMENT || mark->panel != note->panel ||
        points[0].x != figure->points[note->first].x || note - mark != 1)
      continue;
    const pc_point foot = pc_panel_place(&figure->panels[1], points[0]);
    const pc_point head = pc_panel_place(&figure->panels[1], points[1]);
    return (reliability_box){foot.x - 1, foot.x + 1, head.y, foot.y};
  }
  fail_msg("a mean has no line");
  return (reliability_box){0, 0, 0, 0};
}

static void reliability_apart(reliability_box a, reliability_box b) {
  assert_true(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top);
}

static void test_names_of_means_never_overlap(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  for (int i = 0; i < 2 * 41 * 41; i++) {
    pc_figure_data data = check_data();
    data.view = i % 2 ? "positive" : "top";
    data.mean_score = i / 2 % 41 / 40.0;
    data.hit_rate = i / 82 / 40.0;
    pc_figure figure;
    pc_figure_init(&figure, 0, 0, &env);
    assert_int_equal(pc_reliability_build(&data, &figure, NULL), PCAL_OK);
    const pc_mark *notes[2];
    size_t count = 0;
    for (size_t j = 0; j < figure.mark_count; j++)
      if (figure.marks[j].kind == PC_MARK_NOTE && figure.marks[j].panel == 1)
        notes[count++] = &figure.marks[j];
    assert_int_equal(count, 2);
    const reliability_box a = reliability_box_of(&figure, notes[0]);
    const reliability_box b = reliability_box_of(&figure, notes[1]);
    reliability_apart(a, b);
    reliability_apart(a, reliability_line_of(&figure, notes[1]));
    reliability_apart(b, reliability_line_of(&figure, notes[0]));
    const pc_rect *upper = &figure.panels[0].rect;
    assert_true(a.top >= upper->y + upper->height && b.top >= upper->y + upper->height);
    assert_true(a.left >= 88 && a.right <= 616 && b.left >= 88 && b.right <= 616);
    pc_figure_free(&figure);
  }
}

static void test_nothing_to_draw(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_bin bin = {0, 1, 0, NAN, NAN};
  pc_figure_data data = check_data();
  data.bins = &bin;
  data.bin_count = 1;
  data.rows = 0;
  pcal_error err;
  pc_text out;
  pc_text_init(&out, &env);
  assert_int_equal(pc_figure_draw("reliability", &data, NULL, &out, &err), PCAL_DATA);
  assert_string_equal(
      err.message, "figure reliability: there are no rows to draw; measure at least one row");
  data.rows = bin.weight = 3;
  assert_int_equal(pc_figure_draw("reliability", &data, NULL, &out, &err), PCAL_DATA);
  assert_non_null(strstr(err.message, "bin 0 holds a number that is not finite"));
  bin.confidence = bin.frequency = 0.5;
  data.hit_rate = NAN;
  assert_int_equal(pc_figure_draw("reliability", &data, NULL, &out, &err), PCAL_DATA);
  assert_non_null(strstr(err.message, "the mean score or the share of hits is not finite"));
  data.bin_count = 0;
  assert_int_equal(pc_figure_draw("reliability", &data, NULL, &out, &err), PCAL_DATA);
  assert_int_equal(out.length, 0);
  pc_text_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wilson),
      cmocka_unit_test(test_bins_are_where_they_belong),
      cmocka_unit_test(test_thirty_rows_are_not_few),
      cmocka_unit_test(test_words_of_the_views),
      cmocka_unit_test(test_numbers_of_rows),
      cmocka_unit_test(test_scores_at_and_beyond_the_edge),
      cmocka_unit_test(test_escaped_and_shortened_name),
      cmocka_unit_test(test_same_bytes),
      cmocka_unit_test(test_summary_avoids_data),
      cmocka_unit_test(test_names_of_means_never_overlap),
      cmocka_unit_test(test_nothing_to_draw),
  };
  return cmocka_run_group_tests_name("figure/reliability", tests, NULL, NULL);
}
