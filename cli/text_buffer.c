/* The program never calls setlocale, so printf and strtod use the C locale. */
#include "text_buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

static int page_reserve(cli_text_buffer *page, size_t more) {
  if (page->failed)
    return 0;
  if (more < page->capacity - page->length)
    return 1;
  const size_t needed = page->length + more + 1;
  size_t capacity = page->capacity ? page->capacity : 1024;
  while (capacity < needed && capacity <= SIZE_MAX / 2)
    capacity *= 2;
  char *text = needed > more && capacity >= needed ? realloc(page->text, capacity) : NULL;
  if (!text) {
    page->failed = 1;
    return 0;
  }
  page->text = text;
  page->capacity = capacity;
  return 1;
}

void cli_put_bytes(cli_text_buffer *page, const char *bytes, size_t count) {
  if (!page_reserve(page, count))
    return;
  if (count > 0)
    memcpy(page->text + page->length, bytes, count);
  page->length += count;
  page->text[page->length] = '\0';
}

void cli_put(cli_text_buffer *page, const char *text) {
  cli_put_bytes(page, text, strlen(text));
}

void cli_putf(cli_text_buffer *page, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int count = vsnprintf(NULL, 0, format, list);
  va_end(list);
  page->failed |= count < 0;
  if (count < 0 || !page_reserve(page, (size_t)count))
    return;
  va_start(list, format);
  vsnprintf(page->text + page->length, (size_t)count + 1, format, list);
  va_end(list);
  page->length += (size_t)count;
}

size_t cli_columns(const char *text, size_t count) {
  size_t columns = 0;
  for (size_t i = 0; i < count; i++)
    columns += ((unsigned char)text[i] & 0xC0u) != 0x80u;
  return columns;
}

size_t cli_line_width(const cli_text_buffer *page) {
  size_t start = page->length;
  while (start > 0 && page->text[start - 1] != '\n')
    start--;
  return page->length > start ? cli_columns(page->text + start, page->length - start) : 0;
}

void cli_pad(cli_text_buffer *page, size_t column) {
  for (size_t at = cli_line_width(page); at < column && !page->failed; at++)
    cli_put(page, " ");
}

void cli_put_wrapped(cli_text_buffer *page, size_t indent, const char *text) {
  int line_empty = 1;
  while (*text) {
    const size_t word = strcspn(text, " \n");
    const size_t width = cli_columns(text, word);
    if (!line_empty && cli_line_width(page) + 1 + width > CLI_WIDTH) {
      cli_put(page, "\n");
      line_empty = 1;
    }
    if (word > 0) {
      if (line_empty)
        cli_pad(page, indent);
      else
        cli_put(page, " ");
      cli_put_bytes(page, text, word);
      line_empty = 0;
    }
    text += word;
    if (*text == '\n') {
      cli_put(page, "\n");
      line_empty = 1;
    }
    text += *text != '\0';
  }
  cli_put(page, "\n");
}

const char *cli_number(double value, char out[CLI_NUMBER_MAX]) {
  if (isnan(value))
    return "nan";
  if (isinf(value))
    return value > 0 ? "inf" : "-inf";
  if (fabs(value) < 1e15 && value == floor(value)) {
    snprintf(out, CLI_NUMBER_MAX, "%.0f", value);
    return out;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(out, CLI_NUMBER_MAX, "%.*g", digits, value);
    if (strtod(out, NULL) == value)
      break;
  }
  return out;
}

const char *cli_number_float(float value, char out[CLI_NUMBER_MAX]) {
  for (int digits = 6; digits <= 9; digits++) {
    snprintf(out, CLI_NUMBER_MAX, "%.*g", digits, (double)value);
    if (strtof(out, NULL) == value)
      break;
  }
  return out;
}

void cli_put_escaped(cli_text_buffer *page, pcal_destination destination, const char *text) {
  if (pcal_escape(text, destination, cli_text_buffer_sink, page, NULL) != PCAL_OK)
    page->failed = 1;
}

void cli_put_json(cli_text_buffer *page, const char *text) {
  if (text)
    cli_put_escaped(page, PCAL_FOR_JSON, text);
  else
    cli_put(page, "null");
}

void cli_put_json_number(cli_text_buffer *page, double value) {
  char number[CLI_NUMBER_MAX];
  cli_put(page, isfinite(value) ? cli_number(value, number) : "null");
}

int cli_text_buffer_sink(void *page, const char *bytes, size_t count) {
  cli_put_bytes(page, bytes, count);
  return ((const cli_text_buffer *)page)->failed;
}

pcal_status cli_text_buffer_check(const cli_text_buffer *page, pcal_error *err) {
  return page->failed ? cli_fail(err, PCAL_MEMORY, "out of memory for the output") : PCAL_OK;
}

pcal_status cli_text_buffer_status(const cli_text_buffer *page, pcal_status status,
                                   pcal_error *err) {
  return page->failed ? cli_text_buffer_check(page, err) : status;
}

void cli_text_buffer_free(cli_text_buffer *page) {
  free(page->text);
  *page = (cli_text_buffer)CLI_TEXT_BUFFER_INIT;
}
