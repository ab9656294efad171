/* The checks a row must pass, and the sentence for each that it does not.
 *
 * Edge cases, in the order in which a row is checked:
 *  1. label missing: refused, or skipped and counted; label outside 0..K-1: refused, with a
 *     hint when no label of the batch is 0 and one is K (1-based labels).
 *  2. weight missing as 1; negative, infinite or above 1e12: refused; weight 0: the row
 *     occurred no times, so it is checked and then left out.
 *  3. score NaN: missing; infinite logit: refused; a log-probability may be -inf.
 *  4. probability outside [0, 1] or a row sum off 1 by at most 1e-5: used as stored; off by at
 *     most 1e-2: rescaled under `normalize` and counted, else refused; beyond: refused. */
#ifndef PC_ROW_CHECK_H
#define PC_ROW_CHECK_H

#include "data/rows.h"

#define PC_FORECAST_MAX 1e100 /* targets, predictions, and one over standard deviations */
#define PC_PROB_TOLERANCE 1e-5
#define PC_PROB_REPAIRABLE 1e-2

/* One row of a batch on its way. */
typedef struct pc_checked_row {
  const pcal_batch *batch;
  const pc_layout *layout;
  const pc_row_policy *policy;
  size_t position; /* in the batch */
  uint64_t id;
  int32_t label;
  double weight;
  int missing, normalized;
} pc_checked_row;

/* Edge cases 1 and 2: fill label and weight. */
PC_CHECKED pcal_status pc_row_check_label(pc_checked_row *row, pcal_error *err);
PC_CHECKED pcal_status pc_row_check_weight(pc_checked_row *row, pcal_error *err);

/* Edge case 3, for a row known to hold something that is not finite: PCAL_OK when it is
 * missing and may be skipped, or when every odd score is a log-probability of -inf. */
PC_CHECKED pcal_status pc_row_check_not_finite(pc_checked_row *row, const double *scores,
                                               pcal_error *err);

/* Edge case 4: sentences for a probability out of range (at a column) and a sum that is off. */
pcal_status pc_row_fail_range(const pc_checked_row *row, size_t column, double p,
                              pcal_error *err);
pcal_status pc_row_fail_sum(const pc_checked_row *row, double sum, pcal_error *err);

/* The sentence for scores that somebody overwrites while they are read. */
pcal_status pc_row_fail_changed(const pc_checked_row *row, pcal_error *err);

/* Rows of regression: a number of the prediction (at a column) or the target that cannot be,
 * and why.  A missing number may be skipped. */
PC_CHECKED pcal_status pc_row_check_target(pc_checked_row *row, double *target,
                                           pcal_error *err);
/* "pass {normalize}", or what sets it when a calibrator is applied: the start of a remedy. */
const char *pc_row_normalize_remedy(const pc_checked_row *row);

/* Where a number of the prediction stands, for messages. */
pc_place pc_row_forecast_place(const pc_checked_row *row, size_t column);
PC_CHECKED pcal_status pc_row_check_missing_forecast(pc_checked_row *row, size_t column,
                                                     pcal_error *err);

/* Distance by which a probability leaves [0, 1]. */
double pc_prob_excess(double p);

#endif
