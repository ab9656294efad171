/* The Hessian of linear_pass.h at a place, for full maps with many classes: products with
 * vectors, and an approximate inverse. */
#ifndef PC_LINEAR_CURVATURE_H
#define PC_LINEAR_CURVATURE_H

#include "calibrators/linear/linear_pass.h"

/* Up to here the inverse has a block for each class, beyond only its diagonal. */
#define PC_LINEAR_BLOCKS 128

typedef struct pc_linear_curvature {
  const pc_linear_pass *pass; /* rows, and which of them count */
  double off, shift;          /* penalties, as in linear_search.h */
  double *padded;             /* the place, for kernels */
  float *probs;               /* of kept rows at the place; others are computed again */
  struct pc_linear_curvature_worker *workers;
  double *vector; /* to be multiplied, class after class */
  double *blocks; /* factors for each class, (classes + 1)^2; or diagonals, classes + 1 */
  double *column;
  double scale; /* of the vector */
  int blocked;
  int settled;       /* there are blocks; clear it when the penalties change much */
  unsigned products; /* at the place */
} pc_linear_curvature;

PC_CHECKED pcal_status pc_linear_curvature_new(const pc_linear_pass *pass,
                                               pc_linear_curvature *out, pcal_error *err);
void pc_linear_curvature_free(pc_linear_curvature *curvature); /* a zeroed one is fine */

/* As in optim/truncated_newton.h; user: a pc_linear_curvature. */
PC_CHECKED pcal_status pc_linear_curvature_settle(void *user, const double *at,
                                                  pcal_error *err);
PC_CHECKED pcal_status pc_linear_curvature_multiply(void *user, const double *v, double *out,
                                                    pcal_error *err);
void pc_linear_curvature_precondition(void *user, double *v);

#endif
