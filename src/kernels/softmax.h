/* Softmax and sigmoid of single rows.  The inputs have been validated; nothing is allocated,
 * and no call fails. */
#ifndef PC_SOFTMAX_H
#define PC_SOFTMAX_H

#include <stddef.h>

/* out[j] = exp(z[j] - log_norm); returns log_norm = max + log sum exp(z - max).  out may be z.
 * Scores may be as large as double permits. */
double pc_softmax_row(const double *scores, size_t count, double *out);

/* out = {1 - p, p} for the logit z of class 1, both with full relative accuracy.  Returns
 * r = log(1 + exp(-|z|)): the log probability of a class is min(s, 0) - r, with s = z for class
 * 1 and s = -z for class 0, without cancellation. */
double pc_sigmoid_pair(double logit, double out[2]);

#endif
