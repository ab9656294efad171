/* Arguments of the kernels of scaled_softmax_body.h, shared by the host, the GPU and tests. */
#ifndef PC_SCALED_SOFTMAX_H
#define PC_SCALED_SOFTMAX_H

#include <stdint.h>

#define PC_SCALED_SOFTMAX_THREADS 128 /* of a block */
#define PC_SCALED_SOFTMAX_LANES 16    /* threads of a wide row: PC_LANES */

/* Addresses are of the GPU. */
typedef struct pc_scaled_softmax {
  const void *scores; /* row after row, without gaps */
  void *out;          /* the same shape and type; not scores */
  uint32_t *odd;      /* out: set to 1 if a logit is not finite */
  uint64_t rows;
  uint32_t classes;
  double beta;
} pc_scaled_softmax;

#endif
