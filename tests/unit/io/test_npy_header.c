#include "io/formats/npy_header.h"
#include "io_help.h"

static pcal_status header_read(help_npy npy, pc_npy_header *out, pcal_error *err) {
  pc_input_file bytes;
  /* A block of its own length, so that a sanitizer sees a read beyond the end. */
  unsigned char *exact = malloc(npy.length);
  memcpy(exact, npy.bytes, npy.length);
  pc_input_file_from_memory("x.npy", exact, npy.length, &bytes);
  pc_error_clear(err);
  const pcal_status status = pc_npy_header_read(&bytes, 0, out, err);
  free(exact);
  free(npy.bytes);
  return status;
}

static const unsigned char header_zeros[64];

TEST(reads_versions_and_shapes) {
  pc_npy_header header;
  pcal_error err;
  for (unsigned version = 1; version <= 3; version++) {
    assert_int_equal(header_read(help_npy_make(version, "<f4", 0, "(3, 4)", header_zeros, 48),
                                 &header, &err),
                     PCAL_OK);
    assert_int_equal(header.rows, 3);
    assert_int_equal(header.columns, 4);
    assert_int_equal(header.dimensions, 2);
    assert_int_equal(header.fortran_order, 0);
    assert_int_equal(header.type.kind, PC_ELEMENT_FLOAT);
    assert_int_equal(header.type.size, 4);
    assert_int_equal(header.data_offset % 64, 0);
  }
  assert_int_equal(
      header_read(help_npy_make(1, "|b1", 1, "(5,)", header_zeros, 5), &header, &err), PCAL_OK);
  assert_int_equal(header.rows, 5);
  assert_int_equal(header.columns, 1);
  assert_int_equal(header.dimensions, 1);
  assert_int_equal(header.fortran_order, 1);
  assert_int_equal(
      header_read(help_npy_make(1, "<f8", 0, "()", header_zeros, 8), &header, &err), PCAL_OK);
  assert_int_equal(header.rows, 1);
  assert_int_equal(header.dimensions, 0);
}

TEST(reads_other_spellings) {
  static const char *const headers[] = {
      "{\"shape\":(2L,3L),\"descr\":\"<f4\",\"fortran_order\":False}",
      "{'fortran_order': False, 'descr': '=f4', 'shape': (2, 3,)}\n",
      "  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) , }  \n",
  };
  pc_npy_header header;
  pcal_error err;
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
    assert_int_equal(
        header_read(help_npy_header(1, headers[i], header_zeros, 24), &header, &err), PCAL_OK);
    assert_int_equal(header.rows, 2);
    assert_int_equal(header.columns, 3);
  }
}

TEST(reads_every_type) {
  static const struct {
    const char *descr;
    pc_element_kind kind;
    size_t size;
    int big;
  } types[] = {
      {"<f2", PC_ELEMENT_FLOAT, 2, 0},    {">f2", PC_ELEMENT_FLOAT, 2, 1},
      {"<f4", PC_ELEMENT_FLOAT, 4, 0},    {">f4", PC_ELEMENT_FLOAT, 4, 1},
      {"<f8", PC_ELEMENT_FLOAT, 8, 0},    {">f8", PC_ELEMENT_FLOAT, 8, 1},
      {"|i1", PC_ELEMENT_SIGNED, 1, 0},   {">i1", PC_ELEMENT_SIGNED, 1, 0},
      {"<i2", PC_ELEMENT_SIGNED, 2, 0},   {">i2", PC_ELEMENT_SIGNED, 2, 1},
      {"<i4", PC_ELEMENT_SIGNED, 4, 0},   {">i4", PC_ELEMENT_SIGNED, 4, 1},
      {"<i8", PC_ELEMENT_SIGNED, 8, 0},   {">i8", PC_ELEMENT_SIGNED, 8, 1},
      {"|u1", PC_ELEMENT_UNSIGNED, 1, 0}, {"<u2", PC_ELEMENT_UNSIGNED, 2, 0},
      {">u2", PC_ELEMENT_UNSIGNED, 2, 1}, {"<u4", PC_ELEMENT_UNSIGNED, 4, 0},
      {">u4", PC_ELEMENT_UNSIGNED, 4, 1}, {"<u8", PC_ELEMENT_UNSIGNED, 8, 0},
      {">u8", PC_ELEMENT_UNSIGNED, 8, 1}, {"|b1", PC_ELEMENT_BOOL, 1, 0},
  };
  pc_npy_header header;
  pcal_error err;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    assert_int_equal(header_read(help_npy_make(1, types[i].descr, 0, "(2,)", header_zeros,
                                               2 * types[i].size),
                                 &header, &err),
                     PCAL_OK);
    assert_int_equal(header.type.kind, types[i].kind);
    assert_int_equal(header.type.size, types[i].size);
    if (types[i].size > 1)
      assert_int_equal(header.type.swapped, types[i].big == pc_little_endian());
    else
      assert_int_equal(header.type.swapped, 0);
  }
}

static void expect_refused(help_npy npy, const char *sentence) {
  pc_npy_header header;
  pcal_error err;
  assert_int_equal(header_read(npy, &header, &err), PCAL_DATA);
  assert_string_equal(err.message, sentence);
}

TEST(refuses_types) {
  expect_refused(help_npy_make(1, "|O", 0, "(2,)", header_zeros, 16),
                 "x.npy contains Python objects, which are never unpickled; convert the "
                 "array to numbers (array.astype) and save it again");
  expect_refused(help_npy_make(1, "<U5", 0, "(2,)", header_zeros, 40),
                 "x.npy contains text (type <U5); give names in a CSV file, or save "
                 "numbers");
  static const char *const others[] = {"<c8",  "<f16", "|V8", "<M8", "<f3", "|f4",
                                       "<i16", "?",    "",    "f4",  "<b4", "<f1"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "x.npy has elements of type %s; convert them to float16, float32, float64, an "
             "integer type or bool and save the array again",
             others[i]);
    expect_refused(help_npy_make(1, others[i], 0, "(2,)", header_zeros, 16), sentence);
  }
  expect_refused(
      help_npy_header(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
                      header_zeros, 8),
      "x.npy contains a structured array; save each field as a separate array");
}

TEST(refuses_shapes_that_lie) {
  expect_refused(help_npy_make(1, "<f4", 0, "(3, 4)", header_zeros, 47),
                 "x.npy is truncated: the npy header says 3 x 4 elements, which take 48 bytes, "
                 "but 47 follow it; copy or write the file again");
  expect_refused(help_npy_make(1, "<f4", 0, "(3, 4)", header_zeros, 49),
                 "x.npy is longer than its npy header says: 3 x 4 elements take 48 bytes, but "
                 "49 follow it; write the file again with one array");
  expect_refused(
      help_npy_make(1, "<f4", 0, "(1152921504606846976,)", header_zeros, 4),
      "x.npy is truncated: the npy header says 1152921504606846976 x 1 elements, "
      "which take 4611686018427387904 bytes, but 4 follow it; copy or write the file "
      "again");
  expect_refused(
      help_npy_make(1, "<f8", 0, "(4294967296, 4294967296)", header_zeros, 8),
      "x.npy: the npy header asks for 4294967296 x 4294967296 elements, more than any "
      "file can hold; write the file again");
  expect_refused(
      help_npy_make(1, "<f8", 0, "(2305843009213693952, 2)", header_zeros, 0),
      "x.npy: the npy header asks for 2305843009213693952 x 2 elements, more than any "
      "file can hold; write the file again");
  expect_refused(help_npy_make(1, "<f8", 0, "(0, 10)", header_zeros, 0),
                 "x.npy has no rows; give a file with at least one row");
  expect_refused(help_npy_make(1, "<f8", 0, "(10, 0)", header_zeros, 0),
                 "x.npy has no columns; give a file with at least one column");
  expect_refused(help_npy_make(1, "<f8", 0, "(2, 2, 2)", header_zeros, 64),
                 "x.npy has 3 dimensions; give at most two, rows and classes (array.reshape)");
}

static void expect_malformed(const char *header, const char *what) {
  char sentence[256];
  snprintf(sentence, sizeof sentence,
           "x.npy: the npy header is malformed (%s); write the file again with numpy.save",
           what);
  expect_refused(help_npy_header(1, header, header_zeros, 8), sentence);
}

TEST(refuses_malformed_headers) {
  expect_malformed("", "it does not begin with {");
  expect_malformed("['descr']", "it does not begin with {");
  expect_malformed("{descr: '<f8'}", "a key is missing");
  expect_malformed("{'descr' '<f8'}", "a key is missing");
  expect_malformed("{'descr\\'': '<f8'}", "a key is missing");
  expect_malformed("{'descr': 8}", "the type is not a string");
  expect_malformed("{'descr': '<f8", "the type is not a string");
  expect_malformed("{'descr': '<f8', 'descr': '<f8'}", "a key is unknown or occurs twice");
  expect_malformed("{'extra': 1}", "a key is unknown or occurs twice");
  expect_malformed("{'fortran_order': 0}", "fortran_order is neither True nor False");
  expect_malformed("{'shape': 3}", "the shape is not a tuple of numbers");
  expect_malformed("{'shape': (3)}", "the shape is not a tuple of numbers");
  expect_malformed("{'shape': (-3,)}", "the shape is not a tuple of numbers");
  expect_malformed("{'shape': (3 3)}", "the shape is not a tuple of numbers");
  expect_malformed("{'shape': (3,,)}", "the shape is not a tuple of numbers");
  expect_malformed("{'shape': (3,", "the shape is not a tuple of numbers");
  expect_malformed("{'shape': (99999999999999999999,)}", "a number of the shape is too large");
  expect_malformed("{'descr': '<f8' 'shape': (1,)}", "it does not end with }");
  expect_malformed("{'descr': '<f8',", "a key is missing");
  expect_malformed("{'descr': '<f8', 'shape': (1,)}",
                   "descr, fortran_order or shape is missing");
  expect_malformed("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), } x",
                   "something follows the }");
}

TEST(refuses_wrong_beginnings) {
  help_npy npy = help_npy_make(1, "<f8", 0, "(1,)", header_zeros, 8);
  npy.bytes[1] = 'n';
  expect_refused(npy,
                 "x.npy is not a npy file: it does not begin with \\x93NUMPY; write it with "
                 "numpy.save");
  npy = help_npy_make(1, "<f8", 0, "(1,)", header_zeros, 8);
  memcpy(npy.bytes, "PK\x03\x04", 4);
  expect_refused(npy,
                 "x.npy is not a npy file: it does not begin with \\x93NUMPY; write it with "
                 "numpy.save (it looks like a zip archive, as numpy.savez writes)");
  npy = help_npy_make(1, "<f8", 0, "(1,)", header_zeros, 8);
  npy.bytes[6] = 4;
  expect_refused(npy, "x.npy: npy version 4 is unknown; versions 1 to 3 can be read, so write "
                      "the file again");
}

TEST(refuses_every_truncation) {
  for (unsigned version = 1; version <= 3; version++) {
    const help_npy whole = help_npy_make(version, "<f8", 0, "(2,)", header_zeros, 16);
    for (size_t length = 1; length < whole.length; length++) {
      help_npy part = {malloc(length), length};
      pc_npy_header header;
      pcal_error err;
      memcpy(part.bytes, whole.bytes, length);
      assert_int_equal(header_read(part, &header, &err), PCAL_DATA);
      assert_message(err, "x.npy is truncated: ");
    }
    free(whole.bytes);
  }
}

/* Members that occur twice, white space of every kind, and ends in the middle. */
TEST(refuses_members_given_twice) {
  static const char *const headers[] = {
      "{'descr': '<f4', 'fortran_order': False, 'fortran_order': False, 'shape': (2, 3)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': (2, 3)}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
      "{'fortran_order': False, 'shape': (2, 3)}",
      "{'descr': '<f4', 'shape': (2, 3)}",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3),",
      "{'descr': ",
  };
  pc_npy_header header;
  pcal_error err;
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
    assert_int_equal(
        header_read(help_npy_header(1, headers[i], header_zeros, 24), &header, &err),
        PCAL_DATA);
  assert_int_equal(
      header_read(
          help_npy_header(1, "{\t'descr':\r\n'<f4', 'fortran_order': False,\t'shape': (2, 3)}",
                          header_zeros, 24),
          &header, &err),
      PCAL_OK);
}

static pcal_status header_read_deep(const char *shape, int fortran, pc_npy_header *out,
                                    pcal_error *err) {
  help_npy npy = help_npy_make(1, "<f4", fortran, shape, header_zeros, 48);
  pc_input_file bytes;
  pc_input_file_from_memory("x.npy", npy.bytes, npy.length, &bytes);
  const pcal_status status = pc_npy_header_read(&bytes, 1, out, err);
  free(npy.bytes);
  return status;
}

/* Three dimensions: rows, samples and numbers of each sample. */
TEST(reads_three_dimensions) {
  pc_npy_header header;
  pcal_error err;
  assert_int_equal(header_read_deep("(2, 3, 2)", 0, &header, &err), PCAL_OK);
  assert_int_equal(header.rows, 2);
  assert_int_equal(header.columns, 6);
  assert_int_equal(header_read_deep("(2, 3, 2)", 1, &header, &err), PCAL_DATA);
  assert_string_equal(
      err.message,
      "x.npy has three dimensions in Fortran order; save numpy.ascontiguousarray of it");
  assert_int_equal(header_read_deep("(1, 3, 2, 2)", 0, &header, &err), PCAL_DATA);
  assert_string_equal(
      err.message,
      "x.npy has 4 dimensions; give at most two, rows and classes (array.reshape)");
  assert_int_equal(header_read_deep("(1, 4294967296, 18446744073709551615)", 0, &header, &err),
                   PCAL_DATA);
}
