/* Exact sums of whole columns: what pc_sum_add would give number by number, several times as
 * fast. */
#ifndef PC_COLUMN_SUM_H
#define PC_COLUMN_SUM_H

#include <stddef.h>

#include "base/sum.h"

/* At most PC_SPLIT_ROWS numbers; 0, and nothing added, where one is infinite. */
int pc_sum_add_block(pc_sum *sum, const double *values, size_t count);

void pc_sum_add_column(pc_sum *sum, const double *values, size_t count); /* finite */

#endif
