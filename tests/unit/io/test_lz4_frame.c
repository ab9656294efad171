#include "io_help.h"

#include "io/formats/lz4_frame.h"

/* A frame with one block, made by hand from the format's description. */
#define LZ4_HEAD 0x04, 0x22, 0x4D, 0x18, 0x60, 0x40, 0x82

/* "abcd", then 12 bytes from 4 back, then "e": literals 4, match 4 + 8; literals 1. */
static const unsigned char lz4_match_frame[] = {LZ4_HEAD, 9, 0, 0,    0,   0x48, 'a', 'b', 'c',
                                                'd',      4, 0, 0x10, 'e', 0,    0,   0,   0};

TEST(copies_matches_that_overlap) {
  unsigned char out[17];
  assert_int_equal(pc_lz4_frame_unpack(lz4_match_frame, sizeof lz4_match_frame, out, 17), 1);
  assert_memory_equal(out, "abcdabcdabcdabcde", 17);
}

TEST(takes_stored_blocks_and_long_literals) {
  static const unsigned char stored[] = {LZ4_HEAD, 3, 0, 0, 0x80, 'x', 'y', 'z', 0, 0, 0, 0};
  unsigned char frame[7 + 4 + 2 + 20 + 4] = {LZ4_HEAD, 22, 0, 0, 0, 0xF0, 5};
  unsigned char out[20];
  assert_int_equal(pc_lz4_frame_unpack(stored, sizeof stored, out, 3), 1);
  assert_memory_equal(out, "xyz", 3);
  memset(frame + 13, 'q', 20);
  assert_int_equal(pc_lz4_frame_unpack(frame, sizeof frame, out, 20), 1);
  assert_memory_equal(out, "qqqqqqqqqqqqqqqqqqqq", 20);
}

TEST(refuses_what_does_not_fit) {
  unsigned char out[32], bad[sizeof lz4_match_frame];
  for (size_t size = 0; size < 32; size++)
    assert_int_equal(pc_lz4_frame_unpack(lz4_match_frame, sizeof lz4_match_frame, out, size),
                     size == 17);
  for (size_t length = 0; length < sizeof lz4_match_frame; length++)
    assert_int_equal(pc_lz4_frame_unpack(lz4_match_frame, length, out, 17), 0);
  memcpy(bad, lz4_match_frame, sizeof bad);
  bad[16] = 5; /* a match from before the beginning */
  assert_int_equal(pc_lz4_frame_unpack(bad, sizeof bad, out, 17), 0);
  bad[16] = 0;
  assert_int_equal(pc_lz4_frame_unpack(bad, sizeof bad, out, 17), 0);
  memcpy(bad, lz4_match_frame, sizeof bad);
  bad[4] |= 1; /* a dictionary */
  assert_int_equal(pc_lz4_frame_unpack(bad, sizeof bad, out, 17), 0);
}

/* Header flags: a checksum after each block (16), the length of the content (8). */
TEST(takes_checksums_and_content_lengths) {
  static const unsigned char checked[] = {0x04, 0x22, 0x4D, 0x18, 0x70, 0x40, 0x82, 3,
                                          0,    0,    0x80, 'x',  'y',  'z',  9,    9,
                                          9,    9,    0,    0,    0,    0};
  static const unsigned char sized[] = {0x04, 0x22, 0x4D, 0x18, 0x68, 0x40, 0x82, 0,
                                        0,    0,    0,    0,    0,    0,    0,    1,
                                        0,    0,    0x80, 'x',  0,    0,    0,    0};
  unsigned char out[3];
  assert_int_equal(pc_lz4_frame_unpack(checked, sizeof checked, out, 3), 1);
  assert_memory_equal(out, "xyz", 3);
  assert_int_equal(pc_lz4_frame_unpack(sized, sizeof sized, out, 1), 1);
  assert_int_equal(out[0], 'x');
  for (size_t length = 0; length < sizeof sized; length++)
    assert_int_equal(pc_lz4_frame_unpack(sized, length, out, 1), 0);
}

/* A block that ends inside a length, a distance, or before its last literals; another magic or version. */
TEST(refuses_blocks_that_end_early) {
  static const struct {
    unsigned char bytes[8];
    size_t length;
  } blocks[] = {
      {{0xF0}, 1},                    /* a length of literals goes on */
      {{0xF0, 255}, 2},               /* and on */
      {{0x20, 'a'}, 2},               /* two literals, one byte */
      {{0x10, 'a', 1}, 3},            /* half a distance */
      {{0x1F, 'a', 1, 0}, 4},         /* a length of a match goes on */
      {{0x1F, 'a', 1, 0, 255}, 5},    /* and on */
      {{0x10, 'a', 1, 0}, 4},         /* no literals after the match */
      {{0x1F, 'a', 1, 0, 200, 0}, 6}, /* more than the output has room for */
  };
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    unsigned char frame[7 + 4 + 8 + 4] = {LZ4_HEAD}, out[64];
    frame[7] = (unsigned char)blocks[i].length;
    memcpy(frame + 11, blocks[i].bytes, blocks[i].length);
    assert_int_equal(pc_lz4_frame_unpack(frame, 11 + blocks[i].length + 4, out, sizeof out), 0);
  }
  for (size_t at = 0; at < 5; at++) {
    unsigned char bad[sizeof lz4_match_frame], out[17];
    memcpy(bad, lz4_match_frame, sizeof bad);
    bad[at] ^= at < 4 ? 1 : 0x80;
    assert_int_equal(pc_lz4_frame_unpack(bad, sizeof bad, out, 17), 0);
  }
}
