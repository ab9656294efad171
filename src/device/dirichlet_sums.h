/* Arguments of the kernels of dirichlet_sums_body.h, shared by the host, the GPU and tests. */
#ifndef PC_DIRICHLET_SUMS_H
#define PC_DIRICHLET_SUMS_H

#include <stdint.h>

#define PC_DIRICHLET_SUMS_THREADS 128 /* of a block */
#define PC_DIRICHLET_SUMS_LANES 16    /* rows of a pack: PC_LANES */
#define PC_DIRICHLET_SUMS_SCALES 32   /* upper bound on the bandwidths of a launch */

/* Addresses are of the GPU; rows are padded to whole packs. */
typedef struct pc_dirichlet_sums {
  const double *logs, *probs; /* [pack][class][lane], as in pc_dirichlet_kde */
  const double *offsets;      /* [bandwidth][row] */
  const double *weights;      /* of rows */
  const int32_t *labels;      /* of rows */
  const int32_t *pack_labels; /* the label of all rows of a pack, or -1 */
  double *values;             /* out: [bandwidth][row] */
  double *classes; /* out, begins as 0: [row][class]; NULL where labels do not matter */
  uint64_t rows, first_row; /* the first one of this launch */
  uint64_t row_count;       /* of this launch */
  uint32_t classes_count, packs, scale_count;
  double scale[PC_DIRICHLET_SUMS_SCALES]; /* 1 / bandwidth */
} pc_dirichlet_sums;

static inline uint64_t pc_dirichlet_sums_blocks(const pc_dirichlet_sums *sums) {
  return (sums->row_count * sums->scale_count + PC_DIRICHLET_SUMS_THREADS - 1) /
         PC_DIRICHLET_SUMS_THREADS;
}

#endif
