/* Exact sums of columns: the same result as calling pc_sum_add for each number, but several
 * times as fast. */
#ifndef PC_COLUMN_SUM_H
#define PC_COLUMN_SUM_H

#include <stddef.h>

#include "base/sum.h"

/* Adds at most PC_SPLIT_ROWS numbers.  Returns 0 and adds nothing if one is infinite. */
int pc_sum_add_block(pc_sum *sum, const double *values, size_t count);

void pc_sum_add_column(pc_sum *sum, const double *values, size_t count); /* all finite */

#endif
