/* A growing text buffer, and functions that append to it. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stddef.h>

#include "propercal.h"

#define CLI_WIDTH 79
#define CLI_NUMBER_MAX 32

/* `text` ends with NUL once anything was appended.  When an allocation fails, `failed` is set
 * and later appends do nothing. */
typedef struct cli_text_buffer {
  char *text;
  size_t length;
  size_t capacity;
  int failed;
} cli_text_buffer;

#define CLI_TEXT_BUFFER_INIT \
  { NULL, 0, 0, 0 }

void cli_put(cli_text_buffer *buffer, const char *text);
void cli_put_bytes(cli_text_buffer *buffer, const char *bytes, size_t count);
void cli_putf(cli_text_buffer *buffer, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Number of characters in the first `count` bytes of a UTF-8 text. */
size_t cli_columns(const char *text, size_t count);
/* Number of characters in the last, unfinished line. */
size_t cli_line_width(const cli_text_buffer *buffer);
/* Appends spaces until the last line is `column` wide. */
void cli_pad(cli_text_buffer *buffer, size_t column);
/* Appends a paragraph wrapped to CLI_WIDTH columns and a newline.  The first line continues the
 * current one; the others are indented by `indent`.  Newlines in the text are kept. */
void cli_put_wrapped(cli_text_buffer *buffer, size_t indent, const char *text);

/* The shortest decimal that reads back as the same number; returns `out`, or a constant for NaN
 * and infinities. */
const char *cli_number(double value, char out[CLI_NUMBER_MAX]);
const char *cli_number_float(float value, char out[CLI_NUMBER_MAX]);

/* Appends text from outside, escaped for its destination. */
void cli_put_escaped(cli_text_buffer *buffer, pcal_destination destination, const char *text);
/* Appends a quoted JSON string; null for NULL. */
void cli_put_json(cli_text_buffer *buffer, const char *text);
/* Appends a JSON number; null unless it is finite. */
void cli_put_json_number(cli_text_buffer *buffer, double value);

/* A pcal_sink that appends to a buffer. */
int cli_text_buffer_sink(void *buffer, const char *bytes, size_t count);

/* PCAL_MEMORY if an append failed. */
pcal_status cli_text_buffer_check(const cli_text_buffer *buffer, pcal_error *err);
/* The status of a call that wrote to the buffer, or PCAL_MEMORY if an append failed. */
pcal_status cli_text_buffer_status(const cli_text_buffer *buffer, pcal_status status,
                                   pcal_error *err);
void cli_text_buffer_free(cli_text_buffer *buffer);

#endif
