/* Reader for .csv and .tsv; csv_scan.c defines cells, csv_header.c detects headers.
 *
 * Edge cases:
 *  1. blank lines, even at the end of the file, and records with more or fewer cells than
 *     the first are refused.
 *  2. in a column of numbers a missing cell is NaN; other text is refused.
 *  3. the number of rows is known only after the end has been reached.
 *  4. rows are read window by window: memory does not grow with the file.
 *  5. a CSV file may have semicolons and decimal commas (csv_delimiter.c). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/number.h"
#include "io/reader.h"

#define CSV_UNWANTED SIZE_MAX
#define CSV_CELLS_BETWEEN_CHECKS 65536 /* checks whether the caller stops the call */

typedef struct csv_state {
  pc_csv_header head;
  pc_csv_scan scan;   /* position of the next row */
  pc_csv_scan window; /* start of the last window */
  uint64_t rows_read;
  size_t *chosen;
  size_t *places;     /* for each column of the file: its place in a row, or CSV_UNWANTED */
  const char **names; /* of the chosen columns */
  size_t element_size;
  void *buffer; /* double or pc_slice */
  size_t capacity;
  char *letters; /* text of cells with doubled quotes */
  size_t letter_count, letter_capacity;
} csv_state;

static void csv_close(pc_reader *reader) {
  csv_state *state = reader->state;
  pc_csv_header_free(reader->env, &state->head);
  pc_free(reader->env, state->chosen);
  pc_free(reader->env, state->places);
  pc_free(reader->env, state->names);
  pc_free(reader->env, state->buffer);
  pc_free(reader->env, state->letters);
  pc_free(reader->env, state);
  reader->state = NULL;
}

static void csv_rewind(pc_reader *reader) {
  csv_state *state = reader->state;
  state->scan = state->window = state->head.data;
  state->rows_read = 0;
}

static uint64_t csv_line(const pc_reader *reader, size_t row) {
  const csv_state *state = reader->state;
  pc_csv_scan scan = state->window;
  size_t cells;
  for (size_t i = 0; i < row; i++)
    if (pc_csv_scan_record(&scan, &cells, NULL) != PCAL_OK)
      break;
  return scan.line;
}

static pcal_status csv_ragged(const csv_state *state, pc_csv_scan record, pcal_error *err) {
  size_t cells = 0;
  const uint64_t line = record.line;
  PC_TRY(pc_csv_scan_record(&record, &cells, err));
  return pc_fail_line(err, PCAL_DATA, record.name, line,
                      "the line has %zu cell%s, but the first line has %zu; add or remove "
                      "cells, or quote a cell that holds the separator",
                      cells, cells == 1 ? "" : "s", state->head.columns);
}

static pcal_status csv_not_number(const csv_state *state, uint64_t line, size_t column,
                                  pc_slice text, pcal_error *err) {
  char shown[PC_CLIP_MAX], name[PC_CLIP_MAX];
  const char *remedy = "correct it, or choose the columns as FILE:first..last";
  if (text.length > 0 && memchr(text.bytes, ',', text.length) != NULL)
    remedy = "write numbers with a decimal point";
  if (text.length > 0 && text.bytes[text.length - 1] == '%')
    remedy = "write percentages without the sign, and give {percent}";
  pc_place place = {state->scan.name, PCAL_NO_ROW, line, column, NULL, NULL};
  if (state->head.names != NULL)
    place.column_name = pc_clip(pc_slice_of(state->head.names[column]), name);
  return pc_fail_at(err, PCAL_DATA, &place, "\"%s\" is not a number; %-s", pc_clip(text, shown),
                    remedy);
}

static pcal_status csv_number(csv_state *state, size_t column, size_t index, int *last,
                              pcal_error *err) {
  double *out = (double *)state->buffer + index;
  pc_csv_cell cell;
  const uint64_t line = state->scan.line;
  if (pc_csv_scan_number(&state->scan, out, last))
    return PCAL_OK;
  PC_TRY(pc_csv_scan_cell(&state->scan, &cell, err));
  *last = cell.last;
  const pc_slice text = pc_slice_trim(cell.text, "\t");
  *out = NAN;
  if (pc_slice_is_missing(text) || pc_csv_number(text, state->scan.delimiter, out))
    return PCAL_OK;
  *out = NAN;
  return csv_not_number(state, line, column, cell.text, err);
}

/* A cell with doubled quotes has bytes = NULL until the window is complete, since `letters`
 * may move while it grows. */
static pcal_status csv_text(const pc_reader *reader, size_t index, int *last, pcal_error *err) {
  csv_state *state = reader->state;
  pc_slice *out = (pc_slice *)state->buffer + index;
  pc_csv_cell cell;
  PC_TRY(pc_csv_scan_cell(&state->scan, &cell, err));
  *last = cell.last;
  *out = cell.text;
  if (!cell.escaped)
    return PCAL_OK;
  void *letters = state->letters;
  const pcal_status status = pc_reserve(reader->env, &letters, &state->letter_capacity,
                                        state->letter_count + cell.text.length, 1, err);
  state->letters = letters;
  PC_TRY(status);
  *out = (pc_slice){NULL, pc_csv_cell_copy(&cell, state->letters + state->letter_count)};
  state->letter_count += out->length;
  return PCAL_OK;
}

static void csv_place_letters(const pc_reader *reader, size_t rows) {
  const csv_state *state = reader->state;
  pc_slice *slices = state->buffer;
  const char *at = state->letters;
  for (size_t i = 0; i < rows * reader->columns; i++) {
    if (slices[i].bytes != NULL)
      continue;
    slices[i].bytes = at;
    at += slices[i].length;
  }
}

static pcal_status csv_record(const pc_reader *reader, size_t row, pcal_error *err) {
  csv_state *state = reader->state;
  const pc_csv_scan record = state->scan;
  int last = 0;
  if (pc_csv_scan_blank(&record))
    return pc_fail_line(err, PCAL_DATA, record.name, record.line,
                        "the line is blank; delete it");
  for (size_t column = 0; column < state->head.columns; column++) {
    const size_t place = state->places[column];
    const size_t index = row * reader->columns + place;
    if (last)
      return csv_ragged(state, record, err);
    if (place == CSV_UNWANTED) {
      pc_csv_cell cell;
      PC_TRY(pc_csv_scan_cell(&state->scan, &cell, err));
      last = cell.last;
    } else if (reader->cells == PC_CELLS_F64) {
      PC_TRY(csv_number(state, column, index, &last, err));
    } else {
      PC_TRY(csv_text(reader, index, &last, err));
    }
  }
  return last ? PCAL_OK : csv_ragged(state, record, err);
}

/* Reserves the buffer of a window; a row has at least one byte per cell. */
static pcal_status csv_reserve(pc_reader *reader, size_t *rows, pcal_error *err) {
  csv_state *state = reader->state;
  const size_t left = (size_t)(state->scan.end - state->scan.at);
  const size_t possible = left / state->head.columns + 1;
  if (*rows > possible)
    *rows = possible;
  const pcal_env held = pc_env_for_use(reader->env, PC_MEMORY_COLUMNS);
  return pc_reserve(&held, &state->buffer, &state->capacity, *rows * reader->columns,
                    state->element_size, err);
}

static pcal_status csv_read_window(pc_reader *reader, size_t max_rows, pc_window *out,
                                   pcal_error *err) {
  csv_state *state = reader->state;
  PC_TRY(csv_reserve(reader, &max_rows, err));
  state->window = state->scan;
  state->letter_count = 0;
  while (out->rows < max_rows && state->scan.at < state->scan.end)
    PC_TRY(csv_record(reader, out->rows++, err));
  state->rows_read += out->rows;
  if (state->scan.at == state->scan.end)
    reader->rows = state->rows_read;
  if (reader->cells == PC_CELLS_TEXT)
    csv_place_letters(reader, out->rows);
  out->data = state->buffer;
  out->column_stride = (ptrdiff_t)state->element_size;
  out->row_stride = (ptrdiff_t)(reader->columns * state->element_size);
  return PCAL_OK;
}

/* A truncated mapped file reads as zeros; report the truncation, not a bad cell. */
static pcal_status csv_next(pc_reader *reader, size_t max_rows, pc_window *out,
                            pcal_error *err) {
  const pcal_status status = csv_read_window(reader, max_rows, out, err);
  PC_TRY(pc_input_file_check(reader->bytes, err));
  return status;
}

static const pc_reader_calls csv_calls = {csv_next,  csv_rewind, csv_line,
                                          csv_close, NULL,       NULL};

static pcal_status csv_choose(const pc_read_request *request, pc_reader *reader,
                              pcal_error *err) {
  csv_state *state = reader->state;
  const size_t columns = state->head.columns;
  PC_TRY(pc_read_request_columns(request, state->head.names, columns, &state->chosen,
                                 &reader->columns, err));
  const pcal_env held = pc_env_for_use(request->env, PC_MEMORY_COLUMNS);
  state->places = pc_alloc_raw(&held, columns, sizeof *state->places);
  state->names = pc_alloc(&held, reader->columns, sizeof *state->names);
  if (state->places == NULL || state->names == NULL)
    return pc_fail_memory(err, "opening a CSV file");
  for (size_t i = 0; i < columns; i++)
    state->places[i] = CSV_UNWANTED;
  for (size_t i = 0; i < reader->columns; i++) {
    state->places[state->chosen[i]] = i;
    if (state->head.names != NULL)
      state->names[i] = state->head.names[state->chosen[i]];
  }
  reader->names = state->head.names != NULL ? state->names : NULL;
  return PCAL_OK;
}

/* Looks for a number with a decimal comma among the cells that are read, up to the first one or
 * the last comma of the file. */
static pcal_status csv_find_decimal_comma(pc_reader *reader, pcal_error *err) {
  const csv_state *state = reader->state;
  pc_csv_scan rows = state->head.data;
  pc_csv_cell cell = {.last = 0};
  const char *comma = rows.at;
  double value;
  for (size_t i = 1, column = 0; rows.at < rows.end && !reader->decimal_comma; i++) {
    if (comma <= rows.at)
      comma = memchr(rows.at, ',', (size_t)(rows.end - rows.at));
    if (comma == NULL || pc_csv_scan_cell(&rows, &cell, NULL) != PCAL_OK)
      return PCAL_OK;
    const int wanted = column < state->head.columns && state->places[column] != CSV_UNWANTED;
    column = cell.last ? 0 : column + 1;
    reader->decimal_comma = wanted && comma < rows.at &&
                            pc_csv_number(cell.text, ';', &value) &&
                            !pc_csv_number(cell.text, ',', &value);
    if (i % CSV_CELLS_BETWEEN_CHECKS == 0)
      PC_TRY(pc_check_interrupt(reader->env, err));
  }
  return PCAL_OK;
}

static pcal_status csv_open(const pc_read_request *request, char delimiter, pc_reader *reader,
                            pcal_error *err) {
  csv_state *state = pc_alloc(request->env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "opening a CSV file");
  reader->calls = &csv_calls;
  reader->state = state;
  PC_TRY(pc_csv_header_read(request->bytes, delimiter, request->header, request->env,
                            &state->head, err));
  PC_TRY(csv_choose(request, reader, err));
  const int as_text = request->as == PC_COLUMN_TEXT ||
                      (request->as == PC_COLUMN_LABELS && reader->columns == 1);
  state->element_size = as_text ? sizeof(pc_slice) : sizeof(double);
  reader->cells = as_text ? PC_CELLS_TEXT : PC_CELLS_F64;
  reader->rows = PCAL_NO_ROW;
  reader->file_columns = state->head.columns;
  reader->headed = state->head.names != NULL;
  reader->window_limit = pc_window_rows(reader->columns * state->element_size);
  reader->delimiter = state->head.data.delimiter;
  if (reader->delimiter == ';')
    PC_TRY(csv_find_decimal_comma(reader, err));
  snprintf(reader->stored, sizeof reader->stored, "%s",
           reader->delimiter != ';' ? "text"
           : reader->decimal_comma  ? "text with semicolons and decimal commas"
                                    : "text with semicolons");
  csv_rewind(reader);
  return PCAL_OK;
}

pcal_status pc_csv_open(const pc_read_request *request, pc_reader *out, pcal_error *err) {
  return csv_open(request, ',', out, err);
}

pcal_status pc_tsv_open(const pc_read_request *request, pc_reader *out, pcal_error *err) {
  return csv_open(request, '\t', out, err);
}
