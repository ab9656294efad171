#include "io/group_reader.h"

#include <math.h>

#include "io_help.h"

typedef struct groups_fixture {
  pc_input_file bytes;
  pc_reader reader;
  pc_group_reader groups;
} groups_fixture;

static pcal_status groups_open(groups_fixture *f, const pcal_env *env, const char *name,
                               const void *data, size_t length, pcal_error *err) {
  pc_input_file_from_memory(name, data, length, &f->bytes);
  const pc_read_request request = {.env = env, .bytes = &f->bytes, .as = PC_COLUMN_TEXT};
  pc_group_reader_init(&f->groups, &f->reader, env);
  return pc_reader_open(&request, &f->reader, err);
}

static void groups_done(groups_fixture *f) {
  pc_group_reader_free(&f->groups);
  pc_reader_close(&f->reader);
}

TEST(numbers_groups_in_order) {
  const pcal_env env = help_plain_env();
  const char *text = "g\nwest\neast\nwest\n\"no \"\"rth\"\nNA\n1\n1.0\neast\n";
  const uint32_t expected[] = {0, 1, 0, 2, 3, 4, 5, 1};
  groups_fixture f;
  const uint32_t *out = NULL;
  size_t rows = 0;
  assert_int_equal(groups_open(&f, &env, "g.csv", text, strlen(text), NULL), PCAL_OK);
  assert_int_equal(pc_group_reader_next(&f.groups, 3, 0, &out, &rows, NULL), PCAL_OK);
  assert_int_equal(rows, 3);
  assert_memory_equal(out, expected, sizeof(uint32_t) * 3);
  assert_int_equal(f.groups.names.count, 2);
  assert_int_equal(pc_group_reader_next(&f.groups, 9, 3, &out, &rows, NULL), PCAL_OK);
  assert_int_equal(rows, 5);
  assert_memory_equal(out, expected + 3, sizeof(uint32_t) * 5);
  assert_string_equal(f.groups.names.text[2], "no \"rth");
  pc_reader_rewind(&f.reader);
  assert_int_equal(pc_group_reader_next(&f.groups, 9, 0, &out, &rows, NULL), PCAL_OK);
  assert_int_equal(rows, 8);
  assert_memory_equal(out, expected, sizeof expected);
  assert_int_equal(f.groups.names.count, 6);
  groups_done(&f);
}

TEST(takes_numbers_of_npy) {
  const pcal_env env = help_plain_env();
  const int64_t values[] = {9007199254740993, 9007199254740992, 9007199254740993};
  const help_npy npy = help_npy_make(1, "=i8", 0, "(3,)", values, sizeof values);
  groups_fixture f;
  const uint32_t *out = NULL;
  size_t rows = 0;
  assert_int_equal(groups_open(&f, &env, "g.npy", npy.bytes, npy.length, NULL), PCAL_OK);
  assert_int_equal(pc_group_reader_next(&f.groups, 9, 0, &out, &rows, NULL), PCAL_OK);
  assert_memory_equal(out, ((uint32_t[]){0, 1, 0}), 12);
  assert_string_equal(f.groups.names.text[0], "9007199254740993");
  groups_done(&f);
  free(npy.bytes);
}

static void expect_refused(const char *name, const void *data, size_t length,
                           const char *sentence) {
  const pcal_env env = help_plain_env();
  groups_fixture f;
  pcal_error err;
  const uint32_t *out = NULL;
  size_t rows = 0;
  assert_int_equal(groups_open(&f, &env, name, data, length, NULL), PCAL_OK);
  assert_int_equal(pc_group_reader_next(&f.groups, 9, 100, &out, &rows, &err), PCAL_DATA);
  assert_string_equal(err.message, sentence);
  assert_int_equal(err.row, 101);
  groups_done(&f);
}

TEST(refuses_missing_and_broken_names) {
  expect_refused("g.csv", "g\na\n\"\"\n", 7,
                 "g.csv, line 3: the group is missing; give every row a group");
  expect_refused("g.csv", "g\na\ncaf\xE9\n", 9,
                 "g.csv, line 3: the group is not valid UTF-8; save the file as UTF-8");
  const help_npy npy = help_npy_make(1, "=f8", 0, "(2,)", (double[]){1, NAN}, 16);
  expect_refused("g.npy", npy.bytes, npy.length,
                 "g.npy, row 101: the group is missing; give every row a group");
  free(npy.bytes);
}

TEST(refuses_too_many) {
  const pcal_env env = help_plain_env();
  const size_t count = (size_t)PC_NAME_TABLE_MAX + 1;
  uint32_t *values = malloc(count * sizeof *values);
  for (size_t i = 0; i < count; i++)
    values[i] = (uint32_t)i;
  const help_npy npy = help_npy_make(1, "=u4", 0, "(1048577,)", values, count * sizeof *values);
  groups_fixture f;
  pcal_error err;
  const uint32_t *out = NULL;
  size_t rows = 1;
  uint64_t row = 0;
  pcal_status status = groups_open(&f, &env, "g.npy", npy.bytes, npy.length, NULL);
  while (status == PCAL_OK && rows > 0) {
    status = pc_group_reader_next(&f.groups, SIZE_MAX, row, &out, &rows, &err);
    row += rows;
  }
  assert_int_equal(status, PCAL_DATA);
  assert_string_equal(err.message, "g.npy, row 1048576: there are more than 1048576 "
                                   "groups; check that this is the right column");
  groups_done(&f);
  free(npy.bytes);
  free(values);
}

static pcal_status groups_scenario(const pcal_env *env, void *user, pcal_error *err) {
  groups_fixture f;
  const uint32_t *out = NULL;
  size_t rows = 0;
  (void)user;
  pcal_status status = groups_open(&f, env, "g.csv", "g\na\nb\n", 6, err);
  if (status == PCAL_OK)
    status = pc_group_reader_next(&f.groups, 9, 0, &out, &rows, err);
  groups_done(&f);
  return status;
}

TEST(survives_every_failed_allocation) {
  help_fail_each_allocation(groups_scenario, NULL);
}
