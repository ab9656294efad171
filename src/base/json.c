#include "base/json.h"

#include <math.h>

#include "base/assert.h"
#include "base/escape.h"

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
  pc_assert(json->depth > 0 && !json->after_key);
  json->depth--;
  if (!json->first)
    json_indent(json);
  pc_text_add_bytes(json->out, &bracket, 1);
  json->first = 0;
}

void pc_json_key(pc_json *json, const char *key) {
  pc_assert(json->depth > 0 && !json->after_key);
  json_before_value(json);
  pc_text_json(json->out, key);
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
  pc_text_json(json->out, value);
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
