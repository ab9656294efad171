/* Formats: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and lz4_Block_format.md.
 * A frame is the number 0x184D2204, flags, an optional content size, a byte of header checksum,
 * and blocks: their length, of which the top bit means stored, the bytes, and optionally a
 * checksum; a length of 0 ends the frame.
 *
 * Edge cases:
 *  1. checksums are skipped: they are optional, and Arrow writes none of the content.
 *  2. dictionaries are refused.
 *  3. a match may overlap the bytes it produces, and reach into earlier blocks. */
#include "io/formats/lz4_frame.h"

#include <stdint.h>
#include <string.h>

#define LZ4_MAGIC UINT32_C(0x184D2204)
#define LZ4_STORED UINT32_C(0x80000000)
#define LZ4_MATCH_MIN 4

/* Packed bytes still to be read, and the output. */
typedef struct lz4_state {
  const unsigned char *at, *end;
  unsigned char *out;
  size_t made, size;
} lz4_state;

static uint32_t lz4_word(const unsigned char *from) {
  return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
         (uint32_t)from[3] << 24;
}

/* Adds the bytes that continue a length of 15.  Returns 0 at the end of the block. */
static int lz4_length(const unsigned char **at, const unsigned char *end, size_t *length) {
  unsigned char more = 255;
  if (*length < 15)
    return 1;
  while (more == 255) {
    if (*at == end)
      return 0;
    more = *(*at)++;
    *length += more;
  }
  return 1;
}

static int lz4_copy(lz4_state *state, const unsigned char *from, size_t count) {
  if (count > state->size - state->made)
    return 0;
  memcpy(state->out + state->made, from, count);
  state->made += count;
  return 1;
}

static int lz4_match(lz4_state *state, size_t distance, size_t count) {
  if (distance == 0 || distance > state->made || count > state->size - state->made)
    return 0;
  for (size_t i = 0; i < count; i++, state->made++)
    state->out[state->made] = state->out[state->made - distance];
  return 1;
}

/* Unpacks one block: literals and matches in turn, ending with literals. */
static int lz4_block(lz4_state *state, const unsigned char *at, const unsigned char *end) {
  while (at < end) {
    const unsigned token = *at++;
    size_t literals = token >> 4, match = token & 15;
    if (!lz4_length(&at, end, &literals) || literals > (size_t)(end - at) ||
        !lz4_copy(state, at, literals))
      return 0;
    at += literals;
    if (at == end)
      return 1;
    if (end - at < 2)
      return 0;
    const size_t distance = (size_t)at[0] | (size_t)at[1] << 8;
    at += 2;
    if (!lz4_length(&at, end, &match) || !lz4_match(state, distance, match + LZ4_MATCH_MIN))
      return 0;
  }
  return 0;
}

/* Skips the header; sets *checked if a checksum follows each block. */
static int lz4_header(lz4_state *state, int *checked) {
  if (state->end - state->at < 7 || lz4_word(state->at) != LZ4_MAGIC)
    return 0;
  const unsigned flags = state->at[4];
  const size_t length = 7 + ((flags & 8) != 0 ? 8 : 0);
  if (flags >> 6 != 1 || (flags & 1) != 0 || (size_t)(state->end - state->at) < length)
    return 0;
  state->at += length;
  *checked = (flags & 16) != 0;
  return 1;
}

int pc_lz4_frame_unpack(const unsigned char *packed, size_t length, unsigned char *out,
                        size_t size) {
  lz4_state state = {packed, packed + length, out, 0, size};
  int checked = 0;
  if (!lz4_header(&state, &checked))
    return 0;
  while (state.end - state.at >= 4) {
    const uint32_t head = lz4_word(state.at);
    const size_t count = head & ~LZ4_STORED, after = count + (checked ? 4 : 0);
    state.at += 4;
    if (head == 0)
      return state.made == size;
    if (after > (size_t)(state.end - state.at))
      return 0;
    if ((head & LZ4_STORED) != 0 ? !lz4_copy(&state, state.at, count)
                                 : !lz4_block(&state, state.at, state.at + count))
      return 0;
    state.at += after;
  }
  return 0;
}
