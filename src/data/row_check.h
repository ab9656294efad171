/* Checks of a row, and the error of each.
 *
 * Edge cases, in the order of the checks:
 *  1. label missing: refused, or skipped and counted.  Label outside 0 .. K-1: refused, with a
 *     hint if no label of the batch is 0 and one is K (1-based labels).
 *  2. weight missing: treated like a missing label.  Negative, infinite or above 1e12: refused.
 *     Weight 0: the row is checked and then left out.
 *  3. score NaN: missing.  Infinite score: refused, but a log-probability may be -inf, and so may a
 *     logit that is only measured, if another logit of the row is finite: probability 0.
 *  4. probability outside [0, 1], or row sum different from 1: by up to 1e-5 the row is used as
 *     stored; by up to 1e-2 it is rescaled and counted if `normalize` is set, else refused; by
 *     more than 1e-2 it is refused.
 *  5. a row of half-precision numbers (float16, bfloat16) is rescaled and counted without
 *     `normalize` if rounding explains its sum. */
#ifndef PC_ROW_CHECK_H
#define PC_ROW_CHECK_H

#include "data/rows.h"

#define PC_FORECAST_MAX 1e100 /* bound of targets, predictions, and 1 / standard deviation */

/* One row of a batch while it is checked. */
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

/* Edge cases 1 and 2; they fill label and weight. */
PC_CHECKED pcal_status pc_row_check_label(pc_checked_row *row, pcal_error *err);
PC_CHECKED pcal_status pc_row_check_weight(pc_checked_row *row, pcal_error *err);

/* Edge case 3, for a row in which some score is not finite.  PCAL_OK if the row is missing and
 * may be skipped, or if all such scores are -inf and mean probability 0. */
PC_CHECKED pcal_status pc_row_check_not_finite(pc_checked_row *row, const double *scores,
                                               pcal_error *err);

/* Edge case 4: the errors for a probability out of range, at a column, and for a wrong sum. */
pcal_status pc_row_fail_range(const pc_checked_row *row, size_t column, double p,
                              pcal_error *err);
pcal_status pc_row_fail_sum(const pc_checked_row *row, double sum, pcal_error *err);

/* The error for scores that were overwritten while they were read. */
pcal_status pc_row_fail_changed(const pc_checked_row *row, pcal_error *err);

/* Rows of regression: checks of the target and of a missing number of the prediction. */
PC_CHECKED pcal_status pc_row_check_target(pc_checked_row *row, double *target,
                                           pcal_error *err);
PC_CHECKED pcal_status pc_row_check_targets(pc_checked_row *row, const double *targets,
                                            size_t count, pcal_error *err);
/* The start of a remedy: "pass {normalize}", or the equivalent advice when a calibrator is
 * applied. */
const char *pc_row_normalize_remedy(const pc_checked_row *row);

/* The position of a number of the prediction, for messages. */
pc_place pc_row_forecast_place(const pc_checked_row *row, size_t column);
PC_CHECKED pcal_status pc_row_check_missing_forecast(pc_checked_row *row, size_t column,
                                                     pcal_error *err);

/* Distance of p from the interval [0, 1]. */
double pc_prob_excess(double p);

#endif
