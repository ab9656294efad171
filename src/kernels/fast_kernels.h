/* Softmax of floats for the fast precision: terms and lanes in float, folded in double for
 * every row.  Compiled once for each instruction set; multiplications and additions are fused
 * where it can, so variants differ by rounding: a softmax says the same as that of
 * row_kernels.h up to relative 1e-6, for logits at most 10 below the largest up to 7e-7, and
 * where operations are fused 4e-7. */
#ifndef PC_FAST_KERNELS_H
#define PC_FAST_KERNELS_H

#include "kernels/row_kernels.h"

typedef struct pc_fast_kernels {
  const char *name;
  void (*softmax)(const float *z, size_t count, pc_softmax_facts *facts);
  /* PC_NARROW_ROWS rows of at most PC_NARROW_CLASSES logits one after the other, and their
   * labels. */
  void (*narrow)(const float *z, size_t count, const int32_t *labels, pc_narrow_facts *facts);
  void (*finish_logits)(const pc_logit_columns *columns, size_t count);
} pc_fast_kernels;

/* The reference, always present. */
extern const pc_fast_kernels pc_fast_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_fast_kernels *pc_fast_kernels_at(size_t index);

/* The fastest of them. */
const pc_fast_kernels *pc_fast_kernels_best(void);

#endif
