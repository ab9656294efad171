#include "figure_help.h"

#include "base/escape.h"
#include "figure/text_extent.h"

static void check_letter(const char *text, uint32_t letter, size_t bytes) {
  uint32_t found;
  assert_int_equal(pc_utf8_read_safe(text, &found), bytes);
  assert_int_equal(found, letter);
}

TEST(test_letters) {
  check_letter("A", 'A', 1);
  check_letter("\xC3\xA9", 0xE9, 2);
  check_letter("\xE2\x82\xAC", 0x20AC, 3);
  check_letter("\xF0\x9F\x98\x80", 0x1F600, 4);
}

TEST(test_what_is_no_letter) {
  static const char *const wrong[] = {
      "\x80",             /* continuation alone */
      "\xC3",             /* cut short by the end */
      "\xC3(",            /* cut short by a letter */
      "\xC0\xAF",         /* overlong */
      "\xE0\x80\xAF",     /* overlong */
      "\xF0\x80\x80\xAF", /* overlong */
      "\xED\xA0\x80",     /* half of a surrogate pair */
      "\xF4\x90\x80\x80", /* above U+10FFFF */
      "\xFF",             /* never */
  };
  static const char *const unsafe[] = {
      "\x01",         /* control */
      "\x7F",         /* control */
      "\n",           /* control */
      "\xC2\x85",     /* control */
      "\xE2\x80\xAE", /* turns the direction of writing */
      "\xEF\xBF\xBE", /* U+FFFE */
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    check_letter(wrong[i], 0xFFFD, 1);
  for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
    check_letter(unsafe[i], 0xFFFD, strlen(unsafe[i]));
}

TEST(test_widths) {
  assert_true(pc_text_extent("", 15) == 0);
  check_near(pc_text_extent("0.5", 100), 64 + 32 + 64, 1e-9);
  check_near(pc_text_extent("iW", 10), 2.8 + 9.9, 1e-9);
  check_near(pc_text_extent("\xE6\xBC\xA2", 10), 10, 1e-9);
}

static void check_fit(const char *text, double width, const char *expected) {
  check_memory memory = {0};
  const pcal_env env = check_env(&memory);
  pc_text out;
  pc_text_init(&out, &env);
  pc_text_add(&out, "");
  pc_text_shorten(&out, text, 10, width);
  assert_string_equal(out.bytes, expected);
  pc_text_free(&out);
  assert_int_equal(memory.live, 0);
}

TEST(test_fitting) {
  check_fit("0123456789", 64, "0123456789");
  check_fit("0123456789", 63.9,
            "0123\xE2\x80\xA6"
            "6789");
  check_fit("0123456789", 30,
            "0\xE2\x80\xA6"
            "9");
  check_fit("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 27, "\xC3\xA9\xE2\x80\xA6\xC3\xA9");
  check_fit("0123456789", 0, "\xE2\x80\xA6");
}

TEST(test_fitted_is_never_wider) {
  check_memory memory = {0};
  const pcal_env env = check_env(&memory);
  const char *text = "/data/w\xC3\xBC"
                     "rfel/\x80\x80\x80/<b>/model number seventeen.npy";
  for (double width = 12; width < 600; width += 7) {
    pc_text out;
    pc_text_init(&out, &env);
    pc_text_shorten(&out, text, 16, width);
    assert_true(pc_text_extent(out.bytes, 16) <= (width > 16 ? width : 16));
    pc_text_free(&out);
  }
}
