/* Index of value j of row i (Arrow columnar format): a record batch is a struct array, whose
 * offset b also applies to its children; column c with offset o has row i at b + o + i.
 * Fixed-size lists of width w store values in their own child, with offset p, at p + (b + o
 * + i) w + j.  Bit k of a bitmap is bit k mod 8 of byte k / 8.
 *
 * Edge cases:
 *  1. a value is null if its bit is 0 in the batch, the column, or the child of the lists;
 *     without a bitmap, or if null_count is 0, no value is null.
 *  2. dictionaries contain text, and indices must be inside them.
 *  3. a string view has 16 bytes: the length, and either the text itself, up to 12 bytes, or
 *     its first four bytes, a buffer index and an offset.
 *  4. lists with offsets may have any lengths: arrow_lists.c checks them.
 *  5. a column of type null has no buffers: every value is null, and may stand for a number or a
 *     text.  Programs write it for a column, or one part of it, without any value.
 *  6. decimals, nested lists and other types are refused. */
#include "io/formats/arrow_column.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

/* ---- Types ---- */

static pcal_status arrow_column_refuse(const pc_arrow_column *column, const char *format,
                                       pcal_error *err) {
  char shown[PC_CLIP_MAX], name[PC_CLIP_MAX];
  return pc_fail(err, PCAL_DATA,
                 "%s, column \"%s\" has the Arrow type %s; cast it to floats, integers, "
                 "booleans, utf8, a dictionary of utf8 or lists of numbers",
                 column->file, pc_clip(pc_slice_of(column->name), name),
                 pc_clip(pc_slice_of(format), shown));
}

/* The element type of a format string; returns 0 if it is no number. */
static int arrow_column_number(const char *format, pc_element_type *out) {
  static const char letters[] = "cCsSiIlLefg";
  static const unsigned char sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
  const char *found = format[0] == '\0' ? NULL : strchr(letters, format[0]);
  if (found == NULL || format[1] != '\0')
    return 0;
  const char letter = *found;
  out->kind = letter == 'e' || letter == 'f' || letter == 'g' ? PC_ELEMENT_FLOAT
              : letter >= 'a'                                 ? PC_ELEMENT_SIGNED
                                                              : PC_ELEMENT_UNSIGNED;
  out->size = sizes[found - letters];
  out->swapped = 0;
  return 1;
}

static int arrow_column_text(const char *format, pc_arrow_column *out) {
  out->wide = strcmp(format, "U") == 0;
  out->views = strcmp(format, "vu") == 0;
  return out->wide || out->views || strcmp(format, "u") == 0;
}

static int arrow_column_list(const struct ArrowSchema *schema, pc_arrow_column *out) {
  int64_t width = 0;
  const char *format = schema->format, *digits = format + 3;
  out->wide = strcmp(format, "+L") == 0;
  out->has_offsets = out->wide || strcmp(format, "+l") == 0;
  if (schema->n_children != 1)
    return 0;
  if (!out->has_offsets &&
      (strncmp(format, "+w:", 3) != 0 ||
       !pc_integer_parse(digits, digits + strlen(digits), 1, INT32_MAX, &width)))
    return 0;
  out->is_list = 1;
  out->width = (size_t)width;
  out->kind = PC_ARROW_NUMBER;
  return schema->children[0]->dictionary == NULL &&
         arrow_column_number(schema->children[0]->format, &out->number);
}

/* Type null, read as float32: beside other scores it decides nothing. */
static int arrow_column_nulls(pc_arrow_column *out) {
  out->nulls = 1;
  out->kind = PC_ARROW_NUMBER;
  return arrow_column_number("f", &out->number);
}

static int arrow_column_type(const struct ArrowSchema *schema, pc_arrow_column *out) {
  const char *format = schema->format;
  if (schema->dictionary != NULL) {
    out->kind = PC_ARROW_DICTIONARY;
    return arrow_column_number(format, &out->number) && out->number.kind != PC_ELEMENT_FLOAT &&
           schema->dictionary->dictionary == NULL &&
           arrow_column_text(schema->dictionary->format, out);
  }
  if (strcmp(format, "n") == 0)
    return arrow_column_nulls(out);
  out->kind = PC_ARROW_NUMBER;
  if (format[0] == '+')
    return arrow_column_list(schema, out);
  if (arrow_column_number(format, &out->number))
    return 1;
  out->kind = PC_ARROW_TEXT;
  if (arrow_column_text(format, out))
    return 1;
  out->kind = PC_ARROW_BOOL;
  return strcmp(format, "b") == 0;
}

static const char *arrow_column_name(const struct ArrowSchema *schema, size_t i) {
  const char *name = schema->children[i]->name;
  return name == NULL ? "" : name;
}

static const char *arrow_column_candidate(void *user, size_t i) {
  const struct ArrowSchema *schema = *(const struct ArrowSchema **)user;
  return (int64_t)i < schema->n_children ? arrow_column_name(schema, i) : NULL;
}

static pcal_status arrow_column_unknown(const pc_arrow_column *column,
                                        const struct ArrowSchema *schema, pcal_error *err) {
  char shown[PC_CLIP_MAX], near[PC_CLIP_MAX];
  pc_clip(pc_slice_of(column->name), shown);
  const char *nearest = pc_nearest_word(shown, arrow_column_candidate, &schema);
  if (nearest != NULL)
    return pc_fail(err, PCAL_USAGE, "%s has no column \"%s\"; did you mean \"%s\"?",
                   column->file, shown, pc_clip(pc_slice_of(nearest), near));
  return pc_fail(err, PCAL_USAGE,
                 "%s has no column \"%s\"; name one of the %" PRId64 " in its schema",
                 column->file, shown, schema->n_children);
}

pcal_status pc_arrow_column_find(const pc_arrow_table *table, const char *name,
                                 pc_arrow_column *out, pcal_error *err) {
  char shown[PC_CLIP_MAX];
  const struct ArrowSchema *schema = &table->schema;
  size_t found = 0;
  *out = (pc_arrow_column){.file = table->name, .name = name, .width = 1};
  for (size_t i = 0; (int64_t)i < schema->n_children; i++) {
    if (strcmp(arrow_column_name(schema, i), name) != 0)
      continue;
    out->child = i;
    found++;
  }
  if (found == 0)
    return arrow_column_unknown(out, schema, err);
  if (found > 1)
    return pc_fail(err, PCAL_USAGE, "%s has %zu columns called \"%s\"; rename them",
                   table->name, found, pc_clip(pc_slice_of(name), shown));
  const struct ArrowSchema *child = schema->children[out->child];
  out->name = arrow_column_name(schema, out->child);
  if (!arrow_column_type(child, out))
    return arrow_column_refuse(out, child->format, err);
  return PCAL_OK;
}

/* ---- Batches ---- */

static pcal_status arrow_column_broken(const pc_arrow_column *column, const char *what,
                                       pcal_error *err) {
  char shown[PC_CLIP_MAX];
  return pc_fail(err, PCAL_DATA,
                 "%s, column \"%s\": %s; check the program that produced "
                 "the Arrow data",
                 column->file, pc_clip(pc_slice_of(column->name), shown), what);
}

static const unsigned char *arrow_column_bits(const struct ArrowArray *array) {
  return array->null_count == 0 ? NULL : array->buffers[0];
}

/* True if an array has `needed` elements and the number of buffers of its kind, with value
 * buffers present. */
static int arrow_column_sound(const struct ArrowArray *array, uint64_t needed,
                              int64_t buffers) {
  if (array == NULL || array->length < 0 || array->offset < 0 ||
      (uint64_t)array->length < needed || array->n_buffers < buffers ||
      (buffers > 0 && array->buffers == NULL))
    return 0;
  return buffers < 2 || needed == 0 || array->buffers[1] != NULL;
}

static int64_t arrow_column_buffers(pc_arrow_kind kind) {
  return kind == PC_ARROW_TEXT ? 3 : 2;
}

/* Buffers of a column itself. */
static int64_t arrow_column_own_buffers(const pc_arrow_column *column) {
  if (column->nulls)
    return 0;
  return column->is_list && !column->has_offsets ? 1 : arrow_column_buffers(column->kind);
}

static int arrow_column_enter_offsets(const struct ArrowArray *lists, pc_arrow_part *out) {
  const struct ArrowArray *values = lists->children[0];
  if (!arrow_column_sound(values, values == NULL ? 0 : (uint64_t)values->length, 2))
    return 0;
  out->offsets = lists->buffers[1];
  out->values = values;
  out->first_value = (uint64_t)values->offset;
  out->value_bits = arrow_column_bits(values);
  return 1;
}

static int arrow_column_enter_lists(const pc_arrow_column *column,
                                    const struct ArrowArray *lists, uint64_t rows,
                                    pc_arrow_part *out) {
  const uint64_t end = out->first_row + rows;
  if (lists->n_children != 1 || lists->children == NULL)
    return 0;
  if (column->has_offsets)
    return arrow_column_enter_offsets(lists, out);
  if (end > (uint64_t)INT64_MAX / column->width ||
      !arrow_column_sound(lists->children[0], end * column->width, 2))
    return 0;
  out->values = lists->children[0];
  out->first_value = (uint64_t)out->values->offset + out->first_row * column->width;
  out->value_bits = arrow_column_bits(out->values);
  return 1;
}

pcal_status pc_arrow_part_find(const pc_arrow_column *column, const struct ArrowArray *batch,
                               pc_arrow_part *out, pcal_error *err) {
  static const char mismatch[] = "an array does not match its schema";
  const uint64_t rows = (uint64_t)batch->length, skipped = (uint64_t)batch->offset;
  const struct ArrowArray *array = batch->children[column->child];
  if (!arrow_column_sound(array, skipped + rows, arrow_column_own_buffers(column)))
    return arrow_column_broken(column, mismatch, err);
  *out = (pc_arrow_part){.column = column, .values = array};
  out->first_batch_row = skipped;
  out->first_row = skipped + (uint64_t)array->offset;
  out->first_value = out->first_row;
  out->batch_bits = arrow_column_bits(batch);
  out->row_bits = column->nulls ? NULL : arrow_column_bits(array);
  if (column->is_list && !arrow_column_enter_lists(column, array, rows, out))
    return arrow_column_broken(column, mismatch, err);
  if (column->kind == PC_ARROW_DICTIONARY &&
      !arrow_column_sound(array->dictionary, 0, arrow_column_buffers(PC_ARROW_TEXT)))
    return arrow_column_broken(column, mismatch, err);
  return PCAL_OK;
}

int pc_arrow_part_full(const pc_arrow_part *part) {
  return !part->column->nulls && part->batch_bits == NULL && part->row_bits == NULL &&
         part->value_bits == NULL;
}

static int arrow_column_bit(const unsigned char *bits, uint64_t index) {
  return bits[index / 8] >> index % 8 & 1;
}

int pc_arrow_part_row_null(const pc_arrow_part *part, size_t row) {
  return part->column->nulls ||
         (part->batch_bits != NULL &&
          !arrow_column_bit(part->batch_bits, part->first_batch_row + row)) ||
         (part->row_bits != NULL && !arrow_column_bit(part->row_bits, part->first_row + row));
}

int pc_arrow_part_null(const pc_arrow_part *part, size_t row, size_t column) {
  return pc_arrow_part_row_null(part, row) ||
         pc_arrow_part_value_null(part, (uint64_t)row * part->column->width + column);
}

const unsigned char *pc_arrow_part_at(const pc_arrow_part *part, size_t row) {
  return pc_arrow_part_value(part, (uint64_t)row * part->column->width);
}

const unsigned char *pc_arrow_part_value(const pc_arrow_part *part, uint64_t index) {
  const unsigned char *values = part->values->buffers[1];
  return values + (part->first_value + index) * part->column->number.size;
}

int pc_arrow_part_value_null(const pc_arrow_part *part, uint64_t index) {
  return part->value_bits != NULL &&
         !arrow_column_bit(part->value_bits, part->first_value + index);
}

int pc_arrow_part_true(const pc_arrow_part *part, size_t row) {
  return arrow_column_bit(part->values->buffers[1], part->first_value + row);
}

/* ---- Text ---- */

int64_t pc_arrow_offset(const pc_arrow_column *column, const void *offsets, uint64_t index) {
  if (column->wide) {
    int64_t offset;
    memcpy(&offset, (const unsigned char *)offsets + index * sizeof offset, sizeof offset);
    return offset;
  }
  int32_t offset;
  memcpy(&offset, (const unsigned char *)offsets + index * sizeof offset, sizeof offset);
  return offset;
}

#define ARROW_VIEW_SIZE 16
#define ARROW_VIEW_INLINE 12

static int32_t arrow_column_int(const unsigned char *from) {
  int32_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

/* Buffers of a string view array: validity, views, data buffers, lengths of data buffers. */
static pcal_status arrow_column_view(const pc_arrow_column *column,
                                     const struct ArrowArray *text, uint64_t index,
                                     pc_slice *out, pcal_error *err) {
  const unsigned char *view = (const unsigned char *)text->buffers[1] + index * ARROW_VIEW_SIZE;
  const int32_t length = arrow_column_int(view);
  *out = (pc_slice){(const char *)view + 4, (size_t)length};
  if (length >= 0 && length <= ARROW_VIEW_INLINE)
    return PCAL_OK;
  const int32_t buffer = arrow_column_int(view + 8), offset = arrow_column_int(view + 12);
  const int64_t long_ones = text->n_buffers - 3;
  const unsigned char *lengths = text->buffers[text->n_buffers - 1];
  int64_t room = 0;
  if (buffer >= 0 && buffer < long_ones && lengths != NULL)
    memcpy(&room, lengths + (size_t)buffer * sizeof room, sizeof room);
  if (length < 0 || offset < 0 || (int64_t)offset + length > room ||
      text->buffers[2 + buffer] == NULL)
    return arrow_column_broken(column, "the string views are invalid", err);
  out->bytes = (const char *)text->buffers[2 + buffer] + offset;
  return PCAL_OK;
}

static pcal_status arrow_column_string(const pc_arrow_column *column,
                                       const struct ArrowArray *text, uint64_t index,
                                       pc_slice *out, pcal_error *err) {
  if (column->views)
    return arrow_column_view(column, text, index, out, err);
  const int64_t begin = pc_arrow_offset(column, text->buffers[1], index);
  const int64_t end = pc_arrow_offset(column, text->buffers[1], index + 1);
  const uint64_t rows = (uint64_t)text->offset + (uint64_t)text->length;
  if (begin < 0 || end < begin || end > pc_arrow_offset(column, text->buffers[1], rows) ||
      (end > begin && text->buffers[2] == NULL))
    return arrow_column_broken(column, "the string offsets are invalid", err);
  *out = (pc_slice){end > begin ? (const char *)text->buffers[2] + begin : "",
                    (size_t)(end - begin)};
  return PCAL_OK;
}

pcal_status pc_arrow_part_text(const pc_arrow_part *part, size_t row, pc_slice *out,
                               pcal_error *err) {
  const pc_arrow_column *column = part->column;
  const struct ArrowArray *values = part->values;
  if (column->kind == PC_ARROW_TEXT)
    return arrow_column_string(column, values, part->first_value + row, out, err);
  const struct ArrowArray *dictionary = values->dictionary;
  const pc_element_run run = {pc_arrow_part_at(part, row), 0, 1};
  double index = 0;
  pc_elements_to_double(&column->number, &run, &index, 1);
  if (index < 0 || index >= (double)dictionary->length)
    return arrow_column_broken(column, "an index is outside the dictionary", err);
  const uint64_t entry = (uint64_t)dictionary->offset + (uint64_t)index;
  const unsigned char *bits = arrow_column_bits(dictionary);
  *out = (pc_slice){"", 0};
  if (bits != NULL && !arrow_column_bit(bits, entry))
    return PCAL_OK;
  if (dictionary->buffers[1] == NULL)
    return arrow_column_broken(column, "the string offsets are invalid", err);
  return arrow_column_string(column, dictionary, entry, out, err);
}
