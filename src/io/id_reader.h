/* Reads the id column: names or numbers become 64-bit keys of random draws. */
#ifndef PC_ID_READER_H
#define PC_ID_READER_H

#include "io/reader.h"

typedef struct pc_id_reader {
  pc_reader *reader; /* opened with PC_COLUMN_TEXT, one column */
  uint64_t *buffer;
  size_t capacity;
} pc_id_reader;

/* Reads the keys of the next rows, as pc_reader_next; first_row is the index of the first
 * row, for messages.  *out is valid until the next call. */
PC_CHECKED pcal_status pc_id_reader_next(pc_id_reader *ids, size_t max_rows, uint64_t first_row,
                                         const uint64_t **out, size_t *rows, pcal_error *err);

void pc_id_reader_free(pc_id_reader *ids); /* the reader is not closed */

#endif
