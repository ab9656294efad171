/* Lists with offsets (Arrow types list and large_list): list i is values [o_i, o_{i+1}) of the
 * child array.  Apache Spark sends columns of arrays in this form.
 *
 * Edge cases:
 *  1. a list that is null is a row of missing values; its offsets are not used.
 *  2. all other lists have the length of the first one; an empty one is refused too.  In a ragged
 *     column the longest list sets the width, and shorter ones are never adjacent.
 *  3. offsets outside the child array are refused.
 *  4. a column without any list has no width and is refused; so is a ragged one of empty lists.
 *  5. offsets may change while they are read (mapped files): each use reads and checks them anew.
 *  6. a row that is refused begins a window, so that rows before it are reported first.
 *
 * Cost: two comparisons for each row. */
#include "io/formats/arrow_lists.h"

#include <inttypes.h>

static int64_t arrow_lists_offset(const pc_arrow_part *part, size_t row) {
  return pc_arrow_offset(part->column, part->offsets, part->first_row + row);
}

static pcal_status arrow_lists_damaged(const pc_arrow_column *column, pcal_error *err) {
  char shown[PC_CLIP_MAX];
  return pc_fail(err, PCAL_DATA,
                 "%s, column \"%s\": the list offsets are invalid; check the program that "
                 "produced the Arrow data",
                 column->file, pc_clip(pc_slice_of(column->name), shown));
}

/* Reads where a list that is not null begins and its length; returns 0 if it is not in the child
 * array. */
static int arrow_lists_read(const pc_arrow_part *part, size_t row, int64_t *first,
                            size_t *length) {
  const int64_t begin = arrow_lists_offset(part, row), end = arrow_lists_offset(part, row + 1);
  *first = begin;
  *length =
      begin < 0 || end < begin || end > part->values->length ? SIZE_MAX : (size_t)(end - begin);
  return *length != SIZE_MAX;
}

/* Sets *length to the number of values of a list that is not null. */
static pcal_status arrow_lists_length(const pc_arrow_part *part, size_t row, size_t *length,
                                      pcal_error *err) {
  int64_t first;
  return arrow_lists_read(part, row, &first, length) ? PCAL_OK
                                                     : arrow_lists_damaged(part->column, err);
}

static pcal_status arrow_lists_width_in(const pc_arrow_column *column,
                                        const struct ArrowArray *batch, size_t *width,
                                        pcal_error *err) {
  pc_arrow_part part;
  PC_TRY(pc_arrow_part_find(column, batch, &part, err));
  for (size_t row = 0; row < (size_t)batch->length; row++)
    if (!pc_arrow_part_row_null(&part, row)) {
      PC_TRY(arrow_lists_length(&part, row, width, err));
      if (*width == 0)
        *width = SIZE_MAX;
      return PCAL_OK;
    }
  return PCAL_OK;
}

/* The longest list of a batch, if it is longer than *width. */
static pcal_status arrow_lists_longest_in(const pc_arrow_column *column,
                                          const struct ArrowArray *batch, size_t *width,
                                          pcal_error *err) {
  pc_arrow_part part;
  PC_TRY(pc_arrow_part_find(column, batch, &part, err));
  for (size_t row = 0; row < (size_t)batch->length; row++) {
    size_t length = 0;
    if (!pc_arrow_part_row_null(&part, row))
      PC_TRY(arrow_lists_length(&part, row, &length, err));
    *width = length > *width ? length : *width;
  }
  return PCAL_OK;
}

size_t pc_arrow_lists_values(const pc_arrow_part *part, size_t row, size_t *first) {
  const size_t width = part->column->width;
  int64_t begin = 0;
  size_t length = 0;
  *first = 0;
  if (pc_arrow_part_row_null(part, row) || !arrow_lists_read(part, row, &begin, &length))
    return 0;
  *first = (size_t)begin;
  return length < width ? length : width;
}

pcal_status pc_arrow_lists_width(pc_arrow_table *table, pc_arrow_column *column,
                                 pcal_error *err) {
  char shown[PC_CLIP_MAX];
  const struct ArrowArray *batch = NULL;
  size_t width = 0;
  column->ragged = table->ragged;
  for (size_t b = 0; width == 0 || column->ragged; b++) {
    PC_TRY(pc_arrow_table_batch(table, b, &batch, err));
    if (batch == NULL)
      break;
    PC_TRY((column->ragged ? arrow_lists_longest_in : arrow_lists_width_in)(column, batch,
                                                                            &width, err));
  }
  if (width == 0 || width == SIZE_MAX)
    return pc_fail(err, PCAL_DATA, "%s, column \"%s\": %s; give a list of scores for each row",
                   column->file, pc_clip(pc_slice_of(column->name), shown),
                   width == SIZE_MAX ? "the first list is empty"
                   : column->ragged  ? "every row is null or empty"
                                     : "every row is null");
  column->width = width;
  return PCAL_OK;
}

static pcal_status arrow_lists_unequal(const pc_arrow_column *column, size_t length,
                                       uint64_t row, pcal_error *err) {
  char shown[PC_CLIP_MAX];
  return pc_fail_row(err, PCAL_DATA, row,
                     "%s, column \"%s\", row %" PRIu64
                     ": the list has %zu values and the first one %zu; give lists of equal "
                     "length",
                     column->file, pc_clip(pc_slice_of(column->name), shown), row, length,
                     column->width);
}

size_t pc_arrow_lists_fitting(const pc_arrow_part *part, size_t row, size_t rows) {
  const pc_arrow_column *column = part->column;
  for (size_t i = 0; i < rows; i++) {
    int64_t begin = 0;
    size_t length = 0;
    if (pc_arrow_part_row_null(part, row + i))
      continue;
    if (!arrow_lists_read(part, row + i, &begin, &length) ||
        (length != column->width && !(column->ragged && length < column->width)))
      return i;
  }
  return rows;
}

pcal_status pc_arrow_lists_check(const pc_arrow_part *part, size_t row, size_t rows,
                                 uint64_t before, int64_t *first, pcal_error *err) {
  const pc_arrow_column *column = part->column;
  int64_t begin = 0, next = -1;
  *first = 0;
  for (size_t i = row; i < row + rows; i++) {
    size_t length = 0;
    if (pc_arrow_part_row_null(part, i)) {
      *first = -1;
      continue;
    }
    if (!arrow_lists_read(part, i, &begin, &length))
      return arrow_lists_damaged(column, err);
    if (length != column->width && !(column->ragged && length < column->width))
      return arrow_lists_unequal(column, length, before + i, err);
    if (i == row)
      *first = begin;
    if (length != column->width || (i > row && begin != next))
      *first = -1;
    next = begin + (int64_t)length;
  }
  return PCAL_OK;
}
