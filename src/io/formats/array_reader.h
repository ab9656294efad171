/* Arrays in memory as readers. */
#ifndef PC_ARRAY_READER_H
#define PC_ARRAY_READER_H

#include "io/formats/element_type.h"
#include "io/reader.h"

/* Everything is borrowed.  Strides are in bytes. */
typedef struct pc_array {
  pc_element_type type;
  const unsigned char *first; /* element of row 0, column 0 */
  size_t rows, columns;
  int listed; /* a row is a list, also where it has only one element */
  ptrdiff_t row_stride, column_stride;
  const char *const *names; /* what whole numbers stand for, where they are labels or text; or
                               NULL */
  size_t name_count;
  const pc_input_file
      *file;     /* where elements are read from, window by window; NULL: they lie at first */
  size_t offset; /* of the first one in the file */
} pc_array;

/* Fills a zeroed reader, whose format, env and bytes the caller sets; to be closed even on
 * failure. */
PC_CHECKED pcal_status pc_array_reader_open(const pc_array *array,
                                            const pc_read_request *request, pc_reader *out,
                                            pcal_error *err);

#endif
