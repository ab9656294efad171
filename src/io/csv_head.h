/* The first record of a delimited text: how many columns there are, and their names. */
#ifndef PC_CSV_HEAD_H
#define PC_CSV_HEAD_H

#include "core/memory.h"
#include "io/bytes.h"
#include "io/csv_scan.h"

/* Is the first line a header?  The values of pcal_inputs. */
typedef enum pc_header { PC_HEADER_DECIDE, PC_HEADER_YES, PC_HEADER_NO } pc_header;

typedef struct pc_csv_head {
  size_t columns;
  const char **names; /* owned, one block with the letters; NULL without a header */
  pc_csv_scan data;   /* stands at the first row */
} pc_csv_head;

/* Fails with PCAL_DATA when the file is no text, begins with a blank line or has no rows, and
 * when it is to be decided but unclear whether it has a header. */
PC_CHECKED pcal_status pc_csv_head_read(const pc_bytes *bytes, char delimiter, pc_header header,
                                        const pcal_env *env, pc_csv_head *out, pcal_error *err);
void pc_csv_head_free(const pcal_env *env, pc_csv_head *head);

#endif
