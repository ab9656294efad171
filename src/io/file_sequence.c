/* Edge cases:
 *  1. a window never crosses the end of a file, so that its place names one file.  `ready` reads
 *     the next window of the current file, and `next` returns rows of it, so that other readers
 *     can be asked for as many.
 *  2. names and numbers of columns and the type of cells must be the same in all files.
 *  3. the number of rows is known if it is for every file.
 *  4. ragged scores: the columns are all names of the files, in order of appearance, or without
 *     names as many as the widest file has.  A file that lacks some has NaN there. */
#include "io/file_sequence.h"

#include <math.h>
#include <string.h>

typedef struct sequence_state {
  pc_reader *parts;
  size_t count, current;
  uint64_t before;  /* rows of the current file before `window` */
  pc_window window; /* of the current file */
  size_t used;      /* rows of it returned */
  size_t first;     /* its first row in the last window returned */
  /* Ragged scores of files with different columns; else from is NULL. */
  size_t *from;        /* [file][column]: the column of the file, or SEQUENCE_ABSENT; owned */
  pc_name_table names; /* of all columns */
  void *joined;        /* the last window with all columns; owned */
  size_t capacity;
} sequence_state;

#define SEQUENCE_ABSENT SIZE_MAX

static void sequence_close(pc_reader *reader) {
  sequence_state *state = reader->state;
  for (size_t i = 0; i < state->count; i++)
    pc_reader_close(&state->parts[i]);
  pc_free(reader->env, state->parts);
  pc_free(reader->env, state->from);
  pc_free(reader->env, state->joined);
  pc_name_table_free(&state->names);
  pc_free(reader->env, state);
  reader->state = NULL;
}

static void sequence_rewind(pc_reader *reader) {
  sequence_state *state = reader->state;
  for (size_t i = 0; i < state->count; i++)
    pc_reader_rewind(&state->parts[i]);
  state->current = 0;
  state->before = 0;
  state->window = (pc_window){0};
  state->used = state->first = 0;
  reader->bytes = state->parts[0].bytes;
}

static uint64_t sequence_line(const pc_reader *reader, size_t row) {
  const sequence_state *state = reader->state;
  const pc_reader *part = &state->parts[state->current];
  return part->calls->line(part, state->first + row);
}

static uint64_t sequence_file_row(const pc_reader *reader, size_t row) {
  const sequence_state *state = reader->state;
  return state->before + state->first + row;
}

/* Reads the next window of the current file, or of the next one with rows left. */
static pcal_status sequence_fill(pc_reader *reader, pcal_error *err) {
  sequence_state *state = reader->state;
  if (state->used < state->window.rows)
    return PCAL_OK;
  for (;;) {
    pc_reader *part = &state->parts[state->current];
    state->before += state->window.rows;
    state->used = state->first = 0;
    PC_TRY(pc_reader_next(part, reader->window_limit, &state->window, err));
    if (state->window.rows > 0 || state->current + 1 == state->count)
      return PCAL_OK;
    state->current++;
    state->before = 0;
    reader->bytes = state->parts[state->current].bytes;
  }
}

static pcal_status sequence_ready(pc_reader *reader, size_t *rows, pcal_error *err) {
  const sequence_state *state = reader->state;
  PC_TRY(sequence_fill(reader, err));
  *rows = state->window.rows - state->used;
  return PCAL_OK;
}

/* Rows of all files; PCAL_NO_ROW while those of one are unknown. */
static uint64_t sequence_rows(const sequence_state *state) {
  uint64_t rows = 0;
  for (size_t i = 0; i < state->count; i++) {
    if (state->parts[i].rows == PCAL_NO_ROW)
      return PCAL_NO_ROW;
    rows += state->parts[i].rows;
  }
  return rows;
}

/* Copies a window of one file, with NaN in the columns that it lacks. */
static pcal_status sequence_widen(const pc_reader *reader, pc_window *window, pcal_error *err) {
  sequence_state *state = reader->state;
  const size_t *from = state->from + state->current * reader->columns;
  const size_t item = reader->cells == PC_CELLS_F32 ? sizeof(float) : sizeof(double);
  const float narrow = (float)NAN;
  const double wide = (double)NAN;
  const void *absent = reader->cells == PC_CELLS_F32 ? (const void *)&narrow : &wide;
  PC_TRY(pc_reserve(reader->env, &state->joined, &state->capacity,
                    window->rows * reader->columns, item, err));
  char *to = state->joined;
  for (size_t i = 0; i < window->rows; i++) {
    const char *row = (const char *)window->data + (ptrdiff_t)i * window->row_stride;
    for (size_t k = 0; k < reader->columns; k++, to += item)
      memcpy(to,
             from[k] == SEQUENCE_ABSENT ? absent
                                        : row + (ptrdiff_t)from[k] * window->column_stride,
             item);
  }
  window->data = state->joined;
  window->row_stride = (ptrdiff_t)(reader->columns * item);
  window->column_stride = (ptrdiff_t)item;
  return PCAL_OK;
}

static pcal_status sequence_next(pc_reader *reader, size_t max_rows, pc_window *out,
                                 pcal_error *err) {
  sequence_state *state = reader->state;
  PC_TRY(sequence_fill(reader, err));
  const size_t left = state->window.rows - state->used;
  *out = state->window;
  out->rows = left < max_rows ? left : max_rows;
  if (out->rows > 0)
    out->data =
        (const char *)state->window.data + (ptrdiff_t)state->used * state->window.row_stride;
  state->first = state->used;
  state->used += out->rows;
  if (state->current + 1 == state->count)
    reader->rows = sequence_rows(state);
  return state->from == NULL || out->rows == 0 ? PCAL_OK : sequence_widen(reader, out, err);
}

static const pc_reader_calls sequence_calls = {sequence_next,  sequence_rewind,
                                               sequence_line,  sequence_close,
                                               sequence_ready, sequence_file_row};

/* The first column whose name differs, or the number of columns. */
static size_t sequence_other_name(const pc_reader *a, const pc_reader *b) {
  size_t i = a->names == NULL || b->names == NULL ? a->columns : 0;
  while (i < a->columns && strcmp(a->names[i], b->names[i]) == 0)
    i++;
  return i;
}

static pcal_status sequence_check_types(const pc_reader *first, const pc_reader *other,
                                        pcal_error *err) {
  if (other->cells == first->cells && other->listed == first->listed)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA,
                 "%s contains %s, but %s contains %s; save both with the same type",
                 other->bytes->name, other->stored, first->bytes->name, first->stored);
}

static pcal_status sequence_check(const pc_reader *first, const pc_reader *other,
                                  pcal_error *err) {
  char here[PC_CLIP_MAX], there[PC_CLIP_MAX];
  if (other->columns != first->columns)
    return pc_fail(err, PCAL_DATA,
                   "%s has %zu column%s, but %s has %zu; files that are read as one need the "
                   "same columns",
                   other->bytes->name, other->columns, other->columns == 1 ? "" : "s",
                   first->bytes->name, first->columns);
  if (other->depth != first->depth)
    return pc_fail(err, PCAL_DATA,
                   "%s has samples of another shape than %s; files that are read as one need "
                   "the same dimensions",
                   other->bytes->name, first->bytes->name);
  if ((first->names == NULL) != (other->names == NULL))
    return pc_fail(err, PCAL_DATA,
                   "%s has no header, but %s has one; give both the same, or say so with "
                   "{header_yes} or {header_no}",
                   first->names == NULL ? first->bytes->name : other->bytes->name,
                   first->names == NULL ? other->bytes->name : first->bytes->name);
  const size_t name = sequence_other_name(first, other);
  if (name < first->columns)
    return pc_fail(err, PCAL_DATA,
                   "%s calls column %zu \"%s\", but %s calls it \"%s\"; files that are read as "
                   "one need the same columns in the same order",
                   other->bytes->name, name, pc_clip(pc_slice_of(other->names[name]), here),
                   first->bytes->name, pc_clip(pc_slice_of(first->names[name]), there));
  return sequence_check_types(first, other, err);
}

/* True if the files have ragged scores with other columns, either all with names or all without. */
static int sequence_needs_widening(const sequence_state *state) {
  const pc_reader *first = &state->parts[0];
  int other = 0;
  for (size_t i = 0; i < state->count; i++) {
    const pc_reader *part = &state->parts[i];
    if ((part->names == NULL) != (first->names == NULL) ||
        (part->cells != PC_CELLS_F32 && part->cells != PC_CELLS_F64))
      return 0;
    other |=
        part->columns != first->columns || sequence_other_name(first, part) < first->columns;
  }
  return other;
}

/* Finds the columns of all files: by name, or as many as the widest has. */
static pcal_status sequence_join(pc_reader *reader, pcal_error *err) {
  sequence_state *state = reader->state;
  const int named = state->parts[0].names != NULL;
  uint32_t number = 0;
  reader->columns = 0;
  for (size_t i = 0; i < state->count; i++)
    for (size_t k = 0; k < state->parts[i].columns; k++) {
      if (named)
        PC_TRY(pc_name_table_add(&state->names, pc_slice_of(state->parts[i].names[k]), &number,
                                 err));
      if ((named ? number : k) + 1 > reader->columns)
        reader->columns = (named ? number : k) + 1;
    }
  state->from = pc_alloc_raw(reader->env, state->count * reader->columns, sizeof *state->from);
  if (state->from == NULL)
    return pc_fail_memory(err, "opening several files");
  for (size_t i = 0; i < state->count * reader->columns; i++)
    state->from[i] = SEQUENCE_ABSENT;
  for (size_t i = 0; i < state->count; i++)
    for (size_t k = 0; k < state->parts[i].columns; k++) {
      number = (uint32_t)k;
      if (named)
        PC_TRY(pc_name_table_add(&state->names, pc_slice_of(state->parts[i].names[k]), &number,
                                 err));
      state->from[i * reader->columns + number] = k;
    }
  reader->names = named ? (const char *const *)state->names.text : NULL;
  return PCAL_OK;
}

static pcal_status sequence_shape(pc_reader *reader, int ragged, pcal_error *err) {
  const sequence_state *state = reader->state;
  const pc_reader *first = &state->parts[0];
  reader->format = first->format;
  reader->bytes = first->bytes;
  reader->cells = first->cells;
  reader->columns = first->columns;
  reader->depth = first->depth;
  reader->listed = first->listed;
  reader->names = first->names;
  reader->keyed = first->keyed;
  reader->file_columns = first->file_columns;
  reader->headed = first->headed;
  reader->delimiter = first->delimiter;
  reader->window_limit = first->window_limit;
  memcpy(reader->stored, first->stored, sizeof reader->stored);
  const int joined = ragged && sequence_needs_widening(state);
  if (joined)
    PC_TRY(sequence_join(reader, err));
  for (size_t i = 0; i < state->count; i++) {
    const pc_reader *part = &state->parts[i];
    reader->decimal_comma |= part->decimal_comma;
    if (part->delimiter == ';')
      reader->delimiter = ';';
    PC_TRY(joined ? sequence_check_types(first, part, err) : sequence_check(first, part, err));
    if (part->window_limit < reader->window_limit)
      reader->window_limit = part->window_limit;
  }
  reader->rows = sequence_rows(state);
  return PCAL_OK;
}

pcal_status pc_file_sequence_open(pc_reader *parts, size_t count, int ragged,
                                  const pcal_env *env, pc_reader *out, pcal_error *err) {
  sequence_state *state = pc_alloc(env, 1, sizeof *state);
  *out = (pc_reader){.env = env, .calls = &sequence_calls, .state = state};
  if (state == NULL) {
    for (size_t i = 0; i < count; i++)
      pc_reader_close(&parts[i]);
    pc_free(env, parts);
    return pc_fail_memory(err, "opening several files");
  }
  state->parts = parts;
  state->count = count;
  pc_name_table_init(&state->names, env);
  const pcal_status status = sequence_shape(out, ragged, err);
  if (status != PCAL_OK)
    pc_reader_close(out);
  return status;
}
