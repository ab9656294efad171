/* interval-coverage: the share of targets inside central prediction intervals.
 *
 * Formula:  (1/N) sum_i 1[l_i <= y_i <= u_i],  l and u: the predicted quantiles of (1 - level) / 2
 *           and (1 + level) / 2
 * Edge cases:
 * (1) quantiles must include both levels;
 * (2) samples: quantiles are interpolated linearly between sorted samples;
 * (3) a target on an end is inside.
 * Parts: width, the mean of u - l.
 * Accuracy: sums are exact.
 * Cost: O(N). */
#include "metrics/forecast_metric.h"

static const pcal_option interval_coverage_options[] = {PC_CENTRAL_LEVEL_OPTION};

static void interval_coverage_values(const double *params, const pc_rows *rows, size_t begin,
                                     size_t count, double *out) {
  const pc_forecast_shape shape = pc_forecast_rows_shape(params, rows);
  pc_level ends[2];
  pc_central_ends(&shape, params[PC_CENTRAL_PARAM], ends);
  for (size_t i = 0; i < count; i++) {
    const double *row = rows->probs + (begin + i) * rows->classes, y = row[shape.columns];
    const double low = pc_forecast_quantile(&shape, row, &ends[0]);
    const double high = pc_forecast_quantile(&shape, row, &ends[1]);
    out[2 * i] = low <= y && y <= high;
    out[2 * i + 1] = high - low;
  }
}

static pcal_status interval_coverage_configure(pc_options *options, const pc_layout *layout,
                                               pc_metric_config *config, pcal_error *err) {
  return pc_central_configure(options, layout, interval_coverage_values, 2, config, err);
}

static pcal_status interval_coverage_evaluate(const pc_options *options,
                                              const pc_evidence *evidence, const pcal_env *env,
                                              pc_metric_result *out, pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  out->value = evidence->sum.value[0] / evidence->total;
  pc_metric_result_part(out, "width", evidence->sum.value[1] / evidence->total);
  return PCAL_OK;
}

const pc_metric pc_metric_interval_coverage = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "interval-coverage",
            .title = "share of targets inside prediction intervals",
            .formula = "(1/N) sum_i 1[l_i <= y_i <= u_i], l and u: quantiles of "
                       "(1 - level) / 2 and (1 + level) / 2",
            .about =
                "Should be the level. Part: the mean width of the intervals. With a "
                "calibrator such as conformal or cqr, measure the intervals that apply has "
                "written, as quantiles of these two levels.",
            .notion = PCAL_NOTION_PROBABILISTIC,
            .machine = PCAL_MACHINE_SUM,
            .options = interval_coverage_options,
            .option_count =
                sizeof interval_coverage_options / sizeof *interval_coverage_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_FORECAST_TRAITS | PC_SHARE,
    .configure = interval_coverage_configure,
    .evaluate = interval_coverage_evaluate,
};
