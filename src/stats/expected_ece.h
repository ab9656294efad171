/* What the ECE of a sample is worth: how large it is on average at this number of rows. */
#ifndef PC_EXPECTED_ECE_H
#define PC_EXPECTED_ECE_H

#include "stats/bins.h"

/* The mean of |X| for X normal with this mean and standard deviation. */
double pc_folded_normal_mean(double mean, double deviation);

typedef struct pc_expected_ece {
  double mean;      /* of the estimate, with the bins' gaps taken as the true ones */
  double null_mean; /* the same with every gap zero: what sample size alone shows */
} pc_expected_ece;

/* From bins with score_square. */
pc_expected_ece pc_expected_ece_of(const pc_bin *bins, size_t count, double total);

/* The mean of |outcomes - expected| over many outcomes of two kinds: `rarer` is the expected
 * number of the rarer kind, `variance` the sum of p (1 - p). */
double pc_bernoulli_mean_deviation(double rarer, double variance);

/* The ECE of a calibrated model with these scores, outcomes drawn from them: mean and standard
 * deviation. */
typedef struct pc_chance_ece {
  double mean, deviation;
} pc_chance_ece;

pc_chance_ece pc_chance_ece_of(const pc_bin *bins, size_t count, double total);

/* The mean of p (1 - p) over the scores of a bin. */
double pc_bin_outcome_variance(const pc_bin *bin);

#endif
