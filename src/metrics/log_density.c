/* log for regression: the negative log-likelihood of normal predictions.
 *
 * Formula:  mean of (log(2 pi v) + (mu - y)^2 / v) / 2
 * Edge cases:
 * (1) samples and quantiles have no density, and are refused;
 * (2) infinite only if (mu - y)^2 / v overflows.
 * Source: Good 1952.
 * Accuracy: sums are exact, values of a row within a few ulp.
 * Cost: O(N). */
#include <math.h>

#include "base/elementary.h"
#include "metrics/forecast_metric.h"

#define LOG_DENSITY_LOG_2PI 1.83787706640934548356

static void log_density_values(const double *params, const pc_rows *rows, size_t begin,
                               size_t count, double *out) {
  (void)params;
  for (size_t i = 0; i < count; i++) {
    const double *row = rows->probs + (begin + i) * rows->classes;
    const double z = (row[2] - row[0]) / row[1];
    out[i] = 0.5 * (LOG_DENSITY_LOG_2PI + z * z) + pc_log(row[1]);
  }
}

static pcal_status log_density_configure(pc_options *options, const pc_layout *layout,
                                         pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_forecast_need_gaussian(options, layout, err));
  pc_forecast_sum(config, layout, log_density_values, 1);
  return PCAL_OK;
}

static pcal_status log_density_evaluate(const pc_options *options, const pc_evidence *evidence,
                                        const pcal_env *env, pc_metric_result *out,
                                        pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  pc_forecast_mean(evidence, 0, "misses the target by too many standard deviations", out);
  return PCAL_OK;
}

const pc_metric pc_metric_log_density = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "log",
            .title = "log score (negative log-likelihood) of normal predictions",
            .formula = "(1/2N) sum_i log(2 pi v_i) + (mu_i - y_i)^2 / v_i",
            .about = "A proper score, lower is better, natural logarithm; it may be "
                     "negative. For classes there is a metric of the same name.",
            .citation = "Good, Rational decisions, Journal of the Royal Statistical Society B "
                        "1952",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_NATS,
        },
    .range = PC_RANGE_ANY,
    .traits = PC_FORECAST_TRAITS | PC_PROPER_SCORE,
    .configure = log_density_configure,
    .evaluate = log_density_evaluate,
};
