/* Ids of rows: from a column of names or numbers to keys of random draws. */
#ifndef PC_IDS_H
#define PC_IDS_H

#include "io/reader.h"

typedef struct pc_ids {
  pc_reader *reader; /* opened with PC_AS_TEXT, one column */
  uint64_t *buffer;
  size_t capacity;
} pc_ids;

/* The keys of the next rows, as pc_reader_next; first_row is the index of the first of them.
 * *out is valid until the next call. */
PC_CHECKED pcal_status pc_ids_next(pc_ids *ids, size_t max_rows, uint64_t first_row,
                                   const uint64_t **out, size_t *rows, pcal_error *err);

void pc_ids_free(pc_ids *ids); /* the reader is not closed */

#endif
