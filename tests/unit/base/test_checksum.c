#include "../unit.h"
#include "base/checksum.h"

static uint32_t checksum_of(const void *bytes, size_t count) {
  pc_checksum checksum;
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, bytes, count);
  return pc_checksum_value(&checksum);
}

/* RFC 3720, appendix B.4, and the check value of the catalogue of CRC algorithms. */
TEST(test_published_vectors) {
  static const unsigned char read_command[48] = {
      0x01, 0xc0, 0, 0,    0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 4, 0,
      0,    0,    0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 2,    0, 0, 0, 0, 0, 0, 0};
  unsigned char zeros[32], ones[32], up[32], down[32];
  for (size_t i = 0; i < 32; i++) {
    zeros[i] = 0;
    ones[i] = 0xFF;
    up[i] = (unsigned char)i;
    down[i] = (unsigned char)(31 - i);
  }
  assert_int_equal(checksum_of(zeros, 32), 0x8A9136AA);
  assert_int_equal(checksum_of(ones, 32), 0x62A8AB43);
  assert_int_equal(checksum_of(up, 32), 0x46DD794E);
  assert_int_equal(checksum_of(down, 32), 0x113FDB5C);
  assert_int_equal(checksum_of(read_command, 48), 0xD9963A56);
  assert_int_equal(checksum_of("123456789", 9), 0xE3069283);
  assert_int_equal(checksum_of("", 0), 0);
}

/* Bit by bit, as the definition says. */
static uint32_t checksum_slow(const unsigned char *bytes, size_t count) {
  uint32_t remainder = UINT32_MAX;
  for (size_t i = 0; i < 8 * count; i++) {
    const uint32_t bit = (remainder ^ bytes[i / 8] >> i % 8) & 1;
    remainder = (remainder >> 1) ^ (bit != 0 ? UINT32_C(0x82F63B78) : 0);
  }
  return ~remainder;
}

TEST(test_all_lengths_and_all_cuts) {
  unsigned char bytes[67];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (unsigned char)(i * i * 31 + 7);
  for (size_t length = 0; length <= sizeof bytes; length++) {
    const uint32_t expected = checksum_slow(bytes, length);
    for (size_t cut = 0; cut <= length; cut++) {
      pc_checksum checksum;
      pc_checksum_start(&checksum);
      pc_checksum_add(&checksum, bytes, cut);
      pc_checksum_add(&checksum, bytes + cut, length - cut);
      assert_int_equal(pc_checksum_value(&checksum), expected);
    }
  }
}

TEST(test_every_bit_counts) {
  unsigned char bytes[40] = {1, 2, 3};
  const uint32_t expected = checksum_of(bytes, sizeof bytes);
  for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
    bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    assert_int_not_equal(checksum_of(bytes, sizeof bytes), expected);
    bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  assert_int_equal(checksum_of(bytes, sizeof bytes), expected);
}
