/* Columns of Arrow lists with offsets, whose lists must all have the same length. */
#ifndef PC_ARROW_LISTS_H
#define PC_ARROW_LISTS_H

#include "io/formats/arrow_column.h"

/* Sets column->width to the length of the first list that is not null; reads batches until
 * there is one.  Fails with PCAL_DATA if there is none or if it is empty. */
PC_CHECKED pcal_status pc_arrow_lists_width(pc_arrow_table *table, pc_arrow_column *column,
                                            pcal_error *err);

/* The number of rows of [row, row + rows) before the first one that pc_arrow_lists_check
 * refuses. */
size_t pc_arrow_lists_fitting(const pc_arrow_part *part, size_t row, size_t rows);

/* Checks rows [row, row + rows) of a part before their values are used: each is null or a list
 * of column->width values.  before: index of row 0 of the part, for the message.  Sets
 * *first to the index of their first value in the child array if no row is null and each list
 * begins where the one before it ends, else to -1.  Fails with PCAL_DATA. */
PC_CHECKED pcal_status pc_arrow_lists_check(const pc_arrow_part *part, size_t row, size_t rows,
                                            uint64_t before, int64_t *first, pcal_error *err);

/* The number of values of a row, at most column->width, and the index of the first one in the child
 * array; 0 for a null.  Offsets may have changed since they were checked: the values lie in
 * the child array for any bits. */
size_t pc_arrow_lists_values(const pc_arrow_part *part, size_t row, size_t *first);

#endif
