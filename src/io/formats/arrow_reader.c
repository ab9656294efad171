/* A window points into a batch if no value is null and no conversion is needed:
 *   scores   one column of float32 or float64, or of lists of these without gaps
 *   numbers  float64
 *   labels   int32
 * Everything else is copied window by window. */
#include "io/formats/arrow_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/formats/arrow_lists.h"
#include "io/formats/container_member.h"

typedef struct arrow_reader_state {
  pc_arrow_table *table;
  pc_arrow_column *columns;
  size_t count;
  const char **names; /* of the columns, owned by the schema */
  char *name;         /* "arrow:probs" */
  pc_input_file bytes;
  int viewable; /* windows may point into a batch */
  size_t element_size;
  void *buffer;
  size_t capacity; /* rows */
  char *letters;   /* text of numbers, PC_ELEMENT_TEXT_MAX bytes for each cell */
  size_t batch;    /* position of the next window: batch and row in it */
  uint64_t row;
  uint64_t before;  /* rows of the batches before that one */
  uint64_t fitting; /* rows of that batch, from the first on, whose lists were seen to fit */
} arrow_reader_state;

static void arrow_reader_close(pc_reader *reader) {
  arrow_reader_state *state = reader->state;
  pc_free(reader->env, state->columns);
  pc_free(reader->env, state->names);
  pc_free(reader->env, state->name);
  pc_free(reader->env, state->buffer);
  pc_free(reader->env, state->letters);
  pc_free(reader->env, state);
  reader->state = NULL;
}

static void arrow_reader_rewind(pc_reader *reader) {
  arrow_reader_state *state = reader->state;
  state->batch = 0;
  state->before = 0;
  state->row = 0;
  state->fitting = 0;
}

static uint64_t arrow_reader_line(const pc_reader *reader, size_t row) {
  (void)reader;
  (void)row;
  return 0;
}

static pcal_status arrow_reader_reserve(const pc_reader *reader, size_t rows, pcal_error *err) {
  arrow_reader_state *state = reader->state;
  if (rows <= state->capacity)
    return PCAL_OK;
  void *buffer =
      pc_resize(reader->env, state->buffer, rows, reader->columns * state->element_size);
  if (buffer == NULL)
    return pc_fail_memory(err, "reading Arrow data");
  state->buffer = buffer;
  if (reader->cells == PC_CELLS_TEXT) {
    char *letters =
        pc_resize(reader->env, state->letters, rows, reader->columns * PC_ELEMENT_TEXT_MAX);
    if (letters == NULL)
      return pc_fail_memory(err, "reading Arrow data");
    state->letters = letters;
  }
  state->capacity = rows;
  return PCAL_OK;
}

/* ---- Values ---- */

static void arrow_reader_set_missing(const pc_reader *reader, size_t index) {
  const arrow_reader_state *state = reader->state;
  if (reader->cells == PC_CELLS_F32)
    ((float *)state->buffer)[index] = NAN;
  else if (reader->cells == PC_CELLS_F64)
    ((double *)state->buffer)[index] = NAN;
  else
    ((int32_t *)state->buffer)[index] = PCAL_MISSING_LABEL;
}

/* Copies value j of each row to every `columns`-th element of the buffer, from `place`. */
static void arrow_reader_numbers(const pc_reader *reader, const pc_arrow_part *part, size_t row,
                                 size_t rows, size_t j, size_t place) {
  const arrow_reader_state *state = reader->state;
  const pc_element_type *type = &part->column->number;
  const pc_element_run run = {pc_arrow_part_at(part, row) + j * type->size,
                              (ptrdiff_t)(part->column->width * type->size), rows};
  if (reader->cells == PC_CELLS_F32)
    pc_elements_to_float(type, &run, (float *)state->buffer + place, reader->columns);
  else if (reader->cells == PC_CELLS_F64)
    pc_elements_to_double(type, &run, (double *)state->buffer + place, reader->columns);
  else
    memcpy(state->buffer, run.first, rows * sizeof(int32_t));
}

static void arrow_reader_booleans(const pc_reader *reader, const pc_arrow_part *part,
                                  size_t row, size_t rows) {
  const arrow_reader_state *state = reader->state;
  for (size_t i = 0; i < rows; i++)
    ((double *)state->buffer)[i] = pc_arrow_part_true(part, row + i) ? 1.0 : 0.0;
}

static void arrow_reader_list(const pc_reader *reader, const pc_arrow_part *part,
                              uint64_t first, size_t size, size_t to) {
  const arrow_reader_state *state = reader->state;
  const pc_element_type *type = &part->column->number;
  const pc_element_run run = {pc_arrow_part_value(part, first), (ptrdiff_t)type->size, size};
  if (reader->cells == PC_CELLS_F32)
    pc_elements_to_float(type, &run, (float *)state->buffer + to, 1);
  else
    pc_elements_to_double(type, &run, (double *)state->buffer + to, 1);
}

/* Copies lists with offsets, which may lie anywhere; what a row lacks is missing. */
static void arrow_reader_lists(const pc_reader *reader, const pc_arrow_part *part, size_t row,
                               size_t rows) {
  const size_t width = part->column->width;
  for (size_t i = 0; i < rows; i++) {
    size_t first;
    const size_t size = pc_arrow_lists_values(part, row + i, &first);
    if (size > 0)
      arrow_reader_list(reader, part, first, size, i * width);
    for (size_t j = 0; j < width; j++)
      if (j >= size || pc_arrow_part_value_null(part, first + j))
        arrow_reader_set_missing(reader, i * width + j);
  }
}

/* Copies a column of numbers, booleans or lists. */
static void arrow_reader_gather(const pc_reader *reader, const pc_arrow_part *part, size_t row,
                                size_t rows, size_t place) {
  const size_t width = part->column->width;
  if (part->offsets != NULL) {
    arrow_reader_lists(reader, part, row, rows);
    return;
  }
  if (part->column->kind == PC_ARROW_BOOL)
    arrow_reader_booleans(reader, part, row, rows);
  else if (!part->column->nulls)
    for (size_t j = 0; j < width; j++)
      arrow_reader_numbers(reader, part, row, rows, j, place + j);
  if (pc_arrow_part_full(part))
    return;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < width; j++)
      if (pc_arrow_part_null(part, row + i, j))
        arrow_reader_set_missing(reader, i * reader->columns + place + j);
}

static pcal_status arrow_reader_texts(const pc_reader *reader, const pc_arrow_part *part,
                                      size_t row, size_t rows, size_t place, pcal_error *err) {
  const arrow_reader_state *state = reader->state;
  const pc_arrow_column *column = part->column;
  for (size_t i = 0; i < rows; i++) {
    const size_t cell = i * reader->columns + place;
    pc_slice *out = (pc_slice *)state->buffer + cell;
    char *letters = state->letters + cell * PC_ELEMENT_TEXT_MAX;
    *out = (pc_slice){"", 0};
    if (pc_arrow_part_null(part, row + i, 0))
      continue;
    if (column->kind == PC_ARROW_BOOL)
      *out = pc_slice_of(pc_arrow_part_true(part, row + i) ? "true" : "false");
    else if (column->kind == PC_ARROW_NUMBER)
      *out = (pc_slice){letters, pc_element_to_text(&column->number,
                                                    pc_arrow_part_at(part, row + i), letters)};
    else
      PC_TRY(pc_arrow_part_text(part, row + i, out, err));
  }
  return PCAL_OK;
}

/* ---- Windows ---- */

/* Finds the first column in a batch and checks its lists.  Sets *first to the index of the first
 * value if the values of the rows are adjacent, else to -1. */
static pcal_status arrow_reader_enter(const pc_reader *reader, const struct ArrowArray *batch,
                                      size_t rows, pc_arrow_part *out, int64_t *first,
                                      pcal_error *err) {
  const arrow_reader_state *state = reader->state;
  PC_TRY(pc_arrow_part_find(&state->columns[0], batch, out, err));
  *first = (int64_t)(state->row * state->columns[0].width);
  if (out->offsets == NULL)
    return PCAL_OK;
  return pc_arrow_lists_check(out, (size_t)state->row, rows, reader->first_row + state->before,
                              first, err);
}

static int arrow_reader_is_view(const arrow_reader_state *state, const pc_arrow_part *part,
                                int64_t first) {
  return state->viewable && first >= 0 && pc_arrow_part_full(part) &&
         (uintptr_t)pc_arrow_part_value(part, (uint64_t)first) % state->element_size == 0;
}

static pcal_status arrow_reader_window(const pc_reader *reader, const struct ArrowArray *batch,
                                       pc_window *out, pcal_error *err) {
  const arrow_reader_state *state = reader->state;
  const size_t row = (size_t)state->row;
  int64_t first;
  pc_arrow_part part;
  out->column_stride = (ptrdiff_t)state->element_size;
  out->row_stride = (ptrdiff_t)(reader->columns * state->element_size);
  PC_TRY(arrow_reader_enter(reader, batch, out->rows, &part, &first, err));
  if (arrow_reader_is_view(state, &part, first)) {
    out->data = pc_arrow_part_value(&part, (uint64_t)first);
    return PCAL_OK;
  }
  PC_TRY(arrow_reader_reserve(reader, out->rows, err));
  out->data = state->buffer;
  for (size_t i = 0; i < state->count; i++) {
    if (i > 0)
      PC_TRY(pc_arrow_part_find(&state->columns[i], batch, &part, err));
    if (reader->cells == PC_CELLS_TEXT)
      PC_TRY(arrow_reader_texts(reader, &part, row, out->rows, i, err));
    else
      arrow_reader_gather(reader, &part, row, out->rows, i);
  }
  return PCAL_OK;
}

/* Sets *batch to the batch of the next row; NULL at the end. */
static pcal_status arrow_reader_seek(pc_reader *reader, const struct ArrowArray **batch,
                                     pcal_error *err) {
  arrow_reader_state *state = reader->state;
  for (;;) {
    PC_TRY(pc_arrow_table_batch(state->table, state->batch, batch, err));
    if (*batch == NULL)
      reader->rows = state->table->rows;
    if (*batch == NULL || state->row < (uint64_t)(*batch)->length)
      return PCAL_OK;
    state->before += (uint64_t)(*batch)->length;
    state->batch++;
    state->row = 0;
    state->fitting = 0;
  }
}

/* Limits the next window to rows before the first list that does not fit, unless it begins
 * there. */
static pcal_status arrow_reader_limit(const pc_reader *reader, const struct ArrowArray *batch,
                                      size_t *rows, pcal_error *err) {
  arrow_reader_state *state = reader->state;
  const uint64_t end = state->row + *rows;
  pc_arrow_part part;
  PC_TRY(pc_arrow_part_find(&state->columns[0], batch, &part, err));
  if (state->fitting < state->row)
    state->fitting = state->row;
  if (state->fitting < end)
    state->fitting +=
        pc_arrow_lists_fitting(&part, (size_t)state->fitting, (size_t)(end - state->fitting));
  if (state->fitting < end && state->fitting > state->row)
    *rows = (size_t)(state->fitting - state->row);
  return PCAL_OK;
}

static pcal_status arrow_reader_ready(pc_reader *reader, size_t *rows, pcal_error *err) {
  const arrow_reader_state *state = reader->state;
  const struct ArrowArray *batch = NULL;
  PC_TRY(arrow_reader_seek(reader, &batch, err));
  *rows = batch == NULL ? 0 : (size_t)((uint64_t)batch->length - state->row);
  *rows = *rows > reader->window_limit ? reader->window_limit : *rows;
  return batch == NULL || !state->columns[0].has_offsets
             ? PCAL_OK
             : arrow_reader_limit(reader, batch, rows, err);
}

static pcal_status arrow_reader_next(pc_reader *reader, size_t max_rows, pc_window *out,
                                     pcal_error *err) {
  arrow_reader_state *state = reader->state;
  const struct ArrowArray *batch = NULL;
  PC_TRY(arrow_reader_seek(reader, &batch, err));
  if (batch == NULL)
    return PCAL_OK;
  const uint64_t left = (uint64_t)batch->length - state->row;
  out->rows = max_rows < left ? max_rows : (size_t)left;
  PC_TRY(arrow_reader_window(reader, batch, out, err));
  state->row += out->rows;
  return PCAL_OK;
}

static const pc_reader_calls arrow_reader_calls = {arrow_reader_next,  arrow_reader_rewind,
                                                   arrow_reader_line,  arrow_reader_close,
                                                   arrow_reader_ready, NULL};
static const pc_file_format arrow_reader_format = {
    "arrow", "", "Arrow record batches", NULL, NULL, NULL, 0};

/* ---- Opening ---- */

static pcal_status arrow_reader_unfit(const pc_arrow_column *column, const char *what,
                                      pcal_error *err) {
  char shown[PC_CLIP_MAX];
  return pc_fail(err, PCAL_DATA, "%s, column \"%s\": %-s", column->file,
                 pc_clip(pc_slice_of(column->name), shown), what);
}

static pcal_status arrow_reader_check_column(const pc_arrow_column *column, pc_column_role as,
                                             size_t count, pcal_error *err) {
  const int wants_numbers = as == PC_COLUMN_SCORES || as == PC_COLUMN_NUMBERS;
  if (wants_numbers && column->kind != PC_ARROW_NUMBER)
    return arrow_reader_unfit(column, "numbers are required; cast it to float64", err);
  if (column->is_list && as != PC_COLUMN_SCORES)
    return arrow_reader_unfit(column, "only scores may be lists; give one value for each row",
                              err);
  if (column->is_list && count > 1)
    return arrow_reader_unfit(column,
                              "it contains lists; name only this column, or one column "
                              "for each class",
                              err);
  return PCAL_OK;
}

static pcal_status arrow_reader_find_columns(const char *const *names, pc_column_role as,
                                             pc_reader *reader, pcal_error *err) {
  arrow_reader_state *state = reader->state;
  for (size_t i = 0; i < state->count; i++) {
    PC_TRY(pc_arrow_column_find(state->table, names[i], &state->columns[i], err));
    PC_TRY(arrow_reader_check_column(&state->columns[i], as, state->count, err));
    if (state->columns[i].has_offsets)
      PC_TRY(pc_arrow_lists_width(state->table, &state->columns[i], err));
    state->names[i] = state->columns[i].name;
    for (size_t j = 0; j < i; j++)
      if (state->columns[j].child == state->columns[i].child)
        return arrow_reader_unfit(&state->columns[i], "it is named twice; name it once", err);
  }
  reader->columns = state->columns[0].is_list ? state->columns[0].width : state->count;
  reader->listed = state->columns[0].is_list;
  reader->names = state->columns[0].is_list ? NULL : state->names;
  return PCAL_OK;
}

/* Chooses the cell type, and whether windows may be views. */
static void arrow_reader_plan(pc_reader *reader, pc_column_role as) {
  arrow_reader_state *state = reader->state;
  const pc_arrow_column *column = &state->columns[0];
  const int is_number = column->kind == PC_ARROW_NUMBER;
  const int is_float = is_number && column->number.kind == PC_ELEMENT_FLOAT;
  int narrow = 1;
  for (size_t i = 0; i < state->count; i++)
    narrow &=
        state->columns[i].number.kind == PC_ELEMENT_FLOAT && state->columns[i].number.size <= 4;
  reader->cells = PC_CELLS_F64;
  if (as == PC_COLUMN_SCORES && narrow)
    reader->cells = PC_CELLS_F32;
  else if (as == PC_COLUMN_TEXT ||
           (as == PC_COLUMN_LABELS && !is_number && column->kind != PC_ARROW_BOOL))
    reader->cells = PC_CELLS_TEXT;
  else if (as == PC_COLUMN_LABELS && is_number && column->number.kind == PC_ELEMENT_SIGNED &&
           column->number.size == sizeof(int32_t))
    reader->cells = PC_CELLS_I32;
  state->element_size = reader->cells == PC_CELLS_F64    ? sizeof(double)
                        : reader->cells == PC_CELLS_TEXT ? sizeof(pc_slice)
                                                         : sizeof(float);
  state->viewable = state->count == 1 && reader->cells != PC_CELLS_TEXT &&
                    (is_float || reader->cells == PC_CELLS_I32) &&
                    column->number.size == state->element_size;
  const size_t letters = reader->cells == PC_CELLS_TEXT ? PC_ELEMENT_TEXT_MAX : 0;
  reader->window_limit =
      state->viewable ? SIZE_MAX
                      : pc_window_rows(reader->columns * (state->element_size + letters));
}

static pcal_status arrow_reader_fill(const char *const *names, pc_column_role as,
                                     pc_reader *reader, pcal_error *err) {
  arrow_reader_state *state = reader->state;
  state->columns = pc_alloc(reader->env, state->count, sizeof *state->columns);
  state->names = pc_alloc(reader->env, state->count, sizeof *state->names);
  if (state->columns == NULL || state->names == NULL)
    return pc_fail_memory(err, "opening Arrow data");
  PC_TRY(arrow_reader_find_columns(names, as, reader, err));
  state->name = state->count == 1 && !state->table->takes_plain
                    ? pc_container_member_name(reader->env, state->table->name, names[0])
                    : pc_copy_text(reader->env, state->table->name);
  if (state->name == NULL)
    return pc_fail_memory(err, "opening Arrow data");
  pc_input_file_from_memory(state->name, "", 0, &state->bytes);
  reader->bytes = &state->bytes;
  reader->rows = pc_arrow_table_ended(state->table) ? state->table->rows : PCAL_NO_ROW;
  reader->file_columns = reader->columns;
  arrow_reader_plan(reader, as);
  snprintf(reader->stored, sizeof reader->stored, "Arrow");
  return PCAL_OK;
}

pcal_status pc_arrow_reader_open(pc_arrow_table *table, const char *const *names, size_t count,
                                 pc_column_role as, pc_reader *out, pcal_error *err) {
  *out = (pc_reader){
      .format = &arrow_reader_format, .env = table->env, .calls = &arrow_reader_calls};
  arrow_reader_state *state = pc_alloc(table->env, 1, sizeof *state);
  if (state == NULL) {
    *out = (pc_reader){0};
    return pc_fail_memory(err, "opening Arrow data");
  }
  state->table = table;
  state->count = count;
  out->state = state;
  const pcal_status status = arrow_reader_fill(names, as, out, err);
  if (status != PCAL_OK)
    pc_reader_close(out);
  return status;
}
