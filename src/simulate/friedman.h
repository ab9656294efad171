/* Friedman's first regression problem with noise that grows with an input of its own. */
#ifndef PC_FRIEDMAN_H
#define PC_FRIEDMAN_H

#include <stddef.h>
#include <stdint.h>

#define PC_FRIEDMAN_INPUTS 10

/* Rows of ten inputs and their targets, a pure function of seed and stream; what 0.5 + x6 is of
 * the noise: its variance, else its standard deviation. */
void pc_friedman(uint64_t seed, uint64_t stream, size_t rows, int as_variance, double *inputs,
                 double *targets);

/* The target without noise. */
double pc_friedman_mean(const double inputs[PC_FRIEDMAN_INPUTS]);

#endif
