/* Text from outside (names of files, classes, groups and columns, specs, titles) made safe for
 * the place where it is written: one function for each destination.
 *
 *   1. Unsafe are control characters (C0, DEL, C1), line and paragraph separators, characters
 *      that turn the direction of writing or cannot be seen (U+061C, U+200E, U+200F, U+202A to
 *      U+202E, U+2066 to U+2069, U+FEFF, U+FFF9 to U+FFFB, U+E0000 to U+E007F), what Unicode
 *      says is no character, and bytes that are not UTF-8.
 *   2. They become visible escapes: \n, \r, \t, \x1b for one byte, \u202e or \U000e0001 for a
 *      character.  A backslash stays as it is, so escaping twice changes nothing.
 *   3. JSON escapes characters without loss (\u202e); bytes that are not UTF-8 become U+FFFD.
 *   4. HTML and SVG have U+FFFD in the place of whatever is unsafe (base/markup.h).
 *   5. NULL counts as an empty text. */
#ifndef PC_ESCAPE_H
#define PC_ESCAPE_H

#include "base/text.h"

/* Reads one character of UTF-8, strictly: returns its bytes, or 0 when there is none.  text is
 * not at its end. */
size_t pc_utf8_read(const char *text, uint32_t *code);

/* Is a character unsafe, as in 1? */
int pc_is_unsafe_character(uint32_t code);

/* Reads one character of UTF-8 and returns its bytes, at least 1.  *code is U+FFFD for a byte
 * that is not UTF-8 and for an unsafe character.  text is not at its end. */
size_t pc_utf8_read_safe(const char *text, uint32_t *code);

/* A terminal, a log, or a sentence that goes on to any other destination. */
void pc_text_terminal(pc_text *out, const char *text);
/* Columns that this takes on a terminal. */
size_t pc_terminal_width(const char *text);
/* The same into a buffer, cut between characters when it is full. */
void pc_escape_copy(const char *text, char *out, size_t size);
/* The character at the start of text, which is not at its end, as a terminal may have it;
 * returns how many bytes of text it was. */
#define PC_ESCAPE_MAX 10
size_t pc_escape_one(const char *text, char out[PC_ESCAPE_MAX + 1]);

/* One cell of a CSV file (RFC 4180): quoted where it holds a comma, a quote, a tab or a line
 * end, which stay as they are, or begins or ends with a blank.  A spreadsheet takes what begins
 * with = + - @ (or a tab or carriage return before these) for a formula: if it is no number, an
 * apostrophe stands before it.  Our CSV reader takes that apostrophe off the names of columns
 * (pc_csv_guarded). */
void pc_text_csv(pc_text *out, const char *cell);
/* Does a cell of this length begin with apostrophes and then with one of these signs? */
int pc_csv_guarded(const char *cell, size_t length);

/* One cell or line of Markdown, without markup of its own; and the same as code. */
void pc_text_markdown(pc_text *out, const char *cell);
void pc_text_markdown_code(pc_text *out, const char *cell);

/* A JSON string with its quotes. */
void pc_text_json(pc_text *out, const char *text);

/* One word of a shell command, on one line: 'quoted' where needed, $'...' with escapes where it
 * holds what is unsafe, of which every byte stays exact. */
void pc_text_shell(pc_text *out, const char *word);

/* Inside a comment of C. */
void pc_text_c_comment(pc_text *out, const char *text);

#endif
