#include "../unit.h"

#include "figure/wording.h"

#define THIN "\xE2\x80\x89"

static void wording_count(double rows, const char *expected) {
  char out[PC_WORDING_MAX];
  pc_say_count(rows, out);
  assert_string_equal(out, expected);
}

static void test_counts(void **state) {
  (void)state;
  wording_count(1, "1");
  wording_count(9999, "9999");
  wording_count(10000, "10" THIN "000");
  wording_count(1e9, "1" THIN "000" THIN "000" THIN "000");
  wording_count(12345.25, "12" THIN "345.2");
}

static void test_ranges_have_the_digits_of_the_larger_end(void **state) {
  (void)state;
  char out[PC_WORDING_MAX];
  pc_say_range(0.00526, 0.0148, out);
  assert_string_equal(out, "0.0053 to 0.0148");
  pc_say_range(0, 0, out);
  assert_string_equal(out, "0.00 to 0.00");
  pc_say_range(-0.5, 0.25, out);
  assert_string_equal(out, "-0.500 to 0.250");
  pc_say_range(12, 345.678, out);
  assert_string_equal(out, "12.00 to 345.68");
}

static void test_levels_and_numbers(void **state) {
  (void)state;
  char out[PC_WORDING_MAX];
  pc_say_level(0.95, "interval", out);
  assert_string_equal(out, "95% interval");
  pc_say_level(0.995, "band", out);
  assert_string_equal(out, "99.5% band");
  pc_say_short(0.047512, out);
  assert_string_equal(out, "0.0475");
  pc_say_fixed(0.5, 3, out);
  assert_string_equal(out, "0.500");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_ranges_have_the_digits_of_the_larger_end),
      cmocka_unit_test(test_levels_and_numbers),
  };
  return cmocka_run_group_tests_name("figure/wording", tests, NULL, NULL);
}
