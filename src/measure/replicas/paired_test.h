/* The difference of one metric between two models on the same rows: interval and p-value. */
#ifndef PC_PAIRED_TEST_H
#define PC_PAIRED_TEST_H

#include <stddef.h>

#include "propercal.h"

/* Version of the rule that turns exchanges into p-values and intervals.  Increase it with every
 * change that moves them: tools/make-paired then drops the error rates that it has recorded. */
#define PC_PAIRED_RULE 2

/* "exchange", "exchange-wide", "replicas", "delong". */
const char *pc_paired_method_name(pcal_difference_method method);

/* What is known about T, the metric or its unbiased power, in both models. */
typedef struct pc_paired_sample {
  double value[2];      /* T of each model */
  double *exchanged[2]; /* T after each exchange; element 0: without exchange; overwritten */
  size_t exchanges;     /* 0: the models could not be exchanged */
  double se[2];         /* standard error of each T */
  double deviation;     /* standard deviation of T[0] - T[1] over the same replicas */
  double sign_p;        /* twice the share of replicas whose difference has the opposite sign */
  double bias;          /* of T[0] - T[1], estimated from replicas */
  double score_distance; /* of the two distributions of scores, in standard errors */
  double dominant_bias;  /* the largest bias that exceeds its standard error; 0: none does */
  int bias_unknown; /* the bias of T is unknown, so the size of T says little about the true
                           error */
  int zero_if_calibrated; /* T is an error or its square: 0 for a calibrated model */
  double level;
} pc_paired_sample;

typedef struct pc_paired_finding {
  double low, high, p_value, se;
  pcal_difference_method method;
} pc_paired_finding;

/* p_value < 1 - level exactly if the interval excludes 0.  Returns 0 if the sample has neither
 * exchanges nor standard errors. */
int pc_paired_judge(const pc_paired_sample *sample, pc_paired_finding *out);

/* Converts a difference of squares (power 2) to one of roots: the difference of two roots whose
 * squares differ by `difference` and sum to max(a, 0) + max(b, 0).  It has the sign of
 * `difference`; for difference = a - b with a, b >= 0 it is sqrt(a) - sqrt(b). */
double pc_paired_root(double a, double b, int power, double difference);

#endif
