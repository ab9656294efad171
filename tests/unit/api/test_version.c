#include "kernels/row_kernels.h"

#include "../unit.h"

static void test_version_agrees_with_the_header(void **state) {
  (void)state;
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", PCAL_VERSION_MAJOR, PCAL_VERSION_MINOR,
           PCAL_VERSION_PATCH);
  assert_string_equal(pcal_version(), expected);
  assert_string_equal(PCAL_VERSION, expected);
}

static void test_build_is_one_line(void **state) {
  (void)state;
  assert_true(strlen(pcal_build()) > 3);
  assert_null(strchr(pcal_build(), '\n'));
}

static void test_build_names_the_kernels(void **state) {
  (void)state;
  const char *kernels = pc_row_kernels_best()->name;
  assert_non_null(strstr(pcal_build(), kernels));
  assert_string_equal(pcal_build(), pcal_build());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_version_agrees_with_the_header),
      cmocka_unit_test(test_build_is_one_line),
      cmocka_unit_test(test_build_names_the_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
