/* The header of a .npy file (format versions 1 to 3). */
#ifndef PC_NPY_HEADER_H
#define PC_NPY_HEADER_H

#include "base/error.h"
#include "io/formats/element_type.h"
#include "io/input_file.h"

typedef struct pc_npy_header {
  pc_element_type type;
  int fortran_order;
  size_t dimensions;    /* 0 to 3 */
  size_t rows, columns; /* with three dimensions, columns are the product of the last two */
  size_t depth;         /* the last of three dimensions, else 0 */
  size_t data_offset;
} pc_npy_header;

/* Reads and checks the header.  Fails with PCAL_DATA if type or shape are not supported, or
 * if the length of the file does not match them.  deep: three dimensions are accepted. */
PC_CHECKED pcal_status pc_npy_header_read(const pc_input_file *bytes, int deep,
                                          pc_npy_header *out, pcal_error *err);

#endif
