/* Shared by the metrics of predictions of a number. */
#ifndef PC_FORECAST_METRIC_H
#define PC_FORECAST_METRIC_H

#include "data/forecast.h"
#include "metrics/metric.h"

#define PC_FORECAST_TRAITS (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS)

/* Parameters of sums over rows: the form of the predictions, then the parameters of the
 * metric. */
enum { PC_FORECAST_FORM, PC_FORECAST_PARAMS };

pc_forecast_shape pc_forecast_rows_shape(const double *params, const pc_rows *rows);
pc_forecast_shape pc_forecast_layout_shape(const pc_layout *layout);

/* Requests sums of `count` values of each row. */
void pc_forecast_sum(pc_metric_config *config, const pc_layout *layout,
                     pc_values_function values, size_t count);

/* Sets out->value to the mean of value v.  If a row's value is infinite, so is the mean, and
 * out->why names the row: "row 7 WHAT, so the value is infinite". */
void pc_forecast_mean(const pc_evidence *evidence, size_t v, const char *what,
                      pc_metric_result *out);

/* Fails for quantiles, which determine neither mean nor variance. */
PC_CHECKED pcal_status pc_forecast_need_moments(const pc_options *options,
                                                const pc_layout *layout, pcal_error *err);
/* Fails for all but means with variances. */
PC_CHECKED pcal_status pc_forecast_need_gaussian(const pc_options *options,
                                                 const pc_layout *layout, pcal_error *err);

/* Resolves the option "levels" for the layout.  For quantiles it must name some of their
 * levels; if not given it stays unset, which means all of them. */
PC_CHECKED pcal_status pc_forecast_levels(pc_options *options, size_t index,
                                          const pc_layout *layout, pcal_error *err);
/* The levels after pc_forecast_levels. */
const double *pc_forecast_levels_of(const pc_options *options, size_t index,
                                    const pc_layout *layout, size_t *count);

/* ---- Central prediction intervals ---- */

/* The option "level" comes first, and is the first parameter of the metric. */
enum { PC_CENTRAL_LEVEL };
enum { PC_CENTRAL_PARAM = PC_FORECAST_PARAMS };

#define PC_CENTRAL_LEVEL_OPTION                           \
  {                                                       \
    "level", PCAL_OPTION_REAL, "0.9", 0.001, 0.999, NULL, \
        "probability of the central interval"             \
  }

/* The levels of both ends of a central interval; returns 0 if the quantiles lack one of them. */
int pc_central_ends(const pc_forecast_shape *shape, double level, pc_level ends[2]);

/* Requests sums of `count` values of each row's interval; fails where pc_central_ends does. */
PC_CHECKED pcal_status pc_central_configure(const pc_options *options, const pc_layout *layout,
                                            pc_values_function values, size_t count,
                                            pc_metric_config *config, pcal_error *err);

#define PC_FORECAST_LEVELS_OPTION                                                             \
  {                                                                                           \
    "levels", PCAL_OPTION_REALS, "0.1/0.2/0.3/0.4/0.5/0.6/0.7/0.8/0.9", 1e-6, 1 - 1e-6, NULL, \
        "levels of the quantiles; for predicted quantiles all of their levels by default"     \
  }

#endif
