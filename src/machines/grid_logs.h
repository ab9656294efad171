/* Sums of logarithms in the cells of a grid: log p and log(1 - p), by outcome.
 *
 * Logarithms are divided by 256 and summed as pc_fixed, which corresponds to units of 2^-53:
 * exact integers, like all sums of a grid.  Infinite logarithms are not summed but marked. */
#ifndef PC_GRID_LOGS_H
#define PC_GRID_LOGS_H

#include "machines/machine.h"
#include "stats/decompose.h"

typedef struct pc_grid_logs {
  pc_fixed sum[PC_BIN_LOGS]; /* of the finite logarithms, divided by 256 */
  unsigned infinite;         /* bit i: sum i has an infinite term */
} pc_grid_logs;

#define PC_GRID_LOGS_BYTES (16 * PC_BIN_LOGS + 1) /* as saved */

void pc_grid_logs_add(pc_grid_logs *cell, double score, int hit, double weight);
void pc_grid_logs_join(pc_grid_logs *into, const pc_grid_logs *from);
int pc_grid_logs_addable(const pc_grid_logs *a, const pc_grid_logs *b);
pc_bin_logs pc_grid_logs_value(const pc_grid_logs *cell);

void pc_grid_logs_save(const pc_grid_logs *cell, pc_encoder *out);
void pc_grid_logs_load(pc_grid_logs *cell, pc_decoder *in);

#endif
