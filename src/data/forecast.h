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

/* Where a target lies among the n ascending samples or quantiles of its row: `below` of them
 * are below it, `upto` at most equal to it.  The two differ where the target equals some of
 * them. */
typedef struct pc_forecast_place {
  size_t below, upto;
} pc_forecast_place;

pc_forecast_place pc_forecast_place_find(const double *numbers, size_t count, double target);

/* The predicted probability of a value up to the target (probability integral transform):
 *   normal    Phi((y - mean) / std)
 *   samples,  (below + upto + 1) / (2 n + 2), the middle of the cells that the place may be in,
 *   quantiles plus (upto - below) 2^-44, by which the whole place can be read from the score */
double pc_forecast_pit(const pc_forecast_shape *shape, const double *row);
/* The place behind such a score, of samples or quantiles; n is below 2^20. */
pc_forecast_place pc_forecast_place_of(const pc_forecast_shape *shape, double score);

/* The predicted distribution function at the target, with quantiles, or samples
 * at the levels k / (n + 1), joined by lines: *low just
 * below it and *high at it, which differ where several quantiles equal the target.  Half the
 * lowest level below all quantiles, midway between the highest and 1 above. */
void pc_forecast_cdf(const pc_forecast_shape *shape, const double *row, double *low,
                     double *high);

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
