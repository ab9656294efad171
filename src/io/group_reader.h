/* Reads the group columns: names or numbers become group numbers in order of first
 * appearance.  Times become the names of their periods first.
 *
 * Rows with several group columns are numbered by the combination of their values.  Its name is
 * COLUMN=VALUE of each column, joined by PC_GROUP_AND; results show all groups that it
 * belongs to (measure/overlapping_groups.h). */
#ifndef PC_GROUP_READER_H
#define PC_GROUP_READER_H

#include "base/text.h"
#include "io/name_table.h"
#include "io/reader.h"
#include "io/time_period.h"

#define PC_GROUP_AND " & "
#define PC_GROUP_COLUMNS_MAX 4

typedef struct pc_group_reader {
  pc_reader *reader;       /* opened with PC_COLUMN_TEXT, up to PC_GROUP_COLUMNS_MAX columns */
  const pc_period *period; /* cells are times, and groups their periods; NULL: names */
  pc_name_table names;
  uint32_t *buffer;
  size_t capacity;
  pc_text joined; /* the name of a combination */
} pc_group_reader;

void pc_group_reader_init(pc_group_reader *groups, pc_reader *reader, const pcal_env *env);

/* Reads the groups of the next rows, as pc_reader_next; first_row is the index of the first
 * row, for messages.  *out is valid until the next call.  Group numbers do not change on
 * rewind. */
PC_CHECKED pcal_status pc_group_reader_next(pc_group_reader *groups, size_t max_rows,
                                            uint64_t first_row, const uint32_t **out,
                                            size_t *rows, pcal_error *err);

void pc_group_reader_free(pc_group_reader *groups); /* the reader is not closed */

#endif
