/* A pass over the rows of a fit under softmax(W x + b): the mean log score, its gradient, and
 * what searches need to know of its curvature.
 *
 * Parameters are one array: w[j][k], what feature j adds to class k, feature after feature,
 * then b, all in the units of pc_fit_rows.  Whatever is added
 * over rows has the same bits for any order of rows and any number of threads. */
#ifndef PC_LINEAR_PASS_H
#define PC_LINEAR_PASS_H

#include "calibrators/fit_rows.h"
#include "stats/lattice_sums.h"

typedef enum pc_linear_want {
  PC_LINEAR_VALUE = 0,
  PC_LINEAR_GRADIENT = 1,
  PC_LINEAR_HESSIAN = 2 /* all second derivatives */
} pc_linear_want;

/* Rows that count: all, those of a fold, or those of the others. */
typedef enum pc_linear_rows {
  PC_LINEAR_ALL,
  PC_LINEAR_WITHIN,
  PC_LINEAR_WITHOUT
} pc_linear_rows;

typedef struct pc_linear_pass {
  const pc_fit_rows *rows;
  int full; /* a search for a diagonal map has no more of a pass than rows and sizes */
  size_t classes, count; /* parameters */
  size_t stride;         /* classes, in arrays for kernels */
  size_t inputs;         /* features and the 1 of b, likewise */
  const pc_linear_kernels *kernels;

  pc_linear_rows which;
  uint8_t fold;
  unsigned want;
  double *padded; /* the parameters for kernels */
  struct pc_linear_pass_worker *workers;
  size_t worker_count;
  int alone; /* a single worker walks over kept rows, in the space of `scratch` */
  size_t scratch;

  /* Of the last pass. */
  double weight, value;
  double *gradient;
  double *hessian; /* count x count, or NULL */
} pc_linear_pass;

/* For what is asked of `want` at most.  alone: see above; it needs kept rows. */
PC_CHECKED pcal_status pc_linear_pass_new(const pc_fit_rows *rows, unsigned want, int alone,
                                          pc_linear_pass *out, pcal_error *err);
void pc_linear_pass_free(pc_linear_pass *pass); /* a zeroed one is fine */

/* Does row i of a block count? */
int pc_linear_pass_includes(const pc_linear_pass *pass, const pc_fit_block *block, size_t i);

/* Evaluates at the parameters; value is at most about 1e300, and 0 without rows. */
PC_CHECKED pcal_status pc_linear_pass_run(pc_linear_pass *pass, const double *parameters,
                                          unsigned want, pcal_error *err);

#endif
