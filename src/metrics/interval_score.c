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
#include <math.h>

#include "metrics/forecast_metric.h"

enum { INTERVAL_SCORE_LEVEL };
enum { INTERVAL_SCORE_PARAM = PC_FORECAST_PARAMS };

static const pcal_option interval_score_options[] = {
    {"level", PCAL_OPTION_REAL, "0.9", 0.001, 0.999, NULL,
     "probability of the central interval"},
};

static int interval_score_ends(const pc_forecast_shape *shape, double level, pc_level ends[2]) {
  return pc_level_make(shape, (1 - level) / 2, &ends[0]) &&
         pc_level_make(shape, (1 + level) / 2, &ends[1]);
}

static void interval_score_values(const double *params, const pc_rows *rows, size_t begin,
                                  size_t count, double *out) {
  const pc_forecast_shape shape = pc_forecast_rows_shape(params, rows);
  const double level = params[INTERVAL_SCORE_PARAM];
  pc_level ends[2];
  interval_score_ends(&shape, level, ends);
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
  const pc_forecast_shape shape = pc_forecast_layout_shape(layout);
  const double level = options->value[INTERVAL_SCORE_LEVEL].number;
  char low[PC_NUMBER_MAX], high[PC_NUMBER_MAX];
  pc_level ends[2];
  if (!interval_score_ends(&shape, level, ends)) {
    pc_show(round((1 - level) * 5e5) / 1e6, low);
    pc_show(round((1 + level) * 5e5) / 1e6, high);
    return pc_fail(err, PCAL_USAGE,
                   "%s needs the quantiles of level %s and %s; choose a level whose ends "
                   "are among {levels}",
                   options->name, low, high);
  }
  pc_forecast_sum(config, layout, interval_score_values, 2);
  config->need.sum.params[INTERVAL_SCORE_PARAM] = level;
  return PCAL_OK;
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
