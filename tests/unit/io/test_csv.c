#include <math.h>

#include "io/reader.h"
#include "io_help.h"

typedef struct csv_fixture {
  pcal_env env;
  char *exact; /* a block of the text's own length, for the sanitizer */
  pc_input_file bytes;
  pc_reader reader;
} csv_fixture;

static pcal_status csv_try(csv_fixture *f, const char *name, const char *text,
                           const char *selector, pc_column_role as, pcal_error *err) {
  f->env = help_plain_env();
  f->exact = malloc(strlen(text));
  memcpy(f->exact, text, strlen(text));
  pc_input_file_from_memory(name, f->exact, strlen(text), &f->bytes);
  const pc_read_request request = {
      .env = &f->env, .bytes = &f->bytes, .selector = selector, .as = as};
  return pc_reader_open(&request, &f->reader, err);
}

static void csv_open(csv_fixture *f, const char *text, const char *selector,
                     pc_column_role as) {
  pcal_error err;
  if (csv_try(f, "f.csv", text, selector, as, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

static void csv_done(csv_fixture *f) {
  pc_reader_close(&f->reader);
  free(f->exact);
}

/* Reads everything in windows of `step` and compares; NaN equals NaN. */
static void expect_numbers(csv_fixture *f, size_t step, const double *expected, size_t rows) {
  const size_t columns = f->reader.columns;
  pc_window window;
  size_t row = 0;
  do {
    assert_int_equal(pc_reader_next(&f->reader, step, &window, NULL), PCAL_OK);
    assert_true(row + window.rows <= rows);
    assert_int_equal(window.row_stride, columns * sizeof(double));
    const double *got = window.data;
    for (size_t i = 0; i < window.rows * columns; i++) {
      const double wanted = expected[row * columns + i];
      assert_true(got[i] == wanted || (isnan(got[i]) && isnan(wanted)));
    }
    row += window.rows;
  } while (window.rows == step);
  assert_int_equal(row, rows);
  assert_int_equal(f->reader.rows, rows);
}

TEST(reads_numbers_in_windows) {
  const double expected[] = {1, -0.5, 3e5, NAN, NAN, 6, NAN, NAN, INFINITY, 7, 8, 9};
  csv_fixture f;
  csv_open(&f, "a,b,c\r\n 1 ,-.5,3e5\r\nNA,,6\nnull,None, inf\n\"7\",\" 8 \",+9", NULL,
           PC_COLUMN_SCORES);
  assert_int_equal(f.reader.cells, PC_CELLS_F64);
  assert_int_equal(f.reader.headed, 1);
  assert_true(f.reader.rows == PCAL_NO_ROW);
  assert_string_equal(f.reader.names[2], "c");
  for (size_t step = 1; step < 7; step++) {
    expect_numbers(&f, step, expected, 4);
    pc_reader_rewind(&f.reader);
  }
  csv_done(&f);
}

TEST(reads_tabs) {
  const double expected[] = {1, 2, 3, 4};
  csv_fixture f;
  assert_int_equal(csv_try(&f, "f.TSV", "1\t2\n3\t 4\n", NULL, PC_COLUMN_NUMBERS, NULL),
                   PCAL_OK);
  assert_int_equal(f.reader.headed, 0);
  assert_null(f.reader.names);
  expect_numbers(&f, 9, expected, 2);
  csv_done(&f);
}

TEST(chooses_columns_in_any_order) {
  const double expected[] = {3, 1, 6, 4};
  csv_fixture f;
  csv_open(&f, "a,t,b\n1,x,3\n4,\"y,\n\",6\n", "b,a", PC_COLUMN_SCORES);
  assert_string_equal(f.reader.names[0], "b");
  assert_string_equal(f.reader.names[1], "a");
  assert_int_equal(f.reader.file_columns, 3);
  expect_numbers(&f, 9, expected, 2);
  csv_done(&f);
}

TEST(reads_more_than_a_window) {
  const size_t rows = 200000;
  char *text = malloc(rows * 8 + 1);
  size_t used = 0;
  for (size_t i = 0; i < rows; i++)
    used += (size_t)snprintf(text + used, 9, "%zu\n", i);
  csv_fixture f;
  pc_window window;
  size_t row = 0;
  csv_open(&f, text, NULL, PC_COLUMN_NUMBERS);
  do {
    assert_int_equal(pc_reader_next(&f.reader, SIZE_MAX, &window, NULL), PCAL_OK);
    assert_true(window.rows <= PC_WINDOW_BYTES / sizeof(double));
    for (size_t i = 0; i < window.rows; i++, row++)
      if (((const double *)window.data)[i] != (double)row)
        fail_msg("row %zu", row);
  } while (window.rows > 0);
  assert_int_equal(row, rows);
  csv_done(&f);
  free(text);
}

TEST(gives_text) {
  csv_fixture f;
  pc_window window;
  csv_open(&f, "g,x\n a b ,1\n\"say \"\"hi\"\"\",2\n,3\n\"q\"\"\",4\n\"\",5\n", "g",
           PC_COLUMN_TEXT);
  assert_int_equal(f.reader.cells, PC_CELLS_TEXT);
  assert_int_equal(pc_reader_next(&f.reader, 9, &window, NULL), PCAL_OK);
  assert_int_equal(window.rows, 5);
  const pc_slice *slices = window.data;
  assert_true(pc_slice_is(slices[0], "a b"));
  assert_true(pc_slice_is(slices[1], "say \"hi\""));
  assert_true(pc_slice_is(slices[2], ""));
  assert_true(pc_slice_is(slices[3], "q\""));
  assert_true(pc_slice_is(slices[4], ""));
  csv_done(&f);
}

TEST(reports_the_line_of_a_row) {
  csv_fixture f;
  pc_window window;
  csv_open(&f, "g\n\"a\nb\"\nc\nd\n", NULL, PC_COLUMN_TEXT);
  assert_int_equal(pc_reader_next(&f.reader, 2, &window, NULL), PCAL_OK);
  assert_int_equal(pc_reader_place(&f.reader, 0, 100).line, 2);
  assert_int_equal(pc_reader_place(&f.reader, 1, 101).line, 4);
  assert_int_equal(pc_reader_next(&f.reader, 2, &window, NULL), PCAL_OK);
  assert_int_equal(pc_reader_place(&f.reader, 0, 102).line, 5);
  csv_done(&f);
}

static void expect_refused(const char *text, const char *selector, const char *sentence) {
  csv_fixture f;
  pc_window window;
  pcal_error err;
  pcal_status status = csv_try(&f, "f.csv", text, selector, PC_COLUMN_SCORES, &err);
  for (int i = 0; i < 10 && status == PCAL_OK; i++)
    status = pc_reader_next(&f.reader, 2, &window, &err);
  assert_int_equal(status, PCAL_DATA);
  assert_string_equal(err.message, sentence);
  csv_done(&f);
}

TEST(refuses_blank_and_ragged_lines) {
  expect_refused("a,b\n1,2\n\n3,4\n", NULL, "f.csv, line 3: the line is blank; delete it");
  expect_refused("1,2\n3,4\n5,6\n\n", NULL, "f.csv, line 4: the line is blank; delete it");
  expect_refused("1\n  \n2\n", NULL, "f.csv, line 2: the line is blank; delete it");
  expect_refused("a,b\r\n1,2\r\n\r\n", NULL, "f.csv, line 3: the line is blank; delete it");
  expect_refused(
      "a,b\n1,2\n3\n", NULL,
      "f.csv, line 3: the line has 1 cell, but the first line has 2; add or remove cells, or "
      "quote a cell that holds the separator");
  expect_refused(
      "\"a\nx\",b\n1,2\n1,2,3,4\n", NULL,
      "f.csv, line 4: the line has 4 cells, but the first line has 2; add or remove cells, or "
      "quote a cell that holds the separator");
  expect_refused("1,2\n3,\"4\n", NULL,
                 "f.csv, line 2: a quote is opened but never closed; close it");
}

TEST(refuses_what_is_no_number) {
  expect_refused(
      "cat,dog\n1,2\n3,four\n", NULL,
      "f.csv, line 3, column \"dog\": \"four\" is not a number; correct it, or choose "
      "the columns as FILE:first..last");
  expect_refused("1,2\n3,4x\n", NULL,
                 "f.csv, line 2, column 1: \"4x\" is not a number; correct it, or choose the "
                 "columns as FILE:first..last");
  expect_refused("a\n0.5;0.5\n", NULL,
                 "f.csv, line 2, column \"a\": \"0.5;0.5\" is not a number; correct it, or "
                 "choose the columns as FILE:first..last");
  expect_refused("a\n\"0,5\"\n", NULL,
                 "f.csv, line 2, column \"a\": \"0,5\" is not a number; "
                 "write numbers with a decimal point");
  expect_refused("a\n62.3%\n", NULL,
                 "f.csv, line 2, column \"a\": \"62.3%\" is not a number; "
                 "write percentages without the sign, and give percent = 1");
  expect_refused("a;b\n62,3%;1\n", NULL,
                 "f.csv, line 2, column \"a\": \"62,3%\" is not a number; "
                 "write percentages without the sign, and give percent = 1");
  expect_refused(
      "a\n1e\n", NULL,
      "f.csv, line 2, column \"a\": \"1e\" is not a number; correct it, or choose the "
      "columns as FILE:first..last");
}

static pcal_status csv_scenario(const pcal_env *env, void *user, pcal_error *err) {
  static const char text[] = "a,b\n\"1\",2\n3,4\n5,6\n\"7\",8\n9,\"10\"\n";
  static const char words[] = "a,b\nx,\"p\"\"q\"\ny,\"r\"\"s\"\n";
  pcal_status status = PCAL_OK;
  (void)user;
  for (int t = 0; t < 2 && status == PCAL_OK; t++) {
    pc_input_file bytes;
    pc_reader reader;
    pc_window window;
    pc_input_file_from_memory("f.csv", t == 0 ? text : words, strlen(t == 0 ? text : words),
                              &bytes);
    const pc_read_request request = {.env = env,
                                     .bytes = &bytes,
                                     .selector = "b,a",
                                     .as = t == 0 ? PC_COLUMN_SCORES : PC_COLUMN_TEXT};
    status = pc_reader_open(&request, &reader, err);
    for (size_t i = 0; i < 3 && status == PCAL_OK; i++)
      status = pc_reader_next(&reader, i + 1, &window, err);
    pc_reader_close(&reader);
  }
  return status;
}

TEST(survives_every_failed_allocation) {
  help_fail_each_allocation(csv_scenario, NULL);
}
