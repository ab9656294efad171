/* A reader over an array in memory or in a .npy file. */
#ifndef PC_ARRAY_READER_H
#define PC_ARRAY_READER_H

#include "io/formats/element_type.h"
#include "io/reader.h"

/* All pointers are borrowed.  Strides are in bytes. */
typedef struct pc_array {
  pc_element_type type;
  const unsigned char *first; /* element of row 0, column 0 */
  size_t rows, columns;
  int listed; /* two-dimensional with one column: its rows are lists of one number */
  ptrdiff_t row_stride, column_stride;
  const char *const *names; /* names indexed by the elements, for labels and text; or NULL */
  size_t name_count;
  const pc_input_file
      *file; /* the elements are read from it, window by window; NULL: they are at `first` */
  size_t offset; /* of the first element in the file */
  pcal_device
      *device;     /* whose memory holds the elements, row after row without gaps; or NULL */
  void *stream;    /* of the device */
  int copied;      /* windows are copied from the device into memory */
  int labels_stay; /* labels may be left on the device (pc_window) */
} pc_array;

/* Opens a zeroed reader whose format, env and bytes the caller has set.  Close it even after a
 * failure. */
PC_CHECKED pcal_status pc_array_reader_open(const pc_array *array,
                                            const pc_read_request *request, pc_reader *out,
                                            pcal_error *err);

#endif
