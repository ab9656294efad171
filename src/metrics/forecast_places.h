/* Where targets fall among the samples or quantiles of their rows, over all rows. */
#ifndef PC_FORECAST_PLACES_H
#define PC_FORECAST_PLACES_H

#include "data/forecast.h"
#include "stats/curve_table.h"

/* Of n samples, as shares of the rows:
 *   mass   n + 1 numbers: targets in each cell between neighbouring samples; a target that
 *          equals some of them counts in equal parts in each cell that it touches
 * Of n quantiles:
 *   below  share of targets below each quantile
 *   upto   share of targets below or equal to it
 * One block of memory, which begins at mass or at below; the others are NULL. */
typedef struct pc_places {
  size_t count; /* n */
  double *mass, *below, *upto;
} pc_places;

PC_CHECKED pcal_status pc_places_new(const pcal_env *env, const pc_layout *layout,
                                     const pc_curve_table *table, pc_places *out,
                                     pcal_error *err);
void pc_places_free(const pcal_env *env, pc_places *places);

/* Samples: the share of u <= level, with u uniform inside each cell. */
double pc_places_share(const pc_places *places, double level);

/* Quantiles: the share of targets up to quantile number `column`, as near to `level` as targets
 * that equal the quantile allow. */
double pc_places_upto(const pc_places *places, size_t column, double level);

/* What the verdict is made of (report/verdict_forecast.c).  Samples and normal predictions:
 * means over rows of u and (u - 1/2)^2, and the variance that these have for one row of a
 * calibrated model.  Quantiles: the places. */
typedef struct pc_forecast_facts {
  double mean, square;
  double mean_variance, square_variance;
  pc_places places;
} pc_forecast_facts;

PC_CHECKED pcal_status pc_forecast_facts_new(const pcal_env *env, const pc_layout *layout,
                                             const pc_curve_table *table,
                                             pc_forecast_facts *out, pcal_error *err);

#endif
