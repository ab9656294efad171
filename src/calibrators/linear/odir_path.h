/* The choice of lambda and mu by cross-validation along paths. */
#ifndef PC_ODIR_PATH_H
#define PC_ODIR_PATH_H

#include "calibrators/linear/linear_search.h"

/* A fixed lambda or mu is a grid of one. */
typedef struct pc_odir_choice {
  double lambda, mu; /* in: what is fixed, NAN: to be chosen; out: the choice */
  double score;      /* mean log score on rows not fitted on; infinite: there was no choice */
} pc_odir_choice;

/* Penalties of a search in its own units. */
void pc_odir_penalise(pc_linear_search *search, double lambda, double mu);

/* The rows must be dealt to folds. */
PC_CHECKED pcal_status pc_odir_choose(const pc_fit_rows *rows, pc_odir_choice *choice,
                                      pcal_error *err);

#endif
