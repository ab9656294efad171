/* What the ECE of a sample is worth: how large it is on average at this number of rows. */
#ifndef PC_SAMPLE_SIZE_H
#define PC_SAMPLE_SIZE_H

#include "stats/bins.h"

/* The mean of |X| for X normal with this mean and standard deviation. */
double pc_folded_normal_mean(double mean, double deviation);

typedef struct pc_expected_ece {
  double mean;      /* of the estimate, with the bins' gaps taken as the true ones */
  double null_mean; /* the same with every gap zero: what sample size alone shows */
} pc_expected_ece;

/* From bins with score_square. */
pc_expected_ece pc_expected_ece_of(const pc_bin *bins, size_t count, double total);

/* The ECE of a calibrated model with these bins: mean and standard deviation.  The variance of
 * each bin is at least that of outcomes drawn from its scores, the mean of p (1 - p): in a bin
 * of few rows all outcomes may agree by chance and would seem to vary not at all. */
typedef struct pc_chance_ece {
  double mean, deviation;
} pc_chance_ece;

pc_chance_ece pc_chance_ece_of(const pc_bin *bins, size_t count, double total);

/* The mean of p (1 - p) over the scores of a bin. */
double pc_bin_spread(const pc_bin *bin);

#endif
