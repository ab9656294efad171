/* Tiles of PC_LANES rows, one in each lane, through softmax(w * x + b): losses, probabilities,
 * derivatives, and products of second derivatives with a vector.
 *
 * A tile of features, probabilities or scores is [class][lane].  Sums over rows are on the
 * lattice of linear_kernels.h, PC_VECTOR_SCALING_FOLD of them for each number, which are to be added
 * up.  One portable source, compiled once for each instruction set, all with the same bits. */
#ifndef PC_VECTOR_SCALING_KERNELS_H
#define PC_VECTOR_SCALING_KERNELS_H

#include "kernels/linear_kernels.h"
#include "kernels/row_kernels.h"

#define PC_VECTOR_SCALING_FOLD (PC_LANES / 2)

/* Sums for each class: by w and by b; with the metric of the mean of p (1 - p) times 1, x and
 * x^2, too. */
#define PC_VECTOR_SCALING_SLOPES 2
#define PC_VECTOR_SCALING_ALL 5

typedef struct pc_vector_scaling_tile {
  size_t classes;
  const float *narrow;   /* features */
  const double *wide;    /* those of a tile whose narrow is NULL */
  const int32_t *labels; /* PC_LANES of them */
  const double *weights; /* NULL: all 1; lanes without a row have features and weight 0 */
  double most;           /* a power of 2: features count as at most that in sums */
  const double *w, *b;   /* a number for each class */
} pc_vector_scaling_tile;

typedef struct pc_vector_scaling_kernels {
  const char *name;
  /* Losses -log p of the labels, at most 1e300; probabilities; sums[class][2 or 5][fold] of
   * derivatives by w and b, and of the metric if asked for.  terms: space for a tile. */
  void (*evaluate)(const pc_vector_scaling_tile *tile, int metric, double *terms,
                   double loss[PC_LANES], double *p, double *sums);
  /* sums[class][2][fold] of q x and q, q_k = p_k (u_k - sum_l p_l u_l), u = w * x + b: w and b
   * are the vector, and at most 1 / (4 most) and 1 / 4 in size. */
  void (*multiply)(const pc_vector_scaling_tile *tile, const double *p, double *terms,
                   double *sums);
} pc_vector_scaling_kernels;

extern const pc_vector_scaling_kernels pc_vector_scaling_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_vector_scaling_kernels *pc_vector_scaling_kernels_at(size_t index);
const pc_vector_scaling_kernels *pc_vector_scaling_kernels_best(void);

#endif
