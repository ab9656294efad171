/* Maps that treat the score of each class separately. */
#ifndef PC_ONE_VS_REST_H
#define PC_ONE_VS_REST_H

#include "calibrators/calibrator.h"

/* The value of a column's score, from 0 to 1. */
typedef double (*pc_score_map)(const void *map, size_t column, double score);

/* As `apply` of a method: maps each class by itself, then divides rows by their sums; a row of
 * zeros becomes uniform.  One column of scores, and confidences, are not divided. */
void pc_one_vs_rest_apply(const pc_layout *layout, pc_score_map value, const void *map,
                          const double *in, size_t count, double *out);

/* Divides a row by its sum; a row of zeros becomes uniform. */
void pc_rescale_row(double *row, size_t classes);

/* Index of the first of ascending numbers that is not below x, or count. */
static inline size_t pc_first_not_below(const double *numbers, size_t count, double x) {
  size_t base = 0;
  while (count > 1) {
    const size_t half = count / 2;
    base = numbers[base + half - 1] < x ? base + half : base;
    count -= half;
  }
  return base + (count == 1 && numbers[base] < x);
}

#endif
