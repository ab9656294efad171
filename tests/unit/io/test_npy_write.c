#include "io/formats/npy_write.h"

#include "io/formats/npy_header.h"
#include "io_help.h"
#include "sinks.h"

typedef struct write_sink {
  char bytes[512];
  size_t length;
} write_sink;

static int write_take(void *user, const char *bytes, size_t count) {
  write_sink *sink = user;
  assert_true(sink->length + count < sizeof sink->bytes);
  memcpy(sink->bytes + sink->length, bytes, count);
  sink->length += count;
  return 0;
}

/* What numpy.save writes for numpy.zeros((3, 4), "<f4"). */
TEST(writes_the_bytes_of_numpy) {
  char expected[128];
  write_sink sink = {.length = 0};
  assert_int_equal(pc_npy_header_write("<f4", 3, 4, write_take, &sink, NULL), PCAL_OK);
  memset(expected, ' ', sizeof expected);
  memcpy(expected, "\x93NUMPY\x01\x00\x76\x00", 10);
  memcpy(expected + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 59);
  expected[127] = '\n';
  assert_int_equal(sink.length, 128);
  assert_memory_equal(sink.bytes, expected, 128);
}

TEST(writes_what_the_reader_reads) {
  static const struct {
    const char *type;
    uint64_t rows;
    size_t columns;
  } cases[] = {{"<f4", 5, 0}, {"<f8", 7, 1}, {"<i4", 1, 1000}};
  for (size_t i = 0; i < 3; i++) {
    const size_t size = (size_t)(cases[i].type[2] - '0');
    const size_t data = cases[i].rows * (cases[i].columns == 0 ? 1 : cases[i].columns) * size;
    write_sink sink = {.length = 0};
    pc_input_file bytes;
    pc_npy_header header;
    assert_int_equal(pc_npy_header_write(cases[i].type, cases[i].rows, cases[i].columns,
                                         write_take, &sink, NULL),
                     PCAL_OK);
    assert_int_equal(sink.length % 64, 0);
    unsigned char *file = calloc(sink.length + data, 1);
    memcpy(file, sink.bytes, sink.length);
    pc_input_file_from_memory("x.npy", file, sink.length + data, &bytes);
    assert_int_equal(pc_npy_header_read(&bytes, 0, &header, NULL), PCAL_OK);
    assert_int_equal(header.rows, cases[i].rows);
    assert_int_equal(header.dimensions, cases[i].columns == 0 ? 1 : 2);
    assert_int_equal(header.columns, cases[i].columns == 0 ? 1 : cases[i].columns);
    assert_int_equal(header.type.size, size);
    free(file);
  }
}

TEST(holds_the_largest_shape) {
  write_sink sink = {.length = 0};
  assert_int_equal(pc_npy_header_write("<f8", UINT64_MAX, SIZE_MAX, write_take, &sink, NULL),
                   PCAL_OK);
  assert_int_equal(sink.length, 128);
  assert_int_equal(sink.bytes[127], '\n');
}

TEST(refuses_other_types_and_sinks) {
  pcal_error err;
  assert_int_equal(pc_npy_header_write(">f4", 1, 1, write_take, NULL, &err), PCAL_USAGE);
  assert_string_equal(err.message, "npy type \">f4\" cannot be written; give <f4, <f8 or <i4");
  assert_int_equal(pc_npy_header_write("<f4", 1, 1, sink_refuse, NULL, &err), PCAL_IO);
}
