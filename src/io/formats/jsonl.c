/* Reader for .jsonl and .ndjson; jsonl_scan.c defines the syntax of a line, jsonl_members.c lists
 * the fields.
 *
 * The selector names a field, or with dots a field inside others ("out.p"); without one the
 * object on the first line must have exactly one field. The field is a number, an array of numbers
 * (the columns of a row), an object of numbers (the same, with the names of the columns), null or,
 * for names and labels, a string or a boolean.
 *
 * Edge cases:
 *  1. every line must have the field exactly once; null is a missing value, in an array too;
 *     in place of an array it makes the whole row missing.
 *  2. the first value other than null determines whether rows are arrays or objects, and their
 *     length or names; if all are null there is one column.
 *  3. strings in place of numbers, empty arrays and objects, and those with elements other than
 *     numbers and null are refused.  The fields of an object may change their order.
 *     A ragged request reads all lines first: the longest array, or all names of objects, are the
 *     columns; what a row lacks is missing, and so is an empty array or object.
 *  4. the number of rows is known only after the end has been reached.
 *  5. rows are read window by window: memory does not grow with the file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "io/formats/container_member.h"
#include "io/formats/jsonl_object.h"
#include "io/reader.h"

#define JSONL_LINE_MIN 7 /* {"":1} and a line end */

typedef struct jsonl_state {
  char *name;     /* "file.jsonl:probs" */
  pc_slice field; /* of the line, and the rest of the selector below it */
  pc_slice path;
  pc_input_file file; /* the file of the request, under that name */
  pc_jsonl_scan first, scan;
  int ragged;             /* rows may be shorter */
  int scores;             /* of classes, or samples */
  pc_jsonl_kind form;     /* of rows: ARRAY, OBJECT, or anything else for one value */
  pc_name_table names;    /* of the fields of objects */
  pc_jsonl_value *values; /* of one object */
  uint64_t shape_line;    /* the line that determined form and columns */
  uint64_t window_line, rows_read;
  void *buffer; /* double or pc_slice */
  size_t element_size, capacity;
  char *letters; /* text of strings with escapes */
  size_t letter_count, letter_capacity;
} jsonl_state;

static void jsonl_close(pc_reader *reader) {
  jsonl_state *state = reader->state;
  pc_free(reader->env, state->name);
  pc_name_table_free(&state->names);
  pc_free(reader->env, state->values);
  pc_free(reader->env, state->buffer);
  pc_free(reader->env, state->letters);
  pc_free(reader->env, state);
  reader->state = NULL;
}

static void jsonl_rewind(pc_reader *reader) {
  jsonl_state *state = reader->state;
  state->scan = state->first;
  state->window_line = state->first.line;
  state->rows_read = 0;
}

static uint64_t jsonl_line(const pc_reader *reader, size_t row) {
  const jsonl_state *state = reader->state;
  return state->window_line + row;
}

/* ---- One line ---- */

/* Reads a line and sets *out to the value of the field and *at to the line, for messages. */
static pcal_status jsonl_value(jsonl_state *state, pc_jsonl_scan *at, pc_jsonl_value *out,
                               pcal_error *err) {
  pc_jsonl_field field;
  pc_jsonl_scan *scan = &state->scan;
  *at = *scan;
  at->key = pc_slice_of(state->field.bytes); /* with the path */
  out->kind = PC_JSONL_NONE;
  PC_TRY(pc_jsonl_enter(scan, err));
  for (;;) {
    PC_TRY(pc_jsonl_next(scan, &field, err));
    if (field.end)
      break;
    if (!pc_jsonl_is(&field.key, state->field))
      continue;
    if (out->kind != PC_JSONL_NONE)
      return pc_jsonl_fail(at, PC_JSONL_FIELD_TWICE, err);
    *out = field.value;
  }
  if (out->kind == PC_JSONL_NONE)
    return pc_jsonl_fail(at, PC_JSONL_NO_FIELD, err);
  return pc_jsonl_follow(at, state->path, out, err);
}

static pc_slice jsonl_inside(const pc_jsonl_value *array) {
  return (pc_slice){array->text.bytes + 1, array->text.length - 2};
}

static pcal_status jsonl_wrong_length(const pc_reader *reader, const pc_jsonl_scan *at,
                                      const pc_jsonl_value *array, pcal_error *err) {
  const jsonl_state *state = reader->state;
  const size_t length = pc_jsonl_length(array);
  char shown[PC_CLIP_MAX];
  const pc_place place = pc_jsonl_place(at, shown);
  return pc_fail_at(err, PCAL_DATA, &place,
                    "the array has %zu element%s, but on line %" PRIu64
                    " it has %zu; all rows need the same length%-s",
                    length, length == 1 ? "" : "s", state->shape_line, reader->columns,
                    state->scores ? ", or say {ragged} if they have different choices" : "");
}

/* ---- Cells ---- */

static pcal_status jsonl_not_number(const pc_jsonl_scan *at, const pc_jsonl_value *value,
                                    pcal_error *err) {
  char shown[PC_CLIP_MAX], what[PC_CLIP_MAX + 80];
  const char *quote = value->kind == PC_JSONL_STRING ? "\"" : "";
  snprintf(what, sizeof what, "%s%s%s is not a number; write numbers without quotes", quote,
           pc_clip(value->text, shown), quote);
  return pc_jsonl_fail(at, what, err);
}

static pcal_status jsonl_number(const pc_jsonl_scan *at, const pc_jsonl_value *value,
                                double *out, pcal_error *err) {
  *out = NAN;
  if (value->kind == PC_JSONL_NULL)
    return PCAL_OK;
  if (value->kind != PC_JSONL_NUMBER)
    return jsonl_not_number(at, value, err);
  pc_number_parse(value->text.bytes, value->text.bytes + value->text.length, out);
  return PCAL_OK;
}

/* A string with escapes has bytes = NULL until the window is complete, since `letters` may
 * move while it grows. */
static pcal_status jsonl_text(const pc_reader *reader, const pc_jsonl_scan *at,
                              const pc_jsonl_value *value, pc_slice *out, pcal_error *err) {
  jsonl_state *state = reader->state;
  *out = value->text;
  if (value->kind == PC_JSONL_NULL)
    out->length = 0;
  if (value->kind != PC_JSONL_STRING || !value->escaped)
    return PCAL_OK;
  void *letters = state->letters;
  const pcal_status status = pc_reserve(reader->env, &letters, &state->letter_capacity,
                                        state->letter_count + value->text.length, 1, err);
  state->letters = letters;
  PC_TRY(status);
  *out = (pc_slice){NULL, pc_jsonl_copy(value, state->letters + state->letter_count)};
  if (out->length == SIZE_MAX)
    return pc_jsonl_fail(at,
                         "the string contains half of a surrogate pair; write it as "
                         "UTF-8",
                         err);
  state->letter_count += out->length;
  return PCAL_OK;
}

static void jsonl_place_letters(const pc_reader *reader, size_t rows) {
  const jsonl_state *state = reader->state;
  pc_slice *slices = state->buffer;
  const char *at = state->letters;
  for (size_t i = 0; i < rows * reader->columns; i++) {
    if (slices[i].bytes != NULL)
      continue;
    slices[i].bytes = at;
    at += slices[i].length;
  }
}

static pcal_status jsonl_cell(const pc_reader *reader, const pc_jsonl_scan *at,
                              const pc_jsonl_value *value, size_t index, pcal_error *err) {
  const jsonl_state *state = reader->state;
  if (reader->cells == PC_CELLS_F64)
    return jsonl_number(at, value, (double *)state->buffer + index, err);
  return jsonl_text(reader, at, value, (pc_slice *)state->buffer + index, err);
}

static pcal_status jsonl_array(const pc_reader *reader, const pc_jsonl_scan *at,
                               const pc_jsonl_value *array, size_t index, pcal_error *err) {
  const jsonl_state *state = reader->state;
  pc_slice inside = jsonl_inside(array);
  pc_jsonl_value element;
  for (size_t column = 0; column < reader->columns; column++) {
    pc_jsonl_element(&inside, &element);
    if (element.kind == PC_JSONL_NONE && state->ragged)
      element.kind = PC_JSONL_NULL;
    if (element.kind == PC_JSONL_NONE)
      return jsonl_wrong_length(reader, at, array, err);
    if (element.kind != PC_JSONL_NULL && element.kind != PC_JSONL_NUMBER)
      return jsonl_not_number(at, &element, err);
    PC_TRY(jsonl_cell(reader, at, &element, index + column, err));
  }
  pc_jsonl_element(&inside, &element);
  return element.kind == PC_JSONL_NONE ? PCAL_OK : jsonl_wrong_length(reader, at, array, err);
}

static pcal_status jsonl_object(const pc_reader *reader, const pc_jsonl_scan *at,
                                const pc_jsonl_value *object, size_t index, pcal_error *err) {
  const jsonl_state *state = reader->state;
  PC_TRY(pc_jsonl_object_values(at, object, &state->names, state->ragged, state->values, err));
  for (size_t column = 0; column < reader->columns; column++) {
    const pc_jsonl_value *value = &state->values[column];
    if (value->kind != PC_JSONL_NULL && value->kind != PC_JSONL_NUMBER)
      return jsonl_not_number(at, value, err);
    PC_TRY(jsonl_cell(reader, at, value, index + column, err));
  }
  return PCAL_OK;
}

static const char *jsonl_form_name(pc_jsonl_kind form) {
  return form == PC_JSONL_ARRAY    ? "an array"
         : form == PC_JSONL_OBJECT ? "an object"
                                   : "a value";
}

static pc_jsonl_kind jsonl_form(pc_jsonl_kind kind) {
  return kind == PC_JSONL_ARRAY || kind == PC_JSONL_OBJECT ? kind : PC_JSONL_NUMBER;
}

static pcal_status jsonl_wrong_form(const jsonl_state *state, const pc_jsonl_scan *at,
                                    pc_jsonl_kind kind, pcal_error *err) {
  char shown[PC_CLIP_MAX];
  const pc_place place = pc_jsonl_place(at, shown);
  return pc_fail_at(err, PCAL_DATA, &place,
                    "it is %-s on other lines, but %-s here; give every row the same form",
                    jsonl_form_name(state->form), jsonl_form_name(jsonl_form(kind)));
}

static pcal_status jsonl_row(const pc_reader *reader, size_t row, pcal_error *err) {
  jsonl_state *state = reader->state;
  const size_t index = row * reader->columns;
  pc_jsonl_scan at;
  pc_jsonl_value value;
  PC_TRY(jsonl_value(state, &at, &value, err));
  if (value.kind == PC_JSONL_NULL) {
    for (size_t column = 0; column < reader->columns; column++)
      PC_TRY(jsonl_cell(reader, &at, &value, index + column, err));
    return PCAL_OK;
  }
  if (jsonl_form(value.kind) != state->form)
    return jsonl_wrong_form(state, &at, value.kind, err);
  if (state->form == PC_JSONL_ARRAY)
    return jsonl_array(reader, &at, &value, index, err);
  if (state->form == PC_JSONL_OBJECT)
    return jsonl_object(reader, &at, &value, index, err);
  return jsonl_cell(reader, &at, &value, index, err);
}

/* ---- Windows ---- */

static pcal_status jsonl_read_window(pc_reader *reader, size_t max_rows, pc_window *out,
                                     pcal_error *err) {
  jsonl_state *state = reader->state;
  const size_t possible = (size_t)(state->scan.end - state->scan.at) / JSONL_LINE_MIN + 1;
  if (max_rows > possible)
    max_rows = possible;
  PC_TRY(pc_reserve(reader->env, &state->buffer, &state->capacity, max_rows * reader->columns,
                    state->element_size, err));
  state->window_line = state->scan.line;
  state->letter_count = 0;
  while (out->rows < max_rows && state->scan.at < state->scan.end)
    PC_TRY(jsonl_row(reader, out->rows++, err));
  state->rows_read += out->rows;
  if (state->scan.at == state->scan.end)
    reader->rows = state->rows_read;
  if (reader->cells == PC_CELLS_TEXT)
    jsonl_place_letters(reader, out->rows);
  out->data = state->buffer;
  out->column_stride = (ptrdiff_t)state->element_size;
  out->row_stride = (ptrdiff_t)(reader->columns * state->element_size);
  return PCAL_OK;
}

/* A truncated mapped file reads as zeros; report the truncation, not a syntax error. */
static pcal_status jsonl_next(pc_reader *reader, size_t max_rows, pc_window *out,
                              pcal_error *err) {
  const pcal_status status = jsonl_read_window(reader, max_rows, out, err);
  PC_TRY(pc_input_file_check(reader->bytes, err));
  return status;
}

static const pc_reader_calls jsonl_calls = {jsonl_next,  jsonl_rewind, jsonl_line,
                                            jsonl_close, NULL,         NULL};

/* ---- Opening ---- */

/* Finds the member that the selector names or, up to a dot, begins with. */
static pcal_status jsonl_find_member(const pc_read_request *request, const pc_name_table *names,
                                     uint32_t *number, const char **path, pcal_error *err) {
  static const pc_container_member_words words = {"field", "fields"};
  const char *wanted = request->selector;
  *path = "";
  if (wanted != NULL && !pc_name_table_find(names, pc_slice_of(wanted), number))
    for (const char *dot = strchr(wanted, '.'); dot != NULL; dot = strchr(dot + 1, '.'))
      if (pc_name_table_find(names, (pc_slice){wanted, (size_t)(dot - wanted)}, number)) {
        *path = dot + 1;
        return PCAL_OK;
      }
  return pc_container_member_choose(request->bytes->name, names, wanted, &words, number, err);
}

static pcal_status jsonl_choose(const pc_read_request *request, jsonl_state *state,
                                pcal_error *err) {
  const char *file = request->bytes->name, *path = "";
  pc_name_table names;
  uint32_t number = 0;
  size_t length = 0;
  pc_name_table_init(&names, request->env);
  pcal_status status = pc_jsonl_members(request->bytes, request->env, &names, err);
  if (status == PCAL_OK)
    status = jsonl_find_member(request, &names, &number, &path, err);
  if (status == PCAL_OK) {
    length = strlen(names.text[number]);
    state->name = pc_container_member_name(
        request->env, file, path[0] == '\0' ? names.text[number] : request->selector);
  }
  pc_name_table_free(&names);
  PC_TRY(status);
  if (state->name == NULL)
    return pc_fail_memory(err, "opening a file of JSON lines");
  const char *field = state->name + strlen(file) + 1;
  state->field = (pc_slice){field, length};
  state->path = pc_slice_of(field + length + (field[length] == '.'));
  state->file = *request->bytes;
  state->file.name = state->name;
  return pc_jsonl_begin(request->bytes, &state->first, err);
}

/* Reads all lines from the first one with a value on: the longest array, or all names. */
static pcal_status jsonl_ragged_shape(pc_reader *reader, pc_jsonl_scan at, pc_jsonl_value value,
                                      pcal_error *err) {
  jsonl_state *state = reader->state;
  size_t longest = 0;
  for (;;) {
    if (value.kind == PC_JSONL_ARRAY && state->form == PC_JSONL_ARRAY) {
      const size_t length = pc_jsonl_length(&value);
      longest = length > longest ? length : longest;
    } else if (value.kind == PC_JSONL_OBJECT && state->form == PC_JSONL_OBJECT) {
      PC_TRY(pc_jsonl_object_names(&at, &value, 1, &state->names, err));
    }
    if (state->scan.at == state->scan.end)
      break;
    PC_TRY(jsonl_value(state, &at, &value, err));
    if (at.line % 4096 == 0)
      PC_TRY(pc_check_interrupt(reader->env, err));
  }
  reader->columns = state->form == PC_JSONL_OBJECT ? state->names.count : longest;
  return reader->columns > 0
             ? PCAL_OK
             : pc_jsonl_fail(&at, "every row is empty; give a number for each choice", err);
}

/* The columns of rows that are objects. */
static pcal_status jsonl_object_shape(pc_reader *reader, const pc_jsonl_scan *at,
                                      const pc_jsonl_value *object, pcal_error *err) {
  jsonl_state *state = reader->state;
  if (state->ragged)
    PC_TRY(jsonl_ragged_shape(reader, *at, *object, err));
  else
    PC_TRY(pc_jsonl_object_names(at, object, 0, &state->names, err));
  reader->columns = state->names.count;
  reader->names = (const char *const *)state->names.text;
  reader->keyed = 1;
  state->values = pc_alloc(reader->env, reader->columns, sizeof *state->values);
  return state->values == NULL ? pc_fail_memory(err, "opening a file of JSON lines") : PCAL_OK;
}

/* Determines the shape from the first value other than null. */
static pcal_status jsonl_find_shape(pc_reader *reader, pcal_error *err) {
  jsonl_state *state = reader->state;
  pc_jsonl_scan at;
  pc_jsonl_value value = {.kind = PC_JSONL_NULL};
  while (value.kind == PC_JSONL_NULL && state->scan.at < state->scan.end) {
    PC_TRY(jsonl_value(state, &at, &value, err));
    if (at.line % 4096 == 0)
      PC_TRY(pc_check_interrupt(reader->env, err));
  }
  reader->columns = 1;
  state->form = jsonl_form(value.kind);
  if (state->form == PC_JSONL_NUMBER)
    return PCAL_OK;
  reader->listed = 1;
  state->shape_line = at.line;
  if (state->form == PC_JSONL_OBJECT)
    return jsonl_object_shape(reader, &at, &value, err);
  if (state->ragged)
    return jsonl_ragged_shape(reader, at, value, err);
  return pc_jsonl_array_columns(&at, &value, &reader->columns, err);
}

static pcal_status jsonl_shape(pc_reader *reader, pcal_error *err) {
  const pcal_status status = jsonl_find_shape(reader, err);
  PC_TRY(pc_input_file_check(reader->bytes, err));
  return status;
}

pcal_status pc_jsonl_open(const pc_read_request *request, pc_reader *out, pcal_error *err) {
  jsonl_state *state = pc_alloc(request->env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "opening a file of JSON lines");
  out->calls = &jsonl_calls;
  out->state = state;
  state->ragged = request->ragged;
  state->scores = request->as == PC_COLUMN_SCORES;
  pc_name_table_init(&state->names, request->env);
  PC_TRY(jsonl_choose(request, state, err));
  out->bytes = &state->file;
  jsonl_rewind(out);
  PC_TRY(jsonl_shape(out, err));
  const int as_text =
      request->as == PC_COLUMN_TEXT || (request->as == PC_COLUMN_LABELS && out->columns == 1);
  state->element_size = as_text ? sizeof(pc_slice) : sizeof(double);
  out->cells = as_text ? PC_CELLS_TEXT : PC_CELLS_F64;
  out->rows = PCAL_NO_ROW;
  out->file_columns = out->columns;
  out->window_limit = pc_window_rows(out->columns * state->element_size);
  snprintf(out->stored, sizeof out->stored, "JSON");
  jsonl_rewind(out);
  return PCAL_OK;
}
