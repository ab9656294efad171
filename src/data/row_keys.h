/* Keys of rows: 64 bits that depend on what a row says, not on where it stands. */
#ifndef PC_ROW_KEYS_H
#define PC_ROW_KEYS_H

#include "data/rows.h"

/* Fills keys[i] for every row that was derived from a batch: a hash of its scores as they were
 * given and of its label or target; where the batch has ids, the id itself.  Equal rows have
 * equal keys in float32 and float64 alike; -0 counts as 0. */
void pc_row_keys(const pcal_batch *batch, const pc_rows *rows, uint64_t *keys);

#endif
