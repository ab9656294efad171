#include "io/groups.h"

#include <math.h>

#include "io_help.h"

typedef struct groups_fixture {
  pc_bytes bytes;
  pc_reader reader;
  pc_groups groups;
} groups_fixture;

static pcal_status groups_open(groups_fixture *f, const pcal_env *env, const char *name,
                               const void *data, size_t length, pcal_error *err) {
  pc_bytes_borrow(name, data, length, &f->bytes);
  const pc_request request = {.env = env, .bytes = &f->bytes, .as = PC_AS_TEXT};
  pc_groups_init(&f->groups, &f->reader, env);
  return pc_reader_open(&request, &f->reader, err);
}

static void groups_done(groups_fixture *f) {
  pc_groups_free(&f->groups);
  pc_reader_close(&f->reader);
}

static void numbers_groups_in_order(void **state) {
  (void)state;
  const pcal_env env = help_plain_env();
  const char *text = "g\nwest\neast\nwest\n\"no \"\"rth\"\nNA\n1\n1.0\neast\n";
  const uint32_t expected[] = {0, 1, 0, 2, 3, 4, 5, 1};
  groups_fixture f;
  const uint32_t *out = NULL;
  size_t rows = 0;
  assert_int_equal(groups_open(&f, &env, "g.csv", text, strlen(text), NULL), PCAL_OK);
  assert_int_equal(pc_groups_next(&f.groups, 3, 0, &out, &rows, NULL), PCAL_OK);
  assert_int_equal(rows, 3);
  assert_memory_equal(out, expected, sizeof(uint32_t) * 3);
  assert_int_equal(f.groups.names.count, 2);
  assert_int_equal(pc_groups_next(&f.groups, 9, 3, &out, &rows, NULL), PCAL_OK);
  assert_int_equal(rows, 5);
  assert_memory_equal(out, expected + 3, sizeof(uint32_t) * 5);
  assert_string_equal(f.groups.names.text[2], "no \"rth");
  pc_reader_rewind(&f.reader);
  assert_int_equal(pc_groups_next(&f.groups, 9, 0, &out, &rows, NULL), PCAL_OK);
  assert_int_equal(rows, 8);
  assert_memory_equal(out, expected, sizeof expected);
  assert_int_equal(f.groups.names.count, 6);
  groups_done(&f);
}

static void takes_numbers_of_npy(void **state) {
  (void)state;
  const pcal_env env = help_plain_env();
  const int64_t values[] = {9007199254740993, 9007199254740992, 9007199254740993};
  const help_npy npy = help_npy_make(1, "<i8", 0, "(3,)", values, sizeof values);
  groups_fixture f;
  const uint32_t *out = NULL;
  size_t rows = 0;
  assert_int_equal(groups_open(&f, &env, "g.npy", npy.bytes, npy.length, NULL), PCAL_OK);
  assert_int_equal(pc_groups_next(&f.groups, 9, 0, &out, &rows, NULL), PCAL_OK);
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
  assert_int_equal(pc_groups_next(&f.groups, 9, 100, &out, &rows, &err), PCAL_DATA);
  assert_string_equal(err.message, sentence);
  assert_int_equal(err.row, 101);
  groups_done(&f);
}

static void refuses_missing_and_broken_names(void **state) {
  (void)state;
  expect_refused("g.csv", "g\na\n\"\"\n", 7,
                 "g.csv, line 3: the group is missing; give every row a group");
  expect_refused("g.csv", "g\na\ncaf\xE9\n", 9,
                 "g.csv, line 3: the group is not valid UTF-8; save the file as UTF-8");
  const help_npy npy = help_npy_make(1, "<f8", 0, "(2,)", (double[]){1, NAN}, 16);
  expect_refused("g.npy", npy.bytes, npy.length,
                 "g.npy, row 101: the group is missing; give every row a group");
  free(npy.bytes);
}

static void refuses_too_many(void **state) {
  (void)state;
  const pcal_env env = help_plain_env();
  const size_t count = (size_t)PC_NAMES_MAX + 1;
  uint32_t *values = malloc(count * sizeof *values);
  for (size_t i = 0; i < count; i++)
    values[i] = (uint32_t)i;
  const help_npy npy = help_npy_make(1, "<u4", 0, "(1048577,)", values, count * sizeof *values);
  groups_fixture f;
  pcal_error err;
  const uint32_t *out = NULL;
  size_t rows = 1;
  uint64_t row = 0;
  pcal_status status = groups_open(&f, &env, "g.npy", npy.bytes, npy.length, NULL);
  while (status == PCAL_OK && rows > 0) {
    status = pc_groups_next(&f.groups, SIZE_MAX, row, &out, &rows, &err);
    row += rows;
  }
  assert_int_equal(status, PCAL_DATA);
  assert_string_equal(err.message, "g.npy, row 1048576: there are too many groups, more than "
                                   "1048576; is this the right column?");
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
    status = pc_groups_next(&f.groups, 9, 0, &out, &rows, err);
  groups_done(&f);
  return status;
}

static void survives_every_failed_allocation(void **state) {
  (void)state;
  help_fail_each_allocation(groups_scenario, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_groups_in_order),
      cmocka_unit_test(takes_numbers_of_npy),
      cmocka_unit_test(refuses_missing_and_broken_names),
      cmocka_unit_test(refuses_too_many),
      cmocka_unit_test(survives_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
