/* The objective of temperature scaling and its derivatives, on all rows or on a sample. */
#ifndef PC_TEMPERATURE_OBJECTIVE_H
#define PC_TEMPERATURE_OBJECTIVE_H

#include "calibrators/calibrator.h"
#include "calibrators/temperature/row_sample.h"
#include "calibrators/temperature/temperature_on_device.h"
#include "kernels/temperature_kernels.h"
#include "optim/scalar_search.h"

/* A value of beta = 1/T, and the score to evaluate there. */
typedef struct pc_temperature_trial {
  pc_temperature_score score;
  double beta;
} pc_temperature_trial;

typedef struct pc_temperature_objective {
  const pc_fit_task *task;
  int is_log;                   /* else the objective is the Brier score */
  unsigned passes;              /* over all rows so far */
  pc_temperature_device device; /* if used, it evaluates the log score, and `sample` is empty */
  pc_row_sample sample;
  size_t sample_count;  /* rows of the sample, there or here */
  double sample_weight; /* of these, each rounded up */
  unsigned subset_bits; /* only 2^-subset_bits of the sample is evaluated */
  /* Of the last evaluation on all rows: */
  double weight;       /* of the rows in the objective */
  uint64_t impossible; /* rows left out: log, and the label has probability 0 */
  uint64_t misses;     /* rows in the objective whose label does not have the largest score */
  double one;          /* mean objective for beta = 1, if the first trial includes it */
} pc_temperature_objective;

void pc_temperature_objective_free(
    pc_temperature_objective *objective); /* a zeroed sample is allowed */

/* One light pass that keeps a sample of at most about a thousand rows.  A bad row is not an
 * error here: the sample stays empty, and the next pass reports the row. */
PC_CHECKED pcal_status pc_temperature_objective_draw_sample(pc_temperature_objective *objective,
                                                            pcal_error *err);

/* Mean objective and its derivatives by beta for several trials, in one pass over all rows. */
PC_CHECKED pcal_status pc_temperature_objective_on_all(pc_temperature_objective *objective,
                                                       const pc_temperature_trial *trials,
                                                       size_t count, pc_scalar_derivatives *out,
                                                       pcal_error *err);

/* The same for one trial on the sample, which must not be empty. */
PC_CHECKED pcal_status pc_temperature_objective_on_sample(pc_temperature_objective *objective,
                                                          const pc_temperature_trial *trial,
                                                          pc_scalar_derivatives *out,
                                                          pcal_error *err);

#endif
