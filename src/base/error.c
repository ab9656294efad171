#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/argument_names.h"
#include "base/escape.h"

#define ERROR_VALUE_MAX 300 /* bytes of a longer value that a message keeps */
#define ERROR_ELLIPSIS "\xE2\x80\xA6"

/* A message while it is written. */
typedef struct error_writer {
  pcal_error *err;
  size_t used;
  int has_remedy;
  const pcal_error *cause; /* or NULL */
  size_t cause_remedy;     /* begins here; 0: none */
} error_writer;

/* va_list may be an array, which cannot be passed by address portably. */
typedef struct error_arguments {
  va_list list;
} error_arguments;

/* Resets every field; of the texts only the first byte. */
static void error_reset(pcal_error *err, pcal_status status) {
  err->status = status;
  err->message[0] = err->subject[0] = '\0';
  err->argument = err->activity = NULL;
  err->row = PCAL_NO_ROW;
  err->line = 0;
  err->column = PCAL_NO_COLUMN;
  err->problem = err->remedy = err->reference_count = 0;
}

/* ---- Pieces of a message ---- */

/* Appends `length` bytes if all of them fit. */
static void error_put(error_writer *writer, const char *bytes, size_t length) {
  if (writer->used + length >= sizeof writer->err->message)
    return;
  memcpy(writer->err->message + writer->used, bytes, length);
  writer->used += length;
  writer->err->message[writer->used] = '\0';
}

static void error_refer(pcal_error *err, size_t begin, size_t end, size_t argument) {
  if (err->reference_count < PCAL_ERROR_REFERENCES)
    err->references[err->reference_count++] =
        (pcal_reference){(uint16_t)begin, (uint16_t)end, (uint16_t)argument};
}

static void error_put_argument(error_writer *writer, size_t argument) {
  const char *name = pc_argument_name(argument, PCAL_INTERFACE_C);
  const size_t begin = writer->used;
  error_put(writer, name, strlen(name));
  if (writer->used == begin && *name != '\0')
    return;
  error_refer(writer->err, begin, writer->used, argument);
  if (writer->err->argument == NULL && !writer->has_remedy)
    writer->err->argument = name;
}

static void error_begin_remedy(error_writer *writer, size_t at) {
  if (writer->has_remedy)
    return;
  writer->has_remedy = 1;
  writer->err->remedy = (uint16_t)at;
}

/* The message of the cause from byte `from` on. */
static void error_put_cause(error_writer *writer, size_t from) {
  const pcal_error *cause = writer->cause;
  const size_t begin = writer->used, length = strlen(cause->message);
  error_put(writer, cause->message + from, length - from);
  if (writer->used == begin)
    return;
  for (size_t r = 0; r < cause->reference_count; r++) {
    const pcal_reference *one = &cause->references[r];
    if (one->begin >= from)
      error_refer(writer->err, one->begin - from + begin, one->end - from + begin,
                  one->argument);
  }
  if (cause->remedy > from && cause->remedy < length)
    writer->cause_remedy = cause->remedy - from + begin;
}

/* Writes the argument or cause named in braces at *text and moves *text past it; returns 0 if
 * the braces contain neither. */
static int error_put_braces(error_writer *writer, const char **text) {
  static const char all[] = "{cause}", problem[] = "{cause_problem}";
  const size_t argument = pc_argument_parse(text);
  if (argument != PC_NO_ARGUMENT) {
    error_put_argument(writer, argument);
    return 1;
  }
  const int is_all = strncmp(*text, all, sizeof all - 1) == 0;
  if (writer->cause == NULL || (!is_all && strncmp(*text, problem, sizeof problem - 1) != 0))
    return 0;
  *text += is_all ? sizeof all - 1 : sizeof problem - 1;
  error_put_cause(writer, is_all ? 0 : writer->cause->problem);
  return 1;
}

/* One character of the library's own text, or the value of a name in braces. */
static void error_put_own(error_writer *writer, const char **text) {
  char one[PC_ESCAPE_MAX + 1];
  if (**text == '{' && error_put_braces(writer, text))
    return;
  const int end = **text == ';';
  *text += pc_escape_one(*text, one);
  error_put(writer, one, strlen(one));
  if (end && **text == ' ')
    error_begin_remedy(writer, writer->used + 1);
}

/* A text from outside: unsafe characters are escaped. */
static void error_put_escaped(error_writer *writer, const char *text) {
  char one[PC_ESCAPE_MAX + 1];
  while (*text != '\0') {
    text += pc_escape_one(text, one);
    error_put(writer, one, strlen(one));
  }
}

/* Cuts a text of more than ERROR_VALUE_MAX bytes between two characters, and returns whether it
 * did. */
static int error_cut(const char *text, char out[ERROR_VALUE_MAX + 1]) {
  const size_t length = strlen(text);
  size_t kept = length < ERROR_VALUE_MAX ? length : ERROR_VALUE_MAX;
  for (size_t tail = 1; length > kept && tail < 4; tail++) {
    uint32_t code;
    const unsigned char lead = (unsigned char)text[kept - tail];
    if (lead < 0x80)
      break;
    if (lead >= 0xC0) {
      if (pc_utf8_read(text + kept - tail, &code) > tail)
        kept -= tail;
      break;
    }
  }
  memcpy(out, text, kept);
  out[kept] = '\0';
  return length > ERROR_VALUE_MAX;
}

/* The same, cut to ERROR_VALUE_MAX bytes. */
static void error_put_value(error_writer *writer, const char *text) {
  char copy[ERROR_VALUE_MAX + 1];
  const int cut = error_cut(text, copy);
  error_put_escaped(writer, copy);
  if (cut)
    error_put(writer, ERROR_ELLIPSIS, strlen(ERROR_ELLIPSIS));
}

/* ---- Conversions ---- */

/* "%.40s": its flags, precision, length and letter. */
typedef struct error_conversion {
  const char *begin, *end;
  int own; /* %-s */
  int precision, has_precision;
  char length; /* 0, 'l', 'L' for ll, 'z' or 'j' */
  char letter;
} error_conversion;

static error_conversion error_parse(const char *at, error_arguments *arguments) {
  error_conversion out = {.begin = at++};
  out.own = *at == '-';
  at += strspn(at, "-+ #0123456789");
  if (*at == '.') {
    out.has_precision = 1;
    if (*++at == '*') {
      out.precision = va_arg(arguments->list, int);
      at++;
    }
    for (; *at >= '0' && *at <= '9'; at++)
      out.precision = 10 * out.precision + (*at - '0');
  }
  for (; *at == 'l' || *at == 'z' || *at == 'j'; at++)
    out.length = out.length == 'l' ? 'L' : *at;
  out.letter = *at;
  out.end = *at == '\0' ? at : at + 1;
  return out;
}

static uint64_t error_integer(const error_conversion *conversion, error_arguments *arguments) {
  switch (conversion->length) {
  case 'l':
    return va_arg(arguments->list, unsigned long);
  case 'L':
    return va_arg(arguments->list, unsigned long long);
  case 'z':
    return va_arg(arguments->list, size_t);
  case 'j':
    return va_arg(arguments->list, uintmax_t);
  default:
    return (uint64_t)(int64_t)va_arg(arguments->list, int);
  }
}

static void error_put_number(error_writer *writer, const error_conversion *conversion,
                             error_arguments *arguments) {
  char digits[32];
  const uint64_t value = error_integer(conversion, arguments);
  const int negative = conversion->letter == 'd' && (int64_t)value < 0;
  if (conversion->letter == 'c')
    snprintf(digits, sizeof digits, "%c", (int)value);
  else if (negative)
    snprintf(digits, sizeof digits, "%lld", (long long)value);
  else
    snprintf(digits, sizeof digits, conversion->letter == 'x' ? "%02llx" : "%llu",
             (unsigned long long)(conversion->letter == 'u' && conversion->length == 0
                                      ? (uint32_t)value
                                      : value));
  error_put(writer, digits, strlen(digits));
}

static void error_put_text(error_writer *writer, const char *format,
                           const error_conversion *conversion, error_arguments *arguments) {
  char copy[sizeof writer->err->message];
  const char *text = va_arg(arguments->list, const char *);
  if (conversion->own) {
    while (*text != '\0')
      error_put_own(writer, &text);
    return;
  }
  const size_t begin = writer->used;
  if (conversion->has_precision) {
    snprintf(copy, sizeof copy, "%.*s", conversion->precision, text);
    error_put_escaped(writer, copy);
  } else {
    error_put_value(writer, text);
  }
  if (conversion->begin == format && writer->err->subject[0] == '\0')
    snprintf(writer->err->subject, sizeof writer->err->subject, "%.*s",
             (int)(writer->used - begin), writer->err->message + begin);
}

static void error_put_conversion(error_writer *writer, const char *format, const char **at,
                                 error_arguments *arguments) {
  if ((*at)[1] == '%') {
    error_put(writer, "%", 1);
    *at += 2;
    return;
  }
  const error_conversion conversion = error_parse(*at, arguments);
  *at = conversion.end;
  if (conversion.letter == 's') {
    error_put_text(writer, format, &conversion, arguments);
  } else if (conversion.letter == 'f') { /* only %.0f, which does not depend on the locale */
    char digits[32];
    snprintf(digits, sizeof digits, "%.0f", va_arg(arguments->list, double));
    error_put(writer, digits, strlen(digits));
  } else {
    error_put_number(writer, &conversion, arguments);
  }
}

static void error_format(error_writer *writer, const char *format, error_arguments *arguments) {
  writer->err->problem = (uint16_t)writer->used;
  for (const char *at = format; *at != '\0';)
    if (*at == '%')
      error_put_conversion(writer, format, &at, arguments);
    else
      error_put_own(writer, &at);
  if (!writer->has_remedy)
    writer->err->remedy =
        (uint16_t)(writer->cause_remedy > 0 ? writer->cause_remedy : writer->used);
}

/* ---- Failures ---- */

pcal_status pc_fail(pcal_error *err, pcal_status status, const char *format, ...) {
  error_arguments arguments;
  if (err == NULL)
    return status;
  error_reset(err, status);
  error_writer writer = {.err = err};
  va_start(arguments.list, format);
  error_format(&writer, format, &arguments);
  va_end(arguments.list);
  return status;
}

pcal_status pc_fail_row(pcal_error *err, pcal_status status, uint64_t row, const char *format,
                        ...) {
  error_arguments arguments;
  if (err == NULL)
    return status;
  error_reset(err, status);
  err->row = row;
  error_writer writer = {.err = err};
  va_start(arguments.list, format);
  error_format(&writer, format, &arguments);
  va_end(arguments.list);
  return status;
}

/* "subject, line 7, column 3: " */
static void error_put_place(error_writer *writer, const pc_place *place) {
  char number[48];
  error_put_value(writer, place->subject == NULL ? "" : place->subject);
  snprintf(writer->err->subject, sizeof writer->err->subject, "%.*s", (int)writer->used,
           writer->err->message);
  snprintf(number, sizeof number, place->line > 0 ? ", line %llu" : ", row %llu",
           (unsigned long long)(place->line > 0 ? place->line : place->row));
  if (place->line > 0 || place->row != PCAL_NO_ROW)
    error_put(writer, number, strlen(number));
  if (place->column_name != NULL) {
    error_put(writer, ", column \"", strlen(", column \""));
    error_put_value(writer, place->column_name);
    error_put(writer, "\"", 1);
  } else if (place->column != PCAL_NO_COLUMN) {
    snprintf(number, sizeof number, ", column %zu", place->column);
    error_put(writer, number, strlen(number));
  }
  if (place->field != NULL) {
    error_put(writer, ", field \"", strlen(", field \""));
    error_put_value(writer, place->field);
    error_put(writer, "\"", 1);
  }
  error_put(writer, ": ", 2);
}

static pcal_status error_at(pcal_error *err, pcal_status status, const pc_place *place,
                            const char *format, error_arguments *arguments) {
  error_reset(err, status);
  err->row = place->row;
  err->line = place->line;
  err->column = place->column;
  error_writer writer = {.err = err};
  error_put_place(&writer, place);
  error_format(&writer, format, arguments);
  return status;
}

pcal_status pc_fail_at(pcal_error *err, pcal_status status, const pc_place *place,
                       const char *format, ...) {
  error_arguments arguments;
  if (err == NULL)
    return status;
  va_start(arguments.list, format);
  error_at(err, status, place, format, &arguments);
  va_end(arguments.list);
  return status;
}

pcal_status pc_fail_line(pcal_error *err, pcal_status status, const char *file, uint64_t line,
                         const char *format, ...) {
  const pc_place place = {file, PCAL_NO_ROW, line, PCAL_NO_COLUMN, NULL, NULL};
  error_arguments arguments;
  if (err == NULL)
    return status;
  va_start(arguments.list, format);
  error_at(err, status, &place, format, &arguments);
  va_end(arguments.list);
  return status;
}

pcal_status pc_fail_because(pcal_error *err, pcal_status status, const pcal_error *cause,
                            const char *format, ...) {
  error_arguments arguments;
  if (err == NULL)
    return status;
  const pcal_error kept = *cause; /* a copy, since cause may be err itself */
  error_reset(err, status);
  err->row = kept.row;
  err->line = kept.line;
  err->column = kept.column;
  err->argument = kept.argument;
  error_writer writer = {.err = err, .cause = &kept};
  va_start(arguments.list, format);
  error_format(&writer, format, &arguments);
  va_end(arguments.list);
  return status;
}

pcal_status pc_fail_memory(pcal_error *err, const char *activity) {
  pc_fail(err, PCAL_MEMORY,
          "out of memory while %s; give fewer rows or metrics, or more memory", activity);
  if (err != NULL)
    err->activity = activity;
  return PCAL_MEMORY;
}

pcal_status pc_error_pass(pcal_error *err, const pcal_error *failure) {
  if (err != NULL)
    *err = *failure;
  return failure->status;
}

void pc_error_clear(pcal_error *err) {
  if (err != NULL)
    error_reset(err, PCAL_OK);
}

/* ---- Words of an interface ---- */

static size_t error_copy(char *out, size_t out_size, size_t used, const char *from,
                         size_t length) {
  const size_t room = out_size > used ? out_size - used - 1 : 0;
  if (out_size > used) {
    memcpy(out + used, from, length < room ? length : room);
    out[used + (length < room ? length : room)] = '\0';
  }
  return used + length;
}

/* The message from byte `from` on. */
static size_t error_words(const pcal_error *err, pcal_interface interface, size_t from,
                          char *out, size_t out_size) {
  size_t used = error_copy(out, out_size, 0, "", 0);
  for (size_t r = 0; r < err->reference_count; r++) {
    const pcal_reference *one = &err->references[r];
    if (one->begin < from)
      continue;
    const char *name = pc_argument_name(one->argument, interface);
    used = error_copy(out, out_size, used, err->message + from, one->begin - from);
    used = error_copy(out, out_size, used, name, strlen(name));
    from = one->end;
  }
  return error_copy(out, out_size, used, err->message + from, strlen(err->message + from));
}

size_t pcal_error_text(const pcal_error *err, pcal_interface interface, char *out,
                       size_t out_size) {
  return error_words(err, interface, 0, out, out_size);
}

size_t pcal_error_remedy(const pcal_error *err, pcal_interface interface, char *out,
                         size_t out_size) {
  return error_words(err, interface, err->remedy, out, out_size);
}

/* ---- Statuses ---- */

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
