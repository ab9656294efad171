/* The program never calls setlocale, so printf and strtod use the C locale. */
#include "text_buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

static int text_buffer_reserve(cli_text_buffer *buffer, size_t more) {
  if (buffer->failed)
    return 0;
  if (more < buffer->capacity - buffer->length)
    return 1;
  const size_t needed = buffer->length + more + 1;
  size_t capacity = buffer->capacity ? buffer->capacity : 1024;
  while (capacity < needed && capacity <= SIZE_MAX / 2)
    capacity *= 2;
  char *text = needed > more && capacity >= needed ? realloc(buffer->text, capacity) : NULL;
  if (!text) {
    buffer->failed = 1;
    return 0;
  }
  buffer->text = text;
  buffer->capacity = capacity;
  return 1;
}

void cli_put_bytes(cli_text_buffer *buffer, const char *bytes, size_t count) {
  if (!text_buffer_reserve(buffer, count))
    return;
  if (count > 0)
    memcpy(buffer->text + buffer->length, bytes, count);
  buffer->length += count;
  buffer->text[buffer->length] = '\0';
}

void cli_put(cli_text_buffer *buffer, const char *text) {
  cli_put_bytes(buffer, text, strlen(text));
}

void cli_putf(cli_text_buffer *buffer, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int count = vsnprintf(NULL, 0, format, list);
  va_end(list);
  buffer->failed |= count < 0;
  if (count < 0 || !text_buffer_reserve(buffer, (size_t)count))
    return;
  va_start(list, format);
  vsnprintf(buffer->text + buffer->length, (size_t)count + 1, format, list);
  va_end(list);
  buffer->length += (size_t)count;
}

size_t cli_columns(const char *text, size_t count) {
  size_t columns = 0;
  for (size_t i = 0; i < count; i++)
    columns += ((unsigned char)text[i] & 0xC0u) != 0x80u;
  return columns;
}

size_t cli_line_width(const cli_text_buffer *buffer) {
  size_t start = buffer->length;
  while (start > 0 && buffer->text[start - 1] != '\n')
    start--;
  return buffer->length > start ? cli_columns(buffer->text + start, buffer->length - start) : 0;
}

void cli_pad(cli_text_buffer *buffer, size_t column) {
  for (size_t at = cli_line_width(buffer); at < column && !buffer->failed; at++)
    cli_put(buffer, " ");
}

void cli_put_wrapped(cli_text_buffer *buffer, size_t indent, const char *text) {
  int line_empty = 1;
  while (*text) {
    const size_t word = strcspn(text, " \n");
    const size_t width = cli_columns(text, word);
    if (!line_empty && cli_line_width(buffer) + 1 + width > CLI_WIDTH) {
      cli_put(buffer, "\n");
      line_empty = 1;
    }
    if (word > 0) {
      if (line_empty)
        cli_pad(buffer, indent);
      else
        cli_put(buffer, " ");
      cli_put_bytes(buffer, text, word);
      line_empty = 0;
    }
    text += word;
    if (*text == '\n') {
      cli_put(buffer, "\n");
      line_empty = 1;
    }
    text += *text != '\0';
  }
  cli_put(buffer, "\n");
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

void cli_put_escaped(cli_text_buffer *buffer, pcal_destination destination, const char *text) {
  if (pcal_escape(text, destination, cli_text_buffer_sink, buffer, NULL) != PCAL_OK)
    buffer->failed = 1;
}

void cli_put_json(cli_text_buffer *buffer, const char *text) {
  if (text)
    cli_put_escaped(buffer, PCAL_FOR_JSON, text);
  else
    cli_put(buffer, "null");
}

void cli_put_json_number(cli_text_buffer *buffer, double value) {
  char number[CLI_NUMBER_MAX];
  cli_put(buffer, isfinite(value) ? cli_number(value, number) : "null");
}

int cli_text_buffer_sink(void *buffer, const char *bytes, size_t count) {
  cli_put_bytes(buffer, bytes, count);
  return ((const cli_text_buffer *)buffer)->failed;
}

pcal_status cli_text_buffer_check(const cli_text_buffer *buffer, pcal_error *err) {
  return buffer->failed ? cli_fail(err, PCAL_MEMORY, "out of memory for the output") : PCAL_OK;
}

pcal_status cli_text_buffer_status(const cli_text_buffer *buffer, pcal_status status,
                                   pcal_error *err) {
  return buffer->failed ? cli_text_buffer_check(buffer, err) : status;
}

void cli_text_buffer_free(cli_text_buffer *buffer) {
  free(buffer->text);
  *buffer = (cli_text_buffer)CLI_TEXT_BUFFER_INIT;
}
