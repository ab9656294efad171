/* interval-score: the loss of a central prediction interval.
 *
 * Formula:  mean of (u - l) + (2/a)(l - y) 1[y < l] + (2/a)(y - u) 1[y > u],  a = 1 - level,
 *           l and u: the predicted quantiles of a/2 and 1 - a/2
 * Edge cases:
 * (1) quantiles must include both levels;
 * (2) samples: quantiles are interpolated linearly between sorted samples.
 * Parts: width, miss (the rest).
 * Source: Gneiting & Raftery 2007, section 6.2.
 * Accuracy: sums are exact.
 * Cost: O(N). */
#include "metrics/forecast_metric.h"

static const pcal_option interval_score_options[] = {PC_CENTRAL_LEVEL_OPTION};

static void interval_score_values(const double *params, const pc_rows *rows, size_t begin,
                                  size_t count, double *out) {
  const pc_forecast_shape shape = pc_forecast_rows_shape(params, rows);
  const double level = params[PC_CENTRAL_PARAM];
  pc_level ends[2];
  pc_central_ends(&shape, level, ends);
  for (size_t i = 0; i < count; i++) {
    const double *row = rows->probs + (begin + i) * rows->classes;
    const double low = pc_forecast_quantile(&shape, row, &ends[0]);
    const double high = pc_forecast_quantile(&shape, row, &ends[1]), y = row[shape.columns];
    out[2 * i] = high - low;
    out[2 * i + 1] = 2 / (1 - level) * (y < low ? low - y : y > high ? y - high : 0.0);
  }
}

static pcal_status interval_score_configure(pc_options *options, const pc_layout *layout,
                                            pc_metric_config *config, pcal_error *err) {
  return pc_central_configure(options, layout, interval_score_values, 2, config, err);
}

static pcal_status interval_score_evaluate(const pc_options *options,
                                           const pc_evidence *evidence, const pcal_env *env,
                                           pc_metric_result *out, pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  const double width = evidence->sum.value[0] / evidence->total;
  const double miss = evidence->sum.value[1] / evidence->total;
  out->value = width + miss;
  pc_metric_result_part(out, "width", width);
  pc_metric_result_part(out, "miss", miss);
  return PCAL_OK;
}

const pc_metric pc_metric_interval_score = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "interval-score",
            .title = "interval score of central prediction intervals",
            .formula = "mean of width + (2/a) distance of y from the interval, a = 1 - "
                       "level",
            .about = "A proper score for prediction intervals, lower is better: it rewards "
                     "narrow intervals that contain the target. Parts: the mean width, and "
                     "the penalty for misses.",
            .citation = "Gneiting & Raftery, Strictly proper scoring rules, prediction, and "
                        "estimation, Journal of the American Statistical Association 2007",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_TARGET,
            .options = interval_score_options,
            .option_count = sizeof interval_score_options / sizeof *interval_score_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS,
    .configure = interval_score_configure,
    .evaluate = interval_score_evaluate,
};
