/* Arguments of the kernels of softmax_rows_body.h, shared by the host, the GPU and tests. */
#ifndef PC_SOFTMAX_ROWS_H
#define PC_SOFTMAX_ROWS_H

#include <stdint.h>

#define PC_SOFTMAX_ROWS_THREADS 256 /* of a block */
#define PC_SOFTMAX_ROWS_LANES 16    /* threads of a wide row: PC_LANES */

/* Pointers are addresses on the GPU. */
typedef struct pc_softmax_rows {
  const void *scores;    /* row after row, without gaps */
  const int32_t *labels; /* one for each row */
  double *rest;          /* out: as pc_narrow_facts in kernels/row_kernels.h */
  double *rest_square, *gap;
  int32_t *top;
  uint32_t *odd; /* out: set to 1 if a logit is not finite */
  uint64_t rows;
  uint32_t classes;
} pc_softmax_rows;

#endif
