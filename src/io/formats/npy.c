/* Reader for .npy: the array is used in place. */
#include "io/formats/array_reader.h"
#include "io/formats/npy_header.h"

pcal_status pc_npy_open(const pc_read_request *request, pc_reader *out, pcal_error *err) {
  pc_npy_header header;
  PC_TRY(pc_npy_header_read(request->bytes, request->deep, &header, err));
  const ptrdiff_t size = (ptrdiff_t)header.type.size;
  const int windows = request->bytes->kind == PC_INPUT_FILE_WINDOWS;
  const pc_array array = {
      .type = header.type,
      .first = request->bytes->data + (windows ? 0 : header.data_offset),
      .file = windows ? request->bytes : NULL,
      .offset = header.data_offset,
      .rows = header.rows,
      .columns = header.columns,
      .listed = header.dimensions == 2 && header.columns == 1,
      .row_stride = header.fortran_order ? size : size * (ptrdiff_t)header.columns,
      .column_stride = header.fortran_order ? size * (ptrdiff_t)header.rows : size,
  };
  PC_TRY(pc_array_reader_open(&array, request, out, err));
  out->depth = header.depth;
  return PCAL_OK;
}
