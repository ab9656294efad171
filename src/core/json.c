#include "core/json.h"

#include <math.h>
#include <string.h>

#define JSON_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

void pc_json_init(pc_json *json, pc_text *out) {
  *json = (pc_json){.out = out, .first = 1};
}

static void json_indent(pc_json *json) {
  pc_text_add(json->out, "\n");
  pc_text_add_repeated(json->out, ' ', 2 * (size_t)json->depth);
}

static void json_before_value(pc_json *json) {
  if (!json->after_key && json->depth > 0) {
    if (!json->first)
      pc_text_add(json->out, ",");
    json_indent(json);
  }
  json->after_key = 0;
  json->first = 0;
}

void pc_json_open(pc_json *json, char bracket) {
  json_before_value(json);
  pc_text_add_bytes(json->out, &bracket, 1);
  json->depth++;
  json->first = 1;
}

void pc_json_close(pc_json *json, char bracket) {
  json->depth--;
  if (!json->first)
    json_indent(json);
  pc_text_add_bytes(json->out, &bracket, 1);
  json->first = 0;
}

/* The second byte of a letter rules out forms longer than needed, surrogates and what is
 * beyond U+10FFFF. */
static int json_second_fits(unsigned char first, unsigned char second) {
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  return second >= low && second <= high;
}

/* Bytes of the UTF-8 letter at the start of a text, 0 when it is none. */
static size_t json_letter(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  if (at[0] < 0x80)
    return 1;
  if (at[0] < 0xC2 || at[0] > 0xF4 || !json_second_fits(at[0], at[1]))
    return 0;
  const size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
  for (size_t i = 2; i < length; i++) {
    if ((at[i] & 0xC0) != 0x80)
      return 0;
  }
  return length;
}

static void json_control(pc_text *out, char value) {
  static const char controls[] = "\b\f\n\r\t", letters[] = "bfnrt";
  const char *found = strchr(controls, value);
  if (found != NULL)
    pc_text_format(out, "\\%c", letters[found - controls]);
  else
    pc_text_format(out, "\\u%04x", (unsigned)value);
}

static void json_quoted(pc_text *out, const char *value) {
  pc_text_add(out, "\"");
  while (*value != '\0') {
    const size_t length = json_letter(value);
    if (length == 0)
      pc_text_add(out, JSON_REPLACEMENT);
    else if (*value == '"' || *value == '\\')
      pc_text_format(out, "\\%c", *value);
    else if ((unsigned char)*value < 0x20)
      json_control(out, *value);
    else
      pc_text_add_bytes(out, value, length);
    value += length == 0 ? 1 : length;
  }
  pc_text_add(out, "\"");
}

void pc_json_key(pc_json *json, const char *key) {
  json_before_value(json);
  json_quoted(json->out, key);
  pc_text_add(json->out, ": ");
  json->after_key = 1;
}

void pc_json_null(pc_json *json) {
  json_before_value(json);
  pc_text_add(json->out, "null");
}

void pc_json_string(pc_json *json, const char *value) {
  if (value == NULL) {
    pc_json_null(json);
    return;
  }
  json_before_value(json);
  json_quoted(json->out, value);
}

void pc_json_number(pc_json *json, double value) {
  if (!isfinite(value)) {
    pc_json_null(json);
    return;
  }
  json_before_value(json);
  pc_text_number(json->out, value);
}

void pc_json_integer(pc_json *json, uint64_t value) {
  json_before_value(json);
  pc_text_format(json->out, "%llu", (unsigned long long)value);
}

void pc_json_bool(pc_json *json, int value) {
  json_before_value(json);
  pc_text_add(json->out, value ? "true" : "false");
}

void pc_json_embed(pc_json *json, const char *value) {
  json_before_value(json);
  pc_text_add(json->out, value);
}

void pc_json_numbers(pc_json *json, const double *values, size_t count) {
  json_before_value(json);
  pc_text_add(json->out, "[");
  for (size_t i = 0; i < count; i++) {
    pc_text_add(json->out, i > 0 ? ", " : "");
    if (isfinite(values[i]))
      pc_text_number(json->out, values[i]);
    else
      pc_text_add(json->out, "null");
  }
  pc_text_add(json->out, "]");
}
