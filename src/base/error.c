#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

/* Around what %s inserts, while a message is made. */
#define ERROR_OPEN '\1'
#define ERROR_CLOSE '\2'
#define ERROR_MARKED 2048
#define ERROR_QUOTE 300 /* bytes of a longer name that a message keeps */
#define ERROR_LIMIT "%.300s"

/* The length of a conversion, from its % on. */
static size_t error_conversion(const char *at) {
  const size_t flags = 1 + strspn(at + 1, "-+ #0123456789.*hlzjt");
  return at[flags] == '\0' ? flags : flags + 1;
}

/* Copies the format with marks around %s, but not %-s; returns how many, or -1 without room. */
static int error_mark(const char *format, char out[ERROR_MARKED]) {
  size_t used = 0;
  int marked = 0;
  for (const char *at = format; *at != '\0';) {
    const size_t length = *at == '%' ? error_conversion(at) : 1;
    const int quote = *at == '%' && at[length - 1] == 's' && at[1] != '-';
    const int whole = quote && length == 2;
    if (used + length + sizeof ERROR_LIMIT + 3 > ERROR_MARKED)
      return -1;
    if (quote)
      out[used++] = ERROR_OPEN;
    memcpy(out + used, whole ? ERROR_LIMIT : at, whole ? sizeof ERROR_LIMIT - 1 : length);
    used += whole ? sizeof ERROR_LIMIT - 1 : length;
    if (quote)
      out[used++] = ERROR_CLOSE;
    marked += quote;
    at += length;
  }
  out[used] = '\0';
  return marked;
}

static void error_quote(pcal_error *err, size_t begin, size_t end) {
  if (begin == end)
    return;
  if (err->quote_count == PCAL_ERROR_QUOTES) /* too many: the last one reaches to here */
    err->quotes[PCAL_ERROR_QUOTES - 1].end = (uint16_t)end;
  else
    err->quotes[err->quote_count++] = (pcal_span){(uint16_t)begin, (uint16_t)end};
}

/* Appends a piece if there is room for all of it. */
static size_t error_add(pcal_error *err, size_t used, const char *piece) {
  const size_t length = strlen(piece);
  if (used + length >= sizeof err->message)
    return used;
  memcpy(err->message + used, piece, length);
  return used + length;
}

/* Does what begins here break off at the end of a name that was cut? */
static int error_is_cut(const char *at, const char *name) {
  uint32_t code;
  const size_t left = strcspn(at, "\2");
  return (size_t)(at + left - name) == ERROR_QUOTE && left < 4 && pc_utf8_read(at, &code) == 0;
}

/* Takes the marks out of a message, notes where they were, and makes what unsafe characters
 * there are visible. */
static void error_unmark(pcal_error *err, const char *marked, int expected) {
  char piece[PC_ESCAPE_MAX + 1];
  const char *name = marked;
  size_t used = 0, begin = 0;
  int opened = 0, closed = 0;
  for (const char *at = marked; *at != '\0';) {
    if (*at == ERROR_OPEN && opened++ == closed) {
      begin = used;
      name = at + 1;
    } else if (*at == ERROR_CLOSE && ++closed == opened) {
      used = at - name == ERROR_QUOTE ? error_add(err, used, "\xE2\x80\xA6") : used;
      error_quote(err, begin, used);
    }
    if (*at == ERROR_OPEN || *at == ERROR_CLOSE || error_is_cut(at, name)) {
      at++;
      continue;
    }
    at += pc_escape_one(at, piece);
    used = error_add(err, used, piece);
  }
  err->message[used] = '\0';
  if (opened == expected && closed == expected)
    return;
  err->quote_count = 0; /* a name holds marks itself, or the message was cut: nothing is sure */
  error_quote(err, 0, used);
}

static pcal_status error_fill(pcal_error *err, pcal_status status, uint64_t row,
                              const char *format, va_list args) {
  char marks[ERROR_MARKED], message[ERROR_MARKED];
  if (err == NULL)
    return status;
  err->status = status;
  err->row = row;
  err->quote_count = 0;
  const int expected = error_mark(format, marks);
  vsnprintf(message, sizeof message, expected < 0 ? format : marks, args);
  error_unmark(err, message, expected < 0 ? 0 : expected);
  return status;
}

/* Does a quote lie in [begin, end), if only in part? */
static int error_quoted(const pcal_error *err, size_t begin, size_t end) {
  for (size_t q = 0; q < err->quote_count; q++)
    if (err->quotes[q].begin < end && err->quotes[q].end > begin)
      return 1;
  return 0;
}

static void error_replace(pcal_error *err, size_t at, size_t length, const char *by) {
  char rest[sizeof err->message];
  const size_t more = strlen(by), most = sizeof err->message - 1;
  snprintf(rest, sizeof rest, "%s", err->message + at + length);
  snprintf(err->message + at, sizeof err->message - at, "%s%s", by, rest);
  for (size_t q = 0; q < err->quote_count; q++) {
    pcal_span *quote = &err->quotes[q];
    if (quote->begin < at)
      continue;
    const size_t begin = quote->begin - length + more, end = quote->end - length + more;
    *quote = (pcal_span){(uint16_t)(begin < most ? begin : most),
                         (uint16_t)(end < most ? end : most)};
  }
}

void pc_error_reword(pcal_error *err, const char *words, const char *by) {
  const size_t length = strlen(words);
  const char *found = err == NULL ? NULL : strstr(err->message, words);
  while (found != NULL) {
    const size_t at = (size_t)(found - err->message);
    if (!error_quoted(err, at, at + length)) {
      error_replace(err, at, length, by);
      return;
    }
    found = strstr(found + 1, words);
  }
}

pcal_status pc_fail(pcal_error *err, pcal_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  error_fill(err, status, PCAL_NO_ROW, format, args);
  va_end(args);
  return status;
}

pcal_status pc_fail_row(pcal_error *err, pcal_status status, uint64_t row, const char *format,
                        ...) {
  va_list args;
  va_start(args, format);
  error_fill(err, status, row, format, args);
  va_end(args);
  return status;
}

#define ERROR_MEMORY "out of memory while "

pcal_status pc_fail_memory(pcal_error *err, const char *doing) {
  return pc_fail(err, PCAL_MEMORY,
                 ERROR_MEMORY "%s; give fewer rows or metrics, or more memory", doing);
}

int pc_error_is_memory(const pcal_error *err) {
  return err->status == PCAL_MEMORY && err->quote_count == 1 &&
         err->quotes[0].begin == sizeof ERROR_MEMORY - 1 &&
         strncmp(err->message, ERROR_MEMORY, sizeof ERROR_MEMORY - 1) == 0;
}

pcal_status pc_error_pass(pcal_error *err, const pcal_error *failure) {
  if (err != NULL)
    *err = *failure;
  return failure->status;
}

void pc_error_clear(pcal_error *err) {
  if (err == NULL)
    return;
  err->status = PCAL_OK;
  err->row = PCAL_NO_ROW;
  err->message[0] = '\0';
  err->quote_count = 0;
}

const char *pcal_status_text(pcal_status status) {
  static const char *const texts[] = {
#define ERROR_TEXT(name, code, text) text,
      PCAL_STATUS_LIST(ERROR_TEXT)
#undef ERROR_TEXT
  };
  return status >= 0 && status < PCAL_STATUS_END ? texts[status] : "unknown status";
}

int pcal_status_exit_code(pcal_status status) {
  static const int codes[] = {
#define ERROR_CODE(name, code, text) code,
      PCAL_STATUS_LIST(ERROR_CODE)
#undef ERROR_CODE
  };
  return status >= 0 && status < PCAL_STATUS_END ? codes[status] : 5;
}
