/* Reader for .npy.
 *
 * A window is a view into the file when nothing has to be converted: float32 and float64 in
 * this machine's byte order, aligned, in C or Fortran order, for scores; float64 without gaps
 * for numbers; one column of int32 for labels.  Everything else is converted window by
 * window.  Columns may be chosen by number. */
#include <stdint.h>
#include <string.h>

#include "io/npy_header.h"
#include "io/reader.h"

typedef struct npy_state {
  pc_npy_header header;
  const unsigned char *first;          /* element of row 0, column 0 */
  ptrdiff_t row_stride, column_stride; /* of the file */
  size_t *chosen;
  ptrdiff_t chosen_stride; /* between chosen columns, 0 when they are not evenly spaced */
  int is_view;
  size_t element_size; /* of a window that is not a view */
  void *buffer;
  size_t capacity; /* rows in buffer */
  char *letters;   /* PC_NPY_TEXT_MAX for each cell, for text */
  size_t at;       /* next row */
} npy_state;

static void npy_close(pc_reader *reader) {
  npy_state *state = reader->state;
  pc_free(reader->env, state->chosen);
  pc_free(reader->env, state->buffer);
  pc_free(reader->env, state->letters);
  pc_free(reader->env, state);
  reader->state = NULL;
}

static void npy_rewind(pc_reader *reader) {
  npy_state *state = reader->state;
  state->at = 0;
}

static uint64_t npy_line(const pc_reader *reader, size_t row) {
  (void)reader;
  (void)row;
  return 0;
}

static const unsigned char *npy_element(const npy_state *state, size_t row, size_t column) {
  return state->first + (ptrdiff_t)row * state->row_stride +
         (ptrdiff_t)state->chosen[column] * state->column_stride;
}

static pcal_status npy_reserve(pc_reader *reader, size_t rows, pcal_error *err) {
  npy_state *state = reader->state;
  if (rows <= state->capacity)
    return PCAL_OK;
  if (reader->cells == PC_CELLS_TEXT) {
    char *letters =
        pc_resize(reader->env, state->letters, rows, reader->columns * PC_NPY_TEXT_MAX);
    if (letters == NULL)
      return pc_fail_memory(err, "reading a npy file");
    state->letters = letters;
  }
  void *buffer =
      pc_resize(reader->env, state->buffer, rows, reader->columns * state->element_size);
  if (buffer == NULL)
    return pc_fail_memory(err, "reading a npy file");
  state->buffer = buffer;
  state->capacity = rows;
  return PCAL_OK;
}

/* Converts one run of elements to place `position` of the buffer. */
static void npy_convert_run(const pc_reader *reader, const pc_npy_run *run, size_t position,
                            size_t step) {
  const npy_state *state = reader->state;
  if (reader->cells == PC_CELLS_F32)
    pc_npy_to_float(&state->header.type, run, (float *)state->buffer + position, step);
  else
    pc_npy_to_double(&state->header.type, run, (double *)state->buffer + position, step);
}

/* Along the rows when these hold several evenly spaced columns, else down the columns. */
static void npy_convert_numbers(const pc_reader *reader, size_t rows) {
  const npy_state *state = reader->state;
  const size_t columns = reader->columns;
  if (state->chosen_stride != 0 && columns > 1 && !state->header.fortran_order) {
    for (size_t row = 0; row < rows; row++) {
      const pc_npy_run run = {npy_element(state, state->at + row, 0), state->chosen_stride,
                              columns};
      npy_convert_run(reader, &run, row * columns, 1);
    }
    return;
  }
  for (size_t column = 0; column < columns; column++) {
    const pc_npy_run run = {npy_element(state, state->at, column), state->row_stride, rows};
    npy_convert_run(reader, &run, column, columns);
  }
}

static void npy_convert_text(const pc_reader *reader, size_t rows) {
  const npy_state *state = reader->state;
  pc_slice *slices = state->buffer;
  char *letters = state->letters;
  for (size_t row = 0; row < rows; row++) {
    for (size_t column = 0; column < reader->columns; column++) {
      const unsigned char *element = npy_element(state, state->at + row, column);
      *slices++ = (pc_slice){letters, pc_npy_to_text(&state->header.type, element, letters)};
      letters += PC_NPY_TEXT_MAX;
    }
  }
}

static pcal_status npy_next(pc_reader *reader, size_t max_rows, pc_window *out,
                            pcal_error *err) {
  npy_state *state = reader->state;
  const size_t left = state->header.rows - state->at;
  const size_t rows = max_rows < left ? max_rows : left;
  out->rows = rows;
  if (state->is_view) {
    out->data = rows == 0 ? (const void *)state->first : npy_element(state, state->at, 0);
    out->row_stride = state->row_stride;
    out->column_stride = state->chosen_stride;
  } else {
    PC_TRY(npy_reserve(reader, rows, err));
    if (reader->cells == PC_CELLS_TEXT)
      npy_convert_text(reader, rows);
    else
      npy_convert_numbers(reader, rows);
    out->data = state->buffer;
    out->column_stride = (ptrdiff_t)state->element_size;
    out->row_stride = (ptrdiff_t)(reader->columns * state->element_size);
  }
  state->at += rows;
  return PCAL_OK;
}

/* The distance between chosen columns, when it is the same for all. */
static void npy_space_columns(npy_state *state, size_t count) {
  const size_t *chosen = state->chosen;
  const ptrdiff_t step = count > 1 ? (ptrdiff_t)chosen[1] - (ptrdiff_t)chosen[0] : 1;
  for (size_t i = 1; i < count; i++)
    if ((ptrdiff_t)chosen[i] - (ptrdiff_t)chosen[i - 1] != step)
      return;
  state->chosen_stride = step * state->column_stride;
}

/* Chooses between a view and conversion, and the type of the windows. */
static void npy_plan(pc_reader *reader, pc_as as) {
  npy_state *state = reader->state;
  const pc_npy_type *type = &state->header.type;
  const size_t size = type->size;
  const int is_float = type->kind == PC_NPY_FLOAT;
  const int direct = !type->swapped && (uintptr_t)state->first % size == 0;
  const int even = state->chosen_stride != 0;
  const int no_gaps = (reader->columns == 1 || state->chosen_stride == (ptrdiff_t)size) &&
                      state->row_stride == (ptrdiff_t)(reader->columns * size);
  reader->cells = PC_CELLS_F64;
  if (as == PC_AS_TEXT)
    reader->cells = PC_CELLS_TEXT;
  else if (as == PC_AS_SCORES && is_float && size <= 4)
    reader->cells = PC_CELLS_F32;
  else if (as == PC_AS_LABELS && direct && no_gaps && reader->columns == 1 &&
           type->kind == PC_NPY_SIGNED && size == sizeof(int32_t))
    reader->cells = PC_CELLS_I32;
  if (as == PC_AS_SCORES)
    state->is_view = direct && even && is_float && size >= 4;
  else if (as != PC_AS_TEXT)
    state->is_view =
        reader->cells == PC_CELLS_I32 || (direct && no_gaps && is_float && size == 8);
  state->element_size = reader->cells == PC_CELLS_F32    ? sizeof(float)
                        : reader->cells == PC_CELLS_TEXT ? sizeof(pc_slice)
                                                         : sizeof(double);
  const size_t row_bytes = reader->cells == PC_CELLS_TEXT
                               ? reader->columns * (sizeof(pc_slice) + PC_NPY_TEXT_MAX)
                               : reader->columns * state->element_size;
  reader->window_limit = state->is_view ? SIZE_MAX : pc_window_rows(row_bytes);
}

static const pc_reader_calls npy_calls = {npy_next, npy_rewind, npy_line, npy_close};

pcal_status pc_npy_open(const pc_request *request, pc_reader *out, pcal_error *err) {
  pc_npy_header header;
  PC_TRY(pc_npy_header_read(request->bytes, &header, err));
  npy_state *state = pc_alloc(request->env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "opening a npy file");
  out->calls = &npy_calls;
  out->state = state;
  const ptrdiff_t size = (ptrdiff_t)header.type.size;
  state->header = header;
  state->first = request->bytes->data + header.data_offset;
  state->row_stride = header.fortran_order ? size : size * (ptrdiff_t)header.columns;
  state->column_stride = header.fortran_order ? size * (ptrdiff_t)header.rows : size;
  out->rows = header.rows;
  out->file_columns = header.columns;
  out->listed = header.dimensions == 2 && header.columns == 1;
  PC_TRY(pc_request_columns(request, NULL, header.columns, &state->chosen, &out->columns, err));
  npy_space_columns(state, out->columns);
  pc_npy_type_text(&header.type, out->stored, sizeof out->stored);
  npy_plan(out, request->as);
  return PCAL_OK;
}
