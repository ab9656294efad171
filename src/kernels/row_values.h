/* Values of a row that metrics add up, computed from the columns of pc_rows (data/rows.h): one
 * formula for the CPU and for the kernels of a GPU (device/row_sums_body.h). */
#ifndef PC_ROW_VALUES_H
#define PC_ROW_VALUES_H

#include <math.h>

typedef enum pc_row_value {
  PC_ROW_VALUE_OTHER, /* none of these */
  PC_ROW_VALUE_HIT,   /* 1 if the predicted class is the true one, else 0 */
  PC_ROW_VALUE_BRIER,
  PC_ROW_VALUE_LOG, /* with a lower bound of the log probability */
  PC_ROW_VALUE_SPHERICAL
} pc_row_value;

static inline double pc_row_value_brier(double true_gap, double others_square) {
  return true_gap * true_gap + others_square;
}

static inline double pc_row_value_log(double log_true, double lowest) {
  return log_true > lowest ? -log_true : -lowest;
}

/* 1 - p_y/|p| = sum of the other squares / (|p| (|p| + p_y)) */
static inline double pc_row_value_spherical(double true_gap, double others_square) {
  const double p = 1.0 - true_gap, norm = sqrt(p * p + others_square);
  return others_square / (norm * (norm + p));
}

#endif
