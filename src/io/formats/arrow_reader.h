/* A reader over columns of an Arrow table. */
#ifndef PC_ARROW_READER_H
#define PC_ARROW_READER_H

#include "io/formats/arrow_table.h"
#include "io/reader.h"

/* Opens one column or, for scores, one column of lists or several of numbers.  The table
 * must outlive the reader.  A window never crosses the end of a record batch, so it may be
 * shorter than requested; readers of the same table that get the same sequence of requests
 * return windows of equal length. */
PC_CHECKED pcal_status pc_arrow_reader_open(pc_arrow_table *table, const char *const *names,
                                            size_t count, pc_column_role as, pc_reader *out,
                                            pcal_error *err);

#endif
