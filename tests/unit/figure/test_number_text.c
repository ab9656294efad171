#include "../unit.h"

#include "figure/number_text.h"

#define THIN "\xE2\x80\x89"

static void wording_count(double rows, const char *expected) {
  char out[PC_NUMBER_TEXT_MAX];
  pc_count_text(rows, out);
  assert_string_equal(out, expected);
}

TEST(test_counts) {
  wording_count(1, "1");
  wording_count(9999, "9999");
  wording_count(10000, "10" THIN "000");
  wording_count(1e9, "1" THIN "000" THIN "000" THIN "000");
  wording_count(12345.25, "12" THIN "345.2");
}

TEST(test_ranges_have_the_digits_of_the_larger_end) {
  char out[PC_NUMBER_TEXT_MAX];
  pc_range_text(0.00526, 0.0148, out);
  assert_string_equal(out, "0.0053 to 0.0148");
  pc_range_text(0, 0, out);
  assert_string_equal(out, "0.00 to 0.00");
  pc_range_text(-0.5, 0.25, out);
  assert_string_equal(out, "-0.500 to 0.250");
  pc_range_text(12, 345.678, out);
  assert_string_equal(out, "12.00 to 345.68");
}

TEST(test_levels_and_numbers) {
  char out[PC_NUMBER_TEXT_MAX];
  pc_level_text(0.95, "interval", out);
  assert_string_equal(out, "95% interval");
  pc_level_text(0.995, "band", out);
  assert_string_equal(out, "99.5% band");
  pc_short_text(0.047512, out);
  assert_string_equal(out, "0.0475");
  pc_fixed_text(0.5, 3, out);
  assert_string_equal(out, "0.500");
}
