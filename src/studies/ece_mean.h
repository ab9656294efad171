/* The mean of the binned ECE over samples of a given size. */
#ifndef PC_ECE_MEAN_H
#define PC_ECE_MEAN_H

#include "stats/bins.h"

/* Mean of ECE(n) for independent rows of a population, without the approximations of
 * Proposition 3.3.  `bins` describes the population: weights sum to `total`, hits / weight is the
 * true accuracy of a bin and score / weight its mean confidence. */
double pc_ece_mean(const pc_bin *bins, size_t count, double total, size_t rows);

/* E|k c - H| for H binomial with k trials of probability a. */
double pc_ece_mean_gap(double k, double c, double a);

#endif
