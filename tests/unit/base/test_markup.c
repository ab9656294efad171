#include "../unit.h"
#include "base/markup.h"

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

TEST(test_words_stay_words) {
  markup_check(pc_text_markup, "<script>alert(\"1\" & '2')</script>",
               "&lt;script&gt;alert(&quot;1&quot; &amp; '2')&lt;/script&gt;");
  markup_check(pc_text_markup, "\xC3\xA9t\xC3\xA9", "\xC3\xA9t\xC3\xA9");
  markup_check(pc_text_markup, "a\xFF\x01z", "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  markup_check(pc_text_markup, "", "");
  markup_check(pc_text_markup, NULL, "");
}

TEST(test_line_ends) {
  markup_check(pc_text_markup, "a\nb",
               "a\xEF\xBF\xBD"
               "b");
  markup_check(pc_text_markup_lines, "a\n<b>\n", "a\n&lt;b&gt;\n");
  markup_check(pc_text_markup_lines, NULL, "");
}
