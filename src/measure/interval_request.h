/* The request for intervals and nulls, and their results.
 *
 * Sums, and functions of sums, have a standard error by formula (interval_formula.h).  For
 * grids and curves the rows are stored and measured again (replicas/): with resampled weights
 * for intervals, and with labels drawn from the predictions for the null, the distribution of
 * the value for a calibrated model. */
#ifndef PC_INTERVAL_REQUEST_H
#define PC_INTERVAL_REQUEST_H

#include "measure/replicas/paired_test.h"
#include "metrics/metric.h"
#include "stats/interval.h"

#define PC_REPLICAS_DEFAULT 1000
#define PC_REPLICAS_MAX 1000000
#define PC_NULL_LEVEL 0.95

/* Zeroed: nothing is requested. */
typedef struct pc_interval_request {
  double level;    /* of intervals; 0: no intervals */
  size_t replicas; /* number of replicas of each kind */
  pcal_interval_method method;
  int null;       /* also measure what a calibrated model would show */
  int by_cluster; /* groups of rows are drawn together */
  int paired;     /* keep the replicas, to compare with another model */
} pc_interval_request;

/* The interval of a part of a value. */
typedef struct pc_part_interval {
  int has_interval;
  double low, high, se;
} pc_part_interval;

/* Interval, null and difference of one value. */
typedef struct pc_interval_result {
  int has_interval, has_null;
  double level, low, high, se;
  pcal_interval_method method;
  double null_mean, null_low, null_high, null_p_value;
  /* Difference to another model (replicas/paired_difference.h). */
  int has_difference, has_difference_interval;
  double difference, difference_low, difference_high, difference_p_value, difference_se;
  pcal_difference_method difference_method;
  int difference_of_calibration; /* the difference is also that of the calibration error */
  char why[192];      /* why there is no interval, null or difference; "": no remark */
  char few_rows[192]; /* the interval depends on few rows of one kind; "": it does not */
} pc_interval_result;

/* Reads and checks the request of a configuration. */
PC_CHECKED pcal_status pc_interval_request_read(const pcal_measure_config *config,
                                                pc_interval_request *out, pcal_error *err);
int pc_interval_request_equal(const pc_interval_request *a, const pc_interval_request *b);

/* True if intervals of sums may come from a formula; false if a method was requested that needs
 * replicas. */
int pc_interval_request_allows_formula(const pc_interval_request *request);

#endif
