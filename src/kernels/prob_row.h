/* What a row of probabilities says, read once: compiled for each instruction set, with the same
 * bits everywhere (see row_kernels.h). */
#ifndef PC_PROB_ROW_H
#define PC_PROB_ROW_H

#include <stddef.h>

typedef struct pc_prob_row_facts {
  double sum, low, high;
  double rest_square; /* sum of squares over j != top, where asked for, else 0 */
  size_t top;         /* lowest index of the largest */
  int finite;         /* no NaN, no infinity; top and rest_square are 0 otherwise */
} pc_prob_row_facts;

/* Both say the same about the same numbers; count is at least 1. */
typedef struct pc_prob_row_kernels {
  const char *name;
  void (*f32)(const float *p, size_t count, int squares, pc_prob_row_facts *facts);
  void (*f64)(const double *p, size_t count, int squares, pc_prob_row_facts *facts);
  /* Without squares and with a sum in float: it is finite only if all numbers are, and where
   * none is negative it is off by at most pc_prob_row_slack(count) of itself. */
  void (*glance)(const float *p, size_t count, pc_prob_row_facts *facts);
} pc_prob_row_kernels;

/* Additions in a lane of 32, and to fold them, each off by at most 2^-24. */
static inline double pc_prob_row_slack(size_t count) {
  return ((double)count / 32 + 6) * 0x1.01p-24;
}

/* The reference, always present. */
extern const pc_prob_row_kernels pc_prob_row_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_prob_row_kernels *pc_prob_row_kernels_at(size_t index);

/* The fastest of them. */
const pc_prob_row_kernels *pc_prob_row_kernels_best(void);

#endif
