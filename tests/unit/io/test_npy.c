#include <math.h>

#include "io/formats/element_type.h"
#include "io/reader.h"
#include "io_help.h"

/* A reader over an npy file in memory. */
typedef struct npy_fixture {
  pcal_env env;
  help_npy npy;
  pc_input_file bytes;
  pc_reader reader;
} npy_fixture;

static void npy_open(npy_fixture *f, help_npy npy, const char *selector, pc_column_role as) {
  pcal_error err;
  f->env = help_plain_env();
  f->npy = npy;
  pc_input_file_from_memory("x.npy", npy.bytes, npy.length, &f->bytes);
  const pc_read_request request = {
      .env = &f->env, .bytes = &f->bytes, .selector = selector, .as = as};
  if (pc_reader_open(&request, &f->reader, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

static void npy_done(npy_fixture *f) {
  pc_reader_close(&f->reader);
  free(f->npy.bytes);
}

static double npy_cell(const pc_reader *reader, const pc_window *window, size_t row,
                       size_t column) {
  const char *at = (const char *)window->data + (ptrdiff_t)row * window->row_stride +
                   (ptrdiff_t)column * window->column_stride;
  double wide;
  float narrow;
  if (reader->cells == PC_CELLS_F32) {
    memcpy(&narrow, at, sizeof narrow);
    return (double)narrow;
  }
  memcpy(&wide, at, sizeof wide);
  return wide;
}

/* Element r, c is 10 r + c in `rows` x 3 cells, read in windows of `step`. */
static void expect_table(npy_fixture *f, size_t rows, size_t step) {
  pc_window window;
  size_t row = 0;
  do {
    assert_int_equal(pc_reader_next(&f->reader, step, &window, NULL), PCAL_OK);
    for (size_t i = 0; i < window.rows; i++, row++)
      for (size_t c = 0; c < 3; c++)
        assert_true(npy_cell(&f->reader, &window, i, c) == (double)(10 * row + c));
  } while (window.rows == step);
  assert_int_equal(row, rows);
  assert_int_equal(f->reader.rows, rows);
}

static size_t npy_encode(const char *descr, double value, unsigned char *out) {
  const size_t size = (size_t)(descr[2] - '0');
  uint64_t bits = (uint64_t)value;
  if (descr[1] == 'f' && size == 8) {
    memcpy(&bits, &value, 8);
  } else if (descr[1] == 'f' && size == 4) {
    const float narrow = (float)value;
    uint32_t word;
    memcpy(&word, &narrow, 4);
    bits = word;
  } else if (descr[1] == 'f') {
    int exponent;
    const double fraction = frexp(value, &exponent);
    bits =
        value == 0 ? 0 : (uint64_t)(exponent + 14) << 10 | (uint64_t)(fraction * 2048 - 1024);
  }
  for (size_t i = 0; i < size; i++)
    out[descr[0] == '>' ? size - 1 - i : i] = (unsigned char)(bits >> (8 * i));
  return size;
}

static help_npy npy_table(const char *descr, int fortran, size_t rows) {
  unsigned char data[4096];
  char shape[32];
  size_t used = 0;
  snprintf(shape, sizeof shape, "(%zu, 3)", rows);
  for (size_t i = 0; i < rows * 3; i++) {
    const size_t r = fortran ? i % rows : i / 3, c = fortran ? i / rows : i % 3;
    used += npy_encode(descr, (double)(10 * r + c), data + used);
  }
  return help_npy_make(1, descr, fortran, shape, data, used);
}

static const char *const npy_types[] = {"<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "|i1",
                                        "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "|u1",
                                        "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"};

TEST(reads_every_type_order_and_window) {
  for (size_t t = 0; t < sizeof npy_types / sizeof npy_types[0]; t++) {
    for (int fortran = 0; fortran <= 1; fortran++) {
      const char *descr = npy_types[t];
      const int narrow = descr[1] == 'f' && descr[2] != '8';
      npy_fixture f;
      npy_open(&f, npy_table(descr, fortran, 12), NULL, PC_COLUMN_SCORES);
      assert_int_equal(f.reader.cells, narrow ? PC_CELLS_F32 : PC_CELLS_F64);
      assert_int_equal(f.reader.columns, 3);
      for (size_t step = 1; step <= 13; step++) {
        expect_table(&f, 12, step);
        pc_reader_rewind(&f.reader);
      }
      npy_done(&f);
      npy_open(&f, npy_table(descr, fortran, 12), NULL, PC_COLUMN_NUMBERS);
      assert_int_equal(f.reader.cells, PC_CELLS_F64);
      pc_window window;
      assert_int_equal(pc_reader_next(&f.reader, 12, &window, NULL), PCAL_OK);
      for (size_t i = 0; i < 36; i++)
        assert_true(((const double *)window.data)[i] == (double)(10 * (i / 3) + i % 3));
      npy_done(&f);
    }
  }
}

static int npy_is_inside(const npy_fixture *f, const void *data) {
  const unsigned char *at = data;
  return at >= f->npy.bytes && at < f->npy.bytes + f->npy.length;
}

TEST(views_native_floats_without_copying) {
  const char *native[] = {pc_little_endian() ? "<f4" : ">f4",
                          pc_little_endian() ? "<f8" : ">f8"};
  const char *other[] = {pc_little_endian() ? ">f4" : "<f4", "<f2", "<i8"};
  npy_fixture f;
  pc_window window;
  for (int fortran = 0; fortran <= 1; fortran++) {
    for (size_t t = 0; t < 2; t++) {
      const ptrdiff_t size = t == 0 ? 4 : 8;
      npy_open(&f, npy_table(native[t], fortran, 12), NULL, PC_COLUMN_SCORES);
      assert_true(f.reader.window_limit == SIZE_MAX);
      assert_int_equal(pc_reader_next(&f.reader, SIZE_MAX, &window, NULL), PCAL_OK);
      assert_int_equal(window.rows, 12);
      assert_true(npy_is_inside(&f, window.data));
      assert_int_equal(window.row_stride, fortran ? size : 3 * size);
      assert_int_equal(window.column_stride, fortran ? 12 * size : size);
      npy_done(&f);
    }
    for (size_t t = 0; t < 3; t++) {
      npy_open(&f, npy_table(other[t], fortran, 12), NULL, PC_COLUMN_SCORES);
      assert_true(f.reader.window_limit < SIZE_MAX);
      assert_int_equal(pc_reader_next(&f.reader, SIZE_MAX, &window, NULL), PCAL_OK);
      assert_int_equal(window.rows, 12);
      assert_false(npy_is_inside(&f, window.data));
      npy_done(&f);
    }
  }
}

TEST(converts_unaligned_data) {
  float values[9];
  npy_fixture f;
  for (int i = 0; i < 9; i++)
    values[i] = (float)(10 * (i / 3) + i % 3);
  char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3)}   ";
  *strchr(header, '<') = pc_little_endian() ? '<' : '>';
  assert_true((10 + strlen(header)) % 4 != 0);
  const help_npy npy = help_npy_header(1, header, values, sizeof values);
  npy_open(&f, npy, NULL, PC_COLUMN_SCORES);
  assert_true(f.reader.window_limit < SIZE_MAX);
  expect_table(&f, 3, 2);
  npy_done(&f);
}

TEST(chooses_columns_by_number) {
  const char *number = pc_little_endian() ? "<f8" : ">f8";
  const char *whole = pc_little_endian() ? "<i4" : ">i4";
  npy_fixture f;
  pc_window window;
  for (int fortran = 0; fortran <= 1; fortran++) {
    npy_open(&f, npy_table(number, fortran, 4), "2,0", PC_COLUMN_SCORES);
    assert_int_equal(f.reader.columns, 2);
    assert_int_equal(f.reader.file_columns, 3);
    assert_int_equal(pc_reader_next(&f.reader, 9, &window, NULL), PCAL_OK);
    assert_true(npy_is_inside(&f, window.data));
    for (size_t r = 0; r < 4; r++) {
      assert_true(npy_cell(&f.reader, &window, r, 0) == (double)(10 * r + 2));
      assert_true(npy_cell(&f.reader, &window, r, 1) == (double)(10 * r));
    }
    npy_done(&f);
    npy_open(&f, npy_table(number, fortran, 4), "2,0,1", PC_COLUMN_SCORES);
    assert_int_equal(pc_reader_next(&f.reader, 9, &window, NULL), PCAL_OK);
    assert_false(npy_is_inside(&f, window.data));
    assert_true(npy_cell(&f.reader, &window, 3, 0) == 32);
    assert_true(npy_cell(&f.reader, &window, 3, 1) == 30);
    assert_true(npy_cell(&f.reader, &window, 3, 2) == 31);
    npy_done(&f);
    npy_open(&f, npy_table(whole, fortran, 4), "1", PC_COLUMN_LABELS);
    assert_int_equal(f.reader.cells, fortran ? PC_CELLS_I32 : PC_CELLS_F64);
    npy_done(&f);
  }
}

/* One column of these types is not copied; in the other byte order, or with gaps, it is. */
TEST(gives_labels_as_they_are) {
  const int native = pc_little_endian();
  const struct {
    const char *descr;
    pc_cell_type cells;
    size_t size;
  } cases[] = {{native ? "<i4" : ">i4", PC_CELLS_I32, 4},
               {native ? "<i8" : ">i8", PC_CELLS_I64, 8},
               {"|u1", PC_CELLS_U8, 1},
               {"|b1", PC_CELLS_BOOL, 1},
               {native ? ">i4" : "<i4", PC_CELLS_F64, 4},
               {"|i1", PC_CELLS_I8, 1},
               {native ? ">i8" : "<i8", PC_CELLS_F64, 8},
               {native ? "<i2" : ">i2", PC_CELLS_I16, 2},
               {native ? "<u2" : ">u2", PC_CELLS_U16, 2},
               {native ? ">u2" : "<u2", PC_CELLS_F64, 2},
               {native ? "<u4" : ">u4", PC_CELLS_U32, 4},
               {native ? "<f2" : ">f2", PC_CELLS_F16, 2},
               {native ? "<f4" : ">f4", PC_CELLS_F32, 4},
               {native ? "<u8" : ">u8", PC_CELLS_U64, 8}};
  static const char *const shapes[] = {"(5,)", "(5, 1)"};
  const unsigned char labels[40] = {3, 1, 4, 1, 5};
  for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
    const size_t size = cases[i / 2].size;
    npy_fixture f;
    pc_window window;
    npy_open(&f, help_npy_make(1, cases[i / 2].descr, 0, shapes[i % 2], labels, 5 * size), NULL,
             PC_COLUMN_LABELS);
    assert_int_equal(f.reader.cells, cases[i / 2].cells);
    assert_int_equal(f.reader.columns, 1);
    assert_int_equal(pc_reader_next(&f.reader, 3, &window, NULL), PCAL_OK);
    assert_int_equal(npy_is_inside(&f, window.data), f.reader.cells != PC_CELLS_F64);
    if (f.reader.cells != PC_CELLS_F64)
      assert_memory_equal(window.data, labels, 3 * size);
    assert_int_equal(pc_reader_next(&f.reader, 3, &window, NULL), PCAL_OK);
    assert_int_equal(window.rows, 2);
    npy_done(&f);
  }
}

TEST(reads_bool_and_no_dimension) {
  npy_fixture f;
  pc_window window;
  npy_open(&f, help_npy_make(1, "|b1", 0, "(3,)", "\x01\x00\x01", 3), NULL, PC_COLUMN_NUMBERS);
  assert_int_equal(pc_reader_next(&f.reader, 9, &window, NULL), PCAL_OK);
  assert_true(((const double *)window.data)[0] == 1 && ((const double *)window.data)[1] == 0);
  npy_done(&f);
  npy_open(&f, help_npy_make(2, "=f8", 0, "()", &(double){0.25}, 8), NULL, PC_COLUMN_SCORES);
  assert_int_equal(f.reader.rows, 1);
  assert_int_equal(pc_reader_next(&f.reader, 9, &window, NULL), PCAL_OK);
  assert_int_equal(window.rows, 1);
  assert_true(npy_cell(&f.reader, &window, 0, 0) == 0.25);
  npy_done(&f);
}

TEST(gives_text) {
  const int64_t groups[] = {9007199254740993, 9007199254740992, -7};
  npy_fixture f;
  pc_window window;
  npy_open(&f, help_npy_make(1, "=i8", 0, "(3,)", groups, sizeof groups), NULL, PC_COLUMN_TEXT);
  assert_int_equal(f.reader.cells, PC_CELLS_TEXT);
  assert_int_equal(pc_reader_next(&f.reader, 9, &window, NULL), PCAL_OK);
  const pc_slice *slices = window.data;
  assert_true(pc_slice_is(slices[0], "9007199254740993"));
  assert_true(pc_slice_is(slices[1], "9007199254740992"));
  assert_true(pc_slice_is(slices[2], "-7"));
  npy_done(&f);
}

static pcal_status npy_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const help_npy *npy = user;
  pc_input_file bytes;
  pc_reader reader;
  pcal_status status = PCAL_OK;
  pc_input_file_from_memory("x.npy", npy->bytes, npy->length, &bytes);
  for (pc_column_role as = PC_COLUMN_SCORES; as <= PC_COLUMN_TEXT && status == PCAL_OK; as++) {
    pc_window window;
    const pc_read_request request = {
        .env = env, .bytes = &bytes, .selector = "2,0,1", .as = as};
    status = pc_reader_open(&request, &reader, err);
    for (size_t step = 1; step < 4 && status == PCAL_OK; step++)
      status = pc_reader_next(&reader, step, &window, err);
    pc_reader_close(&reader);
  }
  return status;
}

TEST(survives_every_failed_allocation) {
  help_npy npy = npy_table(">i4", 1, 12);
  help_fail_each_allocation(npy_scenario, &npy);
  free(npy.bytes);
}

/* ---- files that are read window by window ---- */

#define LARGE_ROWS 6000000
#define LARGE_COLUMNS 3

/* A sparse npy file of floats, 69 MiB; element r, c of every 65537th row is 10 r + c. */
static const char *npy_large(const char *name, int fortran) {
  const char *path = help_path(name);
  char header[128];
  memset(header, ' ', sizeof header);
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
  char text[118];
  const int length = snprintf(
      text, sizeof text, "{'descr': '%cf4', 'fortran_order': %s, 'shape': (%d, %d), }",
      pc_little_endian() ? '<' : '>', fortran ? "True" : "False", LARGE_ROWS, LARGE_COLUMNS);
  memcpy(header + 10, text, (size_t)length);
  header[127] = '\n';
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
  for (long r = 0; r < LARGE_ROWS; r += 65537)
    for (long c = 0; c < LARGE_COLUMNS; c++) {
      const float value = (float)(10 * r + c);
      const long place = fortran ? c * LARGE_ROWS + r : r * LARGE_COLUMNS + c;
      assert_int_equal(fseek(file, 128 + 4 * place, SEEK_SET), 0);
      assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    }
  fclose(file);
  assert_int_equal(truncate(path, 128 + 4L * LARGE_ROWS * LARGE_COLUMNS), 0);
  return path;
}

/* Opens columns `selector` of a file. */
static void npy_open_file(npy_fixture *f, const char *path, const char *selector) {
  pcal_error err;
  f->env = help_plain_env();
  if (pc_input_file_open(path, &f->env, &f->bytes, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  const pc_read_request request = {
      .env = &f->env, .bytes = &f->bytes, .selector = selector, .as = PC_COLUMN_SCORES};
  if (pc_reader_open(&request, &f->reader, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

static void npy_close_file(npy_fixture *f) {
  pc_reader_close(&f->reader);
  pc_input_file_close(&f->bytes);
}

/* All rows, of which few are not 0; columns are first, first + step, ... */
static void expect_large(npy_fixture *f, size_t first, size_t step) {
  pc_window window;
  size_t row = 0;
  do {
    assert_int_equal(pc_reader_next(&f->reader, SIZE_MAX, &window, NULL), PCAL_OK);
    for (size_t i = 0; i < window.rows; i++, row++)
      for (size_t c = 0; c < f->reader.columns; c++) {
        const double expected =
            row % 65537 == 0 ? (double)(float)(10 * row + first + c * step) : 0.0;
        if (npy_cell(&f->reader, &window, i, c) != expected)
          fail_msg("row %zu, column %zu", row, c);
      }
  } while (window.rows > 0);
  assert_int_equal(row, LARGE_ROWS);
}

TEST(large_files_are_read_by_windows) {
  for (int fortran = 0; fortran < 2; fortran++) {
    npy_fixture f = {.env = help_plain_env()};
    const char *path = npy_large(fortran ? "down.npy" : "along.npy", fortran);
    npy_open_file(&f, path, NULL);
    assert_int_equal(f.bytes.kind, PC_INPUT_FILE_WINDOWS);
    assert_true(f.reader.window_limit <= LARGE_ROWS / 10);
    expect_large(&f, 0, 1);
    pc_reader_rewind(&f.reader);
    expect_large(&f, 0, 1);
    npy_close_file(&f);
    npy_open_file(&f, path, "0,2");
    expect_large(&f, 0, 2);
    npy_close_file(&f);
  }
}

TEST(a_large_file_that_shrinks_is_an_error) {
  npy_fixture f = {.env = help_plain_env()};
  pc_window window;
  pcal_error err;
  const char *path = npy_large("shrinks.npy", 0);
  npy_open_file(&f, path, NULL);
  assert_int_equal(pc_reader_next(&f.reader, SIZE_MAX, &window, &err), PCAL_OK);
  assert_int_equal(truncate(path, 5000000), 0);
  pcal_status status = PCAL_OK;
  while (status == PCAL_OK && window.rows > 0)
    status = pc_reader_next(&f.reader, SIZE_MAX, &window, &err);
  assert_int_equal(status, PCAL_IO);
  assert_message(err, "shrinks.npy shrank from");
  npy_close_file(&f);
}

TEST_GROUP(help_setup, help_teardown)
