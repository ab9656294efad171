#include "io/reader.h"

#include <fcntl.h>

#include "io_help.h"

static pcal_status reader_open(const char *name, const char *text, pc_reader *reader,
                               pc_input_file *bytes, const pcal_env *env, pcal_error *err) {
  pc_input_file_from_memory(name, text, strlen(text), bytes);
  const pc_read_request request = {.env = env, .bytes = bytes, .as = PC_COLUMN_SCORES};
  return pc_reader_open(&request, reader, err);
}

static void expect_format(const char *name, const char *text, const char *format) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pc_reader reader;
  assert_int_equal(reader_open(name, text, &reader, &bytes, &env, NULL), PCAL_OK);
  assert_string_equal(reader.format->name, format);
  pc_reader_close(&reader);
  assert_null(reader.format);
}

TEST(goes_by_extension) {
  expect_format("a.csv", "1,2\n", "csv");
  expect_format("dir.npy/a.CSV", "1,2\n", "csv");
  expect_format("a.b.tsv", "1\t2\n", "tsv");
  expect_format("a.jsonl", "{\"p\":1}\n", "jsonl");
  expect_format("a.NDJSON", "{\"p\":1}\n", "jsonl");
  expect_format("a.csv.gz", "1,2\n", "csv");
  expect_format("/dev/fd/63", "1\n", "csv");
  expect_format("/dev/fd/63", "1\t2\n3,4\n", "tsv");
  expect_format("/dev/fd/63", "{\"p\":1}\n", "jsonl");
}

static void expect_unknown(const char *name, const char *sentence) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pc_reader reader;
  pcal_error err;
  assert_int_equal(reader_open(name, "1\n", &reader, &bytes, &env, &err), PCAL_USAGE);
  assert_string_equal(err.message, sentence);
  assert_null(reader.format);
}

#define KNOWN                                                                \
  ".npy, .npz, .csv, .tsv, .jsonl, .ndjson, .arrow, .feather, .ipc, .arrows" \
  ", or give file_format"

TEST(lists_what_is_known) {
  expect_unknown("a.txt", "a.txt: the format .txt is unknown; use one of " KNOWN);
  expect_unknown("a.csvx", "a.csvx: the format .csvx is unknown; use one of " KNOWN);
  expect_unknown("a.cs", "a.cs: the format .cs is unknown; use one of " KNOWN);
  expect_unknown("x.csv/a",
                 "x.csv/a has no extension, so its format is unknown; use one of " KNOWN);
}

TEST(recognises_text_of_streams) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pc_reader reader;
  int ends[2];
  char path[32];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], "1,2\n", 4), 4);
  close(ends[1]);
  snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
  assert_int_equal(pc_input_file_open(path, &env, &bytes, NULL), PCAL_OK);
  const pc_read_request request = {.env = &env, .bytes = &bytes, .as = PC_COLUMN_SCORES};
  assert_int_equal(pc_reader_open(&request, &reader, NULL), PCAL_OK);
  assert_string_equal(reader.format->name, "csv");
  pc_reader_close(&reader);
  pc_input_file_close(&bytes);
  close(ends[0]);
}

TEST(takes_columns_by_number) {
  const pcal_env env = help_plain_env();
  const size_t chosen[] = {2, 0};
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  pc_input_file_from_memory("a.csv", "1,2,3\n", 6, &bytes);
  const pc_read_request request = {.env = &env,
                                   .bytes = &bytes,
                                   .chosen = chosen,
                                   .chosen_count = 2,
                                   .as = PC_COLUMN_SCORES};
  assert_int_equal(pc_reader_open(&request, &reader, NULL), PCAL_OK);
  assert_int_equal(pc_reader_next(&reader, 5, &window, NULL), PCAL_OK);
  assert_int_equal(window.rows, 1);
  assert_true(((const double *)window.data)[0] == 3 && ((const double *)window.data)[1] == 1);
  pc_reader_close(&reader);
}

/* Each format, cut short between open and next. */
TEST(notices_a_file_that_shrinks) {
  pcal_env env = help_plain_env();
  env.map_files = 1;
  const float values[] = {1, 2, 3, 4};
  const char *paths[] = {
      help_npy_file("s.npy", "=f4", "(4,)", values, sizeof values),
      help_text("s.csv", "1\n2\n3\n4\n"),
      help_npy_file("t.npy", ">f4", "(4,)", values, sizeof values),
      help_text("s.jsonl", "{\"p\":1}\n{\"p\":2}\n{\"p\":3}\n"),
  };
  for (size_t i = 0; i < 4; i++) {
    pc_input_file bytes;
    pc_reader reader;
    pc_window window;
    pcal_error err;
    assert_int_equal(pc_input_file_open(paths[i], &env, &bytes, NULL), PCAL_OK);
    const pc_read_request request = {.env = &env, .bytes = &bytes, .as = PC_COLUMN_SCORES};
    assert_int_equal(pc_reader_open(&request, &reader, NULL), PCAL_OK);
    assert_int_equal(pc_reader_next(&reader, 1, &window, NULL), PCAL_OK);
    assert_int_equal(truncate(paths[i], (off_t)bytes.length - 1), 0);
    assert_int_equal(pc_reader_next(&reader, 1, &window, &err), PCAL_IO);
    assert_message(err, "while it was being read");
    pc_reader_close(&reader);
    assert_int_equal(truncate(paths[i], 0), 0);
    assert_int_equal(pc_reader_open(&request, &reader, &err), PCAL_IO);
    assert_message(err, "while it was being read");
    pc_input_file_close(&bytes);
  }
}

TEST(sizes_windows) {
  assert_int_equal(pc_window_rows(8), PC_WINDOW_BYTES / 8);
  assert_int_equal(pc_window_rows(0), 1);
  assert_int_equal(pc_window_rows(SIZE_MAX), 1);
}

TEST(lists_formats) {
  size_t count = 0;
  while (pc_file_format_at(count) != NULL)
    count++;
  assert_int_equal(count, 6);
  assert_string_equal(pc_file_format_at(0)->name, "npy");
  for (size_t i = 0; i < count; i++) {
    const char *name = pc_file_format_at(i)->name;
    const int container =
        strcmp(name, "npz") == 0 || strcmp(name, "jsonl") == 0 || strcmp(name, "arrow") == 0;
    assert_int_equal(pc_file_format_at(i)->members != NULL, container);
  }
}

TEST_GROUP(help_setup, help_teardown)
