/* Forms of a label:
 *  1. a whole number of any type: 3, 3.0, true; it must fit in 32 bits.
 *  2. a row of k numbers, one 1 and otherwise 0 (one-hot): the position of the 1.
 *  3. in a text file, the name of a score column; names are tried first, so a class may be
 *     called "2" or "None".
 *  4. with `positive`, that word is 1 and one other word is 0; True, true and TRUE are the same.
 *  5. NaN, a missing cell, or the smallest int32, as R writes it: PCAL_MISSING_LABEL. */
#include "io/label_reader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/number.h"

#define LABEL_READER_ROWS ((size_t)1 << 20) /* converted at a time */

/* Position of a label, for messages. */
typedef struct label_reader_place {
  const pc_label_reader *labels;
  size_t row;     /* in the window */
  uint64_t index; /* in the data set */
} label_reader_place;

size_t pc_label_reader_limit(const pc_label_reader *labels) {
  return labels->reader->window_limit < LABEL_READER_ROWS ||
                 labels->reader->cells == PC_CELLS_I32
             ? labels->reader->window_limit
             : LABEL_READER_ROWS;
}

static pcal_status label_reader_fail(const label_reader_place *place, const char *shown,
                                     const char *why, const char *remedy, pcal_error *err) {
  const pc_place at = pc_reader_place(place->labels->reader, place->row, place->index);
  return pc_fail_at(err, PCAL_DATA, &at, "the label %s %-s; %-s", shown, why, remedy);
}

static pcal_status label_reader_from_number(const label_reader_place *place, double value,
                                            int32_t *out, pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  *out = PCAL_MISSING_LABEL;
  if (isnan(value))
    return PCAL_OK;
  if (value < (double)INT32_MIN || value > (double)INT32_MAX)
    return label_reader_fail(place, pc_show(value, shown), "does not fit 32 bits",
                             place->labels->meaning, err);
  if (value != floor(value))
    return label_reader_fail(
        place, pc_show(value, shown),
        value > 0.0 && value < 1.0
            ? "is not a whole number and looks like a score (are the two swapped?)"
            : "is not a whole number",
        place->labels->meaning, err);
  *out = (int32_t)value;
  return PCAL_OK;
}

static pcal_status label_reader_unknown_name(const label_reader_place *place, pc_slice text,
                                             pcal_error *err) {
  char shown[PC_CLIP_MAX], near[PC_CLIP_MAX];
  const pc_label_reader *labels = place->labels;
  const pc_place at = pc_reader_place(labels->reader, place->row, place->index);
  pc_clip(text, shown);
  if (labels->classes->count == 0)
    return pc_fail_at(err, PCAL_DATA, &at,
                      labels->binary
                          ? "the label \"%s\" is a name, but the scores in %s have none; give "
                            "class numbers, or {positive_label}"
                          : "the label \"%s\" is a name, but the scores in %s have none; give "
                            "class numbers, or {named_scores}",
                      shown, labels->scores_name);
  const char *nearest = pc_name_table_nearest(labels->classes, text);
  if (nearest == NULL)
    return pc_fail_at(err, PCAL_DATA, &at,
                      "the label \"%s\" is not the name of a score column in %s; give such a "
                      "name or a class number",
                      shown, labels->scores_name);
  return pc_fail_at(err, PCAL_DATA, &at,
                    "the label \"%s\" is not the name of a score column in %s; did you mean "
                    "\"%s\"?",
                    shown, labels->scores_name, pc_clip(pc_slice_of(nearest), near));
}

static int label_reader_is_word(pc_slice text, const char *word, const char *title,
                                const char *capitals) {
  return pc_slice_is(text, word) || pc_slice_is(text, title) || pc_slice_is(text, capitals);
}

/* True if a label is this word; true and false are found in any of their spellings. */
static int label_reader_equals(pc_slice text, const char *word) {
  const pc_slice other = pc_slice_of(word);
  return pc_slice_is(text, word) ||
         (label_reader_is_word(text, "true", "True", "TRUE") &&
          label_reader_is_word(other, "true", "True", "TRUE")) ||
         (label_reader_is_word(text, "false", "False", "FALSE") &&
          label_reader_is_word(other, "false", "False", "FALSE"));
}

/* A label is `positive`, missing, or the same other word in every row. */
static pcal_status label_reader_from_pair(const label_reader_place *place,
                                          pc_label_reader *labels, pc_slice text, int32_t *out,
                                          pcal_error *err) {
  char shown[PC_CLIP_MAX], one[PC_CLIP_MAX], other[PC_CLIP_MAX];
  text = pc_slice_trim(text, "\t");
  *out = label_reader_equals(text, labels->positive);
  if (*out == 1 || (labels->negative != NULL && label_reader_equals(text, labels->negative)))
    return PCAL_OK;
  *out = PCAL_MISSING_LABEL;
  if (pc_slice_is_missing(text))
    return PCAL_OK;
  *out = 0;
  if (labels->negative == NULL) {
    labels->negative = pc_alloc(labels->reader->env, text.length + 1, 1);
    if (labels->negative == NULL)
      return pc_fail_memory(err, "reading labels");
    memcpy(labels->negative, text.bytes, text.length);
    return PCAL_OK;
  }
  const pc_place at = pc_reader_place(labels->reader, place->row, place->index);
  return pc_fail_at(err, PCAL_DATA, &at,
                    "the label \"%s\" is neither \"%s\" nor \"%s\"; with {positive} there are "
                    "two labels, so correct it, or give scores of every class",
                    pc_clip(text, shown), pc_clip(pc_slice_of(labels->positive), one),
                    pc_clip(pc_slice_of(labels->negative), other));
}

static pcal_status label_reader_from_text(const label_reader_place *place, pc_slice text,
                                          int32_t *out, pcal_error *err) {
  uint32_t number = 0;
  double value = 0;
  const size_t guard = (size_t)pc_csv_guarded(text.bytes, text.length);
  const pc_slice bare = {text.bytes + guard, text.length - guard};
  if (pc_name_table_find(place->labels->classes, text, &number) ||
      (guard > 0 && pc_name_table_find(place->labels->classes, bare, &number))) {
    *out = (int32_t)number;
    return PCAL_OK;
  }
  *out = PCAL_MISSING_LABEL;
  if (pc_slice_is_missing(text))
    return PCAL_OK;
  if (pc_number_parse(text.bytes, text.bytes + text.length, &value) == text.length)
    return label_reader_from_number(place, value, out, err);
  *out = label_reader_is_word(text, "true", "True", "TRUE");
  if (*out == 1 || label_reader_is_word(text, "false", "False", "FALSE"))
    return PCAL_OK;
  return label_reader_unknown_name(place, text, err);
}

static pcal_status label_reader_from_row(const label_reader_place *place, const double *row,
                                         size_t columns, int32_t *out, pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  size_t ones = 0;
  *out = PCAL_MISSING_LABEL;
  for (size_t j = 0; j < columns; j++) {
    if (isnan(row[j]))
      return PCAL_OK;
  }
  for (size_t j = 0; j < columns; j++) {
    if (row[j] != 0 && row[j] != 1)
      return label_reader_fail(
          place, pc_show(row[j], shown), "is neither 0 nor 1",
          "labels in several columns are one-hot; for class numbers choose one "
          "column as FILE:COLUMN",
          err);
    if (row[j] == 1 && ones++ == 0)
      *out = (int32_t)j;
  }
  if (ones == 1)
    return PCAL_OK;
  return label_reader_fail(place, "row", ones == 0 ? "has no 1" : "has several ones",
                           "a one-hot row has exactly one; multi-label data are not supported",
                           err);
}

/* ---- one column of numbers ---- */

/* Converts to int32; returns 0 if a value is not a whole number of 32 bits. */
static int label_reader_whole_f64(const double *from, size_t count, int32_t *out) {
  int others = 0;
  for (size_t i = 0; i < count; i++) {
    const double here = from[i];
    const int fits = here >= (double)INT32_MIN && here <= (double)INT32_MAX;
    out[i] = (int32_t)(fits ? here : 0.0);
    others |= (double)out[i] != here;
  }
  return !others;
}

static int label_reader_whole_i64(const int64_t *from, size_t count, int32_t *out) {
  int others = 0;
  for (size_t i = 0; i < count; i++) {
    out[i] = (int32_t)(uint32_t)((uint64_t)from[i] & UINT32_MAX);
    others |= (int64_t)out[i] != from[i];
  }
  return !others;
}

static int label_reader_whole(pc_cell_type cells, const void *from, size_t count,
                              int32_t *out) {
  const uint8_t *bytes = from;
  if (cells == PC_CELLS_F64)
    return label_reader_whole_f64(from, count, out);
  if (cells == PC_CELLS_I64)
    return label_reader_whole_i64(from, count, out);
  if (cells == PC_CELLS_U8)
    for (size_t i = 0; i < count; i++)
      out[i] = bytes[i];
  else
    for (size_t i = 0; i < count; i++)
      out[i] = bytes[i] != 0;
  return 1;
}

static const void *label_reader_cells_at(const pc_label_reader *labels, size_t row) {
  const pc_cell_type cells = labels->reader->cells;
  const size_t size = cells == PC_CELLS_U8 || cells == PC_CELLS_BOOL ? 1 : sizeof(double);
  return row == 0 ? labels->cells : (const char *)labels->cells + row * size;
}

static int label_reader_is_column(const pc_label_reader *labels) {
  return labels->reader->cells != PC_CELLS_TEXT && labels->reader->columns == 1;
}

/* Rows [begin, begin + count) of the window. */
static pcal_status label_reader_fill_column(const void *user, size_t begin, size_t count,
                                            int32_t *out, pcal_error *err) {
  const pc_label_reader *labels = user;
  const pc_cell_type cells = labels->reader->cells;
  const void *from = label_reader_cells_at(labels, begin);
  if (label_reader_whole(cells, from, count, out))
    return PCAL_OK;
  for (size_t i = 0; i < count; i++) {
    const label_reader_place place = {labels, begin + i, labels->first_row + begin + i};
    const double value =
        cells == PC_CELLS_I64 ? (double)((const int64_t *)from)[i] : ((const double *)from)[i];
    PC_TRY(label_reader_from_number(&place, value, &out[i], err));
  }
  return PCAL_OK;
}

/* ---- all cell types ---- */

static pcal_status label_reader_fill(pc_label_reader *labels, size_t rows, pcal_error *err) {
  const size_t columns = labels->reader->columns;
  if (label_reader_is_column(labels))
    return label_reader_fill_column(labels, 0, rows, labels->buffer, err);
  for (size_t i = 0; i < rows; i++) {
    const label_reader_place place = {labels, i, labels->first_row + i};
    int32_t *out = &labels->buffer[i];
    if (labels->positive != NULL)
      PC_TRY(label_reader_from_pair(&place, labels, ((const pc_slice *)labels->cells)[i], out,
                                    err));
    else if (labels->reader->cells == PC_CELLS_TEXT)
      PC_TRY(label_reader_from_text(&place, ((const pc_slice *)labels->cells)[i], out, err));
    else
      PC_TRY(label_reader_from_row(&place, (const double *)labels->cells + i * columns, columns,
                                   out, err));
  }
  return PCAL_OK;
}

/* Reads the cells of a window and reserves the buffer for its labels. */
static pcal_status label_reader_window(pc_label_reader *labels, size_t max_rows,
                                       uint64_t first_row, const int32_t **out, size_t *rows,
                                       pcal_error *err) {
  pc_window window;
  const size_t limit = pc_label_reader_limit(labels);
  PC_TRY(pc_reader_next(labels->reader, max_rows < limit ? max_rows : limit, &window, err));
  *rows = window.rows;
  *out = window.data;
  labels->cells = window.data;
  labels->first_row = first_row;
  if (labels->reader->cells == PC_CELLS_I32)
    return PCAL_OK;
  void *buffer = labels->buffer;
  const pcal_status status = pc_reserve(labels->reader->env, &buffer, &labels->capacity,
                                        window.rows, sizeof *labels->buffer, err);
  labels->buffer = buffer;
  *out = labels->buffer;
  return status;
}

pcal_status pc_label_reader_next(pc_label_reader *labels, size_t max_rows, uint64_t first_row,
                                 const int32_t **out, size_t *rows, pcal_error *err) {
  PC_TRY(label_reader_window(labels, max_rows, first_row, out, rows, err));
  return labels->reader->cells == PC_CELLS_I32 ? PCAL_OK
                                               : label_reader_fill(labels, *rows, err);
}

pcal_status pc_label_reader_next_lazy(pc_label_reader *labels, size_t max_rows,
                                      uint64_t first_row, const int32_t **out, size_t *rows,
                                      pc_lazy_labels *lazy_labels, pcal_error *err) {
  *lazy_labels = (pc_lazy_labels){NULL, NULL, NULL};
  if (labels->reader->cells == PC_CELLS_I32 || !label_reader_is_column(labels))
    return pc_label_reader_next(labels, max_rows, first_row, out, rows, err);
  PC_TRY(label_reader_window(labels, max_rows, first_row, out, rows, err));
  *lazy_labels = (pc_lazy_labels){label_reader_fill_column, labels, labels->buffer};
  return PCAL_OK;
}

void pc_label_reader_free(pc_label_reader *labels) {
  if (labels->buffer != NULL)
    pc_free(labels->reader->env, labels->buffer);
  if (labels->negative != NULL)
    pc_free(labels->reader->env, labels->negative);
  labels->buffer = NULL;
  labels->negative = NULL;
  labels->capacity = 0;
}
