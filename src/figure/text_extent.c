#include "figure/text_extent.h"

#include "base/escape.h"

/* Advance widths of DejaVu Sans from U+0020 to U+007E, in hundredths of the letter height. */
static const unsigned char text_extent_widths[] = {
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37,  32, 34, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64,
    58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64,  62, 74, 69, 99, 69,
    62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36,  64, 64, 28, 28, 58,
    28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60,  53, 64, 34, 64, 84};

/* Width of a letter in units of the letter height. */
static double text_extent_letter_width(uint32_t letter) {
  if (letter >= 0x20 && letter < 0x7F)
    return text_extent_widths[letter - 0x20] / 100.0;
  if (letter == 0x2009)
    return 0.2;
  if (letter == 0xB7)
    return 0.32;
  return letter < 0x1100 ? 0.8 : 1.0;
}

double pc_text_extent(const char *text, double size) {
  double width = 0;
  uint32_t letter;
  while (*text != '\0') {
    text += pc_utf8_read_safe(text, &letter);
    width += text_extent_letter_width(letter);
  }
  return width * size;
}

/* Returns where the text first exceeds `width`: before that letter or, if behind, after it. */
static const char *text_extent_skip(const char *text, double size, double width, int behind) {
  double passed = 0;
  while (*text != '\0') {
    uint32_t letter;
    const size_t bytes = pc_utf8_read_safe(text, &letter);
    passed += size * text_extent_letter_width(letter);
    if (passed > width)
      return behind ? text + bytes : text;
    text += bytes;
  }
  return text;
}

void pc_text_shorten(pc_text *out, const char *text, double size, double width) {
  static const char ellipsis[] = "\xE2\x80\xA6";
  const double whole = pc_text_extent(text, size);
  if (whole <= width) {
    pc_text_add(out, text);
    return;
  }
  const double half = (width - pc_text_extent(ellipsis, size)) / 2;
  const char *head_end = text_extent_skip(text, size, half, 0);
  const char *tail = text_extent_skip(text, size, whole - half, 1);
  pc_text_add_bytes(out, text, (size_t)(head_end - text));
  pc_text_add(out, ellipsis);
  pc_text_add(out, tail);
}
