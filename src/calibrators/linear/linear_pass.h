/* A pass over the rows of a fit under softmax(W x + b): the mean log score, its gradient and
 * its Hessian.
 *
 * Parameters are one array: w[j][k], the weight of feature j for class k, feature after
 * feature, then b, in the units of pc_fit_rows.  All sums over rows have the same bits for any
 * order of rows and any number of threads. */
#ifndef PC_LINEAR_PASS_H
#define PC_LINEAR_PASS_H

#include "calibrators/fit_rows.h"
#include "stats/lattice_sums.h"

typedef enum pc_linear_want {
  PC_LINEAR_VALUE = 0,
  PC_LINEAR_GRADIENT = 1,
  PC_LINEAR_HESSIAN = 2 /* all second derivatives */
} pc_linear_want;

/* The included rows: all, those of a fold, or all others. */
typedef enum pc_linear_rows {
  PC_LINEAR_ALL,
  PC_LINEAR_INSIDE_FOLD,
  PC_LINEAR_OUTSIDE_FOLD
} pc_linear_rows;

typedef struct pc_linear_pass {
  const pc_fit_rows *rows;
  int full;              /* 0: a diagonal map, for which only rows and sizes are set */
  size_t classes, count; /* count: parameters */
  size_t stride;         /* classes, padded for kernels */
  size_t inputs;         /* features and the 1 of b, padded for kernels */
  const pc_linear_kernels *kernels;

  pc_linear_rows which;
  uint8_t fold;
  unsigned want;
  double least;   /* factors p_k (1 - p_k) and p_k p_l up to this are left out of the Hessian */
  double *padded; /* the parameters, for kernels */
  struct pc_linear_pass_worker *workers;
  size_t worker_count;
  int serial;     /* one worker goes through the kept rows, on the calling thread, */
  size_t buffers; /* through the buffers of this worker of the rows */

  /* Results of the last pass: */
  double weight, value;
  double *gradient;
  double *hessian; /* count x count, or NULL */
} pc_linear_pass;

/* want: everything that a run may ask for.  serial: see above; needs kept rows. */
PC_CHECKED pcal_status pc_linear_pass_new(const pc_fit_rows *rows, unsigned want, int serial,
                                          pc_linear_pass *out, pcal_error *err);

/* True if row i of a block is included. */
int pc_linear_pass_includes(const pc_linear_pass *pass, const pc_fit_block *block, size_t i);

/* Evaluates at the parameters; the value is at most about 1e300, and 0 without rows. */
PC_CHECKED pcal_status pc_linear_pass_run(pc_linear_pass *pass, const double *parameters,
                                          unsigned want, pcal_error *err);

#endif
