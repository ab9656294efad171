/* From replicas of an estimate to an interval. */
#ifndef PC_INTERVAL_H
#define PC_INTERVAL_H

#include <stddef.h>

#include "propercal.h"

typedef struct pc_interval {
  double low, high;
} pc_interval;

/* "auto|normal|percentile|basic|bca|jackknife": methods that can be requested. */
extern const char pc_interval_methods[];
const char *pc_interval_method_name(pcal_interval_method method);

/* estimate -+ z se */
pc_interval pc_interval_normal(double estimate, double se, double level);

/* For a share of `rows`. */
pc_interval pc_interval_wilson(double share, double rows, double level);

/* How many rows carry a mean of values that are not negative: (estimate / se)^2, for rare
 * events their number; infinite without error. */
double pc_interval_event_count(double estimate, double se);

/* For such a mean, whose variance grows with it as that of a count. */
pc_interval pc_interval_poisson(double estimate, double se, double level);

/* An estimate, its replicas in ascending order, and the acceleration for BCa. */
typedef struct pc_replica_set {
  double estimate;
  const double *values;
  size_t count; /* at least 1 */
  double acceleration;
} pc_replica_set;

/* Percentile, basic or BCa. */
pc_interval pc_interval_from_replicas(const pc_replica_set *set, pcal_interval_method method,
                                      double level);

/* For an error, the norm of a vector, from its replicas alone: see interval.c. */
pc_interval pc_interval_of_norm(const pc_replica_set *set, double level);

/* The value below which a share p of sorted values lies, between neighbours by proportion. */
double pc_interval_quantile(const double *values, size_t count, double p);

/* Standard deviation, with count - 1; 0 for one value. */
double pc_interval_deviation(const double *values, size_t count);

/* Standard error from estimates that each leave one block of rows out; and the interval, with
 * the quantile of Student's t. */
double pc_interval_jackknife_se(const double *left_out, size_t count);
pc_interval pc_interval_jackknife(double estimate, double se, size_t count, double level);

/* How the variance of an estimate t that is quadratic in means depends on the truth t0: slope *
 * t0 + noise.  Zeroed: not known. */
typedef struct pc_variance_law {
  double noise; /* variance when t0 is 0 */
  double slope; /* a first guess; the jackknife says more */
  double most;  /* times the guess, that the slope may be; 1: the guess is all */
} pc_variance_law;

/* All t0 with |estimate - t0| <= t sqrt(slope t0 + noise): the jackknife's variance counts the
 * noise twice, what is left of it gives the slope, from three quarters of the guess up to
 * `most` times. */
pc_interval pc_interval_quadratic(double estimate, double se, const pc_variance_law *law,
                                  size_t count, double level);

/* Acceleration from estimates that each leave one block of rows out. */
double pc_interval_acceleration(const double *left_out, size_t count);

#endif
