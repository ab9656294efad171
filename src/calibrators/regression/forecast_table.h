/* Two numbers and the weight of each row, for fits of predictions of a number.  The order of
 * the entries does not depend on threads. */
#ifndef PC_FORECAST_TABLE_H
#define PC_FORECAST_TABLE_H

#include "calibrators/fit_pass.h"
#include "data/forecast.h"

typedef struct pc_forecast_entry {
  double first, second, weight;
} pc_forecast_entry;

typedef struct pc_forecast_table {
  pc_forecast_entry *entries; /* ascending by their numbers */
  size_t count;
  double total; /* sum of weights */
} pc_forecast_table;

/* Sets first and second from a row. */
typedef void (*pc_forecast_pick)(const pc_forecast_shape *shape, const double *row,
                                 pc_forecast_entry *out);

/* Reads the task's source once; the table is freed with the task's scratch memory. */
PC_CHECKED pcal_status pc_forecast_table_new(const pc_fit_task *task, pc_forecast_pick pick,
                                             pc_forecast_table *out, pcal_error *err);

#endif
