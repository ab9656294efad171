/* The first record of a delimited text file: the number of columns, and their names. */
#ifndef PC_CSV_HEADER_H
#define PC_CSV_HEADER_H

#include "base/memory.h"
#include "io/formats/csv_scan.h"
#include "io/input_file.h"

typedef struct pc_csv_header {
  size_t columns;
  const char **names; /* owned, in one block with their text; NULL without a header */
  pc_csv_scan data;   /* at the first row */
} pc_csv_header;

/* delimiter ',' also finds semicolons: data.delimiter says which.
 * Fails with PCAL_DATA if the file is not text, begins with a blank line or has no rows, or if
 * header is PCAL_HEADER_AUTO and the first line is ambiguous. */
PC_CHECKED pcal_status pc_csv_header_read(const pc_input_file *bytes, char delimiter,
                                          pcal_header header, const pcal_env *env,
                                          pc_csv_header *out, pcal_error *err);
void pc_csv_header_free(const pcal_env *env, pc_csv_header *head);

#endif
