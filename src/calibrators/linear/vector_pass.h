/* Passes over the rows of a fit under softmax(w * x + b): the mean log score and its gradient,
 * and products of its Hessian with vectors.
 *
 * Parameters are one array, w, then b, in the units of pc_fit_rows.  All sums over rows have
 * the same bits for any order of rows and any number of threads. */
#ifndef PC_VECTOR_PASS_H
#define PC_VECTOR_PASS_H

#include "calibrators/fit_rows.h"
#include "kernels/vector_scaling_kernels.h"

typedef struct pc_vector_pass {
  const pc_fit_rows *rows;
  const pc_fit_block *sample; /* used instead of all rows; transposed doubles; or NULL */
  double weight;              /* of the rows used */
  size_t classes, count;      /* count: parameters */
  const pc_vector_scaling_kernels *kernels;

  double most;               /* features are clipped at this size in sums */
  int products;              /* the current pass computes a product, else value and gradient */
  int wants_class_variances; /* the evaluation also computes class_variances */
  double *place, *vector;    /* for kernels: the parameters, and the vector of a product */
  double *probs;             /* probabilities at the parameters, of all rows; NULL: not kept */
  struct pc_vector_pass_worker *workers;
  size_t worker_count;

  /* Results of the last evaluation: */
  double value;
  double *gradient;
  /* Of the last evaluation that computed them: for each class, the means of p (1 - p) times 1,
   * x and x^2. */
  double *class_variances;
} pc_vector_pass;

/* The rows must be transposed.  sample, weight: see above. */
PC_CHECKED pcal_status pc_vector_pass_new(const pc_fit_rows *rows, const pc_fit_block *sample,
                                          double weight, pc_vector_pass *out, pcal_error *err);
void pc_vector_pass_free(pc_vector_pass *pass);

/* Evaluates at the parameters; the value is at most about 1e300.  class_variances: compute
 * these, too. */
PC_CHECKED pcal_status pc_vector_pass_evaluate(pc_vector_pass *pass, const double *parameters,
                                               int class_variances, pcal_error *err);

/* out = H v, with the Hessian at the parameters of the last evaluation. */
PC_CHECKED pcal_status pc_vector_pass_multiply(pc_vector_pass *pass, const double *v,
                                               double *out, pcal_error *err);

#endif
