/* The search for W and b of softmax(W x + b), shared by vector, matrix and ODIR scaling. */
#ifndef PC_LINEAR_SEARCH_H
#define PC_LINEAR_SEARCH_H

#include "calibrators/linear/linear_pass.h"
#include "optim/optim_limits.h"

/* Most classes of full maps that are searched by Newton's method with all second
 * derivatives. */
#define PC_LINEAR_NEWTON 12

/* Objective: mean log score + off * sum of squares of w[j][k], j != k, + shift * sum of squares
 * of b, in the units of the pass. */
typedef struct pc_linear_search {
  pc_linear_pass pass;
  double off, shift;
  pc_optim_limits limits;
  int rough; /* the limits are loose, so that rough second derivatives suffice */

  double *at;       /* parameters: the start, then the result */
  double value;     /* objective at the result */
  double gradient;  /* its largest derivative */
  pc_optim_end end; /* 0 before the first search */
  unsigned evaluations;

  double known_off, known_shift;        /* private: penalties in the known Hessian */
  struct pc_linear_search_state *state; /* private */
} pc_linear_search;

/* full: a full map; else a diagonal one, with parameters w, then b, without penalty, of
 * transposed rows.  serial: see pc_linear_pass; such searches may run in parallel. */
PC_CHECKED pcal_status pc_linear_search_new(const pc_fit_rows *rows, int full, int serial,
                                            pc_linear_search *out, pcal_error *err);

/* Sets `at` to the map that leaves probabilities unchanged. */
void pc_linear_search_identity(pc_linear_search *search);

/* Minimises from `at`, or from 0 if that is better; the pass says which rows are included.  If
 * the minimum is not unique, because a common change of all classes has no effect, the result
 * has the least norm.  warm: `at` is the minimum of a similar problem. */
PC_CHECKED pcal_status pc_linear_search_run(pc_linear_search *search, int warm,
                                            pcal_error *err);

/* Copies the result of another search of the same shape, with its Hessian, as the start. */
void pc_linear_search_follow(pc_linear_search *search, const pc_linear_search *other);

/* The mean log score at `at`, without the penalty. */
PC_CHECKED pcal_status pc_linear_search_score(pc_linear_search *search, double *out,
                                              pcal_error *err);

#endif
