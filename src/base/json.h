/* Writes strict JSON to a pc_text.  The writer adds commas and indentation.  Strings are
 * escaped (escape.h), numbers have the shortest exact form, and numbers that are not finite
 * become null. */
#ifndef PC_JSON_H
#define PC_JSON_H

#include "base/text.h"

typedef struct pc_json {
  pc_text *out;
  int depth;
  int first; /* nothing is written yet at this depth */
  int after_key;
} pc_json;

void pc_json_init(pc_json *json, pc_text *out);
void pc_json_open(pc_json *json, char bracket); /* '{' or '[' */
void pc_json_close(pc_json *json, char bracket);
void pc_json_key(pc_json *json, const char *key);
void pc_json_string(pc_json *json, const char *value); /* NULL: null */
void pc_json_number(pc_json *json, double value);
void pc_json_integer(pc_json *json, uint64_t value);
void pc_json_bool(pc_json *json, int value);
void pc_json_null(pc_json *json);
/* Writes a value that is JSON already. */
void pc_json_embed(pc_json *json, const char *value);
/* Writes an array of numbers on one line. */
void pc_json_numbers(pc_json *json, const double *values, size_t count);

#endif
