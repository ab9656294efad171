/* Keys of rows: a 64-bit hash of the content of a row, independent of its position. */
#ifndef PC_ROW_KEYS_H
#define PC_ROW_KEYS_H

#include "data/rows.h"

/* Fills keys[i] for every converted row of a batch: a hash of its scores as given and of its
 * label or target, or the id if the batch has ids.  Equal rows have equal keys, in float32 and
 * float64 alike; -0 counts as 0. */
void pc_row_keys(const pcal_batch *batch, const pc_rows *rows, uint64_t *keys);

#endif
