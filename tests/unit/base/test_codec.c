#include "../unit.h"
#include "base/codec.h"

typedef struct codec_bytes {
  unsigned char bytes[65536];
  size_t length;
  size_t refuse_after; /* 0: never */
} codec_bytes;

static int codec_sink(void *user, const char *bytes, size_t count) {
  codec_bytes *out = user;
  if (out->refuse_after > 0 && out->length + count > out->refuse_after)
    return 1;
  assert_true(out->length + count <= sizeof out->bytes);
  memcpy(out->bytes + out->length, bytes, count);
  out->length += count;
  return 0;
}

/* Ends an encoder and opens a decoder over its bytes without the checksum. */
static pc_decoder codec_turn(pc_encoder *encoder, codec_bytes *out) {
  pc_decoder decoder;
  assert_int_equal(pc_encoder_finish(encoder, NULL), PCAL_OK);
  assert_int_equal(encoder->length, out->length);
  pc_decoder_init(&decoder, out->bytes, out->length - PC_CHECKSUM_BYTES);
  return decoder;
}

TEST(test_numbers_are_little_endian) {
  static const unsigned char expected[] = {
      0xAB, 0x04, 0x03, 0x02, 0x01, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, 0x02,
      0,    0,    0,    'h',  'i',  0,    0,    0,    0,    0,    0,    0xF0, 0x3F};
  static codec_bytes out;
  out = (codec_bytes){.length = 0};
  pc_encoder encoder;
  pc_encoder_init(&encoder, codec_sink, &out);
  pc_encode_u8(&encoder, 0xAB);
  pc_encode_u32(&encoder, 0x01020304);
  pc_encode_u64(&encoder, UINT64_C(0x0102030405060708));
  pc_encode_text(&encoder, "hi");
  pc_encode_doubles(&encoder, (const double[]){1.0}, 1);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  assert_int_equal(out.length, sizeof expected + PC_CHECKSUM_BYTES);
  assert_memory_equal(out.bytes, expected, sizeof expected);
  pc_checksum checksum;
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, expected, sizeof expected);
  pc_decoder end;
  pc_decoder_init(&end, out.bytes + sizeof expected, PC_CHECKSUM_BYTES);
  assert_int_equal(pc_decode_u32(&end), pc_checksum_value(&checksum));
}

TEST(test_what_is_written_is_read) {
  const pcal_env env = pc_env_resolve(NULL);
  const double values[] = {0.0, -0.0, 0.1, -1e300, 0x1p-1074, (double)INFINITY};
  static codec_bytes out;
  out = (codec_bytes){.length = 0};
  pc_encoder encoder;
  pc_encoder_init(&encoder, codec_sink, &out);
  pc_encode_doubles(&encoder, values, UNIT_COUNT(values));
  pc_encode_text(&encoder, "");
  pc_encode_text(&encoder, "gr\xc3\xbcn");
  pc_encode_u64(&encoder, UINT64_MAX);
  for (uint32_t i = 0; i < 5000; i++) /* more than the buffer */
    pc_encode_u32(&encoder, i * UINT32_C(2654435761));
  pc_decoder in = codec_turn(&encoder, &out);
  double read[UNIT_COUNT(values)];
  pc_decode_doubles(&in, read, UNIT_COUNT(values));
  for (size_t i = 0; i < UNIT_COUNT(values); i++)
    assert_same(read[i], values[i]);
  char *empty = pc_decode_text(&in, &env), *text = pc_decode_text(&in, &env);
  assert_string_equal(empty, "");
  assert_string_equal(text, "gr\xc3\xbcn");
  pc_free(&env, empty);
  pc_free(&env, text);
  assert_true(pc_decode_u64(&in) == UINT64_MAX);
  for (uint32_t i = 0; i < 5000; i++)
    assert_int_equal(pc_decode_u32(&in), i * UINT32_C(2654435761));
  assert_int_equal(pc_decoder_left(&in), 0);
  assert_false(in.failed);
}

TEST(test_counting_agrees_with_writing) {
  static codec_bytes out;
  out = (codec_bytes){.length = 0};
  for (int pass = 0; pass < 2; pass++) {
    static uint64_t counted;
    pc_encoder encoder;
    pc_encoder_init(&encoder, pass == 0 ? NULL : codec_sink, &out);
    pc_encode_u8(&encoder, 1);
    pc_encode_text(&encoder, "text");
    if (pass == 0)
      pc_encode_skip(&encoder, 24);
    else
      pc_encode_doubles(&encoder, (const double[]){1, 2, 3}, 3);
    pc_encode_fixed(&encoder, &(const pc_fixed){1});
    assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
    if (pass == 0)
      counted = encoder.length;
    else
      assert_int_equal(out.length, counted);
  }
}

TEST(test_a_sink_that_refuses_is_told_once) {
  static codec_bytes out;
  out = (codec_bytes){.refuse_after = 10};
  pc_encoder encoder;
  pcal_error err;
  pc_encoder_init(&encoder, codec_sink, &out);
  for (int i = 0; i < 3000; i++)
    pc_encode_u64(&encoder, 7);
  assert_int_equal(pc_encoder_finish(&encoder, &err), PCAL_IO);
  assert_sentence(err, PCAL_IO, "the output could not be written");
  assert_int_equal(out.length, 0);
}

/* ---- sums ---- */

static size_t codec_sum_bytes(const pc_sum *sum, codec_bytes *out) {
  pc_encoder encoder;
  *out = (codec_bytes){.length = 0};
  pc_encoder_init(&encoder, codec_sink, out);
  pc_encode_sum(&encoder, sum);
  assert_int_equal(pc_encoder_finish(&encoder, NULL), PCAL_OK);
  return out->length;
}

TEST(test_equal_sums_have_equal_bytes) {
  static codec_bytes once, parts;
  pc_sum left, right, other;
  pc_sum_clear(&left);
  pc_sum_clear(&right);
  pc_sum_clear(&other);
  for (int i = 0; i < 2500; i++)
    pc_sum_add(&left, i % 2 == 0 ? -0.1 : 1e17);
  for (int i = 2499; i >= 0; i--)
    pc_sum_add(i % 3 == 0 ? &right : &other, i % 2 == 0 ? -0.1 : 1e17);
  pc_sum_merge(&right, &other);
  assert_int_equal(codec_sum_bytes(&left, &once), codec_sum_bytes(&right, &parts));
  assert_memory_equal(once.bytes, parts.bytes, once.length);
  assert_true(pc_sum_equal(&left, &right));
  pc_sum_add(&right, 0x1p-1074);
  codec_sum_bytes(&right, &parts);
  assert_true(once.length != parts.length || memcmp(once.bytes, parts.bytes, once.length) != 0);
  assert_false(pc_sum_equal(&left, &right));
}

TEST(test_sums_come_back) {
  static const double values[] = {0, 1, -1, 0.1, -0x1p-1074, 1.7976931348623157e308, 3e-300};
  static codec_bytes out;
  for (size_t i = 0; i < UNIT_COUNT(values); i++) {
    pc_sum sum, back;
    pc_decoder in;
    pc_sum_clear(&sum);
    pc_sum_add(&sum, values[i]);
    codec_sum_bytes(&sum, &out);
    pc_decoder_init(&in, out.bytes, out.length - PC_CHECKSUM_BYTES);
    pc_decode_sum(&in, &back);
    assert_false(in.failed);
    assert_int_equal(pc_decoder_left(&in), 0);
    assert_true(pc_sum_equal(&sum, &back));
    assert_same(pc_sum_value(&back), values[i] + 0.0);
  }
  pc_sum zero;
  pc_sum_clear(&zero);
  assert_int_equal(codec_sum_bytes(&zero, &out), 2 + 8 + PC_CHECKSUM_BYTES);
}

TEST(test_fixed_sums_come_back) {
  const pc_int128 units[] = {0, 1, -1, (pc_int128)1 << 100, -((pc_int128)1 << 125)};
  static codec_bytes out;
  out = (codec_bytes){.length = 0};
  pc_encoder encoder;
  pc_encoder_init(&encoder, codec_sink, &out);
  for (size_t i = 0; i < UNIT_COUNT(units); i++)
    pc_encode_fixed(&encoder, &(const pc_fixed){units[i]});
  pc_decoder in = codec_turn(&encoder, &out);
  for (size_t i = 0; i < UNIT_COUNT(units); i++) {
    pc_fixed back;
    pc_decode_fixed(&in, &back);
    assert_true(back.units == units[i]);
  }
  assert_false(in.failed);
}

/* ---- bytes that cannot be right ---- */

TEST(test_nothing_is_read_past_the_end) {
  const unsigned char three[] = {1, 2, 3};
  pc_decoder in;
  pc_decoder_init(&in, three, 3);
  assert_int_equal(pc_decode_u32(&in), 0);
  assert_true(in.failed);
  assert_int_equal(pc_decode_u8(&in), 0);
  pc_decoder_init(&in, three, 3);
  assert_int_equal(pc_decode_u8(&in), 1);
  unsigned char out[4] = {9, 9, 9, 9};
  pc_decode_bytes(&in, out, 4);
  assert_true(in.failed);
  assert_memory_equal(out, "\0\0\0\0", 4);
}

TEST(test_counts_are_bounded_by_what_is_left) {
  static const struct {
    uint64_t count;
    size_t least;
    int fine;
  } cases[] = {{2, 8, 1}, {3, 8, 0}, {16, 1, 1}, {17, 1, 0}, {UINT64_MAX, 1, 0}, {0, 100, 1}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    unsigned char bytes[24] = {0};
    pc_decoder in;
    for (size_t b = 0; b < 8; b++)
      bytes[b] = (unsigned char)(cases[i].count >> (8 * b));
    pc_decoder_init(&in, bytes, sizeof bytes);
    const size_t count = pc_decode_count(&in, cases[i].least);
    assert_int_equal(count, cases[i].fine ? cases[i].count : 0);
    assert_int_equal(in.failed, !cases[i].fine);
  }
}

TEST(test_texts_are_checked_before_memory_is_taken) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  static const char *const wrong[] = {"\xff\xff\xff\xff"
                                      "abc",
                                      "\x03\0\0\0"
                                      "a\0c",
                                      "\x04\0\0\0"
                                      "abc",
                                      "\x01\0\0"};
  static const size_t length[] = {7, 7, 7, 3};
  for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
    pc_decoder in;
    pc_decoder_init(&in, wrong[i], length[i]);
    assert_null(pc_decode_text(&in, &env));
    assert_true(in.failed);
  }
  assert_int_equal(atomic_load(&memory.calls), 0);
}

TEST(test_sums_that_could_overflow_fail) {
  static const unsigned char large_sum[] = {0, 0, 1, 0, 0, 0, 0, 0, 0, 0x20};
  static const unsigned char far_limb[] = {69, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  static const unsigned char large_fixed[] = {1, 0, 0, 0, 0, 0, 0, 0,
                                              0, 0, 0, 0, 0, 0, 0, 0x20};
  pc_decoder in;
  pc_sum sum;
  pc_fixed fixed;
  pc_decoder_init(&in, large_sum, sizeof large_sum);
  pc_decode_sum(&in, &sum);
  assert_true(in.failed);
  assert_same(pc_sum_value(&sum), 0.0);
  pc_decoder_init(&in, far_limb, sizeof far_limb);
  pc_decode_sum(&in, &sum);
  assert_true(in.failed);
  pc_decoder_init(&in, large_fixed, sizeof large_fixed);
  pc_decode_fixed(&in, &fixed);
  assert_true(in.failed);
  assert_true(fixed.units == 0);
}
