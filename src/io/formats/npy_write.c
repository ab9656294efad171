/* Version 1.0: 10 bytes of preamble, the dict literal, spaces and a line end up to a multiple
 * of 64, so that the elements are aligned in a mapped file. */
#include "io/formats/npy_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NPY_WRITE_PREAMBLE 10
#define NPY_WRITE_MAX 192

pcal_status pc_npy_header_write(const char *type, uint64_t rows, size_t columns, pcal_sink sink,
                                void *user, pcal_error *err) {
  char header[NPY_WRITE_MAX], shape[64];
  if (strcmp(type, "<f4") != 0 && strcmp(type, "<f8") != 0 && strcmp(type, "<i4") != 0)
    return pc_fail(err, PCAL_USAGE, "npy type \"%s\" cannot be written; give <f4, <f8 or <i4",
                   type);
  if (columns == 0)
    snprintf(shape, sizeof shape, "(%" PRIu64 ",)", rows);
  else
    snprintf(shape, sizeof shape, "(%" PRIu64 ", %zu)", rows, columns);
  memset(header, ' ', sizeof header);
  char *text = header + NPY_WRITE_PREAMBLE;
  const int wrote =
      snprintf(text, sizeof header - NPY_WRITE_PREAMBLE,
               "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
  const size_t length = (size_t)wrote;
  text[length] = ' ';
  const size_t total = (NPY_WRITE_PREAMBLE + length + 1 + 63) / 64 * 64;
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((total - NPY_WRITE_PREAMBLE) & 0xFF);
  header[9] = (char)((total - NPY_WRITE_PREAMBLE) >> 8);
  header[total - 1] = '\n';
  if (sink(user, header, total) != 0)
    return pc_fail(err, PCAL_IO, "the output could not be written");
  return PCAL_OK;
}
