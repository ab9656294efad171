/* Rules:
 *  1. each line is one object; lines end with LF or CRLF; the last line end may be missing.
 *  2. all fields of a line are validated, even unused ones; nesting is handled without
 *     recursion, up to PC_JSONL_DEPTH.
 *  3. NaN and Infinity, which Python writes, are not JSON and are refused.
 *  4. a UTF-8 byte order mark is skipped; UTF-16 and NUL bytes are refused.
 *  5. whether strings are valid UTF-8 is checked by the caller. */
#include "io/formats/jsonl_scan.h"

#include <inttypes.h>
#include <string.h>

#define JSONL_SCAN_PROBE 4096

pc_place pc_jsonl_place(const pc_jsonl_scan *scan, char shown[PC_CLIP_MAX]) {
  return (pc_place){scan->name, PCAL_NO_ROW,
                    scan->line, PCAL_NO_COLUMN,
                    NULL,       scan->key.bytes == NULL ? NULL : pc_clip(scan->key, shown)};
}

pcal_status pc_jsonl_fail(const pc_jsonl_scan *scan, const char *what, pcal_error *err) {
  char shown[PC_CLIP_MAX];
  const pc_place place = pc_jsonl_place(scan, shown);
  return pc_fail_at(err, PCAL_DATA, &place, "%-s", what);
}

pcal_status pc_jsonl_begin(const pc_input_file *bytes, pc_jsonl_scan *out, pcal_error *err) {
  const unsigned char *data = bytes->data;
  const size_t probe = bytes->length < JSONL_SCAN_PROBE ? bytes->length : JSONL_SCAN_PROBE;
  const size_t mark = bytes->length >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  if (memchr(data, '\0', probe) != NULL)
    return pc_fail(err, PCAL_DATA,
                   "%s is not a text file in UTF-8; save it as UTF-8 with one JSON object on "
                   "each line",
                   bytes->name);
  *out = (pc_jsonl_scan){.name = bytes->name, .line = 1};
  out->at = (const char *)data + mark;
  out->end = (const char *)data + bytes->length;
  return PCAL_OK;
}

/* ---- Tokens ---- */

static void jsonl_scan_space(pc_jsonl_scan *scan) {
  while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
    scan->at++;
}

/* The next byte; '\n' at the end of the line. */
static char jsonl_scan_peek(const pc_jsonl_scan *scan) {
  if (scan->at == scan->end)
    return '\n';
  if (*scan->at == '\r' && (scan->at + 1 == scan->end || scan->at[1] == '\n'))
    return '\n';
  return *scan->at;
}

static int jsonl_scan_is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Length of the escape at the backslash `at`; 0 if invalid. */
static size_t jsonl_scan_escape(const char *at, const char *end) {
  if (end - at < 2)
    return 0;
  if (at[1] != 'u')
    return at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) != NULL ? 2 : 0;
  if (end - at < 6)
    return 0;
  for (size_t i = 2; i < 6; i++)
    if (!jsonl_scan_is_hex(at[i]))
      return 0;
  return 6;
}

static pcal_status jsonl_scan_string(pc_jsonl_scan *scan, pc_jsonl_value *out,
                                     pcal_error *err) {
  const char *first = scan->at + 1, *at = first;
  out->kind = PC_JSONL_STRING;
  out->escaped = 0;
  while (at < scan->end && *at != '"') {
    size_t length = 1;
    if ((unsigned char)*at < 0x20)
      break;
    if (*at == '\\') {
      out->escaped = 1;
      length = jsonl_scan_escape(at, scan->end);
    }
    if (length == 0)
      return pc_jsonl_fail(scan,
                           "a backslash begins an invalid escape; write a backslash "
                           "as \\\\",
                           err);
    at += length;
  }
  if (at == scan->end || *at != '"')
    return pc_jsonl_fail(scan,
                         "a string is not closed on its line, or contains a control "
                         "character; write line ends as \\n and tabs as \\t",
                         err);
  out->text = (pc_slice){first, (size_t)(at - first)};
  scan->at = at + 1;
  return PCAL_OK;
}

static const char *jsonl_scan_digits(const char *at, const char *end) {
  while (at < end && *at >= '0' && *at <= '9')
    at++;
  return at;
}

/* End of the number at `at`, or NULL if there is none. */
static const char *jsonl_scan_number(const char *at, const char *end) {
  at += at < end && *at == '-';
  const char *digits = jsonl_scan_digits(at, end);
  if (digits == at)
    return NULL;
  at = *at == '0' ? at + 1 : digits;
  if (at < end && *at == '.') {
    digits = jsonl_scan_digits(at + 1, end);
    if (digits == at + 1)
      return NULL;
    at = digits;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    at += at < end && (*at == '+' || *at == '-');
    digits = jsonl_scan_digits(at, end);
    if (digits == at)
      return NULL;
    at = digits;
  }
  return at;
}

static size_t jsonl_scan_word(const pc_jsonl_scan *scan, const char *word) {
  const size_t length = strlen(word);
  return (size_t)(scan->end - scan->at) >= length && memcmp(scan->at, word, length) == 0
             ? length
             : 0;
}

static pcal_status jsonl_scan_unknown(const pc_jsonl_scan *scan, pcal_error *err) {
  if (jsonl_scan_word(scan, "NaN") > 0 || jsonl_scan_word(scan, "Infinity") > 0 ||
      jsonl_scan_word(scan, "-Infinity") > 0)
    return pc_jsonl_fail(scan, "NaN and Infinity are not JSON; write null for a missing value",
                         err);
  if (jsonl_scan_peek(scan) == '\n')
    return pc_jsonl_fail(scan, "the line ends inside an object; write each object on one line",
                         err);
  return pc_jsonl_fail(scan, "this is not a JSON value; write it with json.dumps", err);
}

/* Reads null, a boolean, a number or a string. */
static pcal_status jsonl_scan_scalar(pc_jsonl_scan *scan, pc_jsonl_value *out,
                                     pcal_error *err) {
  const char *first = scan->at, *after = NULL;
  const char c = jsonl_scan_peek(scan);
  size_t length = 0;
  if (c == '"')
    return jsonl_scan_string(scan, out, err);
  out->kind = PC_JSONL_NUMBER;
  out->escaped = 0;
  if (c == '-' || (c >= '0' && c <= '9')) {
    after = jsonl_scan_number(first, scan->end);
    length = after == NULL ? 0 : (size_t)(after - first);
  } else if ((length = jsonl_scan_word(scan, "null")) > 0) {
    out->kind = PC_JSONL_NULL;
  } else {
    out->kind = PC_JSONL_BOOL;
    length = jsonl_scan_word(scan, "true");
    length = length > 0 ? length : jsonl_scan_word(scan, "false");
  }
  if (length == 0)
    return jsonl_scan_unknown(scan, err);
  out->text = (pc_slice){first, length};
  scan->at += length;
  return PCAL_OK;
}

/* ---- Arrays and objects ---- */

static pcal_status jsonl_scan_key(pc_jsonl_scan *scan, pc_jsonl_value *out, pcal_error *err) {
  jsonl_scan_space(scan);
  if (jsonl_scan_peek(scan) == '\n')
    return jsonl_scan_unknown(scan, err);
  if (*scan->at != '"')
    return pc_jsonl_fail(scan, "the name of a field is missing; write it in double quotes",
                         err);
  PC_TRY(jsonl_scan_string(scan, out, err));
  jsonl_scan_space(scan);
  if (jsonl_scan_peek(scan) != ':')
    return pc_jsonl_fail(scan, "a colon is missing after the name of a field", err);
  scan->at++;
  return PCAL_OK;
}

/* Open brackets of the value being read. */
typedef struct jsonl_scan_nest {
  char closing[PC_JSONL_DEPTH];
  size_t depth;
  int fresh; /* directly after an opening bracket */
  int after; /* directly after a value */
} jsonl_scan_nest;

static pcal_status jsonl_scan_open(pc_jsonl_scan *scan, jsonl_scan_nest *nest,
                                   pcal_error *err) {
  if (nest->depth == PC_JSONL_DEPTH)
    return pc_jsonl_fail(scan, "arrays or objects are nested too deeply, beyond 64 levels",
                         err);
  nest->closing[nest->depth++] = *scan->at++ == '[' ? ']' : '}';
  nest->fresh = 1;
  nest->after = 0;
  return PCAL_OK;
}

/* Reads one bracket, comma, field name or scalar. */
static pcal_status jsonl_scan_step(pc_jsonl_scan *scan, jsonl_scan_nest *nest,
                                   pcal_error *err) {
  const char closing = nest->closing[nest->depth - 1];
  pc_jsonl_value inner;
  jsonl_scan_space(scan);
  char c = jsonl_scan_peek(scan);
  if (c == closing && (nest->after || nest->fresh)) {
    scan->at++;
    nest->depth--;
    nest->after = 1;
    nest->fresh = 0;
    return PCAL_OK;
  }
  if (nest->after && c != ',')
    return c == '\n' ? jsonl_scan_unknown(scan, err)
                     : pc_jsonl_fail(scan, "a comma or a closing bracket is missing", err);
  if (nest->after) {
    scan->at++;
    nest->after = 0;
    return PCAL_OK;
  }
  if (closing == '}')
    PC_TRY(jsonl_scan_key(scan, &inner, err));
  jsonl_scan_space(scan);
  c = jsonl_scan_peek(scan);
  if (c == '[' || c == '{')
    return jsonl_scan_open(scan, nest, err);
  nest->after = 1;
  nest->fresh = 0;
  return jsonl_scan_scalar(scan, &inner, err);
}

static pcal_status jsonl_scan_value(pc_jsonl_scan *scan, pc_jsonl_value *out, pcal_error *err) {
  jsonl_scan_nest nest = {.depth = 0};
  jsonl_scan_space(scan);
  const char *first = scan->at;
  const char c = jsonl_scan_peek(scan);
  if (c != '[' && c != '{')
    return jsonl_scan_scalar(scan, out, err);
  PC_TRY(jsonl_scan_open(scan, &nest, err));
  while (nest.depth > 0)
    PC_TRY(jsonl_scan_step(scan, &nest, err));
  out->kind = c == '[' ? PC_JSONL_ARRAY : PC_JSONL_OBJECT;
  out->text = (pc_slice){first, (size_t)(scan->at - first)};
  out->escaped = 0;
  return PCAL_OK;
}

/* ---- Lines ---- */

pcal_status pc_jsonl_enter(pc_jsonl_scan *scan, pcal_error *err) {
  scan->key = (pc_slice){NULL, 0};
  jsonl_scan_space(scan);
  const char c = jsonl_scan_peek(scan);
  if (c == '\n')
    return pc_jsonl_fail(scan, "the line is blank; delete it", err);
  if (c != '{')
    return pc_jsonl_fail(
        scan, "the line does not begin with {; write one JSON object on each line", err);
  scan->at++;
  return PCAL_OK;
}

/* Checks the rest of the line after its object. */
static pcal_status jsonl_scan_leave(pc_jsonl_scan *scan, pcal_error *err) {
  scan->key = (pc_slice){NULL, 0};
  scan->at++;
  jsonl_scan_space(scan);
  if (jsonl_scan_peek(scan) != '\n')
    return pc_jsonl_fail(scan, "something follows the object; write one object on each line",
                         err);
  scan->at += scan->at < scan->end && *scan->at == '\r';
  scan->at += scan->at < scan->end;
  scan->line++;
  return PCAL_OK;
}

/* A field follows an opening bracket or, if this is not the first one, a comma. */
pcal_status pc_jsonl_next(pc_jsonl_scan *scan, pc_jsonl_field *out, pcal_error *err) {
  const int first = scan->key.bytes == NULL;
  out->end = 0;
  jsonl_scan_space(scan);
  const char c = jsonl_scan_peek(scan);
  if (c == '}') {
    out->end = 1;
    return jsonl_scan_leave(scan, err);
  }
  if (!first && c != ',')
    return c == '\n' ? jsonl_scan_unknown(scan, err)
                     : pc_jsonl_fail(scan, "a comma or } is missing after it", err);
  scan->at += !first;
  PC_TRY(jsonl_scan_key(scan, &out->key, err));
  scan->key = out->key.text;
  return jsonl_scan_value(scan, &out->value, err);
}

void pc_jsonl_element(pc_slice *inside, pc_jsonl_value *out) {
  pc_jsonl_scan scan = {.at = inside->bytes, .end = inside->bytes + inside->length};
  out->kind = PC_JSONL_NONE;
  jsonl_scan_space(&scan);
  if (scan.at < scan.end && jsonl_scan_value(&scan, out, NULL) != PCAL_OK)
    out->kind = PC_JSONL_NONE;
  jsonl_scan_space(&scan);
  scan.at += scan.at < scan.end;
  *inside = (pc_slice){scan.at, (size_t)(scan.end - scan.at)};
}

int pc_jsonl_member(pc_slice *inside, pc_jsonl_value *key, pc_jsonl_value *value) {
  pc_jsonl_scan scan = {.at = inside->bytes, .end = inside->bytes + inside->length};
  jsonl_scan_space(&scan);
  if (scan.at == scan.end || jsonl_scan_key(&scan, key, NULL) != PCAL_OK)
    return 0;
  const char *at = scan.at;
  *inside = (pc_slice){at, (size_t)(scan.end - at)};
  pc_jsonl_element(inside, value);
  return value->kind != PC_JSONL_NONE;
}

/* ---- Strings ---- */

static unsigned jsonl_scan_hex(const char *at) {
  unsigned value = 0;
  for (size_t i = 0; i < 4; i++) {
    const char c = at[i];
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value << 4 | (unsigned)digit;
  }
  return value;
}

/* UTF-8 of a code point; returns the length. */
static size_t jsonl_scan_utf8(uint32_t point, char out[4]) {
  const size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0x00, 0x00, 0xC0, 0xE0, 0xF0};
  for (size_t i = size - 1; i > 0; i--) {
    out[i] = (char)(0x80u | (point & 0x3Fu));
    point >>= 6;
  }
  out[0] = (char)(lead[size] | point);
  return size;
}

/* Removes one character or escape from the text and writes its UTF-8 bytes; returns their
 * number, or 0 for half of a surrogate pair. */
static size_t jsonl_scan_take(pc_slice *text, char out[4]) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const char *at = text->bytes;
  size_t used = 1, given = 1;
  out[0] = at[0];
  if (at[0] == '\\' && at[1] != 'u') {
    out[0] = to[strchr(from, at[1]) - from];
    used = 2;
  } else if (at[0] == '\\') {
    uint32_t point = jsonl_scan_hex(at + 2);
    used = 6;
    if (point >= 0xD800 && point < 0xE000) {
      const int paired = point < 0xDC00 && text->length >= 12 && at[6] == '\\' && at[7] == 'u';
      const uint32_t low = paired ? jsonl_scan_hex(at + 8) : 0;
      if (low < 0xDC00 || low >= 0xE000)
        return 0;
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
      used = 12;
    }
    given = jsonl_scan_utf8(point, out);
  }
  *text = (pc_slice){at + used, text->length - used};
  return given;
}

int pc_jsonl_is(const pc_jsonl_value *string, pc_slice text) {
  pc_slice rest = string->text;
  if (!string->escaped)
    return rest.length == text.length && memcmp(rest.bytes, text.bytes, text.length) == 0;
  while (rest.length > 0) {
    char bytes[4];
    const size_t size = jsonl_scan_take(&rest, bytes);
    if (size == 0 || size > text.length || memcmp(text.bytes, bytes, size) != 0)
      return 0;
    text = (pc_slice){text.bytes + size, text.length - size};
  }
  return text.length == 0;
}

size_t pc_jsonl_copy(const pc_jsonl_value *string, char *out) {
  pc_slice rest = string->text;
  size_t used = 0;
  if (!string->escaped) {
    memcpy(out, rest.bytes, rest.length);
    return rest.length;
  }
  while (rest.length > 0) {
    char bytes[4];
    const size_t size = jsonl_scan_take(&rest, bytes);
    if (size == 0)
      return SIZE_MAX;
    memcpy(out + used, bytes, size);
    used += size;
  }
  return used;
}
