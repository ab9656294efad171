#include "base/escape.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define ESCAPE_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* ---- UTF-8 ---- */

/* The range of the second byte excludes overlong forms, surrogates and code points beyond
 * U+10FFFF. */
static int escape_second_fits(unsigned char first, unsigned char second) {
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  return second >= low && second <= high;
}

size_t pc_utf8_read(const char *text, uint32_t *code) {
  const unsigned char *at = (const unsigned char *)text;
  *code = at[0];
  if (at[0] < 0x80)
    return 1;
  if (at[0] < 0xC2 || at[0] > 0xF4 || !escape_second_fits(at[0], at[1]))
    return 0;
  const size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
  *code = at[0] & (0x7Fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xC0) != 0x80)
      return 0;
    *code = *code << 6 | (at[i] & 0x3F);
  }
  return length;
}

/* Code points from first to last. */
typedef struct escape_range {
  uint32_t first, last;
} escape_range;

static int escape_among(uint32_t code, const escape_range *ranges, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (code >= ranges[i].first && code <= ranges[i].last)
      return 1;
  return 0;
}

int pc_is_unsafe_character(uint32_t code) {
  static const escape_range ranges[] = {
      {0x00, 0x1F},     {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
      {0x61C, 0x61C},   {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},
      {0x200B, 0x200B}, {0x200E, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
      {0x3164, 0x3164}, {0xFDD0, 0xFDEF},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
      {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
  };
  return escape_among(code, ranges, sizeof ranges / sizeof *ranges) ||
         (code & 0xFFFE) == 0xFFFE;
}

/* True if a joiner may stand before this character: Arabic and Indic letters, emoji. */
static int escape_takes_joiner(uint32_t code) {
  static const escape_range ranges[] = {
      {0x600, 0xDFF}, {0x1780, 0x18AF}, {0x2190, 0x2BFF}, {0x1F000, 0x1FBFF}};
  return escape_among(code, ranges, sizeof ranges / sizeof *ranges);
}

/* True if the character `code`, followed by `rest`, is unsafe. */
static int escape_is_unsafe(uint32_t code, const char *rest) {
  uint32_t next;
  if (code != 0x200C && code != 0x200D)
    return pc_is_unsafe_character(code);
  return pc_utf8_read(rest, &next) == 0 || !escape_takes_joiner(next);
}

size_t pc_utf8_read_safe(const char *text, uint32_t *code) {
  const size_t bytes = pc_utf8_read(text, code);
  if (bytes > 0 && !escape_is_unsafe(*code, text + bytes))
    return bytes;
  *code = 0xFFFD;
  return bytes > 0 ? bytes : 1;
}

/* ---- A terminal ---- */

size_t pc_escape_one(const char *text, char out[PC_ESCAPE_MAX + 1]) {
  static const char controls[] = "\n\r\t", letters[] = "nrt";
  uint32_t code;
  const size_t bytes = pc_utf8_read(text, &code);
  const char *known = bytes == 1 ? strchr(controls, *text) : NULL;
  if (known != NULL)
    snprintf(out, PC_ESCAPE_MAX + 1, "\\%c", letters[known - controls]);
  else if (bytes == 0 || (bytes == 1 && pc_is_unsafe_character(code)))
    snprintf(out, PC_ESCAPE_MAX + 1, "\\x%02x", (unsigned)(unsigned char)*text);
  else if (escape_is_unsafe(code, text + bytes))
    snprintf(out, PC_ESCAPE_MAX + 1, code > 0xFFFF ? "\\U%08x" : "\\u%04x", (unsigned)code);
  else
    snprintf(out, PC_ESCAPE_MAX + 1, "%.*s", (int)bytes, text);
  return bytes == 0 ? 1 : bytes;
}

/* Length of the prefix that needs no escape: printable ASCII without `special` characters. */
static size_t escape_plain(const char *text, const char *special) {
  size_t length = 0;
  while (text[length] >= 0x20 && text[length] < 0x7F && strchr(special, text[length]) == NULL)
    length++;
  return length;
}

void pc_text_terminal(pc_text *out, const char *text) {
  char one[PC_ESCAPE_MAX + 1];
  while (text != NULL && *text != '\0') {
    const size_t plain = escape_plain(text, "");
    pc_text_add_bytes(out, text, plain);
    text += plain;
    if (*text == '\0')
      return;
    text += pc_escape_one(text, one);
    pc_text_add(out, one);
  }
}

size_t pc_terminal_width(const char *text) {
  char one[PC_ESCAPE_MAX + 1];
  size_t width = 0;
  while (text != NULL && *text != '\0') {
    text += pc_escape_one(text, one);
    width += pc_text_width(one);
  }
  return width;
}

void pc_escape_copy(const char *text, char *out, size_t size) {
  char one[PC_ESCAPE_MAX + 1];
  size_t used = 0;
  while (text != NULL && *text != '\0') {
    text += pc_escape_one(text, one);
    const size_t length = strlen(one);
    if (used + length >= size)
      break;
    memcpy(out + used, one, length);
    used += length;
  }
  out[used] = '\0';
}

/* ---- CSV ---- */

int pc_csv_guarded(const char *cell, size_t length) {
  size_t quotes = 0;
  while (quotes < length && cell[quotes] == '\'')
    quotes++;
  return quotes > 0 && quotes < length && strchr("=+-@\t\r", cell[quotes]) != NULL;
}

/* True if a spreadsheet would compute the cell, or our reader would remove an apostrophe. */
static int escape_is_formula(const char *cell) {
  const size_t length = strlen(cell);
  double value;
  if (length == 0 || (cell[0] == '\'' && !pc_csv_guarded(cell, length)))
    return 0;
  return strchr("=+-@\t\r'", cell[0]) != NULL &&
         pc_number_parse(cell, cell + length, &value) != length;
}

void pc_text_csv(pc_text *out, const char *cell) {
  char one[PC_ESCAPE_MAX + 1];
  const size_t length = cell == NULL ? 0 : strlen(cell);
  if (length == 0)
    return;
  const int quoted =
      strpbrk(cell, ",\"\t\r\n") != NULL || cell[0] == ' ' || cell[length - 1] == ' ';
  pc_text_add(out, quoted ? "\"" : "");
  pc_text_add(out, escape_is_formula(cell) ? "'" : "");
  while (*cell != '\0') {
    const char sign[2] = {*cell, '\0'};
    pc_text_add(out, *cell == '"' ? "\"" : "");
    cell += pc_escape_one(cell, one);
    pc_text_add(out, strpbrk(sign, "\t\r\n") != NULL ? sign : one);
  }
  pc_text_add(out, quoted ? "\"" : "");
}

/* ---- Markdown ---- */

void pc_text_markdown(pc_text *out, const char *cell) {
  char one[PC_ESCAPE_MAX + 1];
  while (cell != NULL && *cell != '\0') {
    const char letter = *cell;
    cell += pc_escape_one(cell, one);
    if (letter == '<' || letter == '&')
      pc_text_add(out, letter == '<' ? "&lt;" : "&amp;");
    else if (letter == '\n' || letter == '\r')
      pc_text_add(out, " ");
    else {
      pc_text_add(out, strchr("|\\`*_[]~$", one[0]) != NULL ? "\\" : "");
      pc_text_add(out, one);
    }
  }
}

void pc_text_markdown_code(pc_text *out, const char *cell) {
  char one[PC_ESCAPE_MAX + 1];
  if (cell == NULL || *cell == '\0')
    return;
  if (strchr(cell, '`') != NULL) {
    pc_text_markdown(out, cell);
    return;
  }
  pc_text_add(out, "`");
  while (*cell != '\0') {
    const int line_end = *cell == '\n' || *cell == '\r';
    pc_text_add(out, *cell == '|' ? "\\" : "");
    cell += pc_escape_one(cell, one);
    pc_text_add(out, line_end ? " " : one);
  }
  pc_text_add(out, "`");
}

/* ---- LaTeX ---- */

void pc_text_latex(pc_text *out, const char *text) {
  static const char marks[] = "\\~^<>\"|";
  static const char *const words[] = {"\\textbackslash{}",   "\\textasciitilde{}",
                                      "\\textasciicircum{}", "\\textless{}",
                                      "\\textgreater{}",     "''",
                                      "\\textbar{}"};
  char one[PC_ESCAPE_MAX + 1];
  if (text != NULL && (*text == '[' || *text == '*'))
    pc_text_add(out, "{}"); /* else it would be an argument of the \\ or \midrule before it */
  while (text != NULL && *text != '\0') {
    const int line_end = *text == '\n' || *text == '\r';
    text += pc_escape_one(text, one);
    for (const char *at = line_end ? " " : one; *at != '\0'; at++) {
      const char *mark = strchr(marks, *at);
      pc_text_add(out, strchr("{}$&#%_", *at) != NULL ? "\\" : "");
      if (mark != NULL)
        pc_text_add(out, words[mark - marks]);
      else
        pc_text_add_bytes(out, at, 1);
    }
  }
}

/* ---- JSON ---- */

static void escape_json_one(pc_text *out, uint32_t code) {
  static const char controls[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
  const char *found = code > 0 && code < 0x80 ? strchr(controls, (int)code) : NULL;
  if (found != NULL)
    pc_text_format(out, "\\%c", letters[found - controls]);
  else if (code > 0xFFFF)
    pc_text_format(out, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (code >> 10)),
                   (unsigned)(0xDC00 + (code & 0x3FF)));
  else
    pc_text_format(out, "\\u%04x", (unsigned)code);
}

void pc_text_json(pc_text *out, const char *text) {
  pc_text_add(out, "\"");
  while (text != NULL && *text != '\0') {
    uint32_t code;
    const size_t plain = escape_plain(text, "\"\\");
    pc_text_add_bytes(out, text, plain);
    text += plain;
    if (*text == '\0')
      break;
    const size_t bytes = pc_utf8_read(text, &code);
    if (bytes == 0)
      pc_text_add(out, ESCAPE_REPLACEMENT);
    else if (escape_is_unsafe(code, text + bytes) || code == '"' || code == '\\')
      escape_json_one(out, code);
    else
      pc_text_add_bytes(out, text, bytes);
    text += bytes == 0 ? 1 : bytes;
  }
  pc_text_add(out, "\"");
}

/* ---- A shell ---- */

static int escape_shell_plain(const char *word) {
  return *word != '\0' &&
         word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789_-+=./:,@%")] == '\0';
}

static int escape_has_unsafe(const char *word) {
  while (*word != '\0') {
    uint32_t code;
    const size_t bytes = pc_utf8_read(word, &code);
    if (bytes == 0 || escape_is_unsafe(code, word + bytes))
      return 1;
    word += bytes;
  }
  return 0;
}

static void escape_shell_exact(pc_text *out, const char *word) {
  while (*word != '\0') {
    uint32_t code;
    const size_t read = pc_utf8_read(word, &code), bytes = read == 0 ? 1 : read;
    const int unsafe = read == 0 || escape_is_unsafe(code, word + bytes);
    for (size_t i = 0; unsafe && i < bytes; i++)
      pc_text_format(out, "\\x%02x", (unsigned)(unsigned char)word[i]);
    pc_text_add(out, *word == '\'' || *word == '\\' ? "\\" : "");
    if (!unsafe)
      pc_text_add_bytes(out, word, bytes);
    word += bytes;
  }
}

void pc_text_shell(pc_text *out, const char *word) {
  const char *at = word == NULL ? "" : word;
  if (escape_shell_plain(at)) {
    pc_text_add(out, at);
    return;
  }
  const int exact = escape_has_unsafe(at);
  pc_text_add(out, exact ? "$'" : "'");
  if (exact)
    escape_shell_exact(out, at);
  for (; !exact && *at != '\0'; at++) {
    if (*at == '\'')
      pc_text_add(out, "'\\''");
    else
      pc_text_add_bytes(out, at, 1);
  }
  pc_text_add(out, "'");
}

/* ---- C ---- */

/* No end of the comment, start of a nested one, trigraph or line continuation appears. */
void pc_text_c_comment(pc_text *out, const char *text) {
  char one[PC_ESCAPE_MAX + 1], before = '\0';
  while (text != NULL && *text != '\0') {
    const char letter = *text;
    const int breaks = (before == '*' && letter == '/') || (before == '/' && letter == '*') ||
                       (before == '?' && letter == '?');
    pc_text_add(out, breaks ? " " : "");
    text += pc_escape_one(text, one);
    pc_text_add(out, one);
    before = letter;
  }
  pc_text_add(out, before == '\\' || before == '*' ? " " : "");
}
