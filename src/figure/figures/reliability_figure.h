/* The reliability diagram of one set of bins. */
#ifndef PC_RELIABILITY_FIGURE_H
#define PC_RELIABILITY_FIGURE_H

#include "figure/reliability_marks.h"

typedef struct pc_reliability_data {
  const pcal_bin *bins;
  size_t bin_count;
  double rows; /* sum of weights */
  int class_1; /* scores are probabilities of class 1, not confidences */
  double mean_score, hit_rate;
  int has_ece, has_interval, has_null, has_before;
  double ece, low, high;                 /* interval */
  double null_mean, null_low, null_high; /* of a calibrated model */
  double before;                         /* ECE before calibration */
  double level;                          /* of intervals; 0: 0.95 */
  pc_band band;
} pc_reliability_data;

/* Draws into a figure whose size and subtitle are set.  PCAL_DATA if no bin has rows. */
PC_CHECKED pcal_status pc_reliability_draw(const pc_reliability_data *data, pc_figure *figure,
                                           pcal_error *err);

#endif
