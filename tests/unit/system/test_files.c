/* Files by descriptor: reading, writing, mapping, describing. */
#include "system/files.h"

#include <errno.h>

#include "../unit.h"
#include "system/paths.h"

static char folder[64], path[128];

static int set_up(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/propercal-files-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/na\xc3\xafve file", folder);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  (void)pc_path_remove(path);
  return remove(folder);
}

static void put(const char *text) {
  const int descriptor = pc_file_create(path, 0);
  assert_true(descriptor >= 0);
  assert_int_equal(pc_file_write(descriptor, text, strlen(text)), strlen(text));
  assert_int_equal(pc_file_sync(descriptor), 0);
  assert_int_equal(pc_file_close(descriptor), 0);
}

TEST_WITH(test_create_read_and_map, set_up, tear_down) {
  char bytes[16] = "";
  pc_file_info info;
  put("one\r\ntwo");
  errno = 0;
  assert_int_equal(pc_file_create(path, 0), -1);
  assert_int_equal(errno, EEXIST);
  const int descriptor = pc_file_open(path);
  assert_true(descriptor >= 0);
  assert_int_equal(pc_file_describe(descriptor, &info), 0);
  assert_int_equal(info.kind, PC_FILE_REGULAR);
  assert_int_equal(info.size, 8);
  assert_int_equal(info.links, 1);
  assert_int_equal(pc_file_read_at(descriptor, bytes, 3, 5), 3);
  assert_memory_equal(bytes, "two", 3);
  assert_int_equal(pc_file_read_at(descriptor, bytes, 3, 8), 0);
  assert_int_equal(pc_file_read(descriptor, bytes, sizeof bytes), 8);
  assert_memory_equal(bytes, "one\r\ntwo", 8);
  char *mapping = pc_file_map(descriptor, 8);
  assert_non_null(mapping);
  assert_memory_equal(mapping, "one\r\ntwo", 8);
  pc_file_unmap(mapping, 8);
  assert_false(pc_file_is_terminal(descriptor));
  assert_int_equal(pc_file_close(descriptor), 0);
}

TEST_WITH(test_secret_files_are_private, set_up, tear_down) {
  pc_file_info info;
  const int descriptor = pc_file_create(path, 1);
  assert_int_equal(pc_file_describe(descriptor, &info), 0);
  assert_true(pc_file_is_private(&info));
  info.links = 2;
  assert_false(pc_file_is_private(&info));
  assert_int_equal(pc_file_close(descriptor), 0);
}

TEST_WITH(test_a_nameless_file_gets_its_name, set_up, tear_down) {
  pc_file_info info;
  const int descriptor = pc_file_create_nameless(folder);
  if (descriptor < 0)
    skip(); /* not on every file system */
  assert_int_equal(pc_file_write(descriptor, "ab", 2), 2);
  assert_int_equal(pc_path_describe(path, &info), -1);
  assert_int_equal(pc_file_give_name(descriptor, path), 0);
  assert_int_equal(pc_path_describe(path, &info), 0);
  assert_int_equal(info.size, 2);
  assert_int_equal(pc_file_give_name(descriptor, path), -1);
  assert_int_equal(pc_file_close(descriptor), 0);
}

TEST_WITH(test_copied_owner, set_up, tear_down) {
  pc_file_info info;
  put("x");
  assert_int_equal(pc_path_describe(path, &info), 0);
  info.mode = 0640;
  const int descriptor = pc_file_open(path);
  assert_int_equal(pc_file_copy_owner(descriptor, &info), 0);
  assert_int_equal(pc_file_describe(descriptor, &info), 0);
  assert_int_equal(info.mode, 0640);
  assert_int_equal(pc_file_close(descriptor), 0);
}
