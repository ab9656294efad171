/* Files by name, and what errors are about. */
#include "system/paths.h"

#include <errno.h>

#include "../unit.h"

static char folder[64], first[128], second[128];

static int set_up(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/propercal-paths-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(first, sizeof first, "%s/first", folder);
  snprintf(second, sizeof second, "%s/second", folder);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  (void)pc_path_remove(first);
  (void)pc_path_remove(second);
  return remove(folder);
}

static void put(const char *path, const char *text) {
  const int descriptor = pc_file_create(path, 0);
  assert_int_equal(pc_file_write(descriptor, text, strlen(text)), strlen(text));
  assert_int_equal(pc_file_close(descriptor), 0);
}

TEST_WITH(test_rename_replaces, set_up, tear_down) {
  pc_file_info one, two;
  put(first, "longer");
  put(second, "old");
  assert_int_equal(pc_path_describe(first, &one), 0);
  assert_int_equal(pc_path_rename(first, second), 0);
  assert_int_equal(pc_path_describe(second, &two), 0);
  assert_int_equal(two.size, 6);
  assert_true(one.device == two.device && one.number == two.number);
  errno = 0;
  assert_int_equal(pc_path_describe(first, &one), -1);
  assert_int_equal(pc_error_classify(errno), PC_ERROR_MISSING);
  pc_path_sync_directory(folder);
}

TEST_WITH(test_second_names, set_up, tear_down) {
  pc_file_info info;
  put(first, "x");
  assert_int_equal(pc_path_link(first, second), 0);
  assert_int_equal(pc_path_describe(first, &info), 0);
  assert_int_equal(info.links, 2);
  assert_int_equal(pc_path_writable(first), 0);
  assert_int_equal(pc_path_describe(folder, &info), 0);
  assert_int_equal(info.kind, PC_FILE_DIRECTORY);
}

TEST(test_parts_of_paths) {
  char here[4096];
  assert_int_equal(pc_path_directory("a/b/c"), 4);
  assert_int_equal(pc_path_directory("c"), 0);
  assert_int_equal(pc_path_directory("/c"), 1);
  assert_true(pc_path_is_absolute("/c"));
  assert_false(pc_path_is_absolute("c/"));
  assert_true(pc_path_current_directory(here, sizeof here));
  assert_true(pc_path_is_absolute(here));
  assert_false(pc_path_current_directory(here, 1));
  assert_true(pc_process_id() > 0);
}

TEST(test_error_kinds) {
  char text[PC_SYSTEM_TEXT];
  assert_int_equal(pc_error_classify(ENOTDIR), PC_ERROR_MISSING);
  assert_int_equal(pc_error_classify(EPERM), PC_ERROR_DENIED);
  assert_int_equal(pc_error_classify(EROFS), PC_ERROR_READ_ONLY);
  assert_int_equal(pc_error_classify(ENOSPC), PC_ERROR_NO_SPACE);
  assert_int_equal(pc_error_classify(EFBIG), PC_ERROR_TOO_LARGE);
  assert_int_equal(pc_error_classify(ENXIO), PC_ERROR_NOT_A_FILE);
  assert_int_equal(pc_error_classify(EBUSY), PC_ERROR_IN_USE);
  assert_int_equal(pc_error_classify(EIO), PC_ERROR_OTHER);
  assert_string_equal(pc_error_text(ENOENT, text), "No such file or directory");
}
