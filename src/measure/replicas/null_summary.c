#include "measure/replicas/null_summary.h"

#include <math.h>
#include <stdio.h>

#define NULL_LACKING 0.1 /* share of replicas that may lack a value */

int pc_null_two_sided(const pc_result_record *record) {
  return record->notion == PCAL_NOTION_PROPER;
}

static double null_p_value(const pc_result_record *record, const double *values, size_t count,
                           double slack) {
  size_t above = 0, below = 0;
  const int tested = record->outcome.tested; /* statistics of tests may be negative */
  const double value = tested ? fabs(record->outcome.value) : record->outcome.value;
  for (size_t i = 0; i < count; i++) {
    above += (tested ? fabs(values[i]) : values[i]) >= value - slack;
    below += values[i] <= value + slack;
  }
  if (!pc_null_two_sided(record))
    return (1.0 + (double)above) / (1.0 + (double)count);
  const size_t least = above < below ? above : below;
  return fmin(2.0 * (1.0 + (double)least) / (1.0 + (double)count), 1.0);
}

void pc_null_summary(double *values, size_t count, double slack, pc_result_record *record) {
  pc_interval_result *out = &record->interval_result;
  const size_t kept = pc_interval_sort_values(values, count);
  if ((double)kept < (1.0 - NULL_LACKING) * (double)count) {
    snprintf(out->why, sizeof out->why, "only %zu of %zu calibrated replicas have a value",
             kept, count);
    return;
  }
  for (size_t i = 0; i < kept; i++)
    out->null_mean += values[i] / (double)kept;
  out->has_null = 1;
  out->null_low = pc_interval_quantile(values, kept, 0.5 * (1.0 - PC_NULL_LEVEL));
  out->null_high = pc_interval_quantile(values, kept, 0.5 * (1.0 + PC_NULL_LEVEL));
  out->null_p_value = null_p_value(record, values, kept, slack);
}
