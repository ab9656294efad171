/* Exact expectations of U-scores under a finite distribution of predictions and outcomes. */
#ifndef PC_U_SCORE_EXACT_H
#define PC_U_SCORE_EXACT_H

#include "base/memory.h"
#include "metrics/skce.h"

/* Equally likely points; both arrays are points x classes. */
typedef struct pc_finite_distribution {
  size_t points, classes;
  const double *predictions, *truth;
} pc_finite_distribution;

/* Expectations under a distribution.  P(Y | f) is the mean truth of the points with
 * prediction f. */
typedef struct pc_u_score_terms {
  size_t values;      /* number of distinct predictions */
  double brier;       /* mean Brier score */
  double ce;          /* CE_2 squared: the error that the Brier score induces */
  double sharpness;   /* of the Brier score */
  double u_score;     /* E S(f, f', Y, Y') */
  double u_entropy;   /* g(P(Y), P(Y)) */
  double u_ce;        /* E d(f, f', P(Y | f), P(Y | f')) */
  double u_sharpness; /* E d(P(Y), P(Y), P(Y | f), P(Y | f')) */
  double u_self;      /* E |e_Y - f|^2, the U-score of a row with itself */
} pc_u_score_terms;

/* kernel->scale must be set. */
PC_CHECKED pcal_status pc_u_score_exact(const pc_finite_distribution *distribution,
                                        const pc_skce_kernel *kernel, const pcal_env *env,
                                        pc_u_score_terms *out, pcal_error *err);

#endif
