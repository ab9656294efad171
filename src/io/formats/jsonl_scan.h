/* JSON lines: the fields of one object after another, without building anything. */
#ifndef PC_JSONL_SCAN_H
#define PC_JSONL_SCAN_H

#include "base/error.h"
#include "io/input_file.h"
#include "io/slice.h"

#define PC_JSONL_DEPTH 64 /* arrays and objects inside each other */

typedef enum pc_jsonl_kind {
  PC_JSONL_NONE = 0,
  PC_JSONL_NULL,
  PC_JSONL_BOOL,
  PC_JSONL_NUMBER,
  PC_JSONL_STRING,
  PC_JSONL_ARRAY,
  PC_JSONL_OBJECT
} pc_jsonl_kind;

/* Text as it stands in the file: of a string what is between the quotes, else everything. */
typedef struct pc_jsonl_value {
  pc_jsonl_kind kind;
  pc_slice text;
  int escaped; /* a string holds backslashes */
} pc_jsonl_value;

typedef struct pc_jsonl_scan {
  const char *name; /* of the file, for sentences */
  const char *at, *end;
  uint64_t line; /* of the byte at `at`, from 1 */
  pc_slice key;  /* of the field that is being read, for sentences; bytes NULL: none */
} pc_jsonl_scan;

typedef struct pc_jsonl_field {
  pc_jsonl_value key, value;
  int end; /* there is no field left: the scan stands at the next line */
} pc_jsonl_field;

/* Stands at the first line.  Fails with PCAL_DATA when the file is no text. */
PC_CHECKED pcal_status pc_jsonl_begin(const pc_input_file *bytes, pc_jsonl_scan *out,
                                      pcal_error *err);

/* Enters the object on the line at the start of which the scan stands.  Fails with PCAL_DATA
 * when there is none. */
PC_CHECKED pcal_status pc_jsonl_enter(pc_jsonl_scan *scan, pcal_error *err);

/* The next field of the object, checked to its last byte.  Fails with PCAL_DATA for what is
 * not JSON (RFC 8259) on one line. */
PC_CHECKED pcal_status pc_jsonl_next(pc_jsonl_scan *scan, pc_jsonl_field *out, pcal_error *err);

/* Takes the first element off the inside of an array that pc_jsonl_next has checked; kind NONE
 * at its end. */
void pc_jsonl_element(pc_slice *inside, pc_jsonl_value *out);

/* "file, line 7, field "x": WHAT", as PCAL_DATA. */
pcal_status pc_jsonl_fail(const pc_jsonl_scan *scan, const char *what, pcal_error *err);

/* Is a string, with its escapes resolved, this text? */
int pc_jsonl_is(const pc_jsonl_value *string, pc_slice text);

/* Resolves the escapes of a string into at most text.length bytes; returns the length, or
 * SIZE_MAX when it holds half of a surrogate pair. */
size_t pc_jsonl_copy(const pc_jsonl_value *string, char *out);

#endif
