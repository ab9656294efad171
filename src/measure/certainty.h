/* How sure a number is: what was asked for, and what becomes of it.
 *
 * Sums have a standard error in closed form (and functions of sums by the delta method); for
 * grids and curves the rows are kept and measured again with weights drawn anew (replicas), or
 * with labels drawn from the predictions (what a calibrated model would show). */
#ifndef PC_CERTAINTY_H
#define PC_CERTAINTY_H

#include "measure/paired_test.h"
#include "metrics/metric.h"
#include "stats/interval.h"

#define PC_REPLICAS_DEFAULT 1000
#define PC_REPLICAS_MAX 1000000
#define PC_NULL_LEVEL 0.95
#define PC_CERTAINTY_FEW 10 /* rows of the rarer kind that intervals take to be sure */

/* Starts zeroed: nothing is asked for. */
typedef struct pc_certainty {
  double level;    /* of intervals; 0: none */
  size_t replicas; /* of each kind */
  int method;      /* pc_interval_method */
  int null;        /* also what a calibrated model would show */
  int by_cluster;  /* groups of rows are drawn together */
  int paired;      /* keep the replicas, to compare with another model */
} pc_certainty;

/* What is known about a part of a value. */
typedef struct pc_part_surety {
  int has_interval;
  double low, high, se;
} pc_part_surety;

/* What is known about one number. */
typedef struct pc_surety {
  int has_interval, has_null;
  double level, low, high, se;
  pc_interval_method method;
  double null_mean, null_low, null_high, null_p_value;
  int has_difference, has_difference_interval; /* to another model (measure/versus.h) */
  double difference, difference_low, difference_high, difference_p_value, difference_se;
  pc_paired_method difference_method; /* what decided about the interval and p-value */
  int difference_of_calibration;      /* it is also that of the score's calibration error */
  size_t few;    /* 1 + where in `why` it is told that the interval hangs on few rows; or 0 */
  char why[384]; /* no interval or no null because ..., or what to doubt of them */
} pc_surety;

/* Reads and checks what a configuration asks for. */
PC_CHECKED pcal_status pc_certainty_read(const pcal_measure_config *config, pc_certainty *out,
                                         pcal_error *err);
int pc_certainty_equal(const pc_certainty *a, const pc_certainty *b);

/* May intervals of sums come from a formula, or was a method asked for that draws again? */
int pc_certainty_has_formula(const pc_certainty *certainty);

/* The interval of a function of sums: by the delta method, with derivatives by differences; for
 * a share Wilson's. */
PC_CHECKED pcal_status pc_certainty_of_sums(const pc_certainty *certainty,
                                            const pc_metric *metric, const pc_options *options,
                                            const pc_evidence *evidence, const pcal_env *env,
                                            const pc_outcome *outcome, pc_surety *out,
                                            pcal_error *err);

/* The interval of a mean over blocks of rows, from how much they differ. */
void pc_certainty_of_blocks(const pc_certainty *certainty, const pc_evidence *evidence,
                            const pc_outcome *outcome, pc_surety *out);

/* Marks an interval, and says why, when fewer than PC_CERTAINTY_FEW of the rows are of the
 * rarer kind: "wrong", "right", "of class 1".  A share has its interval of Wilson, which holds.
 */
void pc_certainty_doubt(double rarer, double total, const char *kind, pc_surety *out);

#endif
