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

/* The scale on which an estimate is closest to normal. */
typedef enum pc_interval_scale {
  PC_SCALE_PLAIN,
  PC_SCALE_LOG,   /* of positive ratios */
  PC_SCALE_LOGIT, /* of numbers between 0 and 1 */
  PC_SCALE_NORM   /* of errors, which chance makes larger: needs a pc_interval_noise */
} pc_interval_scale;

/* An estimate that is linear in a number of events: its value without an event, its value if all
 * rows were events, and how much one event adds; 0: it is not.  If no row could have been an event,
 * `other` is how much a row that could have been, and was not, would have taken away; else 0. */
typedef struct pc_interval_count {
  double none, all, one, other;
} pc_interval_count;

/* Chance in an error: how much larger it makes the estimate on average, and the mean and the
 * standard deviation of what it alone would show if the truth were 0. */
typedef struct pc_interval_noise {
  double bias, mean, deviation;
} pc_interval_noise;

/* The normal interval on a scale, mapped back: se is that of the estimate itself.  An estimate
 * at the end of its scale has the plain interval. */
pc_interval pc_interval_on_scale(pc_interval_scale scale, double estimate, double se,
                                 double level);

/* The interval of an error between 0 and 1 with known noise; it contains the estimate. */
pc_interval pc_interval_of_error(double estimate, double se, const pc_interval_noise *noise,
                                 double level);

/* Wilson's interval of a share of `rows` rows, with continuity correction. */
pc_interval pc_interval_wilson(double share, double rows, double level);

/* The interval of a mean of losses, which are not negative.  unseen: the loss of one more event,
 * divided by the number of rows. */
pc_interval pc_interval_poisson(double estimate, double se, double unseen, double level);

/* Widens the interval of an estimate that is linear in a number of events, so that it allows for
 * few events and for few other rows. */
void pc_interval_allow_count(double estimate, double se, const pc_interval_count *count,
                             double level, pc_interval *interval);

/* An estimate, its replicas in ascending order, and the acceleration for BCa. */
typedef struct pc_replica_set {
  double estimate;
  const double *values;
  size_t count; /* at least 1 */
  double acceleration;
} pc_replica_set;

/* Method: percentile, basic or BCa. */
pc_interval pc_interval_from_replicas(const pc_replica_set *set, pcal_interval_method method,
                                      double level);

/* The interval of an error that is a norm of a vector, from its replicas alone. */
pc_interval pc_interval_of_norm(const pc_replica_set *set, double level);

/* Moves the values that are not NaN to the front, sorts them and returns how many there are. */
size_t pc_interval_sort_values(double *values, size_t count);

/* The p-quantile of sorted values, interpolated linearly. */
double pc_interval_quantile(const double *values, size_t count, double p);

/* Standard deviation with divisor count - 1; 0 for one value. */
double pc_interval_deviation(const double *values, size_t count);

/* The standard error from estimates that each leave out one block of rows; and the interval
 * with the quantile of Student's t. */
double pc_interval_jackknife_se(const double *left_out, size_t count);
pc_interval pc_interval_jackknife(double estimate, double se, size_t count, double level);

/* The variance of an estimate that is quadratic in means, as a function of the truth t0:
 * slope * t0 + noise.  Zeroed: unknown. */
typedef struct pc_variance_model {
  double noise; /* variance when t0 is 0 */
  double slope; /* a first guess; the jackknife refines it */
  double most;  /* upper bound of the slope, as a multiple of the guess; 1: slope = guess */
} pc_variance_model;

/* All t0 with |estimate - t0| <= t sqrt(slope t0 + noise).  slope = (se^2 - 2 noise) /
 * estimate, because the jackknife variance se^2 counts the noise twice; it is clamped to [3/4,
 * most] times variance->slope. */
pc_interval pc_interval_quadratic(double estimate, double se, const pc_variance_model *variance,
                                  size_t count, double level);

/* The root of a square that is not negative, from an unbiased estimate of it: all t0 with
 * |estimate - t0| <= z sqrt(slope t0 + noise), and the roots of its ends.  Around 0 the estimate is
 * skewed to the right, so its noise counts INTERVAL_SKEW times in the lower end. */
pc_interval pc_interval_of_square(double estimate, const pc_variance_model *variance,
                                  double level);

/* Sums of squares are skewed to the right: unless they are close to 0, an interval of the same
 * width is placed around their root. */
void pc_interval_straighten(double value, double se, pc_interval *interval);

/* The acceleration from estimates that each leave out one block of rows. */
double pc_interval_acceleration(const double *left_out, size_t count);

#endif
