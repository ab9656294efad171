/* Text that the program puts together before it is written. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stddef.h>

#include "propercal.h"

#define CLI_WIDTH 79
#define CLI_NUMBER_MAX 32

/* A growing text.  A failed allocation is remembered in `failed`; what follows is ignored. */
typedef struct cli_text_buffer {
  char *text;
  size_t length;
  size_t capacity;
  int failed;
} cli_text_buffer;

#define CLI_TEXT_BUFFER_INIT \
  { NULL, 0, 0, 0 }

void cli_put(cli_text_buffer *page, const char *text);
void cli_put_bytes(cli_text_buffer *page, const char *bytes, size_t count);
void cli_putf(cli_text_buffer *page, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Columns that the first `count` bytes of UTF-8 text take. */
size_t cli_columns(const char *text, size_t count);
/* Appends spaces until the current line is `column` wide. */
void cli_pad(cli_text_buffer *page, size_t column);
/* Appends a paragraph in lines of at most CLI_WIDTH columns, the first starting where the page
 * stands, the others at `indent`; ends with a newline.  Newlines in the text are kept. */
void cli_put_wrapped(cli_text_buffer *page, size_t indent, const char *text);

/* The shortest form that reads back as the same number. */
const char *cli_number(double value, char out[CLI_NUMBER_MAX]);
const char *cli_number_float(float value, char out[CLI_NUMBER_MAX]);

/* Text from outside, safe for where the page goes. */
void cli_put_escaped(cli_text_buffer *page, pcal_destination destination, const char *text);
/* A quoted JSON string, or null. */
void cli_put_json(cli_text_buffer *page, const char *text);
/* A JSON number; null when it is not finite. */
void cli_put_json_number(cli_text_buffer *page, double value);

/* A pcal_sink that appends to a page. */
int cli_text_buffer_sink(void *page, const char *bytes, size_t count);

pcal_status cli_text_buffer_check(const cli_text_buffer *page, pcal_error *err);
/* The same for a status of a call that wrote to the page: its sink fails only without memory.
 */
pcal_status cli_text_buffer_status(const cli_text_buffer *page, pcal_status status,
                                   pcal_error *err);
void cli_text_buffer_free(cli_text_buffer *page);

#endif
