#include "../unit.h"

#include "base/escape.h"
#include "base/markup.h"

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

/* Names that look the same, or like nothing, must differ on the screen. */
TEST(invisible_characters_are_shown) {
  static const struct {
    const char *name, *shown;
  } cases[] = {
      {"a\xC2\xAD", "a\\u00ad"},                      /* soft hyphen */
      {"a\xCD\x8F", "a\\u034f"},                      /* combining grapheme joiner */
      {"\xD8\x9C", "\\u061c"},                        /* Arabic letter mark */
      {"\xE1\x85\x9F\xE1\x85\xA0", "\\u115f\\u1160"}, /* Hangul fillers */
      {"\xE3\x85\xA4\xEF\xBE\xA0", "\\u3164\\uffa0"},
      {"\xE1\x9E\xB4\xE1\xA0\x8E", "\\u17b4\\u180e"},
      {"a\xE2\x80\x8B", "a\\u200b"},                    /* zero width space */
      {"a\xE2\x81\xA0\xE2\x81\xA4", "a\\u2060\\u2064"}, /* word joiner, invisible plus */
      {"\xE2\x81\xAA\xE2\x81\xAF", "\\u206a\\u206f"},
      {"\xEF\xBB\xBFid", "\\ufeffid"}, /* byte order mark */
      {"\xEF\xBF\xB9", "\\ufff9"},
      {"\xF0\x9D\x85\xB3", "\\U0001d173"},   /* musical begin beam */
      {"a\xF3\xA0\x84\x80", "a\\U000e0100"}, /* variation selector 17 */
      {"a\xE2\x80\x8D"
       "b\xE2\x80\x8C",
       "a\\u200db\\u200c"}, /* joiners without letters to join */
      {"\xE2\x80\x8D\xD0\xB9", "\\u200d\xD0\xB9"},
      {"\xE2\x80\x8D\xFF", "\\u200d\\xff"},
  };
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    check(pc_text_terminal, cases[i].name, cases[i].shown);
    check(pc_text_csv, cases[i].name, cases[i].shown);
  }
  check(pc_text_markdown, "\xE2\x80\x8B", "\\\\u200b");
  check(pc_text_json, "\xE2\x80\x8B\xE2\x80\x8D", "\"\\u200b\\u200d\"");
  check(pc_text_shell, "a\xE2\x80\x8B", "$'a\\xe2\\x80\\x8b'");
  check(pc_text_markup, "a\xE2\x80\x8B\xE2\x80\x8D", "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

/* A Persian word, a Bengali one, and emoji of several characters. */
TEST(spelling_with_joiners_stays) {
  static const char *const names[] = {
      "\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xB4\xD9\x88\xD8\xAF",
      "\xE0\xA6\x95\xE0\xA7\x8D\xE2\x80\x8D\xE0\xA6\xAF",
      "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
      "\xE2\x9D\xA4\xEF\xB8\x8F\xE2\x80\x8D\xF0\x9F\x94\xA5",
  };
  for (size_t i = 0; i < UNIT_COUNT(names); i++) {
    check(pc_text_terminal, names[i], names[i]);
    check(pc_text_csv, names[i], names[i]);
    check(pc_text_markdown, names[i], names[i]);
    check(pc_text_markup, names[i], names[i]);
  }
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

TEST(latex_sees_no_markup) {
  check(pc_text_latex, "a_b & 5 % #1 {x} $y$", "a\\_b \\& 5 \\% \\#1 \\{x\\} \\$y\\$");
  check(pc_text_latex, "\\input|~^<>\"\n",
        "\\textbackslash{}input\\textbar{}\\textasciitilde{}\\textasciicircum{}"
        "\\textless{}\\textgreater{}'' ");
  check(pc_text_latex, "\303\251\033", "\303\251\\textbackslash{}x1b");
  check(pc_text_latex, "[x]", "{}[x]"); /* else an argument of the line end before it */
  check(pc_text_latex, "*x*", "{}*x*");
  check(pc_text_latex, NULL, "");
}

TEST(no_text_is_nothing) {
  char copy[8] = "before";
  check(pc_text_markdown_code, NULL, "");
  check(pc_text_markdown_code, "", "");
  check(pc_text_c_comment, NULL, "");
  check(pc_text_shell, NULL, "''");
  assert_int_equal(pc_terminal_width(NULL), 0);
  pc_escape_copy(NULL, copy, sizeof copy);
  assert_string_equal(copy, "");
}
