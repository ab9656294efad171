/* The expected binned ECE at a given number of rows: how much of an ECE is due to sample
 * size. */
#ifndef PC_EXPECTED_ECE_H
#define PC_EXPECTED_ECE_H

#include "stats/bins.h"

/* The mean of |X| for X normal with this mean and standard deviation. */
double pc_folded_normal_mean(double mean, double deviation);

typedef struct pc_expected_ece {
  double mean;      /* of the estimate, if the observed gaps of the bins are the true ones */
  double null_mean; /* the same with all gaps 0: the part due to sample size */
} pc_expected_ece;

/* The bins need score_square. */
pc_expected_ece pc_expected_ece_of(const pc_bin *bins, size_t count, double total);

/* The mean absolute deviation of a sum of binary outcomes from its expectation.  rarer: the
 * expected number of the rarer outcome; variance: the sum of p (1 - p). */
double pc_bernoulli_mean_deviation(double rarer, double variance);

/* Mean and standard deviation of the ECE of a calibrated model with these scores, outcomes
 * drawn from them. */
typedef struct pc_chance_ece {
  double mean, deviation;
} pc_chance_ece;

pc_chance_ece pc_chance_ece_of(const pc_bin *bins, size_t count, double total);

/* The mean of p (1 - p) over the scores p of a bin. */
double pc_bin_outcome_variance(const pc_bin *bin);

#endif
