/* All kernels, in one table for each instruction set.
 *
 * Every kernel source is compiled once for each instruction set (variant.h).  All variants give
 * the same bits, except the fast kernels, whose last digits may differ. */
#ifndef PC_DISPATCH_H
#define PC_DISPATCH_H

#include "kernels/bin_index.h"
#include "kernels/class_column_sums.h"
#include "kernels/convolve.h"
#include "kernels/fast_kernels.h"
#include "kernels/linear_kernels.h"
#include "kernels/network_kernels.h"
#include "kernels/pair_kernels.h"
#include "kernels/prob_row.h"
#include "kernels/replica_sum_kernels.h"
#include "kernels/row_kernels.h"
#include "kernels/temperature_kernels.h"
#include "kernels/vector_scaling_kernels.h"

typedef struct pc_kernels {
  const char *name; /* "portable", "avx2" or "avx512" */
  const pc_bin_index_kernels *bin_index;
  const pc_class_column_kernels *class_column;
  const pc_convolve_kernels *convolve;
  const pc_fast_kernels *fast;
  const pc_linear_kernels *linear;
  const pc_network_kernels *network;
  const pc_pair_kernels *pair;
  const pc_prob_row_kernels *prob_row;
  const pc_replica_sum_kernels *replica_sum;
  const pc_row_kernels *row;
  const pc_temperature_kernels *temperature;
  const pc_vector_scaling_kernels *vector_scaling;
} pc_kernels;

/* The tables that this processor can run: index 0 is the portable one, which the tests compare
 * the others with; NULL after the last. */
const pc_kernels *pc_kernels_at(size_t index);

/* The fastest of them. */
const pc_kernels *pc_kernels_best(void);

#endif
