/* How sure a number is: what was asked for, and what becomes of it.
 *
 * Sums have a standard error in closed form (and functions of sums by the delta method); for
 * grids and curves the rows are kept and measured again with weights drawn anew (replicas), or
 * with labels drawn from the predictions (what a calibrated model would show). */
#ifndef PC_INTERVAL_REQUEST_H
#define PC_INTERVAL_REQUEST_H

#include "measure/replicas/paired_test.h"
#include "metrics/metric.h"
#include "stats/interval.h"

#define PC_REPLICAS_DEFAULT 1000
#define PC_REPLICAS_MAX 1000000
#define PC_NULL_LEVEL 0.95
#define PC_INTERVAL_FEW_ROWS 10 /* rows of the rarer kind that intervals take to be sure */

/* Starts zeroed: nothing is asked for. */
typedef struct pc_interval_request {
  double level;    /* of intervals; 0: none */
  size_t replicas; /* of each kind */
  pcal_interval_method method;
  int null;       /* also what a calibrated model would show */
  int by_cluster; /* groups of rows are drawn together */
  int paired;     /* keep the replicas, to compare with another model */
} pc_interval_request;

/* What is known about a part of a value. */
typedef struct pc_part_interval {
  int has_interval;
  double low, high, se;
} pc_part_interval;

/* What is known about one number. */
typedef struct pc_interval_result {
  int has_interval, has_null;
  double level, low, high, se;
  pcal_interval_method method;
  double null_mean, null_low, null_high, null_p_value;
  int has_difference,
      has_difference_interval; /* to another model (measure/replicas/paired_difference.h) */
  double difference, difference_low, difference_high, difference_p_value, difference_se;
  pcal_difference_method difference_method; /* what decided about the interval and p-value */
  int difference_of_calibration; /* it is also that of the score's calibration error */
  size_t few;    /* 1 + where in `why` it is told that the interval hangs on few rows; or 0 */
  char why[384]; /* no interval or no null because ..., or what to doubt of them */
} pc_interval_result;

/* Reads and checks what a configuration asks for. */
PC_CHECKED pcal_status pc_interval_request_read(const pcal_measure_config *config,
                                                pc_interval_request *out, pcal_error *err);
int pc_interval_request_equal(const pc_interval_request *a, const pc_interval_request *b);

/* May intervals of sums come from a formula, or was a method asked for that draws again? */
int pc_interval_request_allows_formula(const pc_interval_request *certainty);

/* The interval of a function of sums: by the delta method, with derivatives by differences; for
 * a share Wilson's. */
PC_CHECKED pcal_status pc_interval_of_sums(const pc_interval_request *certainty,
                                           const pc_metric *metric, const pc_options *options,
                                           const pc_evidence *evidence, const pcal_env *env,
                                           const pc_metric_result *outcome,
                                           pc_interval_result *out, pcal_error *err);

/* The interval of a mean over blocks of rows, from how much they differ. */
void pc_interval_of_blocks(const pc_interval_request *certainty, const pc_evidence *evidence,
                           const pc_metric_result *outcome, pc_interval_result *out);

/* Marks an interval, and says why, when fewer than PC_INTERVAL_FEW_ROWS of the rows are of the
 * rarer kind: "wrong", "right", "of class 1".  A share has its interval of Wilson, which holds.
 */
void pc_interval_warn_few(double rarer, double total, const char *kind,
                          pc_interval_result *out);

#endif
