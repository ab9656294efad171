/* The objective of temperature scaling and its derivatives, on all rows or on a sample. */
#ifndef PC_TEMPERATURE_OBJECTIVE_H
#define PC_TEMPERATURE_OBJECTIVE_H

#include "calibrators/calibrator.h"
#include "calibrators/temperature/row_sample.h"
#include "kernels/temperature_kernels.h"
#include "optim/scalar_search.h"

/* A value of beta = 1/T, and what is wanted of it. */
typedef struct pc_temperature_trial {
  pc_temperature_score wish;
  double beta;
} pc_temperature_trial;

typedef struct pc_temperature_objective {
  const pc_fit_task *task;
  int is_log;      /* else the objective is the Brier score */
  unsigned passes; /* over all rows so far */
  pc_row_sample sample;
  unsigned few; /* how often only half of the sample is evaluated */
  /* Of the last evaluation on all rows: */
  double weight;       /* of the rows in the objective */
  uint64_t impossible; /* rows left out of it: log, the label has probability 0 */
  uint64_t misses;     /* rows in it whose label has not the largest score */
  double one;          /* mean objective for beta = 1, if the first trial asked for it */
} pc_temperature_objective;

void pc_temperature_objective_free(
    pc_temperature_objective *tempering); /* a zeroed sample is fine */

/* One light pass that keeps a sample of at most about a thousand rows.  When a row is bad the
 * sample is left empty and it does not fail: the next pass tells what is wrong. */
PC_CHECKED pcal_status pc_temperature_objective_draw_sample(pc_temperature_objective *tempering,
                                                            pcal_error *err);

/* Mean objective and slopes by beta: one pass over all rows for several trials. */
PC_CHECKED pcal_status pc_temperature_objective_on_all(pc_temperature_objective *tempering,
                                                       const pc_temperature_trial *trials,
                                                       size_t count, pc_scalar_derivatives *out,
                                                       pcal_error *err);

/* The same for one trial on the sample, which is not empty, or on few of its rows. */
PC_CHECKED pcal_status pc_temperature_objective_on_sample(pc_temperature_objective *tempering,
                                                          const pc_temperature_trial *trial,
                                                          pc_scalar_derivatives *out,
                                                          pcal_error *err);

#endif
