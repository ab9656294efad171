/* Predicted distributions of a number, of any form: probability integral transform, moments,
 * quantiles. A row is the prediction followed by the target. */
#ifndef PC_FORECAST_H
#define PC_FORECAST_H

#include "data/rows.h"

/* The form of the rows. */
typedef struct pc_forecast_shape {
  pc_form form;
  size_t columns;
  const double *levels; /* of quantiles */
} pc_forecast_shape;

/* The place of a target among the ascending samples or quantiles of its row: `below` of them
 * are less than the target, `upto` at most equal to it.  Of a score: first .. last - 1 are the
 * longest run of two or more equal quantiles of the row, the predicted point mass; 0 .. 0 if
 * there is none. */
typedef struct pc_forecast_place {
  size_t below, upto;
  size_t first, last;
} pc_forecast_place;

pc_forecast_place pc_forecast_place_find(const double *numbers, size_t count, double target);

/* The predicted probability of a value <= the target (probability integral transform):
 *   normal                 Phi((y - mean) / std)
 *   samples and quantiles  (below + upto + 1) / (2 n + 2), the middle of the possible cells,
 *                          plus (upto - below + (n + 1) run) 2^-44, so that
 *                          pc_forecast_place_of can recover the place from the score; run is
 *                          first (n + 1) + last of quantiles, 0 of samples
 *   distances              1/2: several targets have no such probability */
double pc_forecast_pit(const pc_forecast_shape *shape, const double *row);
/* The place that such a score encodes, for samples, n < 2^20, or quantiles, n <=
 * PCAL_LEVELS_MAX. */
pc_forecast_place pc_forecast_place_of(const pc_forecast_shape *shape, double score);

/* The predicted distribution function at the target: quantiles, or samples at the levels k / (n
 * + 1), joined by lines.  *low is the value just below the target and *high the value at it;
 * they differ if several quantiles equal the target.  Below all quantiles it is half the lowest
 * level, above them the middle of the highest level and 1. */
void pc_forecast_cdf(const pc_forecast_shape *shape, const double *row, double *low,
                     double *high);

/* Mean and variance; for samples with divisor n - 1.  Not for quantiles. */
void pc_forecast_moments(const pc_forecast_shape *shape, const double *row, double *mean,
                         double *variance);

/* A level for pc_forecast_quantile. */
typedef struct pc_level {
  double level;
  double normal; /* quantile of the standard normal */
  size_t column; /* of quantiles */
} pc_level;

/* Returns 0 if the predictions are quantiles and no quantile has this level (within 1e-9). */
int pc_level_make(const pc_forecast_shape *shape, double level, pc_level *out);

/* The predicted quantile; for samples interpolated linearly between sorted samples at position
 * (n - 1) level. */
double pc_forecast_quantile(const pc_forecast_shape *shape, const double *row,
                            const pc_level *level);

#endif
