/* How large an error must be at least, by the mean of signed gaps. */
#ifndef PC_GAP_DIRECTION_H
#define PC_GAP_DIRECTION_H

#include "measure/measure_plan.h"
#include "measure/replicas/row_moments.h"

/* Sums over rows for one entry; zeroed: no rows. */
typedef struct pc_gap_moments {
  double gap;     /* of signed gaps */
  double square;  /* of the means of v^2 over the scores of a row */
  double claimed; /* of the variances of gaps if the predictions are right */
  double gap_square;
} pc_gap_moments;

#define PC_GAP_MOMENTS 4

/* The sums on the lattice of `bits`; zeros if the mean of signed gaps says nothing about
 * this entry. */
pc_gap_moments pc_gap_moments_of(const pc_measure_plan *plan, size_t entry,
                                 const pc_kept_rows *rows, unsigned bits);

/* The interval of the size of the mean of signed gaps; 0 and infinity if it says nothing about this
 * entry. */
pc_interval pc_gap_direction(const pc_measure_plan *plan, size_t entry,
                             const pc_row_moments *rows, const pc_gap_moments *gaps);

#endif
