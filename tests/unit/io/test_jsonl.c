#include <math.h>

#include "io_help.h"

#include "io/reader.h"

static pcal_status jsonl_open(const char *text, const char *selector, pc_column_role as,
                              const pcal_env *env, pc_input_file *bytes, pc_reader *reader,
                              pcal_error *err) {
  pc_input_file_from_memory("d.jsonl", text, strlen(text), bytes);
  const pc_read_request request = {.env = env, .bytes = bytes, .selector = selector, .as = as};
  return pc_reader_open(&request, reader, err);
}

/* Reads everything in windows of `step` rows. */
static void expect_numbers(const char *text, const char *selector, size_t columns,
                           const double *values, size_t rows) {
  const pcal_env env = help_plain_env();
  for (size_t step = 1; step < rows + 2; step++) {
    pc_input_file bytes;
    pc_reader reader;
    pc_window window;
    pcal_error err;
    size_t row = 0;
    if (jsonl_open(text, selector, PC_COLUMN_SCORES, &env, &bytes, &reader, &err) != PCAL_OK)
      fail_msg("%s", err.message);
    assert_int_equal(reader.cells, PC_CELLS_F64);
    assert_int_equal(reader.columns, columns);
    assert_true(reader.rows == PCAL_NO_ROW);
    assert_null(reader.names);
    for (int pass = 0; pass < 2; pass++) {
      for (row = 0; row < rows; row += window.rows) {
        if (pc_reader_next(&reader, step, &window, &err) != PCAL_OK)
          fail_msg("%s", err.message);
        assert_int_equal(window.rows, step < rows - row ? step : rows - row);
        for (size_t i = 0; i < window.rows * columns; i++) {
          const double got = ((const double *)window.data)[i], want = values[row * columns + i];
          assert_true(got == want || (isnan(got) && isnan(want)));
        }
      }
      assert_int_equal(pc_reader_next(&reader, step, &window, &err), PCAL_OK);
      assert_int_equal(window.rows, 0);
      assert_int_equal(reader.rows, rows);
      pc_reader_rewind(&reader);
    }
    pc_reader_close(&reader);
  }
}

TEST(reads_numbers) {
  const double values[] = {0.5, -1e-3, NAN, 3};
  expect_numbers("{\"p\":0.5,\"x\":\"y\"}\n{\"x\":[{}],\"p\":-1e-3}\r\n{\"p\":null}\n{\"p\":3}",
                 "p", 1, values, 4);
  expect_numbers("{\"p\":0.5}\n{\"p\":-1e-3}\n{\"p\":null}\n{\"\\u0070\":3}\n", NULL, 1, values,
                 4);
}

TEST(reads_arrays) {
  const double values[] = {NAN, NAN, NAN, 1, 2, 3, 4, NAN, 6, NAN, NAN, NAN};
  expect_numbers("{\"p\":null,\"y\":1}\n{\"p\":[1, 2,3],\"y\":1}\n{\"p\":[4,null,6],\"y\":1}\n"
                 "{\"p\":null,\"y\":1}\n",
                 "p", 3, values, 4);
  const double one[] = {7, 8};
  expect_numbers("{\"p\":[7]}\n{\"p\":[8]}\n", "p", 1, one, 2);
  const double nothing[] = {NAN, NAN};
  expect_numbers("{\"p\":null}\n{\"p\":null}\n", "p", 1, nothing, 2);
}

static void expect_texts(const char *text, pc_column_role as, const char *const *texts,
                         size_t rows) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  assert_int_equal(jsonl_open(text, "y", as, &env, &bytes, &reader, NULL), PCAL_OK);
  assert_int_equal(reader.cells, PC_CELLS_TEXT);
  assert_string_equal(reader.bytes->name, "d.jsonl:y");
  assert_true(pc_reader_has_lines(&reader));
  assert_int_equal(pc_reader_next(&reader, 1, &window, NULL), PCAL_OK);
  assert_true(pc_slice_is(((const pc_slice *)window.data)[0], texts[0]));
  assert_int_equal(pc_reader_next(&reader, 100, &window, NULL), PCAL_OK);
  assert_int_equal(window.rows, rows - 1);
  for (size_t i = 1; i < rows; i++)
    assert_true(pc_slice_is(((const pc_slice *)window.data)[i - 1], texts[i]));
  assert_int_equal(pc_reader_place(&reader, 1, 77).line, 3);
  pc_reader_close(&reader);
}

TEST(reads_names_and_labels) {
  static const char text[] = "{\"y\":\"cat\"}\n{\"y\":\"a\\\"\\u00e9\"}\n{\"y\":3}\n"
                             "{\"y\":null}\n{\"y\":true}\n{\"y\":\"\\\\\"}\n{\"y\":\"dog\"}\n";
  const char *const texts[] = {"cat", "a\"\xC3\xA9", "3", "", "true", "\\", "dog"};
  expect_texts(text, PC_COLUMN_TEXT, texts, 7);
  expect_texts(text, PC_COLUMN_LABELS, texts, 7);
}

TEST(reads_one_hot_labels) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  assert_int_equal(jsonl_open("{\"y\":[0,1]}\n{\"y\":[1,0]}\n", "y", PC_COLUMN_LABELS, &env,
                              &bytes, &reader, NULL),
                   PCAL_OK);
  assert_int_equal(reader.cells, PC_CELLS_F64);
  assert_int_equal(reader.columns, 2);
  assert_int_equal(pc_reader_next(&reader, 9, &window, NULL), PCAL_OK);
  assert_true(((const double *)window.data)[1] == 1);
  pc_reader_close(&reader);
}

static void expect_refused(const char *text, const char *selector, pc_column_role as,
                           pcal_status wanted, const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  pc_input_file bytes;
  pc_reader reader;
  pc_window window = {.rows = 1};
  pcal_error err;
  pcal_status status = jsonl_open(text, selector, as, &env, &bytes, &reader, &err);
  while (status == PCAL_OK && window.rows > 0)
    status = pc_reader_next(&reader, 2, &window, &err);
  pc_reader_close(&reader);
  assert_int_equal(status, wanted);
  assert_string_equal(err.message, sentence);
  assert_int_equal(counter.live, 0);
}

TEST(refuses_ragged_rows) {
  expect_refused("{\"p\":null}\n{\"p\":[1,2]}\n{\"p\":[1,2,3]}\n", "p", PC_COLUMN_SCORES,
                 PCAL_DATA,
                 "d.jsonl, line 3, field \"p\": the array has 3 elements, but on line 2 it has "
                 "2; all rows need the same length, or say ragged if they have different "
                 "choices");
  expect_refused("{\"p\":[1,2]}\n{\"p\":[1]}\n", "p", PC_COLUMN_TEXT, PCAL_DATA,
                 "d.jsonl, line 2, field \"p\": the array has 1 element, but on line 1 it has "
                 "2; all rows need the same length");
  expect_refused(
      "{\"p\":[1,2]}\n{\"p\":1}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
      "d.jsonl, line 2, field \"p\": it is an array on other lines, but a value here; "
      "give every row the same form");
  expect_refused(
      "{\"p\":1}\n{\"p\":[1]}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
      "d.jsonl, line 2, field \"p\": it is a value on other lines, but an array here; "
      "give every row the same form");
  expect_refused("{\"p\":[]}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
                 "d.jsonl, line 1, field \"p\": the array is empty; give a number for each "
                 "class");
}

TEST(refuses_wrong_types) {
  expect_refused("{\"p\":1}\n{\"p\":\"0.5\"}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
                 "d.jsonl, line 2, field \"p\": \"0.5\" is not a number; write numbers without "
                 "quotes");
  expect_refused("{\"p\":[1,true]}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
                 "d.jsonl, line 1, field \"p\": true is not a number; write numbers without "
                 "quotes");
  expect_refused("{\"p\":[1,[2]]}\n", "p", PC_COLUMN_TEXT, PCAL_DATA,
                 "d.jsonl, line 1, field \"p\": [2] is not a number; write numbers without "
                 "quotes");
  expect_refused("{\"p\":{\"q\":\"1\"}}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
                 "d.jsonl, line 1, field \"p\": \"1\" is not a number; write numbers without "
                 "quotes");
  expect_refused("{\"p\":{}}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
                 "d.jsonl, line 1, field \"p\": the object is empty; give a number for each "
                 "class");
  expect_refused("{\"p\":\"\\udead\"}\n", "p", PC_COLUMN_TEXT, PCAL_DATA,
                 "d.jsonl, line 1, field \"p\": the string contains half of a surrogate "
                 "pair; write it as UTF-8");
}

TEST(refuses_fields_that_are_not_there) {
  expect_refused("{\"p\":1}\n{\"q\":1}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
                 "d.jsonl, line 2, field \"p\": the object has no such field; write null "
                 "for a missing value");
  expect_refused("{\"p\":1}\n{\"p\":1,\"p\":2}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
                 "d.jsonl, line 2, field \"p\": it occurs twice in the object; remove one");
  expect_refused("{\"probs\":1,\"y\":2}\n", "prob", PC_COLUMN_SCORES, PCAL_USAGE,
                 "d.jsonl has no field \"prob\"; did you mean \"probs\"?");
  expect_refused("{\"probs\":1,\"y\":2}\n", NULL, PC_COLUMN_SCORES, PCAL_USAGE,
                 "d.jsonl has 2 fields, \"probs\" and \"y\"; choose one as d.jsonl:NAME");
  expect_refused("{}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
                 "d.jsonl, line 1: the object has no fields; write at least one");
  expect_refused(
      "{\"\\ud800\":1}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
      "d.jsonl, line 1, field \"\\ud800\": the name of the field is not valid UTF-8; "
      "rename it");
  expect_refused("{\"p\":1}\n\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
                 "d.jsonl, line 2: the line is blank; delete it");
  expect_refused(
      "{\"p\":1}\n{\"p\":NaN}\n", "p", PC_COLUMN_SCORES, PCAL_DATA,
      "d.jsonl, line 2, field \"p\": NaN and Infinity are not JSON; write null for a "
      "missing value");
}

/* Two megabytes of rows and a window of one: the buffer stays where it is. */
TEST(keeps_memory_constant) {
  enum { ROWS = 200000 };
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  char *text = malloc(ROWS * 10 + 1);
  pc_input_file bytes;
  pc_reader reader;
  pc_window window = {.rows = 1};
  size_t rows = 0;
  assert_non_null(text);
  for (size_t i = 0; i < ROWS; i++)
    memcpy(text + 10 * i, "{\"p\": 1 }\n", 11);
  assert_int_equal(jsonl_open(text, "p", PC_COLUMN_SCORES, &env, &bytes, &reader, NULL),
                   PCAL_OK);
  assert_int_equal(reader.window_limit, PC_WINDOW_BYTES / sizeof(double));
  assert_int_equal(pc_reader_next(&reader, SIZE_MAX, &window, NULL), PCAL_OK);
  const size_t calls = counter.calls;
  for (rows = window.rows; window.rows > 0; rows += window.rows)
    assert_int_equal(pc_reader_next(&reader, SIZE_MAX, &window, NULL), PCAL_OK);
  assert_int_equal(rows, ROWS);
  assert_int_equal(counter.calls, calls);
  pc_reader_close(&reader);
  free(text);
}

static pcal_status jsonl_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  PC_TRY(jsonl_open(user, "y", PC_COLUMN_LABELS, env, &bytes, &reader, err));
  const pcal_status status = pc_reader_next(&reader, 9, &window, err);
  pc_reader_close(&reader);
  return status;
}

TEST(survives_every_failed_allocation) {
  char text[] = "{\"x\":[],\"y\":\"a\\tb\"}\n{\"y\":\"c\\nd\"}\n", hot[] = "{\"y\":[1,0]}\n";
  help_fail_each_allocation(jsonl_scenario, text);
  help_fail_each_allocation(jsonl_scenario, hot);
}
