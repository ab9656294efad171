#include "base/markup.h"

#include "base/escape.h"

static const char *markup_entity(uint32_t letter) {
  switch (letter) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  case 0xFFFD:
    return "\xEF\xBF\xBD";
  default:
    return NULL;
  }
}

static size_t markup_letter(pc_text *out, const char *words) {
  uint32_t letter;
  const size_t bytes = pc_utf8_read_safe(words, &letter);
  const char *entity = markup_entity(letter);
  if (entity != NULL)
    pc_text_add(out, entity);
  else
    pc_text_add_bytes(out, words, bytes);
  return bytes;
}

void pc_text_markup(pc_text *out, const char *words) {
  while (words != NULL && *words != '\0')
    words += markup_letter(out, words);
}

void pc_text_markup_lines(pc_text *out, const char *words) {
  while (words != NULL && *words != '\0') {
    if (*words == '\n')
      pc_text_add(out, "\n");
    words += *words == '\n' ? 1 : markup_letter(out, words);
  }
}
