/* The search for W and b of softmax(W x + b): what vector, matrix and ODIR scaling share. */
#ifndef PC_LINEAR_SEARCH_H
#define PC_LINEAR_SEARCH_H

#include "calibrators/linear/linear_pass.h"
#include "optim/optim_limits.h"

/* Up to here full maps are searched by Newton's method with all second derivatives. */
#define PC_LINEAR_NEWTON 12

/* Minimised: mean log score + off sum of squares of w[j][k], j != k, + shift sum of squares of
 * b, in the units of the pass. */
typedef struct pc_linear_search {
  pc_linear_pass pass;
  double off, shift;
  pc_optim_limits limits;

  double *at;       /* parameters: start, and result */
  double value;     /* objective there */
  double gradient;  /* its largest derivative */
  pc_optim_end end; /* 0 before the first search */
  unsigned evaluations;

  double known_off, known_shift; /* private: penalties in a known Hessian */
  struct pc_linear_search_state *tools;
} pc_linear_search;

/* full: else the map is diagonal, its parameters are w and then b, there is no penalty, and the
 * rows are turned.  alone: see pc_linear_pass; the search then may run beside others. */
PC_CHECKED pcal_status pc_linear_search_new(const pc_fit_rows *rows, int full, int alone,
                                            pc_linear_search *out, pcal_error *err);
void pc_linear_search_free(pc_linear_search *search); /* a zeroed one is fine */

/* Sets `at` to the map that leaves probabilities alone. */
void pc_linear_search_identity(pc_linear_search *search);

/* Minimises from `at`, or from 0 where that is better; which rows count is set in the pass.
 * Where the minimum is not unique, the result is the one of least norm among those that give
 * all classes the same change.  warm: `at` is the minimum of a similar problem. */
PC_CHECKED pcal_status pc_linear_search_run(pc_linear_search *search, int warm,
                                            pcal_error *err);

/* Begins where another search of the same shape ended, with what it knows of the curvature. */
void pc_linear_search_follow(pc_linear_search *search, const pc_linear_search *other);

/* The mean log score at `at`, without the penalty. */
PC_CHECKED pcal_status pc_linear_search_score(pc_linear_search *search, double *out,
                                              pcal_error *err);

#endif
