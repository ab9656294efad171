/* The choice of lambda and mu by cross-validation along paths. */
#ifndef PC_ODIR_PATH_H
#define PC_ODIR_PATH_H

#include "calibrators/linear/linear_search.h"

typedef struct pc_odir_choice {
  double lambda, mu; /* in: the given value, or NAN; out: the value to use */
  double score;      /* mean log score on held-out rows; infinite: cross-validation failed */
  /* In: starting point of the search.  near_lambda, near_mu: 0 means 1.  near: NULL means the
   * identity map. */
  double near_lambda, near_mu;
  const double *near; /* parameters of a search */
  /* Out: good starting parameters for fits with the chosen lambda and mu: `start` for all rows,
   * `fold_starts` for the rows outside each fold; or NULL. */
  const double *start, *fold_starts;
} pc_odir_choice;

/* Sets the penalties of a search; lambda is multiplied by 2^(-2 exponent), because the features
 * were divided by 2^exponent (fit_rows.h). */
void pc_odir_penalise(pc_linear_search *search, double lambda, double mu);

/* Chooses lambda and mu where they are NAN; the rows must have folds (PC_FIT_FOLDED in
 * fit_rows.h). */
PC_CHECKED pcal_status pc_odir_choose(const pc_fit_rows *rows, pc_odir_choice *choice,
                                      pcal_error *err);

#endif
