/* Lists with offsets (Arrow types list and large_list): list i is values [o_i, o_{i+1}) of the
 * child array.  Apache Spark sends columns of arrays in this form.
 *
 * Edge cases:
 *  1. a list that is null is a row of missing values; its offsets are not used.
 *  2. all other lists have the length of the first one; an empty one is refused too.  In a ragged
 *     column the longest list sets the width, and shorter ones are never adjacent.
 *  3. offsets outside the child array are refused.
 *  4. a column without any list has no width and is refused.
 *
 * Cost: one comparison for each row. */
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

/* Sets *length to the number of values of a list that is not null. */
static pcal_status arrow_lists_length(const pc_arrow_part *part, size_t row, size_t *length,
                                      pcal_error *err) {
  const int64_t begin = arrow_lists_offset(part, row), end = arrow_lists_offset(part, row + 1);
  if (begin < 0 || end < begin || end > part->values->length)
    return arrow_lists_damaged(part->column, err);
  *length = (size_t)(end - begin);
  return PCAL_OK;
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

size_t pc_arrow_lists_size(const pc_arrow_part *part, size_t row) {
  return (size_t)(arrow_lists_offset(part, row + 1) - arrow_lists_offset(part, row));
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
                   width == 0 ? "every row is null" : "the first list is empty");
  column->width = width;
  return PCAL_OK;
}

pcal_status pc_arrow_lists_check(const pc_arrow_part *part, size_t row, size_t rows,
                                 uint64_t before, int *adjacent, pcal_error *err) {
  const pc_arrow_column *column = part->column;
  const int64_t first = rows == 0 ? 0 : arrow_lists_offset(part, row);
  *adjacent = 1;
  for (size_t i = row; i < row + rows; i++) {
    size_t length = 0;
    char shown[PC_CLIP_MAX];
    if (pc_arrow_part_row_null(part, i)) {
      *adjacent = 0;
      continue;
    }
    PC_TRY(arrow_lists_length(part, i, &length, err));
    if (column->ragged && length < column->width) {
      *adjacent = 0;
      continue;
    }
    if (length != column->width)
      return pc_fail_row(err, PCAL_DATA, before + i,
                         "%s, column \"%s\", row %" PRIu64
                         ": the list has %zu values and the first one %zu; give lists of equal "
                         "length",
                         column->file, pc_clip(pc_slice_of(column->name), shown), before + i,
                         length, column->width);
    if (arrow_lists_offset(part, i) != first + (int64_t)((i - row) * column->width))
      *adjacent = 0;
  }
  return PCAL_OK;
}
