/* The objective of temperature scaling and its derivatives, on all rows or on a sample. */
#ifndef PC_TEMPERING_H
#define PC_TEMPERING_H

#include "calibrators/calibrator.h"
#include "calibrators/row_sample.h"
#include "calibrators/scalar_search.h"
#include "kernels/tempered.h"

/* A value of beta = 1/T, and what is wanted of it. */
typedef struct pc_tempering_trial {
  pc_tempered_wish wish;
  double beta;
} pc_tempering_trial;

typedef struct pc_tempering {
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
} pc_tempering;

void pc_tempering_free(pc_tempering *tempering); /* a zeroed sample is fine */

/* One light pass that keeps a sample of at most about a thousand rows.  When a row is bad the
 * sample is left empty and it does not fail: the next pass tells what is wrong. */
PC_CHECKED pcal_status pc_tempering_sample(pc_tempering *tempering, pcal_error *err);

/* Mean objective and slopes by beta: one pass over all rows for several trials. */
PC_CHECKED pcal_status pc_tempering_on_all(pc_tempering *tempering,
                                           const pc_tempering_trial *trials, size_t count,
                                           pc_slopes *out, pcal_error *err);

/* The same for one trial on the sample, which is not empty, or on few of its rows. */
PC_CHECKED pcal_status pc_tempering_on_sample(pc_tempering *tempering,
                                              const pc_tempering_trial *trial, pc_slopes *out,
                                              pcal_error *err);

#endif
