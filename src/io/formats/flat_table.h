/* Tables of FlatBuffers (https://flatbuffers.dev/internals/), the metadata of Arrow files.
 *
 * Every access checks its bounds, so that any bytes may be read, even bytes that another
 * process changes meanwhile: a field outside the buffer counts as absent. */
#ifndef PC_FLAT_TABLE_H
#define PC_FLAT_TABLE_H

#include <stdint.h>

#include "io/slice.h"

/* at = 0: absent. */
typedef struct pc_flat_table {
  const unsigned char *data;
  size_t length; /* of the whole buffer */
  size_t at;     /* of the table in it */
} pc_flat_table;

typedef struct pc_flat_vector {
  const unsigned char *data;
  size_t length;
  size_t at; /* of the first element */
  size_t count;
} pc_flat_vector;

pc_flat_table pc_flat_root(const unsigned char *data, size_t length);

/* Little-endian integers of 1, 2, 4 or 8 bytes; `fallback` if the field is absent. */
int64_t pc_flat_int(const pc_flat_table *table, unsigned field, size_t size, int64_t fallback);
pc_flat_table pc_flat_child(const pc_flat_table *table, unsigned field);
/* bytes is NULL if the field is absent. */
pc_slice pc_flat_text(const pc_flat_table *table, unsigned field);
/* A vector whose elements have `size` bytes; empty if the field is absent. */
pc_flat_vector pc_flat_list(const pc_flat_table *table, unsigned field, size_t size);
/* Element i of a list of tables (size 4), i < count. */
pc_flat_table pc_flat_list_table(const pc_flat_vector *list, size_t i);
/* The integer of 8 bytes at offset `byte` of the elements, i of them before it. */
int64_t pc_flat_list_int64(const pc_flat_vector *list, size_t byte);

#endif
