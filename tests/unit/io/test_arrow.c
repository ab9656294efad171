#include "io_help.h"

#include "io/label_reader.h"
#include "ipc_bytes.h"

static pcal_status arrow_test_open(const void *data, size_t length, const char *selector,
                                   pc_column_role as, const pcal_env *env, pc_input_file *bytes,
                                   pc_reader *reader, pcal_error *err) {
  pc_input_file_from_memory("a.arrow", data, length, bytes);
  bytes->env = env;
  const pc_read_request request = {.env = env, .bytes = bytes, .selector = selector, .as = as};
  return pc_reader_open(&request, reader, err);
}

TEST(reads_columns_batch_by_batch) {
  static const double want[][2] = {
      {0.75, 0.25}, {0.5, 0.5}, {0.125, 0.875}, {1, 0}, {0.25, 0.75}};
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  pcal_error err;
  if (!pc_little_endian()) {
    assert_int_equal(arrow_test_open(ipc_bytes, sizeof ipc_bytes, "labels", PC_COLUMN_LABELS,
                                     &env, &bytes, &reader, &err),
                     PCAL_DATA);
    assert_non_null(strstr(err.message, "its numbers are little-endian"));
    return;
  }
  assert_int_equal(arrow_test_open(ipc_bytes, sizeof ipc_bytes, "probs.cat..probs.dog",
                                   PC_COLUMN_SCORES, &env, &bytes, &reader, &err),
                   PCAL_OK);
  assert_int_equal(reader.columns, 2);
  assert_string_equal(reader.names[1], "probs.dog");
  for (int pass = 0; pass < 2; pass++) {
    size_t row = 0;
    do {
      assert_int_equal(pc_reader_next(&reader, 100, &window, &err), PCAL_OK);
      for (size_t i = 0; i < window.rows; i++, row++)
        for (size_t k = 0; k < 2; k++)
          assert_true(*(const double *)(const void *)((const char *)window.data +
                                                      (ptrdiff_t)i * window.row_stride +
                                                      (ptrdiff_t)k * window.column_stride) ==
                      want[row][k]);
    } while (window.rows > 0);
    assert_int_equal(row, 5);
    pc_reader_rewind(&reader);
  }
  pc_reader_close(&reader);
}

TEST(reads_dictionaries_as_text) {
  if (!pc_little_endian())
    skip(); /* refused */
  static const char *const want[] = {"cat", "dog", "dog", "cat", "cat"};
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  pcal_error err;
  size_t row = 0;
  assert_int_equal(arrow_test_open(ipc_bytes, sizeof ipc_bytes, "labels", PC_COLUMN_LABELS,
                                   &env, &bytes, &reader, &err),
                   PCAL_OK);
  assert_int_equal(reader.cells, PC_CELLS_TEXT);
  do {
    assert_int_equal(pc_reader_next(&reader, 2, &window, &err), PCAL_OK);
    for (size_t i = 0; i < window.rows; i++, row++)
      assert_true(pc_slice_is(((const pc_slice *)window.data)[i], want[row]));
  } while (window.rows > 0);
  assert_int_equal(row, 5);
  pc_reader_close(&reader);
}

/* Reads everything; returns the status of the last call. */
static pcal_status arrow_test_drain(const void *data, size_t length, const char *selector,
                                    pc_column_role as, const pcal_env *env, pcal_error *err) {
  pc_input_file bytes;
  pc_reader reader;
  pc_window window = {.rows = 1};
  PC_TRY(arrow_test_open(data, length, selector, as, env, &bytes, &reader, err));
  pcal_status status = PCAL_OK;
  while (status == PCAL_OK && window.rows > 0)
    status = pc_reader_next(&reader, 100, &window, err);
  pc_reader_close(&reader);
  return status;
}

/* Every byte changed, and every length: an error of the data or other numbers, no other
 * failure and no access outside (which a sanitizer sees). */
TEST(survives_every_changed_byte) {
  static const unsigned char values[] = {0, 1, 0x7F, 0x80, 0xFF};
  const pcal_env env = help_plain_env();
  pcal_error err;
  for (size_t i = 0; i < 5 * sizeof ipc_bytes; i++) {
    unsigned char *copy = malloc(sizeof ipc_bytes);
    assert_non_null(copy);
    memcpy(copy, ipc_bytes, sizeof ipc_bytes);
    copy[i / 5] = values[i % 5];
    const pcal_status numbers =
        arrow_test_drain(copy, sizeof ipc_bytes, "0,1", PC_COLUMN_SCORES, &env, &err);
    const pcal_status words =
        arrow_test_drain(copy, sizeof ipc_bytes, "2", PC_COLUMN_TEXT, &env, &err);
    assert_true(numbers == PCAL_OK || numbers == PCAL_DATA || numbers == PCAL_USAGE);
    assert_true(words == PCAL_OK || words == PCAL_DATA || words == PCAL_USAGE);
    free(copy);
  }
  for (size_t length = 1; length < sizeof ipc_bytes; length++) {
    unsigned char *copy = malloc(length);
    assert_non_null(copy);
    memcpy(copy, ipc_bytes, length);
    const pcal_status status =
        arrow_test_drain(copy, length, "labels", PC_COLUMN_TEXT, &env, &err);
    assert_true(status == PCAL_OK || status == PCAL_DATA);
    free(copy);
  }
}

static pcal_status arrow_test_scenario(const pcal_env *env, void *user, pcal_error *err) {
  (void)user;
  return arrow_test_drain(ipc_bytes, sizeof ipc_bytes, "labels", PC_COLUMN_TEXT, env, err);
}

TEST(survives_every_failing_allocation) {
  if (!pc_little_endian())
    skip(); /* refused */
  help_fail_each_allocation(arrow_test_scenario, NULL);
}
