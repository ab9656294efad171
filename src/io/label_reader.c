/* Forms of a label:
 *  1. a whole number of any type: 3, 3.0, true; it must fit in 32 bits.
 *  2. a row of k numbers, one 1 and otherwise 0 (one-hot): the position of the 1.
 *  3. in a text file, the name of a score column; names are tried first, so a class may be
 *     called "2" or "None".
 *  4. with `positive`, that word is 1 and one other word is 0; True, true and TRUE are the same.
 *  5. labels on a device: numbers of one column, copied when they are converted.
 *  6. NaN, a missing cell, or the smallest int32, as R writes it: PCAL_MISSING_LABEL. */
#include "io/label_reader.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/float_bits.h"
#include "base/number.h"
#include "device/device.h"
#include "io/formats/element_type.h"

#define LABEL_READER_ROWS ((size_t)1 << 20) /* converted at a time */

/* Position of a label, for messages. */
typedef struct label_reader_place {
  const pc_label_reader *labels;
  size_t row;     /* in the window */
  uint64_t index; /* in the data set */
} label_reader_place;

size_t pc_label_reader_limit(const pc_label_reader *labels) {
  return labels->reader->window_limit < LABEL_READER_ROWS ||
                 labels->reader->cells == PC_CELLS_I32 || labels->reader->on_device
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
        "is not a whole number and looks like a score (are the two swapped?)",
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
    /* The low bits of the sum are the whole number nearest to from[i], if it is not too large. */
    const uint64_t bits = pc_double_bits(from[i] + 0x1.8p52);
    out[i] = (int32_t)(uint32_t)(bits & UINT32_MAX);
    others |= (double)out[i] != from[i];
  }
  return !others;
}

static int label_reader_whole_i64(const int64_t *from, size_t count, int32_t *out) {
  uint64_t others = 0; /* bits above those of 32-bit numbers, which are moved to 0 and up */
  for (size_t i = 0; i < count; i++) {
    out[i] = (int32_t)(uint32_t)((uint64_t)from[i] & UINT32_MAX);
    others |= ((uint64_t)from[i] + (UINT64_C(1) << 31)) >> 32;
  }
  return others == 0;
}

/* Half precision: sign, 5 bits of exponent, 10 of fraction.  Shifted into a float, the exponent is
 * 112 too low; that of infinity and NaN is 31. */
static int label_reader_whole_f16(const uint16_t *from, size_t count, int32_t *out) {
  int others = 0;
  for (size_t i = 0; i < count; i++) {
    const uint32_t half = from[i];
    const float size = pc_float_from_bits((half & 0x7FFFu) << 13) * 0x1p112f;
    const int32_t whole = (int32_t)size;
    others |= (float)whole != size;
    others |= (half & 0x7C00u) == 0x7C00u;
    out[i] = (half & 0x8000u) != 0 ? -whole : whole;
  }
  return !others;
}

static int label_reader_whole_f32(const float *from, size_t count, int32_t *out) {
  int others = 0;
  for (size_t i = 0; i < count; i++) {
    const uint32_t bits = pc_float_bits(from[i]);
    const uint32_t fits = (bits & 0x7FFFFFFFu) < 0x4F000000u; /* below 2^31 in size */
    out[i] = (int32_t)pc_float_from_bits(bits & (0 - fits));
    others |= (float)out[i] != from[i];
  }
  return !others;
}

/* A loop for each type of whole numbers: small ones, and those that may be too large. */
#define LABEL_READER_SMALL(name, type)                                                 \
  static int label_reader_whole_##name(const type *from, size_t count, int32_t *out) { \
    for (size_t i = 0; i < count; i++)                                                 \
      out[i] = from[i];                                                                \
    return 1;                                                                          \
  }
LABEL_READER_SMALL(i8, int8_t)
LABEL_READER_SMALL(i16, int16_t)
LABEL_READER_SMALL(u8, uint8_t)
LABEL_READER_SMALL(u16, uint16_t)

#define LABEL_READER_LARGE(name, type)                                                 \
  static int label_reader_whole_##name(const type *from, size_t count, int32_t *out) { \
    type all = 0;                                                                      \
    for (size_t i = 0; i < count; i++) {                                               \
      all |= from[i];                                                                  \
      out[i] = (int32_t)(uint32_t)(from[i] & (type)INT32_MAX);                         \
    }                                                                                  \
    return all <= (type)INT32_MAX;                                                     \
  }
LABEL_READER_LARGE(u32, uint32_t)
LABEL_READER_LARGE(u64, uint64_t)

static int label_reader_whole_bool(const uint8_t *from, size_t count, int32_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = from[i] != 0;
  return 1;
}

static int label_reader_whole(pc_cell_type cells, const void *from, size_t count,
                              int32_t *out) {
  switch (cells) {
  case PC_CELLS_F16:
    return label_reader_whole_f16(from, count, out);
  case PC_CELLS_F32:
    return label_reader_whole_f32(from, count, out);
  case PC_CELLS_I8:
    return label_reader_whole_i8(from, count, out);
  case PC_CELLS_I16:
    return label_reader_whole_i16(from, count, out);
  case PC_CELLS_I32:
    memcpy(out, from, count * sizeof *out);
    return 1;
  case PC_CELLS_I64:
    return label_reader_whole_i64(from, count, out);
  case PC_CELLS_U8:
    return label_reader_whole_u8(from, count, out);
  case PC_CELLS_U16:
    return label_reader_whole_u16(from, count, out);
  case PC_CELLS_U32:
    return label_reader_whole_u32(from, count, out);
  case PC_CELLS_U64:
    return label_reader_whole_u64(from, count, out);
  case PC_CELLS_BOOL:
    return label_reader_whole_bool(from, count, out);
  default:
    return label_reader_whole_f64(from, count, out);
  }
}

/* The element type of cells that are numbers. */
static pc_element_type label_reader_type(pc_cell_type cells) {
  static const pc_element_type types[] = {[PC_CELLS_F16] = {PC_ELEMENT_FLOAT, 2, 0},
                                          [PC_CELLS_F32] = {PC_ELEMENT_FLOAT, 4, 0},
                                          [PC_CELLS_F64] = {PC_ELEMENT_FLOAT, 8, 0},
                                          [PC_CELLS_I8] = {PC_ELEMENT_SIGNED, 1, 0},
                                          [PC_CELLS_I16] = {PC_ELEMENT_SIGNED, 2, 0},
                                          [PC_CELLS_I32] = {PC_ELEMENT_SIGNED, 4, 0},
                                          [PC_CELLS_I64] = {PC_ELEMENT_SIGNED, 8, 0},
                                          [PC_CELLS_U8] = {PC_ELEMENT_UNSIGNED, 1, 0},
                                          [PC_CELLS_U16] = {PC_ELEMENT_UNSIGNED, 2, 0},
                                          [PC_CELLS_U32] = {PC_ELEMENT_UNSIGNED, 4, 0},
                                          [PC_CELLS_U64] = {PC_ELEMENT_UNSIGNED, 8, 0},
                                          [PC_CELLS_BOOL] = {PC_ELEMENT_BOOL, 1, 0}};
  return types[cells];
}

static size_t label_reader_size(const pc_label_reader *labels) {
  return label_reader_type(labels->reader->cells).size;
}

/* Cells [row, row + count) of the window, copied from their device if they are on one. */
static pcal_status label_reader_cells_at(const pc_label_reader *labels, size_t row,
                                         size_t count, const void **out, pcal_error *err) {
  const size_t size = label_reader_size(labels);
  const char *from = row == 0 ? labels->cells : (const char *)labels->cells + row * size;
  *out = from;
  if (labels->device == NULL)
    return PCAL_OK;
  *out = labels->stage + row * size;
  return pc_device_copy(labels->device, labels->stream, from, count * size,
                        labels->stage + row * size, err);
}

static int label_reader_is_column(const pc_label_reader *labels) {
  return labels->reader->cells != PC_CELLS_TEXT && labels->reader->columns == 1;
}

/* Rows [begin, begin + count) of the window. */
static pcal_status label_reader_fill_column(const void *user, size_t begin, size_t count,
                                            int32_t *out, pcal_error *err) {
  const pc_label_reader *labels = user;
  const pc_cell_type cells = labels->reader->cells;
  const pc_element_type type = label_reader_type(cells);
  const void *from;
  PC_TRY(label_reader_cells_at(labels, begin, count, &from, err));
  if (label_reader_whole(cells, from, count, out))
    return PCAL_OK;
  for (size_t i = 0; i < count; i++) {
    const label_reader_place place = {labels, begin + i, labels->first_row + begin + i};
    const pc_element_run one = {(const unsigned char *)from + i * type.size, 0, 1};
    double value = 0.0;
    pc_elements_to_double(&type, &one, &value, 1);
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

/* Reserves room for labels that `fill` copies from a device. */
static pcal_status label_reader_stage(pc_label_reader *labels, size_t rows, pcal_error *err) {
  void *stage = labels->stage;
  if (labels->device == NULL)
    return PCAL_OK;
  const pcal_status status = pc_reserve(labels->reader->env, &stage, &labels->stage_capacity,
                                        rows * label_reader_size(labels), 1, err);
  labels->stage = stage;
  return status;
}

/* True if labels of the window are used where they are. */
static int label_reader_in_place(const pc_label_reader *labels) {
  return labels->reader->cells == PC_CELLS_I32 && labels->device == NULL;
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
  labels->device = window.device;
  labels->stream = window.stream;
  if (label_reader_in_place(labels))
    return PCAL_OK;
  PC_TRY(label_reader_stage(labels, window.rows, err));
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
  return label_reader_in_place(labels) ? PCAL_OK : label_reader_fill(labels, *rows, err);
}

pcal_status pc_label_reader_next_lazy(pc_label_reader *labels, size_t max_rows,
                                      uint64_t first_row, const int32_t **out, size_t *rows,
                                      pc_lazy_labels *lazy_labels, pcal_error *err) {
  *lazy_labels = (pc_lazy_labels){.fill = NULL};
  if (!label_reader_is_column(labels))
    return pc_label_reader_next(labels, max_rows, first_row, out, rows, err);
  PC_TRY(label_reader_window(labels, max_rows, first_row, out, rows, err));
  if (label_reader_in_place(labels))
    return PCAL_OK;
  *lazy_labels = (pc_lazy_labels){
      .fill = label_reader_fill_column, .user = labels, .labels = labels->buffer};
  if (labels->device != NULL) {
    lazy_labels->on_device = labels->cells;
    lazy_labels->device = labels->device;
    lazy_labels->stream = labels->stream;
    lazy_labels->size = (uint32_t)label_reader_size(labels);
  }
  return PCAL_OK;
}

void pc_label_reader_free(pc_label_reader *labels) {
  if (labels->buffer != NULL)
    pc_free(labels->reader->env, labels->buffer);
  if (labels->negative != NULL)
    pc_free(labels->reader->env, labels->negative);
  if (labels->stage != NULL)
    pc_free(labels->reader->env, labels->stage);
  labels->stage = NULL;
  labels->buffer = NULL;
  labels->negative = NULL;
  labels->capacity = labels->stage_capacity = 0;
}
