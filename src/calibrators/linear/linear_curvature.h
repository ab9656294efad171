/* The Hessian of linear_pass.h at a point, for full maps with many classes: products with
 * vectors, and an approximate inverse. */
#ifndef PC_LINEAR_CURVATURE_H
#define PC_LINEAR_CURVATURE_H

#include "calibrators/linear/linear_pass.h"

/* Most classes for which the inverse has a block for each class; with more, only the
 * diagonal. */
#define PC_LINEAR_BLOCKS 128

typedef struct pc_linear_curvature {
  const pc_linear_pass *pass; /* the rows, and those of them that are included */
  double off, shift;          /* penalties, as in linear_search.h */
  double least;               /* classes with probabilities up to this are left out of a row */
  double *padded;             /* the parameters, for kernels */
  float *probs;               /* probabilities of kept rows; NULL: computed for each product */
  uint16_t *active;           /* beside them: the number of classes above 0, and these */
  struct pc_linear_curvature_worker *workers;
  double *vector;    /* the vector of a product, class after class */
  double *blocks;    /* factors for each class, (classes + 1)^2; or diagonals, classes + 1 */
  double *column;    /* scratch of pc_linear_curvature_precondition */
  double scale;      /* of the vector */
  int blocked;       /* blocks for each class, else diagonals */
  int settled;       /* the blocks are valid; cleared, they are computed again */
  unsigned products; /* since the last pc_linear_curvature_set_point */
  double block_off, block_shift,
      block_weight; /* penalties in the blocks, weight of their rows */
} pc_linear_curvature;

PC_CHECKED pcal_status pc_linear_curvature_new(const pc_linear_pass *pass,
                                               pc_linear_curvature *out, pcal_error *err);

/* As in optim/truncated_newton.h; user is a pc_linear_curvature. */
PC_CHECKED pcal_status pc_linear_curvature_set_point(void *user, const double *at,
                                                     pcal_error *err);
PC_CHECKED pcal_status pc_linear_curvature_multiply(void *user, const double *v, double *out,
                                                    pcal_error *err);
void pc_linear_curvature_precondition(void *user, double *v);

#endif
