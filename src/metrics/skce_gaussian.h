/* The squared kernel calibration error of normal predictions in memory. */
#ifndef PC_SKCE_GAUSSIAN_H
#define PC_SKCE_GAUSSIAN_H

#include <stddef.h>

/* A row, divided by the option length. */
typedef struct pc_gaussian_row {
  double mean, deviation, target;
} pc_gaussian_row;

/* The unbiased estimate; NaN for fewer than two rows. */
double pc_skce_gaussian(const pc_gaussian_row *rows, size_t count);

#endif
