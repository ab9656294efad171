#include "io/slice.h"

#include <string.h>

#define SLICE_CLIP_LENGTH 40

pc_slice pc_slice_of(const char *text) {
  return (pc_slice){text, strlen(text)};
}

int pc_slice_is(pc_slice slice, const char *text) {
  return strlen(text) == slice.length && memcmp(slice.bytes, text, slice.length) == 0;
}

static int slice_trimmed(char c, const char *also) {
  return c == ' ' || (c != '\0' && strchr(also, c) != NULL);
}

pc_slice pc_slice_trim(pc_slice slice, const char *also) {
  while (slice.length > 0 && slice_trimmed(slice.bytes[0], also)) {
    slice.bytes++;
    slice.length--;
  }
  while (slice.length > 0 && slice_trimmed(slice.bytes[slice.length - 1], also))
    slice.length--;
  return slice;
}

int pc_slice_is_missing(pc_slice slice) {
  static const char *const words[] = {"", "NA", "NaN", "nan", "null", "None"};
  if (slice.length > 4)
    return 0;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (pc_slice_is(slice, words[i]))
      return 1;
  return 0;
}

/* Length of the UTF-8 character at the start of the slice; 0 if invalid. */
static size_t slice_character(pc_slice slice) {
  const unsigned char *at = (const unsigned char *)slice.bytes;
  if (at[0] < 0x80)
    return 1;
  const size_t size = at[0] >= 0xC2 && at[0] < 0xE0   ? 2
                      : at[0] >= 0xE0 && at[0] < 0xF0 ? 3
                      : at[0] >= 0xF0 && at[0] < 0xF5 ? 4
                                                      : 0;
  if (size == 0 || size > slice.length)
    return 0;
  for (size_t i = 1; i < size; i++)
    if ((at[i] & 0xC0) != 0x80)
      return 0;
  const int overlong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
  const int beyond = (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF4 && at[1] > 0x8F);
  return overlong || beyond ? 0 : size;
}

int pc_slice_is_utf8(pc_slice slice) {
  while (slice.length > 0) {
    const size_t size = slice.bytes[0] == '\0' ? 0 : slice_character(slice);
    if (size == 0)
      return 0;
    slice.bytes += size;
    slice.length -= size;
  }
  return 1;
}

const char *pc_clip(pc_slice slice, char out[PC_CLIP_MAX]) {
  size_t used = 0;
  while (slice.length > 0 && used < SLICE_CLIP_LENGTH) {
    const size_t size = slice_character(slice);
    const unsigned char first = (unsigned char)slice.bytes[0];
    if (size == 0 || first < 0x20 || first == 0x7F) {
      out[used++] = '?';
      slice.bytes++;
      slice.length--;
      continue;
    }
    memcpy(out + used, slice.bytes, size);
    used += size;
    slice.bytes += size;
    slice.length -= size;
  }
  memcpy(out + used, "...", 4);
  if (slice.length == 0)
    out[used] = '\0';
  return out;
}
