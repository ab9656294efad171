/* A compressed file: gzip, zstd where the build has it, or a frame of LZ4.  Unpacking is limited to a
 * megabyte.  Most inputs are gzip files made anew, one or two in a row. */
#include <zlib.h>

#include "fuzz_choice.h"
#include "fuzz_count.h"
#include "io/formats/lz4_frame.h"
#include "io/input_unpack.h"

#define FUZZ_UNPACK_LIMIT (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  for (size_t files = 1 + fuzz_below(choice, 2); files > 0; files--) {
    uint8_t text[256], packed[1024];
    const size_t length = fuzz_below(choice, sizeof text);
    for (size_t i = 0; i < length; i++)
      text[i] = (uint8_t)('a' + fuzz_below(choice, 3));
    z_stream stream = {0};
    if (deflateInit2(&stream, (int)fuzz_below(choice, 10), Z_DEFLATED, 31, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      return;
    stream.next_in = text;
    stream.avail_in = (unsigned)length;
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    if (deflate(&stream, Z_FINISH) == Z_STREAM_END)
      fuzz_put(out, packed, stream.total_out);
    deflateEnd(&stream);
  }
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  if (fuzz_chance(choice, 2)) {
    fuzz_make(choice, out);
    return;
  }
  fuzz_put(out, data, size);
  if (fuzz_chance(choice, 2) && out->length > 0)
    out->bytes[fuzz_below(choice, out->length)] = (uint8_t)fuzz_below(choice, 256);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  pcal_env env = pc_env_resolve(NULL);
  pc_input_file bytes;
  pc_unpacked out;
  pcal_error err;
  static uint8_t lz4[4096];
  if (size == 0)
    return 0;
  env.memory_limit = FUZZ_UNPACK_LIMIT;
  pc_input_file_from_memory("fuzz", data, size, &bytes);
  bytes.env = &env;
  const pc_compression compression = pc_compression_of_bytes(data, size);
  int valid = pc_lz4_frame_unpack(data, size, lz4, sizeof lz4);
  if (compression != PC_COMPRESSION_NONE &&
      pc_input_unpack(&bytes, compression, &out, &err) == PCAL_OK) {
    valid = out.length <= FUZZ_UNPACK_LIMIT;
    pc_free(&env, out.data);
  }
  fuzz_count(valid);
  return 0;
}
