/* Sums of logarithms in the cells of a grid: log p and log(1 - p), apart by outcome.
 *
 * In fixed point of units 2^-53, which is what pc_fixed has for a 256th of a logarithm: exact
 * integers, as everything in a grid.  Infinite logarithms are only marked. */
#ifndef PC_GRID_LOGS_H
#define PC_GRID_LOGS_H

#include "machines/machine.h"
#include "stats/decompose.h"

typedef struct pc_grid_logs {
  pc_fixed sum[PC_BIN_LOGS]; /* of the finite ones, divided by 256 */
  unsigned infinite;         /* bit i: sum i is minus infinity */
} pc_grid_logs;

#define PC_GRID_LOGS_BYTES (16 * PC_BIN_LOGS + 1) /* as saved */

void pc_grid_logs_add(pc_grid_logs *cell, double score, int hit, double weight);
void pc_grid_logs_join(pc_grid_logs *into, const pc_grid_logs *from);
int pc_grid_logs_addable(const pc_grid_logs *a, const pc_grid_logs *b);
pc_bin_logs pc_grid_logs_value(const pc_grid_logs *cell);

void pc_grid_logs_save(const pc_grid_logs *cell, pc_encoder *out);
void pc_grid_logs_load(pc_grid_logs *cell, pc_decoder *in);

#endif
