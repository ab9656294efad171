/* The ends of an interval by test inversion from quantiles of replicas at some points, and which
 * points they need. */
#ifndef PC_INVERSION_ENDS_H
#define PC_INVERSION_ENDS_H

#include <stddef.h>

/* The points of an entry by `own`; then the shifts or, for errors over all classes, three more
 * values of `own`. */
enum {
  PC_INVERSION_ZERO,
  PC_INVERSION_THIRD,
  PC_INVERSION_MOST,
  PC_INVERSION_DATA, /* own = 1 */
  PC_INVERSION_ABOVE,
  PC_INVERSION_FARTHEST,
  PC_INVERSION_SHIFT_THIRD,
  PC_INVERSION_SHIFT_MOST,
  PC_INVERSION_SHIFT, /* a shift with the error of the data */
  PC_INVERSION_SHIFT_ABOVE,
  PC_INVERSION_SHIFT_FARTHEST,
  PC_INVERSION_POINTS,
  PC_INVERSION_FEW = PC_INVERSION_POINTS, /* evaluated without noise only */
  PC_INVERSION_TRUTHS
};

/* Quantiles of the replicas of an entry at each point. */
typedef struct pc_inversion_tails {
  double low[PC_INVERSION_POINTS], middle[PC_INVERSION_POINTS], high[PC_INVERSION_POINTS];
  const double *truth; /* of each point */
  double value;
  double null_high; /* of labels drawn from the predictions, edge case 3 of
                       interval_inversion.c; 0: not drawn */
  double zero_high; /* the same without claims that are too sure, edge case 9 there */
} pc_inversion_tails;

/* What is known of an entry when points are chosen. */
typedef struct pc_inversion_kind {
  int over_classes;
  int square; /* edge case 9: replicas show the standard error only */
  int few;    /* edge case 2 asks how much chance adds */
} pc_inversion_kind;

/* True for the points that are drawn first.  Replicas of errors that chance explains need no
 * others. */
int pc_inversion_needs_first(const pc_inversion_kind *kind, size_t point);

/* True for the other points that the quantiles of the first ones ask for. */
int pc_inversion_needs_more(const pc_inversion_kind *kind, const pc_inversion_tails *tails,
                            size_t point);

/* The smallest error at which the value is not too large. */
double pc_inversion_least(const pc_inversion_tails *tails, int over_classes);

/* The largest error along the points [first, last] at which the value is not too small; 0: none. */
double pc_inversion_largest(const pc_inversion_tails *tails, size_t first, size_t last);

/* How much larger than the true error chance makes T: T minus the error at which T is the
 * median. */
double pc_inversion_bias(const pc_inversion_tails *tails);

#endif
