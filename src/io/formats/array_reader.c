/* A window points into the array if no conversion is needed:
 *   scores   float32 and float64 in native byte order, aligned, with any strides
 *   numbers  contiguous float64
 *   labels   one contiguous column of any type in native byte order
 * Everything else is converted window by window.  Columns may be chosen by number.
 *
 * Edge cases:
 *  1. elements that are indices of names become text; an index without a name becomes an
 *     empty text, which counts as missing.
 *  2. strides may be negative, zero, or no multiple of the element size.
 *  3. an array that is read window by window is stored in the file in row or column order; a
 *     window is read into a buffer in the same order.
 *  4. scores of classes on a device stay there as float32 or float64, and with them labels of
 *     int32, int64 or uint8; everything else on a device is read window by window. */
#include "io/formats/array_reader.h"

#include <stdint.h>
#include <string.h>

#include "device/device.h"

#define ARRAY_READER_STAGE_BYTES ((size_t)4 << 20) /* size of a window read from a file */

typedef struct array_reader_state {
  pc_array array;
  size_t *chosen;
  ptrdiff_t chosen_stride; /* between chosen columns; 0 if they are not evenly spaced */
  int is_view;             /* windows point into the array */
  size_t element_size;     /* of a converted window */
  void *buffer;
  size_t capacity;                /* rows in buffer */
  char *letters;                  /* text of numbers, PC_ELEMENT_TEXT_MAX bytes for each cell */
  size_t at;                      /* next row */
  int left_on_device;             /* windows point to memory of the device */
  const unsigned char *on_device; /* first element there, or NULL */
  /* For an array that is read from its file or device window by window: */
  unsigned char *stage; /* elements of the window; array.first points here */
  size_t stage_rows;    /* capacity */
  size_t stage_begin;   /* first row of the window */
} array_reader_state;

static void array_reader_close(pc_reader *reader) {
  array_reader_state *state = reader->state;
  pc_free(reader->env, state->chosen);
  pc_free(reader->env, state->buffer);
  pc_free(reader->env, state->letters);
  pc_free(reader->env, state->stage);
  pc_free(reader->env, state);
  reader->state = NULL;
}

static void array_reader_rewind(pc_reader *reader) {
  array_reader_state *state = reader->state;
  state->at = 0;
}

static uint64_t array_reader_line(const pc_reader *reader, size_t row) {
  (void)reader;
  (void)row;
  return 0;
}

static const unsigned char *array_reader_element(const array_reader_state *state, size_t row,
                                                 size_t column) {
  return state->array.first + (ptrdiff_t)(row - state->stage_begin) * state->array.row_stride +
         (ptrdiff_t)state->chosen[column] * state->array.column_stride;
}

static pcal_status array_reader_reserve(pc_reader *reader, size_t rows, pcal_error *err) {
  array_reader_state *state = reader->state;
  if (rows <= state->capacity)
    return PCAL_OK;
  if (reader->cells == PC_CELLS_TEXT && state->array.names == NULL) {
    char *letters =
        pc_resize(reader->env, state->letters, rows, reader->columns * PC_ELEMENT_TEXT_MAX);
    if (letters == NULL)
      return pc_fail_memory(err, "reading an array");
    state->letters = letters;
  }
  void *buffer =
      pc_resize(reader->env, state->buffer, rows, reader->columns * state->element_size);
  if (buffer == NULL)
    return pc_fail_memory(err, "reading an array");
  state->buffer = buffer;
  state->capacity = rows;
  return PCAL_OK;
}

/* Converts one run of elements into the buffer, from `position`. */
static void array_reader_convert_run(const pc_reader *reader, const pc_element_run *run,
                                     size_t position, size_t step) {
  const array_reader_state *state = reader->state;
  if (reader->cells == PC_CELLS_F32)
    pc_elements_to_float(&state->array.type, run, (float *)state->buffer + position, step);
  else
    pc_elements_to_double(&state->array.type, run, (double *)state->buffer + position, step);
}

/* True if neighbours in a column are closer in memory than neighbours in a row. */
static int array_reader_by_columns(const pc_array *array) {
  const ptrdiff_t down = array->row_stride < 0 ? -array->row_stride : array->row_stride;
  const ptrdiff_t along =
      array->column_stride < 0 ? -array->column_stride : array->column_stride;
  return down < along;
}

/* True if the chosen columns of all rows are neighbours in memory. */
static int array_reader_no_gaps(const array_reader_state *state, size_t columns) {
  const size_t size = state->array.type.size;
  return (columns == 1 || state->chosen_stride == (ptrdiff_t)size) &&
         state->array.row_stride == (ptrdiff_t)(columns * size);
}

/* Converts all rows at once if there are no gaps, row by row if rows are contiguous runs, else
 * column by column. */
static void array_reader_convert_numbers(const pc_reader *reader, size_t rows) {
  const array_reader_state *state = reader->state;
  const size_t columns = reader->columns;
  if (array_reader_no_gaps(state, columns)) {
    const pc_element_run run = {array_reader_element(state, state->at, 0),
                                (ptrdiff_t)state->array.type.size, rows * columns};
    array_reader_convert_run(reader, &run, 0, 1);
    return;
  }
  if (state->chosen_stride != 0 && columns > 1 && !array_reader_by_columns(&state->array)) {
    for (size_t row = 0; row < rows; row++) {
      const pc_element_run run = {array_reader_element(state, state->at + row, 0),
                                  state->chosen_stride, columns};
      array_reader_convert_run(reader, &run, row * columns, 1);
    }
    return;
  }
  for (size_t column = 0; column < columns; column++) {
    const pc_element_run run = {array_reader_element(state, state->at, column),
                                state->array.row_stride, rows};
    array_reader_convert_run(reader, &run, column, columns);
  }
}

static pc_slice array_reader_name(const pc_array *array, const unsigned char *element) {
  const pc_element_run one = {element, 0, 1};
  double number = -1;
  pc_elements_to_double(&array->type, &one, &number, 1);
  if (!(number >= 0 && number < (double)array->name_count))
    return pc_slice_of("");
  return pc_slice_of(array->names[(size_t)number]);
}

static void array_reader_convert_names(const pc_reader *reader, size_t rows) {
  const array_reader_state *state = reader->state;
  pc_slice *slices = state->buffer;
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < reader->columns; column++)
      *slices++ = array_reader_name(&state->array,
                                    array_reader_element(state, state->at + row, column));
}

static void array_reader_convert_text(const pc_reader *reader, size_t rows) {
  const array_reader_state *state = reader->state;
  pc_slice *slices = state->buffer;
  char *letters = state->letters;
  for (size_t row = 0; row < rows; row++) {
    for (size_t column = 0; column < reader->columns; column++) {
      const unsigned char *element = array_reader_element(state, state->at + row, column);
      *slices++ = (pc_slice){letters, pc_element_to_text(&state->array.type, element, letters)};
      letters += PC_ELEMENT_TEXT_MAX;
    }
  }
}

/* ---- arrays that are read window by window ---- */

static int array_reader_staged(const array_reader_state *state) {
  return state->array.file != NULL || (state->array.device != NULL && !state->left_on_device);
}

static int array_reader_down(const array_reader_state *state) {
  return state->array.columns > 1 &&
         state->array.row_stride == (ptrdiff_t)state->array.type.size;
}

/* Reads rows [at, at + rows) into the stage, in the order of the file.  In column order,
 * columns are stage_rows elements apart. */
static pcal_status array_reader_stage(const pc_reader *reader, size_t rows, pcal_error *err) {
  array_reader_state *state = reader->state;
  const pc_array *array = &state->array;
  const size_t size = array->type.size, row = array->columns * size;
  const size_t parts = array_reader_down(state) ? array->columns : 1;
  const size_t part = array_reader_down(state) ? size : row; /* bytes of a row in a part */
  if (state->stage == NULL)
    state->stage = pc_alloc_raw(reader->env, state->stage_rows, row);
  if (state->stage == NULL)
    return pc_fail_memory(err, "reading an array");
  if (array->device != NULL)
    PC_TRY(pc_device_copy(array->device, array->stream, state->on_device + state->at * row,
                          rows * row, state->stage, err));
  for (size_t p = 0; array->device == NULL && p < parts; p++)
    PC_TRY(pc_input_file_read_at(
        array->file, array->offset + p * array->rows * size + state->at * part, rows * part,
        state->stage + p * state->stage_rows * size, err));
  state->array.first = state->stage;
  state->stage_begin = state->at;
  return PCAL_OK;
}

/* Sets the size of windows to about ARRAY_READER_STAGE_BYTES. */
static void array_reader_stage_plan(array_reader_state *state) {
  const size_t row = state->array.columns * state->array.type.size;
  const size_t rows = row >= ARRAY_READER_STAGE_BYTES ? 1 : ARRAY_READER_STAGE_BYTES / row;
  state->stage_rows = rows < state->array.rows ? rows : state->array.rows;
  if (array_reader_down(state))
    state->array.column_stride = (ptrdiff_t)(state->stage_rows * state->array.type.size);
}

static pcal_status array_reader_next(pc_reader *reader, size_t max_rows, pc_window *out,
                                     pcal_error *err) {
  array_reader_state *state = reader->state;
  const size_t left = state->array.rows - state->at;
  const size_t rows = max_rows < left ? max_rows : left;
  out->rows = rows;
  if (array_reader_staged(state) && rows > 0)
    PC_TRY(array_reader_stage(reader, rows, err));
  out->device = state->left_on_device ? state->array.device : NULL;
  out->stream = state->array.stream;
  if (state->is_view) {
    out->data = rows == 0 ? (const void *)state->array.first
                          : array_reader_element(state, state->at, 0);
    out->row_stride = state->array.row_stride;
    out->column_stride = state->chosen_stride;
  } else {
    PC_TRY(array_reader_reserve(reader, rows, err));
    if (reader->cells == PC_CELLS_TEXT && state->array.names != NULL)
      array_reader_convert_names(reader, rows);
    else if (reader->cells == PC_CELLS_TEXT)
      array_reader_convert_text(reader, rows);
    else
      array_reader_convert_numbers(reader, rows);
    out->data = state->buffer;
    out->column_stride = (ptrdiff_t)state->element_size;
    out->row_stride = (ptrdiff_t)(reader->columns * state->element_size);
  }
  state->at += rows;
  return PCAL_OK;
}

/* Sets chosen_stride if the chosen columns are evenly spaced. */
static void array_reader_space_columns(array_reader_state *state, size_t count) {
  const size_t *chosen = state->chosen;
  const ptrdiff_t step = count > 1 ? (ptrdiff_t)chosen[1] - (ptrdiff_t)chosen[0] : 1;
  for (size_t i = 1; i < count; i++)
    if ((ptrdiff_t)chosen[i] - (ptrdiff_t)chosen[i - 1] != step)
      return;
  state->chosen_stride = step * state->array.column_stride;
}

/* True if elements can be used without conversion. */
static int array_reader_direct(const pc_array *array) {
  const ptrdiff_t size = (ptrdiff_t)array->type.size;
  return !array->type.swapped && (uintptr_t)array->first % array->type.size == 0 &&
         array->row_stride % size == 0 && array->column_stride % size == 0;
}

/* Cell type of labels, by element type; sizes are 1, 2, 4 and 8. */
static pc_cell_type array_reader_label_cells(const pc_element_type *type) {
  static const pc_cell_type floats[] = {0, 0, PC_CELLS_F16, 0, PC_CELLS_F32};
  static const pc_cell_type whole[] = {0, PC_CELLS_I8, PC_CELLS_I16, 0, PC_CELLS_I32};
  static const pc_cell_type natural[] = {0, PC_CELLS_U8, PC_CELLS_U16, 0, PC_CELLS_U32};
  const int large = type->size == sizeof(int64_t);
  if (type->kind == PC_ELEMENT_BOOL)
    return PC_CELLS_BOOL;
  if (type->kind == PC_ELEMENT_FLOAT)
    return large ? PC_CELLS_F64 : floats[type->size];
  if (type->kind == PC_ELEMENT_SIGNED)
    return large ? PC_CELLS_I64 : whole[type->size];
  return large ? PC_CELLS_U64 : natural[type->size];
}

static pc_cell_type array_reader_cells(const pc_array *array, size_t columns, pc_column_role as,
                                       int in_place) {
  const pc_element_type *type = &array->type;
  if (as == PC_COLUMN_TEXT || (as == PC_COLUMN_LABELS && array->names != NULL && columns == 1))
    return PC_CELLS_TEXT;
  if (as == PC_COLUMN_SCORES && type->kind == PC_ELEMENT_FLOAT && type->size <= 4)
    return PC_CELLS_F32;
  return as == PC_COLUMN_LABELS && in_place && columns == 1 ? array_reader_label_cells(type)
                                                            : PC_CELLS_F64;
}

/* True for scores, and for labels of one column as label_reader.c takes them from a device. */
static int array_reader_stays(const pc_reader *reader, pc_column_role as) {
  const array_reader_state *state = reader->state;
  const pc_array *array = &state->array;
  if (array->device == NULL || array->copied || !state->is_view)
    return 0;
  return as == PC_COLUMN_SCORES ||
         (as == PC_COLUMN_LABELS && array->labels_stay &&
          (reader->cells == PC_CELLS_I32 || reader->cells == PC_CELLS_I64 ||
           reader->cells == PC_CELLS_U8));
}

/* Chooses the cell type, and between a view and conversion. */
static void array_reader_plan(pc_reader *reader, pc_column_role as) {
  array_reader_state *state = reader->state;
  const pc_array *array = &state->array;
  const size_t size = array->type.size, columns = reader->columns;
  const int is_float = array->type.kind == PC_ELEMENT_FLOAT,
            direct = array_reader_direct(array);
  const int no_gaps = array_reader_no_gaps(state, columns);
  reader->cells = array_reader_cells(array, columns, as, direct && no_gaps);
  if (as == PC_COLUMN_SCORES)
    state->is_view = direct && state->chosen_stride != 0 && is_float && size >= 4;
  else if (reader->cells != PC_CELLS_TEXT)
    state->is_view =
        reader->cells != PC_CELLS_F64 || (direct && no_gaps && is_float && size == 8);
  reader->float16 = is_float && size == 2;
  state->left_on_device = reader->on_device = array_reader_stays(reader, as);
  reader->device = reader->on_device ? state->array.device : NULL;
  state->element_size = reader->cells == PC_CELLS_F32    ? sizeof(float)
                        : reader->cells == PC_CELLS_TEXT ? sizeof(pc_slice)
                                                         : sizeof(double);
  const size_t letters =
      reader->cells == PC_CELLS_TEXT && array->names == NULL ? PC_ELEMENT_TEXT_MAX : 0;
  reader->window_limit =
      state->is_view ? SIZE_MAX : pc_window_rows(columns * (state->element_size + letters));
  if (array_reader_staged(state) && state->stage_rows < reader->window_limit)
    reader->window_limit = state->stage_rows;
}

static const pc_reader_calls array_reader_calls = {
    array_reader_next, array_reader_rewind, array_reader_line, array_reader_close, NULL, NULL};

pcal_status pc_array_reader_open(const pc_array *array, const pc_read_request *request,
                                 pc_reader *out, pcal_error *err) {
  array_reader_state *state = pc_alloc(request->env, 1, sizeof *state);
  if (state == NULL)
    return pc_fail_memory(err, "opening an array");
  out->calls = &array_reader_calls;
  out->state = state;
  state->array = *array;
  if (array->columns == 1)
    state->array.column_stride = (ptrdiff_t)array->type.size;
  out->rows = array->rows;
  out->file_columns = array->columns;
  out->listed = array->listed;
  state->on_device = array->device == NULL ? NULL : array->first;
  if (array->file != NULL || array->device != NULL)
    array_reader_stage_plan(state);
  PC_TRY(pc_read_request_columns(request, NULL, array->columns, &state->chosen, &out->columns,
                                 err));
  array_reader_space_columns(state, out->columns);
  pc_element_type_text(&array->type, out->stored, sizeof out->stored);
  array_reader_plan(out, request->as);
  return PCAL_OK;
}
