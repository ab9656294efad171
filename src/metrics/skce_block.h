/* What skce and skce-test share: blocks of rows. */
#ifndef PC_SKCE_BLOCK_H
#define PC_SKCE_BLOCK_H

#include "metrics/metric.h"

/* How blocks are paired; their value is the mean of h over the pairs inside. */
typedef struct pc_skce_blocks {
  size_t rows; /* of a block */
  int tv, gaussian;
  double scale;
} pc_skce_blocks;

/* States the need: a reading that takes neither weights nor an index twice. */
void pc_skce_read_blocks(const pc_skce_blocks *blocks, pc_metric_config *reading);

#endif
