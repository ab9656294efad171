/* A pass over rows for several trial values of T and w of ensemble temperature scaling. */
#ifndef PC_ETS_PASS_H
#define PC_ETS_PASS_H

#include "calibrators/calibrator.h"

#define PC_ETS_TRIALS 6
#define PC_ETS_TERMS 4 /* log(1 / T), and the three weights as if they were free */

typedef struct pc_ets_trial {
  double tau;       /* log(1 / T) */
  double weight[3]; /* of softmax(z / T), softmax(z), 1/K */
} pc_ets_trial;

/* Mean objective, infinite when a row is impossible; its derivatives by tau and the weights,
 * where the value is finite. */
typedef struct pc_ets_values {
  double value;
  double gradient[PC_ETS_TERMS], hessian[PC_ETS_TERMS * PC_ETS_TERMS];
} pc_ets_values;

/* brier: the objective is the Brier score, not the log score.  possible: rows whose label has
 * probability 0 are left out of the log score. */
PC_CHECKED pcal_status pc_ets_pass(const pc_fit_task *task, int brier, int possible,
                                   const pc_ets_trial *trials, size_t count, pc_ets_values *out,
                                   pcal_error *err);

#endif
