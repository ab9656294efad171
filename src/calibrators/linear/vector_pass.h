/* Passes over the rows of a fit under softmax(w * x + b): the mean log score and its gradient,
 * and products of its Hessian with vectors.
 *
 * Parameters are one array, w and then b, in the units of pc_fit_rows.  Whatever is added over
 * rows has the same bits for any order of rows and any number of threads. */
#ifndef PC_VECTOR_PASS_H
#define PC_VECTOR_PASS_H

#include "calibrators/fit_rows.h"
#include "kernels/vector_scaling_kernels.h"

typedef struct pc_vector_pass {
  const pc_fit_rows *rows;
  const pc_fit_block *sample; /* of doubles: counts instead of all rows; or NULL */
  double weight;              /* of the rows that count */
  size_t classes, count;      /* parameters */
  const pc_vector_scaling_kernels *kernels;

  double most;            /* features count as at most that in sums */
  int products, metric;   /* what a pass is for: products, else values, and the spread */
  double *place, *vector; /* parameters for kernels; likewise the vector of a product */
  double *probs;          /* at the place, of all rows; NULL: found again for each product */
  struct pc_vector_pass_worker *workers;
  size_t worker_count;

  /* Of the last evaluation. */
  double value;
  double *gradient;
  double *spread; /* of the last that was asked for it: for each class the means of p (1 - p)
                     times 1, x and x^2 */
} pc_vector_pass;

/* rows are turned.  sample: see above, of so much weight. */
PC_CHECKED pcal_status pc_vector_pass_new(const pc_fit_rows *rows, const pc_fit_block *sample,
                                          double weight, pc_vector_pass *out, pcal_error *err);
void pc_vector_pass_free(pc_vector_pass *pass); /* a zeroed one is fine */

/* Evaluates at the parameters; value is at most about 1e300.  metric: the spread is asked for,
 * too. */
PC_CHECKED pcal_status pc_vector_pass_evaluate(pc_vector_pass *pass, const double *parameters,
                                               int metric, pcal_error *err);

/* out = H v, with the Hessian where it was last evaluated. */
PC_CHECKED pcal_status pc_vector_pass_multiply(pc_vector_pass *pass, const double *v,
                                               double *out, pcal_error *err);

#endif
