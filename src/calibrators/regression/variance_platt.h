/* The fit of variance-platt to rows in memory. */
#ifndef PC_VARIANCE_PLATT_H
#define PC_VARIANCE_PLATT_H

#include "calibrators/regression/forecast_table.h"

/* v' = w v + b */
typedef struct pc_variance_map {
  double w, b;
} pc_variance_map;

/* Minimises the mean Dawid-Sebastiani score over entries of absolute errors (first) and
 * variances (second); their order affects the last bits only. */
pc_variance_map pc_variance_platt_solve(const pc_forecast_table *table);

#endif
