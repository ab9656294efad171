/* Blocks of rows, shared by skce and skce-test. */
#ifndef PC_SKCE_BLOCK_H
#define PC_SKCE_BLOCK_H

#include "metrics/metric.h"

/* The kernel and size of blocks; the value of a block is the mean of h over its pairs. */
typedef struct pc_skce_blocks {
  size_t rows; /* of a block */
  int tv, gaussian;
  double scale;
} pc_skce_blocks;

/* Requests block sums; weights and duplicate row indices are refused. */
void pc_skce_read_blocks(const pc_skce_blocks *blocks, pc_metric_config *reading);

#endif
