/* Escapes text from users (names of files, classes, groups and columns, specs, titles): one
 * function for each place that the text is written to.
 *
 *   1. Unsafe: control characters (C0, DEL, C1), line and paragraph separators, invisible
 *      characters and those that change the direction of writing (U+00AD, U+034F, U+061C,
 *      U+115F, U+1160, U+17B4, U+17B5, U+180B to U+180F, U+200B, U+200E, U+200F, U+202A to
 *      U+202E, U+2060 to U+206F, U+3164, U+FEFF, U+FFA0, U+FFF0 to U+FFFB, U+1BCA0 to U+1BCA3,
 *      U+1D173 to U+1D17A, U+E0000 to U+E0FFF), noncharacters, and bytes that are not UTF-8.
 *      The joiners U+200C and U+200D are unsafe except before an Arabic or Indic letter or an
 *      emoji, where they belong to the spelling.  The variation selectors U+FE00 to U+FE0F,
 *      which end many emoji, are safe.
 *   2. They become visible escapes: \n, \r, \t, \x1b for one byte, \u202e or \U000e0001 for a
 *      character.  A backslash is not escaped, so escaping twice changes nothing.
 *   3. JSON escapes characters without loss (\u202e); bytes that are not UTF-8 become U+FFFD.
 *   4. HTML and SVG replace every unsafe character by U+FFFD (base/markup.h).
 *   5. NULL is an empty text. */
#ifndef PC_ESCAPE_H
#define PC_ESCAPE_H

#include "base/text.h"

/* Decodes the UTF-8 character at the start of text, which must not be empty.  Returns its
 * length in bytes, or 0 if it is invalid. */
size_t pc_utf8_read(const char *text, uint32_t *code);

/* True for unsafe characters (1) other than joiners. */
int pc_is_unsafe_character(uint32_t code);

/* Reads one character of UTF-8 and returns its bytes, at least 1.  *code is U+FFFD for a byte
 * that is not UTF-8 and for an unsafe character.  text is not at its end. */
size_t pc_utf8_read_safe(const char *text, uint32_t *code);

/* Appends text for a terminal, a log or a message. */
void pc_text_terminal(pc_text *out, const char *text);
/* Terminal columns of the escaped text. */
size_t pc_terminal_width(const char *text);
/* The same into a buffer of `size` bytes; cut between characters if it does not fit. */
void pc_escape_copy(const char *text, char *out, size_t size);
/* Escapes the first character of text, which must not be empty.  Returns the bytes of text that
 * it took. */
#define PC_ESCAPE_MAX 10
size_t pc_escape_one(const char *text, char out[PC_ESCAPE_MAX + 1]);

/* Appends a cell of a CSV file (RFC 4180).  The cell is quoted if it contains a comma, quote,
 * tab or line end, or begins or ends with a space.  Spreadsheets read a cell that begins with =
 * + - @, a tab or a carriage return as a formula: unless it is a number, an apostrophe is put
 * first, which our CSV reader removes from column names (pc_csv_guarded). */
void pc_text_csv(pc_text *out, const char *cell);
/* True if the cell begins with apostrophes followed by one of these characters. */
int pc_csv_guarded(const char *cell, size_t length);

/* Appends a cell or line of Markdown with all markup escaped; and the same as code. */
void pc_text_markdown(pc_text *out, const char *cell);
void pc_text_markdown_code(pc_text *out, const char *cell);

/* Appends text for LaTeX, with all markup escaped. */
void pc_text_latex(pc_text *out, const char *text);

/* A JSON string with its quotes. */
void pc_text_json(pc_text *out, const char *text);

/* Appends a word of a shell command: 'quoted' where needed, $'...' with exact escapes if it has
 * unsafe characters. */
void pc_text_shell(pc_text *out, const char *word);

/* Appends text for the inside of a C comment. */
void pc_text_c_comment(pc_text *out, const char *text);

#endif
