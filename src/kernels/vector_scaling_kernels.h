/* softmax(w * x + b) for tiles of PC_LANES rows, one row in each lane: losses, probabilities,
 * gradients, and Hessian-vector products.  A kernel table: see dispatch.h.
 *
 * Tiles of features, probabilities and scores are [class][lane].  Sums over rows are on the
 * lattice of linear_kernels.h: PC_VECTOR_SCALING_FOLD partial sums for each number, which the
 * caller adds up. */
#ifndef PC_VECTOR_SCALING_KERNELS_H
#define PC_VECTOR_SCALING_KERNELS_H

#include "kernels/linear_kernels.h"
#include "kernels/row_kernels.h"

#define PC_VECTOR_SCALING_FOLD (PC_LANES / 2)

/* Sums for each class: derivatives by w and b; with `preconditioner` also
 * p (1 - p) times 1, x and x^2. */
#define PC_VECTOR_SCALING_SLOPES 2
#define PC_VECTOR_SCALING_ALL 5

typedef struct pc_vector_scaling_tile {
  size_t classes;
  const float *features_f32;  /* or NULL */
  const double *features_f64; /* of a tile whose features_f32 is NULL */
  const int32_t *labels;      /* PC_LANES of them */
  const double *weights;      /* NULL: all 1.  Lanes without a row have features and weight 0 */
  double most;                /* a power of 2; in sums features are clamped to +-most */
  const double *w, *b;        /* one number for each class */
} pc_vector_scaling_tile;

typedef struct pc_vector_scaling_kernels {
  /* Fills the losses -log p of the labels (at most 1e300), the probabilities, and
   * sums[class][2 or 5][fold], with 5 sums if `preconditioner`.  terms: space for a tile. */
  void (*evaluate)(const pc_vector_scaling_tile *tile, int preconditioner, double *terms,
                   double loss[PC_LANES], double *p, double *sums);
  /* sums[class][2][fold] of q x and q, where q_k = p_k (u_k - sum_l p_l u_l) and u = w * x + b.
   * tile->w and tile->b hold the vector to multiply; their absolute values are at most
   * 1 / (4 most) and 1 / 4. */
  void (*multiply)(const pc_vector_scaling_tile *tile, const double *p, double *terms,
                   double *sums);
} pc_vector_scaling_kernels;

#endif
