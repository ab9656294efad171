/* What metrics of predictions of a number share. */
#ifndef PC_FORECAST_METRIC_H
#define PC_FORECAST_METRIC_H

#include "data/forecast.h"
#include "metrics/metric.h"

#define PC_FORECAST_TRAITS (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS)

/* Parameters of sums over rows: the form, then what a metric adds. */
enum { PC_FORECAST_FORM, PC_FORECAST_PARAMS };

pc_forecast_shape pc_forecast_rows_shape(const double *params, const pc_rows *rows);
pc_forecast_shape pc_forecast_layout_shape(const pc_layout *layout);

/* Sums of `count` values of each row. */
void pc_forecast_sum(pc_metric_config *reading, const pc_layout *layout,
                     pc_values_function values, size_t count);

/* The mean of value v; infinite, with the row in the reason, where a row's is.  what: "is
 * predicted without variance". */
void pc_forecast_mean(const pc_evidence *evidence, size_t v, const char *what,
                      pc_metric_result *out);

/* Fails for quantiles, which tell neither mean nor variance. */
PC_CHECKED pcal_status pc_forecast_need_moments(const pc_options *options,
                                                const pc_layout *layout, pcal_error *err);
/* Fails for all but means with variances. */
PC_CHECKED pcal_status pc_forecast_need_gaussian(const pc_options *options,
                                                 const pc_layout *layout, pcal_error *err);

/* The option "levels" against the layout: all levels of quantiles when it was not given, else
 * levels that they have.  Leaves it unset in the first case. */
PC_CHECKED pcal_status pc_forecast_levels(pc_options *options, size_t index,
                                          const pc_layout *layout, pcal_error *err);
/* The levels that this left. */
const double *pc_forecast_levels_of(const pc_options *options, size_t index,
                                    const pc_layout *layout, size_t *count);

#define PC_FORECAST_LEVELS_OPTION                                                             \
  {                                                                                           \
    "levels", PCAL_OPTION_REALS, "0.1/0.2/0.3/0.4/0.5/0.6/0.7/0.8/0.9", 1e-6, 1 - 1e-6, NULL, \
        "levels of the quantiles; where quantiles are given, all of theirs by default"        \
  }

#endif
