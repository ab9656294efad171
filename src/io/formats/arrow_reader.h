/* Readers over the columns of an Arrow table. */
#ifndef PC_ARROW_READER_H
#define PC_ARROW_READER_H

#include "io/formats/arrow_table.h"
#include "io/reader.h"

/* Opens one column, or for scores one of lists or several of numbers; the table must
 * outlive the reader.  A window ends at the latest with its batch, so that windows in the
 * middle may be shorter than asked for; readers of one table that are asked for the same
 * numbers of rows within their limits give the same ones. */
PC_CHECKED pcal_status pc_arrow_reader_open(pc_arrow_table *table, const char *const *names,
                                            size_t count, pc_column_role as, pc_reader *out,
                                            pcal_error *err);

#endif
