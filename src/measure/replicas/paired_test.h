/* The difference of one metric between two models on the same rows: interval and p-value. */
#ifndef PC_PAIRED_TEST_H
#define PC_PAIRED_TEST_H

#include <stddef.h>

#include "propercal.h"

/* "exchange", "exchange-wide", "replicas". */
const char *pc_paired_method_name(pcal_difference_method method);

/* What is known of T, the metric or its unbiased power, in both models. */
typedef struct pc_paired_sample {
  double value[2];      /* T of each model */
  double *exchanged[2]; /* T after each exchange, the first one of none; overwritten */
  size_t exchanges;     /* 0: the models could not be exchanged */
  double se[2];         /* standard error of each T */
  double spread;        /* standard error of T[0] - T[1] over the same replicas */
  double sign_p;        /* twice the share of replicas whose difference has the other sign */
  double bias;          /* of T[0] - T[1], by replicas */
  int differ;           /* the scores of the two models differ in law */
  double swamped;       /* the larger bias of the two, where above its standard error; or 0 */
  int vague;            /* the size of T says little about errors, whatever its bias */
  int bounded;          /* T is an error, or its square: 0 for a calibrated model */
  double level;
} pc_paired_sample;

typedef struct pc_paired_finding {
  double low, high, p_value, se;
  pcal_difference_method method;
} pc_paired_finding;

/* p_value < 1 - level exactly when the interval excludes 0.  Returns 0 when there is nothing to
 * judge by. */
int pc_paired_judge(const pc_paired_sample *sample, pc_paired_finding *out);

/* From the scale of squares (power 2) to that of roots: the difference of two roots whose
 * squares differ by `difference` and have the sum of those of the models, max(a, 0) + max(b,
 * 0).  It has the sign of `difference`, and is that of the roots of a and b for a - b >= 0. */
double pc_paired_root(double a, double b, int power, double difference);

#endif
