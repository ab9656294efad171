#include "io_help.h"

#include <zlib.h>

#include "io/input_unpack.h"

/* A gzip file of `count` times the text. */
static size_t unpack_gzip_make(const char *text, size_t count, unsigned char *out,
                               size_t size) {
  z_stream stream = {0};
  assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_out = out;
  stream.avail_out = (unsigned)size;
  for (size_t i = 0; i < count; i++) {
    union {
      const char *text;
      Bytef *bytes;
    } in = {text};
    stream.next_in = in.bytes;
    stream.avail_in = (unsigned)strlen(text);
    assert_int_equal(deflate(&stream, i + 1 == count ? Z_FINISH : Z_NO_FLUSH),
                     i + 1 == count ? Z_STREAM_END : Z_OK);
  }
  deflateEnd(&stream);
  return stream.total_out;
}

static pcal_status unpack_bytes(const unsigned char *data, size_t length, const pcal_env *env,
                                pc_unpacked *out, pcal_error *err) {
  pc_input_file bytes;
  pc_input_file_from_memory("a.csv.gz", data, length, &bytes);
  bytes.env = env;
  return pc_input_unpack(&bytes, PC_COMPRESSION_GZIP, out, err);
}

TEST(knows_compressions_by_name_and_by_first_bytes) {
  assert_int_equal(pc_compression_of_name("a.csv.gz"), PC_COMPRESSION_GZIP);
  assert_int_equal(pc_compression_of_name("a.npy.ZST"), PC_COMPRESSION_ZSTD);
  assert_int_equal(pc_compression_of_name("a.zstd"), PC_COMPRESSION_ZSTD);
  assert_int_equal(pc_compression_of_name(".gz"), PC_COMPRESSION_NONE);
  assert_int_equal(pc_compression_of_name("gz"), PC_COMPRESSION_NONE);
  assert_int_equal(pc_compression_name_length("a.csv.gz"), 5);
  assert_int_equal(pc_compression_name_length("a.csv"), 5);
  assert_int_equal(pc_compression_of_bytes((const unsigned char *)"\x1f\x8b\x08", 3),
                   PC_COMPRESSION_GZIP);
  assert_int_equal(pc_compression_of_bytes((const unsigned char *)"\x28\xb5\x2f\xfd", 4),
                   PC_COMPRESSION_ZSTD);
  assert_int_equal(pc_compression_of_bytes((const unsigned char *)"\x28\xb5\x2f\xfd", 3),
                   PC_COMPRESSION_NONE);
}

/* Edge case 1. */
TEST(joins_files_one_after_another) {
  const pcal_env env = help_plain_env();
  unsigned char packed[400];
  pc_unpacked out;
  pcal_error err;
  const size_t first = unpack_gzip_make("one\n", 30000, packed, sizeof packed);
  const size_t both =
      first + unpack_gzip_make("two\n", 2, packed + first, sizeof packed - first);
  assert_int_equal(unpack_bytes(packed, both, &env, &out, &err), PCAL_OK);
  assert_int_equal(out.length, 120008);
  assert_memory_equal(out.data, "one\none\n", 8);
  assert_memory_equal(out.data + 120000, "two\ntwo\n", 8);
  pc_free(&env, out.data);
  for (size_t cut = 1; cut < both; cut++) {
    if (cut == first)
      continue;
    assert_int_equal(unpack_bytes(packed, cut, &env, &out, &err), PCAL_DATA);
    assert_null(out.data);
  }
  packed[both] = 'x';
  assert_int_equal(unpack_bytes(packed, both + 1, &env, &out, &err), PCAL_DATA);
  assert_message(err, "bytes that are not gzip follow its end");
}

/* Edge case 3. */
TEST(stops_at_the_memory_limit) {
  pcal_env env = help_plain_env();
  static unsigned char packed[1 << 16];
  pc_unpacked out;
  pcal_error err;
  const size_t length = unpack_gzip_make("0.25,1\n", 400000, packed, sizeof packed);
  env.memory_limit = 1 << 20;
  assert_int_equal(unpack_bytes(packed, length, &env, &out, &err), PCAL_MEMORY);
  assert_message(err, "a.csv.gz unpacks to more than the limit of 1048576 bytes");
  assert_null(out.data);
}

typedef struct unpack_case {
  unsigned char packed[1000];
  size_t length;
} unpack_case;

static pcal_status unpack_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const unpack_case *given = user;
  pc_unpacked out;
  const pcal_status status = unpack_bytes(given->packed, given->length, env, &out, err);
  pc_free(env, out.data);
  return status;
}

TEST(survives_every_failing_allocation) {
  unpack_case given;
  given.length = unpack_gzip_make("some text\n", 20000, given.packed, sizeof given.packed);
  help_fail_each_allocation(unpack_scenario, &given);
}
