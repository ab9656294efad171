/* Friedman's first regression problem, with noise whose size depends on one input. */
#ifndef PC_FRIEDMAN_H
#define PC_FRIEDMAN_H

#include <stddef.h>
#include <stdint.h>

#define PC_FRIEDMAN_INPUTS 10

/* Draws rows of ten inputs and their targets, a pure function of seed and stream.  as_variance:
 * 0.5 + x6 is the variance of the noise, else its standard deviation. */
void pc_friedman(uint64_t seed, uint64_t stream, size_t rows, int as_variance, double *inputs,
                 double *targets);

/* The target without noise. */
double pc_friedman_mean(const double inputs[PC_FRIEDMAN_INPUTS]);

#endif
