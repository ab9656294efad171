/* Groups: from a column of names or numbers to group numbers in order of appearance. */
#ifndef PC_GROUPS_H
#define PC_GROUPS_H

#include "io/names.h"
#include "io/reader.h"

typedef struct pc_groups {
  pc_reader *reader; /* opened with PC_AS_TEXT, one column */
  pc_names names;
  uint32_t *buffer;
  size_t capacity;
} pc_groups;

void pc_groups_init(pc_groups *groups, pc_reader *reader, const pcal_env *env);

/* The next group numbers, as pc_reader_next; first_row is the index of the first of them.
 * *out is valid until the next call.  Numbers stay the same when the reader is rewound. */
PC_CHECKED pcal_status pc_groups_next(pc_groups *groups, size_t max_rows, uint64_t first_row,
                                      const uint32_t **out, size_t *rows, pcal_error *err);

void pc_groups_free(pc_groups *groups); /* the reader is not closed */

#endif
