/* Scanner for JSON lines: the fields of one object after another, without building a tree. */
#ifndef PC_JSONL_SCAN_H
#define PC_JSONL_SCAN_H

#include "base/error.h"
#include "io/input_file.h"
#include "io/slice.h"

#define PC_JSONL_DEPTH 64 /* nesting of arrays and objects */

typedef enum pc_jsonl_kind {
  PC_JSONL_NONE = 0,
  PC_JSONL_NULL,
  PC_JSONL_BOOL,
  PC_JSONL_NUMBER,
  PC_JSONL_STRING,
  PC_JSONL_ARRAY,
  PC_JSONL_OBJECT
} pc_jsonl_kind;

/* A value as written in the file; for a string the part between the quotes. */
typedef struct pc_jsonl_value {
  pc_jsonl_kind kind;
  pc_slice text;
  int escaped; /* a string with backslashes */
} pc_jsonl_value;

typedef struct pc_jsonl_scan {
  const char *name; /* of the file, for messages */
  const char *at, *end;
  uint64_t line; /* of the byte at `at`, from 1 */
  pc_slice key;  /* current field, for messages; bytes is NULL if none */
} pc_jsonl_scan;

typedef struct pc_jsonl_field {
  pc_jsonl_value key, value;
  int end; /* no more fields; the scan is at the next line */
} pc_jsonl_field;

/* Starts at the first line.  Fails with PCAL_DATA if the file is not text. */
PC_CHECKED pcal_status pc_jsonl_begin(const pc_input_file *bytes, pc_jsonl_scan *out,
                                      pcal_error *err);

/* Enters the object on the current line.  Fails with PCAL_DATA if there is none. */
PC_CHECKED pcal_status pc_jsonl_enter(pc_jsonl_scan *scan, pcal_error *err);

/* Reads and validates the next field of the object.  Fails with PCAL_DATA for invalid JSON
 * (RFC 8259), or for an object that does not end on its line. */
PC_CHECKED pcal_status pc_jsonl_next(pc_jsonl_scan *scan, pc_jsonl_field *out, pcal_error *err);

/* Removes the first element from *inside, the text between the brackets of an array validated
 * by pc_jsonl_next; out->kind is NONE at the end. */
void pc_jsonl_element(pc_slice *inside, pc_jsonl_value *out);

/* Removes the first field from *inside, the text between the braces of an object validated by
 * pc_jsonl_next.  Returns 0 at the end. */
int pc_jsonl_member(pc_slice *inside, pc_jsonl_value *key, pc_jsonl_value *value);

/* The line, and the field if one is read, whose name is written into shown. */
pc_place pc_jsonl_place(const pc_jsonl_scan *scan, char shown[PC_CLIP_MAX]);
/* Fails with PCAL_DATA: "file, line 7, field "x": WHAT". */
pcal_status pc_jsonl_fail(const pc_jsonl_scan *scan, const char *what, pcal_error *err);

/* True if a string, with escapes resolved, equals the text. */
int pc_jsonl_is(const pc_jsonl_value *string, pc_slice text);

/* Copies a string with escapes resolved, at most text.length bytes; returns the length, or
 * SIZE_MAX if it contains half of a surrogate pair. */
size_t pc_jsonl_copy(const pc_jsonl_value *string, char *out);

#endif
