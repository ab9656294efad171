/* The number of rows needed to reach a goal, estimated from a pilot set. */
#ifndef PC_SAMPLE_PLAN_H
#define PC_SAMPLE_PLAN_H

#include "measure/results.h"

/* Refuses a plan without a goal, goals out of range, and results that lack intervals or, for
 * power, differences. */
PC_CHECKED pcal_status pc_sample_plan_check(const pcal_results *results,
                                            const pcal_plan_config *config, pcal_error *err);

/* The plan for one metric. */
typedef struct pc_sample_plan {
  int known;          /* the pilot has a standard error; else all numbers below are NaN */
  double value;       /* of the metric or, for power, of the difference */
  double se, width;   /* standard error and width of the interval in the pilot */
  double rows_needed; /* NaN: no number of rows reaches the goal */
} pc_sample_plan;

/* For a width: the rows at which the interval is that narrow.  For power: the rows at which the
 * difference to the other model is significant with that probability. */
pc_sample_plan pc_sample_plan_for(const pcal_results *results, const pcal_plan_config *config,
                                  const pc_result_record *record);

#endif
