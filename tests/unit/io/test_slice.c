#include "io/slice.h"
#include "io_help.h"

TEST(knows_missing_words) {
  static const char *const missing[] = {"", "NA", "NaN", "nan", "null", "None"};
  static const char *const present[] = {"na", "0", "NULL", "none", "Nones", "N", "nanx"};
  for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
    assert_true(pc_slice_is_missing(pc_slice_of(missing[i])));
  for (size_t i = 0; i < sizeof present / sizeof present[0]; i++)
    assert_false(pc_slice_is_missing(pc_slice_of(present[i])));
}

TEST(trims_both_ends) {
  assert_true(pc_slice_is(pc_slice_trim(pc_slice_of("  a b "), ""), "a b"));
  assert_true(pc_slice_is(pc_slice_trim(pc_slice_of("\ta\t "), ""), "\ta\t"));
  assert_true(pc_slice_is(pc_slice_trim(pc_slice_of("\ta\t "), "\t"), "a"));
  assert_int_equal(pc_slice_trim(pc_slice_of("   "), "").length, 0);
  assert_int_equal(pc_slice_trim((pc_slice){"\0 ", 2}, "").length, 1);
}

TEST(checks_utf8) {
  static const char *const good[] = {"",
                                     "abc",
                                     "\xC3\xA9",
                                     "\xE2\x82\xAC",
                                     "\xF0\x9F\x98\x80",
                                     "\xED\x9F\xBF",
                                     "\xF4\x8F\xBF\xBF"};
  static const char *const bad[] = {"\xE9",         "\xC0\x80",         "\xC1\xBF",
                                    "\xE0\x80\x80", "\xED\xA0\x80",     "\xF0\x80\x80\x80",
                                    "\xF5\x80\x80", "\xF4\x90\x80\x80", "\x80",
                                    "a\xE2\x82"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    assert_true(pc_slice_is_utf8(pc_slice_of(good[i])));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_false(pc_slice_is_utf8(pc_slice_of(bad[i])));
  assert_false(pc_slice_is_utf8((pc_slice){"a\0b", 3}));
}

TEST(clips_for_a_sentence) {
  char out[PC_CLIP_MAX];
  assert_string_equal(pc_clip(pc_slice_of("short"), out), "short");
  assert_string_equal(pc_clip((pc_slice){"a\n\0\x7F\xE9", 5}, out), "a????");
  assert_string_equal(pc_clip(pc_slice_of("\xC3\xA9t\xC3\xA9"), out), "\xC3\xA9t\xC3\xA9");
  const char *forty = "0123456789012345678901234567890123456789";
  assert_string_equal(pc_clip(pc_slice_of(forty), out), forty);
  char longer[64];
  snprintf(longer, sizeof longer, "%s+", forty);
  assert_string_equal(pc_clip(pc_slice_of(longer), out),
                      "0123456789012345678901234567890123456789...");
  char wide[64];
  snprintf(wide, sizeof wide, "%.39s\xF0\x9F\x98\x80!", forty);
  pc_clip(pc_slice_of(wide), out);
  assert_int_equal(strlen(out), 39 + 4 + 3);
  assert_true(pc_slice_is_utf8(pc_slice_of(out)));
}
