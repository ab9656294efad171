/* Sum, range, largest entry and sum of squares of a row of probabilities, in one pass.  A
 * kernel table: see dispatch.h. */
#ifndef PC_PROB_ROW_H
#define PC_PROB_ROW_H

#include <stddef.h>

/* How far a probability may be outside [0, 1], and a sum of a row from 1: used as stored; rescaled
 * (data/row_check.h). */
#define PC_PROB_TOLERANCE 1e-5
#define PC_PROB_REPAIRABLE 1e-2

typedef struct pc_prob_row_facts {
  double sum, low, high;
  double rest_square; /* sum of squares over j != top, if requested, else 0 */
  size_t top;         /* lowest index of the largest */
  int finite;         /* no NaN or infinity; otherwise top and rest_square are 0 */
} pc_prob_row_facts;

/* f32 and f64 give equal results for equal numbers; count is at least 1. */
typedef struct pc_prob_row_kernels {
  void (*f32)(const float *p, size_t count, int squares, pc_prob_row_facts *facts);
  void (*f64)(const double *p, size_t count, int squares, pc_prob_row_facts *facts);
  /* A quick check without squares and with a float sum; facts->finite is true only if all
   * numbers are finite.  If none is negative, the sum has a relative error of at most
   * pc_prob_row_slack(count). */
  void (*glance)(const float *p, size_t count, pc_prob_row_facts *facts);
} pc_prob_row_kernels;

/* Bound on the relative error of `sum`: each addition, within one of 32 lanes or when the lanes
 * are added up, has a relative error of at most 2^-24. */
static inline double pc_prob_row_slack(size_t count) {
  return ((double)count / 32 + 6) * 0x1.01p-24;
}

#endif
