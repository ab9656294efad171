/* The objective of ensemble temperature scaling for several values of T and w, in one pass. */
#ifndef PC_ETS_PASS_H
#define PC_ETS_PASS_H

#include "calibrators/calibrator.h"

#define PC_ETS_TRIALS 6
#define PC_ETS_TERMS 4 /* log(1 / T), and the three weights as independent variables */

typedef struct pc_ets_trial {
  double tau;       /* log(1 / T) */
  double weight[3]; /* of softmax(z / T), softmax(z), 1/K */
} pc_ets_trial;

/* Mean objective, infinite if a label has probability 0; derivatives by tau and the weights if
 * the value is finite. */
typedef struct pc_ets_values {
  double value;
  double gradient[PC_ETS_TERMS], hessian[PC_ETS_TERMS * PC_ETS_TERMS];
} pc_ets_values;

/* brier: the objective is the Brier score instead of the log score.  alone: T is searched alone;
 * rows whose label has probability 0 are left out of the log score, and only the derivatives by
 * tau are computed. */
PC_CHECKED pcal_status pc_ets_pass(const pc_fit_task *task, int brier, int alone,
                                   const pc_ets_trial *trials, size_t count, pc_ets_values *out,
                                   pcal_error *err);

#endif
