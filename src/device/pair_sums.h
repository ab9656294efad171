/* Arguments of the kernels of pair_sums_body.h, shared by the host, the GPU and tests. */
#ifndef PC_PAIR_SUMS_H
#define PC_PAIR_SUMS_H

#include <stdint.h>

#define PC_PAIR_SUMS_THREADS 128 /* of a block */
#define PC_PAIR_SUMS_LANES 16    /* rows of a pack: PC_LANES */
#define PC_PAIR_SUMS_OWN 2       /* rows of a right pack that one thread pairs */
#define PC_PAIR_SUMS_ROWS 4      /* rows of a left pack that it takes at once */
#define PC_PAIR_SUMS_PACKS 16    /* right packs of a block */
#define PC_PAIR_SUMS_LIMBS 70    /* PC_SUM_LIMBS */

/* The kernel on probability vectors: as pc_pair_form in kernels/pair_kernels.h. */
typedef struct pc_pair_sums_form {
  uint32_t tv, gaussian, near, weighted;
  double factor, close;
} pc_pair_sums_form;

/* Addresses are of the GPU; the arrays are those of pc_pair_rows. */
typedef struct pc_pair_sums {
  const double *probs; /* [pack][class][lane] */
  const double *halves, *weights;
  const int32_t *labels;
  uint64_t *limbs; /* results, which begin as 0: PC_PAIR_SUMS_LIMBS for each strip */
  uint64_t rows;
  uint32_t classes, packs;
  uint32_t strip_packs; /* left packs of a strip */
  uint32_t first_strip; /* of this launch */
  pc_pair_sums_form form;
} pc_pair_sums;

/* Right packs are taken in groups, a block for each strip and group. */
static inline uint32_t pc_pair_sums_groups(const pc_pair_sums *sums) {
  return (sums->packs + PC_PAIR_SUMS_PACKS - 1) / PC_PAIR_SUMS_PACKS;
}

static inline uint32_t pc_pair_sums_strips(const pc_pair_sums *sums) {
  return (sums->packs + sums->strip_packs - 1) / sums->strip_packs;
}

#endif
