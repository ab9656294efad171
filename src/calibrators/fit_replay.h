/* A fit whose rows are in other processes.
 *
 * A search is a function of the sums of its passes.  In each round the method runs again from the
 * beginning; passes whose merged tallies are known take their sums from these, and the first pass
 * without one ends the run.  The coordinator then asks for the tally of that pass; a worker has
 * run as far with the same tallies, makes the pass over its rows, and answers.  So methods are
 * written once, for rows in one process.
 *
 * Importance weights: tally 0 also sums the weights, so that all rows together decide what they
 * mean.  If they are importance weights, the first pass is made again with scaled weights, and
 * its tally is number 1. */
#ifndef PC_FIT_REPLAY_H
#define PC_FIT_REPLAY_H

#include "calibrators/calibrator.h"
#include "calibrators/fit_tally.h"
#include "data/row_fingerprint.h"

struct pc_fit_replay {
  pc_fit_tally *answers; /* merged tallies of the passes so far */
  size_t count;
  size_t next; /* number of the next pass */
  double unit; /* of importance weights (data/weight_unit.h), which tally 0 shows; else 0 */
  pc_fit_tally *live;       /* of a worker: the tally of pass `count`; NULL: coordinator */
  pc_row_fingerprint *rows; /* of a worker: the rows of that pass */
  int stopped;              /* pass `count` was reached */
};

/* The tally of pass 0 begins with the fields of fit_data_warnings.h. */
#define PC_FIT_REPLAY_DATA_FIELDS 4
/* Then come those about weights. */
#define PC_FIT_REPLAY_WEIGHT_FIELDS 3

/* The status of a run that reached the pass without a tally: the replay is `stopped`. */
PC_CHECKED pcal_status pc_fit_replay_stop(pc_fit_replay *replay, pcal_error *err);

#endif
