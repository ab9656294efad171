#include "metrics/forecast_metric.h"

#include <math.h>
#include <stdio.h>

pc_forecast_shape pc_forecast_rows_shape(const double *params, const pc_rows *rows) {
  return (pc_forecast_shape){(pc_form)(int)params[PC_FORECAST_FORM], rows->classes - 1,
                             rows->levels};
}

pc_forecast_shape pc_forecast_layout_shape(const pc_layout *layout) {
  return (pc_forecast_shape){layout->form, layout->columns, layout->levels};
}

void pc_forecast_sum(pc_metric_config *config, const pc_layout *layout,
                     pc_values_function values, size_t count) {
  config->need.machine = PC_SUM;
  config->need.sum.values = values;
  config->need.sum.value_count = count;
  config->need.sum.params[PC_FORECAST_FORM] = (double)layout->form;
}

void pc_forecast_mean(const pc_evidence *evidence, size_t v, const char *what,
                      pc_metric_result *out) {
  out->value = evidence->sum.value[v] / evidence->total;
  if (evidence->sum.infinite[v] <= 0)
    return;
  out->value = INFINITY;
  snprintf(out->why, sizeof out->why, "row %llu %s, so the value is infinite",
           (unsigned long long)evidence->sum.infinite_row[v], what);
}

pcal_status pc_forecast_need_moments(const pc_options *options, const pc_layout *layout,
                                     pcal_error *err) {
  if (layout->form != PC_FORM_QUANTILES)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s needs the mean and variance of predictions, which quantiles do not "
                 "determine; give {mean} with {variance}, or {samples}",
                 options->name);
}

pcal_status pc_forecast_need_gaussian(const pc_options *options, const pc_layout *layout,
                                      pcal_error *err) {
  if (layout->form == PC_FORM_GAUSSIAN)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s needs a density, which %s do not have; give {mean} with {variance} or "
                 "{std}",
                 options->name, layout->form == PC_FORM_SAMPLES ? "samples" : "quantiles");
}

pcal_status pc_forecast_levels(pc_options *options, size_t index, const pc_layout *layout,
                               pcal_error *err) {
  pc_option_value *value = &options->value[index];
  const pc_forecast_shape shape = pc_forecast_layout_shape(layout);
  PC_TRY(pc_options_distinct(options, index, err));
  if (layout->form != PC_FORM_QUANTILES)
    return PCAL_OK;
  if (!value->given) {
    value->set = 0;
    return PCAL_OK;
  }
  for (size_t l = 0; l < value->list_count; l++) {
    pc_level level;
    char shown[PC_NUMBER_MAX];
    if (!pc_level_make(&shape, value->list[l], &level))
      return pc_fail(err, PCAL_USAGE,
                     "%s: there is no quantile of level %s; choose among {levels}",
                     options->name, pc_show(value->list[l], shown));
    value->list[l] = layout->levels[level.column];
  }
  return PCAL_OK;
}

const double *pc_forecast_levels_of(const pc_options *options, size_t index,
                                    const pc_layout *layout, size_t *count) {
  const pc_option_value *value = &options->value[index];
  *count = value->set ? value->list_count : layout->columns;
  return value->set ? value->list : layout->levels;
}

int pc_central_ends(const pc_forecast_shape *shape, double level, pc_level ends[2]) {
  return pc_level_make(shape, (1 - level) / 2, &ends[0]) &&
         pc_level_make(shape, (1 + level) / 2, &ends[1]);
}

pcal_status pc_central_configure(const pc_options *options, const pc_layout *layout,
                                 pc_values_function values, size_t count,
                                 pc_metric_config *config, pcal_error *err) {
  const pc_forecast_shape shape = pc_forecast_layout_shape(layout);
  const double level = options->value[PC_CENTRAL_LEVEL].number;
  char low[PC_NUMBER_MAX], high[PC_NUMBER_MAX];
  pc_level ends[2];
  if (!pc_central_ends(&shape, level, ends)) {
    pc_show(round((1 - level) * 5e5) / 1e6, low);
    pc_show(round((1 + level) * 5e5) / 1e6, high);
    return pc_fail(err, PCAL_USAGE,
                   "%s needs the quantiles of level %s and %s; choose a level whose ends "
                   "are among {levels}",
                   options->name, low, high);
  }
  pc_forecast_sum(config, layout, values, count);
  config->need.sum.params[PC_CENTRAL_PARAM] = level;
  return PCAL_OK;
}
