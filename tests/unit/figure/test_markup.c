#include "../unit.h"
#include "figure/markup.h"

static void markup_check(void (*write)(pc_text *, const char *), const char *words,
                         const char *expected) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text out;
  pc_text_init(&out, &env);
  pc_text_add(&out, "[");
  write(&out, words);
  assert_string_equal(out.bytes + 1, expected);
  pc_text_free(&out);
}

static void test_words_stay_words(void **state) {
  (void)state;
  markup_check(pc_markup, "<script>alert(\"1\" & '2')</script>",
               "&lt;script&gt;alert(&quot;1&quot; &amp; '2')&lt;/script&gt;");
  markup_check(pc_markup, "\xC3\xA9t\xC3\xA9", "\xC3\xA9t\xC3\xA9");
  markup_check(pc_markup, "a\xFF\x01z", "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  markup_check(pc_markup, "", "");
  markup_check(pc_markup, NULL, "");
}

static void test_line_ends(void **state) {
  (void)state;
  markup_check(pc_markup, "a\nb",
               "a\xEF\xBF\xBD"
               "b");
  markup_check(pc_markup_lines, "a\n<b>\n", "a\n&lt;b&gt;\n");
  markup_check(pc_markup_lines, NULL, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words_stay_words),
      cmocka_unit_test(test_line_ends),
  };
  return cmocka_run_group_tests_name("figure/markup", tests, NULL, NULL);
}
