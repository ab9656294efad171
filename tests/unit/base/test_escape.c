#include "../unit.h"

#include "base/escape.h"

static void check(void (*write)(pc_text *, const char *), const char *text,
                  const char *expected) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text out;
  pc_text_init(&out, &env);
  pc_text_add(&out, "[");
  write(&out, text);
  assert_string_equal(out.bytes + 1, expected);
  pc_text_free(&out);
}

#define RIGHT_TO_LEFT "\xE2\x80\xAE" /* U+202E */

TEST(terminals_see_what_is_hidden) {
  check(pc_text_terminal, "plain, \303\251 \302\240 \\x1b", "plain, \303\251 \302\240 \\x1b");
  check(pc_text_terminal, "\033[2Ja\tb\r\n\177", "\\x1b[2Ja\\tb\\r\\n\\x7f");
  check(pc_text_terminal, "a\302\200\302\237b\302", "a\\u0080\\u009fb\\xc2");
  check(pc_text_terminal,
        "\x9B"
        "31m\xFF\xFE",
        "\\x9b31m\\xff\\xfe");
  check(pc_text_terminal, "a" RIGHT_TO_LEFT "b\xE2\x81\xA6\xE2\x80\xA8\xEF\xBB\xBF",
        "a\\u202eb\\u2066\\u2028\\ufeff");
  check(pc_text_terminal, "\xF3\xA0\x80\x81\xEF\xBF\xBF", "\\U000e0001\\uffff");
  check(pc_text_terminal, "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80");
  check(pc_text_terminal, "", "");
  check(pc_text_terminal, NULL, "");
  assert_int_equal(pc_terminal_width("a\033\303\251"), 6);
}

TEST(escaping_twice_is_escaping_once) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text once, twice;
  char all[256];
  for (int i = 0; i < 255; i++)
    all[i] = (char)(i + 1);
  all[255] = '\0';
  pc_text_init(&once, &env);
  pc_text_init(&twice, &env);
  pc_text_terminal(&once, all);
  pc_text_terminal(&twice, once.bytes);
  assert_string_equal(once.bytes, twice.bytes);
  for (size_t i = 0; i < once.length; i++)
    assert_true(once.bytes[i] >= 0x20 && once.bytes[i] < 0x7F);
  pc_text_free(&once);
  pc_text_free(&twice);
}

TEST(copies_are_cut_between_characters) {
  char small[6];
  pc_escape_copy("abc\033", small, sizeof small);
  assert_string_equal(small, "abc");
  pc_escape_copy("abc\xE2\x82\xAC", small, sizeof small);
  assert_string_equal(small, "abc");
  pc_escape_copy("ab\xE2\x82\xAC", small, sizeof small);
  assert_string_equal(small, "ab\xE2\x82\xAC");
}

TEST(quotes_cells_of_csv_files) {
  check(pc_text_csv, "plain text", "plain text");
  check(pc_text_csv, "", "");
  check(pc_text_csv, NULL, "");
  check(pc_text_csv, "a,\"b\"", "\"a,\"\"b\"\"\"");
  check(pc_text_csv, "two\nlines", "\"two\nlines\"");
  check(pc_text_csv, "a\rb", "\"a\rb\"");
  check(pc_text_csv, " a", "\" a\"");
  check(pc_text_csv, "a\033\302\205" RIGHT_TO_LEFT "\xFF", "a\\x1b\\u0085\\u202e\\xff");
}

TEST(keeps_spreadsheets_from_computing) {
  check(pc_text_csv, "=1+1", "'=1+1");
  check(pc_text_csv, "=a,b", "\"'=a,b\"");
  check(pc_text_csv, "+", "'+");
  check(pc_text_csv, "-cmd", "'-cmd");
  check(pc_text_csv, "@SUM(A1)", "'@SUM(A1)");
  check(pc_text_csv, "\t=1", "\"'\t=1\"");
  check(pc_text_csv, "'=1", "''=1");
  check(pc_text_csv, "'tis", "'tis");
  check(pc_text_csv, "-0.5", "-0.5");
  check(pc_text_csv, "+1e-3", "+1e-3");
  check(pc_text_csv, "-inf", "-inf");
  check(pc_text_csv, "-1-1", "'-1-1");
  assert_true(pc_csv_guarded("'=1", 3) && pc_csv_guarded("''-", 3));
  assert_false(pc_csv_guarded("'tis", 4) || pc_csv_guarded("'", 1) || pc_csv_guarded("=1", 2) ||
               pc_csv_guarded("", 0));
}

TEST(escapes_cells_of_markdown_tables) {
  check(pc_text_markdown, "plain", "plain");
  check(pc_text_markdown, "a|b", "a\\|b");
  check(pc_text_markdown, "*a_b*`c`\\", "\\*a\\_b\\*\\`c\\`\\\\");
  check(pc_text_markdown, "<b>[x](y)", "&lt;b>\\[x\\](y)");
  check(pc_text_markdown, "&lt; ~a~ $x$", "&amp;lt; \\~a\\~ \\$x\\$");
  check(pc_text_markdown, "two\r\nlines", "two  lines");
  check(pc_text_markdown, "\033" RIGHT_TO_LEFT, "\\\\x1b\\\\u202e");
  check(pc_text_markdown, NULL, "");
  check(pc_text_markdown_code, "ece:bins=20", "`ece:bins=20`");
  check(pc_text_markdown_code, "a|b\nc*", "`a\\|b c*`");
  check(pc_text_markdown_code, "a`|b", "a\\`\\|b");
  check(pc_text_markdown_code, "\033", "`\\x1b`");
  check(pc_text_markdown_code, "", "");
}

TEST(json_loses_nothing_but_broken_bytes) {
  check(pc_text_json, "a\"\\\b\f\n\r\t/", "\"a\\\"\\\\\\b\\f\\n\\r\\t/\"");
  check(pc_text_json, "\033\177\302\205" RIGHT_TO_LEFT, "\"\\u001b\\u007f\\u0085\\u202e\"");
  check(pc_text_json, "\xF3\xA0\x80\x81", "\"\\udb40\\udc01\"");
  check(pc_text_json, "\xFFz", "\"\xEF\xBF\xBDz\"");
  check(pc_text_json, NULL, "\"\"");
}

TEST(words_of_a_shell_are_one_word) {
  check(pc_text_shell, "a.npy:logits", "a.npy:logits");
  check(pc_text_shell, "", "''");
  check(pc_text_shell, "two words; rm -rf $HOME", "'two words; rm -rf $HOME'");
  check(pc_text_shell, "it's", "'it'\\''s'");
  check(pc_text_shell, "a\n'b\\", "$'a\\x0a\\'b\\\\'");
  check(pc_text_shell, RIGHT_TO_LEFT "\xFF", "$'\\xe2\\x80\\xae\\xff'");
  check(pc_text_shell, "\303\251", "'\303\251'");
}

TEST(comments_of_c_do_not_end) {
  check(pc_text_c_comment, "ece:bins=15", "ece:bins=15");
  check(pc_text_c_comment, "a*/b/*c", "a* /b/ *c");
  check(pc_text_c_comment, "a**/", "a** /");
  check(pc_text_c_comment, "a\n\033", "a\\n\\x1b");
  check(pc_text_c_comment, "\?\?/", "? ?/");
  check(pc_text_c_comment, "a\\", "a\\ ");
  check(pc_text_c_comment, "a*", "a* ");
}
