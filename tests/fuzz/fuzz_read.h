/* Shared by the targets of file formats: everything that can be read from a file is read. */
#ifndef FUZZ_READ_H
#define FUZZ_READ_H

#include "fuzz_count.h"
#include "io/group_reader.h"
#include "io/label_reader.h"

#define FUZZ_READ_ROWS 7 /* of a window */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline size_t fuzz_read_width(pc_cell_type cells) {
  switch (cells) {
  case PC_CELLS_TEXT:
    return sizeof(pc_slice);
  case PC_CELLS_F64:
  case PC_CELLS_I64:
    return sizeof(double);
  case PC_CELLS_F32:
  case PC_CELLS_I32:
    return sizeof(float);
  default:
    return 1;
  }
}

/* Touches every cell, so that a sanitizer sees a window that reaches too far. */
static inline unsigned fuzz_read_touch(const pc_reader *reader, const pc_window *window) {
  const size_t width = fuzz_read_width(reader->cells);
  unsigned sum = 0;
  for (size_t row = 0; row < window->rows; row++) {
    for (size_t column = 0; column < reader->columns; column++) {
      const unsigned char *at = (const unsigned char *)window->data +
                                (ptrdiff_t)row * window->row_stride +
                                (ptrdiff_t)column * window->column_stride;
      sum += at[0] + at[width - 1];
    }
  }
  return sum;
}

/* These return whether all rows were read. */
static inline int fuzz_read_cells(const pc_read_request *asked, pc_column_role as) {
  pc_read_request request = *asked;
  pc_reader reader;
  pc_window window;
  pcal_error err;
  volatile unsigned sum = 0;
  pcal_status status;
  request.as = as;
  if (pc_reader_open(&request, &reader, &err) != PCAL_OK)
    return 0;
  do {
    status = pc_reader_next(&reader, FUZZ_READ_ROWS, &window, &err);
    if (status == PCAL_OK)
      sum += fuzz_read_touch(&reader, &window);
  } while (status == PCAL_OK && window.rows > 0);
  (void)sum;
  pc_reader_close(&reader);
  return status == PCAL_OK;
}

static inline int fuzz_read_labels(const pc_read_request *asked) {
  pc_read_request request = *asked;
  pc_reader reader;
  pcal_error err;
  pc_name_table classes;
  const int32_t *out;
  size_t rows = 1;
  uint32_t number;
  request.as = PC_COLUMN_LABELS;
  if (pc_reader_open(&request, &reader, &err) != PCAL_OK)
    return 0;
  pc_name_table_init(&classes, request.env);
  if (pc_name_table_add(&classes, (pc_slice){"cat", 3}, &number, &err) == PCAL_OK) {
    pc_label_reader labels = {
        .reader = &reader, .classes = &classes, .scores_name = "scores", .meaning = "labels"};
    while (rows > 0 &&
           pc_label_reader_next(&labels, FUZZ_READ_ROWS, 0, &out, &rows, &err) == PCAL_OK)
      continue;
    pc_label_reader_free(&labels);
  }
  pc_name_table_free(&classes);
  pc_reader_close(&reader);
  return rows == 0;
}

static inline void fuzz_read_groups(const pc_read_request *asked) {
  pc_read_request request = *asked;
  pc_reader reader;
  pcal_error err;
  pc_group_reader groups;
  const uint32_t *out;
  size_t rows = 1;
  request.as = PC_COLUMN_TEXT;
  if (pc_reader_open(&request, &reader, &err) != PCAL_OK)
    return;
  pc_group_reader_init(&groups, &reader, request.env);
  while (rows > 0 && reader.columns == 1 &&
         pc_group_reader_next(&groups, FUZZ_READ_ROWS, 0, &out, &rows, &err) == PCAL_OK)
    continue;
  pc_group_reader_free(&groups);
  pc_reader_close(&reader);
}

#endif
