/* Softmax in float, for the fast precision.  A kernel table: see dispatch.h.
 *
 * Terms and partial sums are floats; the partial sums of a row are added in double.
 * Multiplications and additions are fused where the instruction set can, so variants differ by
 * rounding.  Relative difference from row_kernels.h: 1e-6; 7e-7 for logits at most 10 below the
 * largest; 4e-7 where operations are fused. */
#ifndef PC_FAST_KERNELS_H
#define PC_FAST_KERNELS_H

#include "kernels/row_kernels.h"

typedef struct pc_fast_kernels {
  void (*softmax)(const float *z, size_t count, pc_softmax_facts *facts);
  /* PC_NARROW_ROWS consecutive rows of at most PC_NARROW_CLASSES logits, and their labels. */
  void (*narrow)(const float *z, size_t count, const int32_t *labels, pc_narrow_facts *facts);
  void (*finish_logits)(const pc_logit_columns *columns, size_t count);
} pc_fast_kernels;

#endif
