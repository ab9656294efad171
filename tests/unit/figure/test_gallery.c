#include "figure_check.h"

#include "figure/gallery.h"

static void test_rows(void **state) {
  (void)state;
  assert_true(pc_figure_row_count() >= 1);
  assert_null(pc_figure_row(pc_figure_row_count()));
  for (size_t i = 0; i < pc_figure_row_count(); i++) {
    const pcal_row *row = pc_figure_row(i);
    assert_string_equal(row->kind, "figures");
    assert_true(row->name[0] != '\0' && row->title[0] != '\0' && row->about[0] != '\0');
    assert_int_equal(row->option_count, 0);
  }
  assert_string_equal(pc_figure_row(0)->name, "reliability");
  assert_non_null(pc_figure_row(0)->citation);
}

static void gallery_refused(const char *name, const char *sentence) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_figure_data data = check_data();
  pcal_error err;
  pc_text out;
  pc_text_init(&out, &env);
  assert_int_equal(pc_figure_draw(name, &data, NULL, &out, &err), PCAL_USAGE);
  assert_string_equal(err.message, sentence);
  assert_int_equal(out.length, 0);
  assert_int_equal(pc_figure_draw(name, &data, NULL, &out, NULL), PCAL_USAGE);
  pc_text_free(&out);
}

static void test_unknown_names(void **state) {
  (void)state;
  gallery_refused("relaibility",
                  "there is no figure called 'relaibility'; did you mean 'reliability'?");
  gallery_refused("pie", "there is no figure called 'pie'; 'list figures' shows those that "
                         "exist");
}

static void test_every_allocation_may_fail(void **state) {
  (void)state;
  check_memory memory = {0};
  const pcal_env env = check_env(&memory);
  const pc_figure_data data = check_data();
  pcal_status status = PCAL_MEMORY;
  for (size_t n = 1; status != PCAL_OK; n++) {
    memory = (check_memory){.fail = n};
    pcal_error err;
    pc_text out;
    pc_text_init(&out, &env);
    status = pc_figure_draw("reliability", &data, &env, &out, &err);
    assert_int_equal(status, memory.calls < n ? PCAL_OK : PCAL_MEMORY);
    assert_true(status == PCAL_OK || err.status == PCAL_MEMORY);
    if (status == PCAL_OK)
      check_xml(out.bytes);
    pc_text_free(&out);
    assert_int_equal(memory.live, 0);
    assert_true(n < 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_unknown_names),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests_name("figure/gallery", tests, NULL, NULL);
}
