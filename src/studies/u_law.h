/* A finite law of predictions and outcomes, and what scores make of it: nothing is drawn. */
#ifndef PC_U_LAW_H
#define PC_U_LAW_H

#include "core/memory.h"
#include "metrics/skce_pairs.h"

/* Equally likely points; both arrays are points x classes. */
typedef struct pc_u_law {
  size_t points, classes;
  const double *predictions, *truth;
} pc_u_law;

/* Expectations under a law.  P(Y | f) is the mean truth of the points with prediction f. */
typedef struct pc_u_values {
  size_t values;      /* different predictions */
  double brier;       /* mean Brier score */
  double ce;          /* CE_2 squared: the error that the Brier score induces */
  double sharpness;   /* of the Brier score */
  double u_score;     /* E S(f, f', Y, Y') */
  double u_entropy;   /* g(P(Y), P(Y)) */
  double u_ce;        /* E d(f, f', P(Y | f), P(Y | f')) */
  double u_sharpness; /* E d(P(Y), P(Y), P(Y | f), P(Y | f')) */
  double u_self;      /* E |e_Y - f|^2, the U-score of a row with itself */
} pc_u_values;

/* The scale of the kernel must be given. */
PC_CHECKED pcal_status pc_u_law_values(const pc_u_law *law, const pc_skce_kernel *kernel,
                                       const pcal_env *env, pc_u_values *out, pcal_error *err);

#endif
