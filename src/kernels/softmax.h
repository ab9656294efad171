/* Rows of scores to rows of probabilities.  Kernels take pointers and counts, allocate
 * nothing and never fail; their inputs have been checked. */
#ifndef PC_SOFTMAX_H
#define PC_SOFTMAX_H

#include <stddef.h>

/* out[j] = exp(z[j] - log_norm), log_norm = max + log sum exp(z - max), returned.
 * In place is allowed.  Scores may be as large as double permits. */
double pc_softmax_row(const double *scores, size_t count, double *out);

/* Two classes from the logit of class 1: out = {1 - p, p}, each to full relative accuracy;
 * returns r = log(1 + exp(-|z|)), so that the logarithm of a class is min(s, 0) - r with s = z
 * for class 1 and -z for class 0: nothing cancels. */
double pc_sigmoid_pair(double logit, double out[2]);

#endif
