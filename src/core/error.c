#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>

static pcal_status error_fill(pcal_error *err, pcal_status status, uint64_t row,
                              const char *format, va_list args) {
  if (err == NULL)
    return status;
  err->status = status;
  err->row = row;
  vsnprintf(err->message, sizeof err->message, format, args);
  return status;
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

pcal_status pc_fail_memory(pcal_error *err, const char *doing) {
  return pc_fail(err, PCAL_MEMORY,
                 "out of memory while %s; give fewer rows or metrics, or more memory", doing);
}

void pc_error_clear(pcal_error *err) {
  if (err == NULL)
    return;
  err->status = PCAL_OK;
  err->row = PCAL_NO_ROW;
  err->message[0] = '\0';
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
