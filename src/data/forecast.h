/* Predicted distributions of a number: what can be asked of a row of regression, whatever its
 * form.  A row is the prediction and, behind its columns, the target. */
#ifndef PC_FORECAST_H
#define PC_FORECAST_H

#include "data/rows.h"

/* Standard normal distribution function and density. */
double pc_normal_cdf(double z);
double pc_normal_density(double z);

/* How rows of a layout are read. */
typedef struct pc_forecast_shape {
  pc_form form;
  size_t columns;
  const double *levels; /* of quantiles */
} pc_forecast_shape;

/* The predicted probability of a value up to the target (probability integral transform):
 *   normal    Phi((y - mean) / std)
 *   samples   (those below y + half of those equal to it + 1/2) / (samples + 1)
 *   quantiles the level, linear in between; half the lowest level below all quantiles, and
 *             midway between the highest and 1 above: at most a level exactly when y is at most
 *             its quantile */
double pc_forecast_pit(const pc_forecast_shape *shape, const double *row);

/* Mean and variance; of samples with n - 1.  Not for quantiles. */
void pc_forecast_moments(const pc_forecast_shape *shape, const double *row, double *mean,
                         double *variance);

/* A level at which predicted quantiles are wanted. */
typedef struct pc_level {
  double level;
  double normal; /* quantile of the standard normal */
  size_t column; /* of quantiles */
} pc_level;

/* 0 when these are quantiles and the level is none of theirs (to 1e-9). */
int pc_level_make(const pc_forecast_shape *shape, double level, pc_level *out);

/* The predicted quantile; between sorted samples linear at position (n - 1) level. */
double pc_forecast_quantile(const pc_forecast_shape *shape, const double *row,
                            const pc_level *level);

#endif
