#include "kernels/dispatch.h"
#include "kernels/row_kernels.h"

#include "../unit.h"

TEST(test_version_agrees_with_the_header) {
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", PCAL_VERSION_MAJOR, PCAL_VERSION_MINOR,
           PCAL_VERSION_PATCH);
  assert_string_equal(pcal_version(), expected);
  assert_string_equal(PCAL_VERSION, expected);
}

TEST(test_build_is_one_line) {
  assert_true(strlen(pcal_build_info()) > 3);
  assert_null(strchr(pcal_build_info(), '\n'));
}

TEST(test_build_names_the_kernels) {
  const char *kernels = pc_kernels_best()->name;
  assert_non_null(strstr(pcal_build_info(), kernels));
  assert_string_equal(pcal_build_info(), pcal_build_info());
}
