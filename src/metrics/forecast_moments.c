/* mse, dss, mean-variance, sharpness, variance-ratio: metrics of predicted means and variances.
 *
 * Formula:  mse = mean of (mu - y)^2
 *           dss = mean of (mu - y)^2 / v + log v
 *           mean-variance = mean of v
 *           sharpness = sqrt(mean of v)
 *           variance-ratio = mean of r = (mu - y)^2 / v, with the standard deviation of r
 * Edge cases:
 * (1) v is above 0 for normal predictions; samples that are all equal have v = 0, and dss and
 *     variance-ratio are then infinite, with the row in the reason;
 * (2) the standard deviation divides by N - 1, N the sample size, and is NaN for N <= 1;
 * (3) samples: mu is their mean, v their variance with divisor n - 1;
 * (4) quantiles determine neither mean nor variance, and are refused.
 * Source: Dawid & Sebastiani 1999 (dss); Kuleshov, Fenner & Ermon 2018 (sharpness).
 * Accuracy: sums are exact, values of a row within a few ulp.
 * Cost: O(N); samples O(N n). */
#include <math.h>

#include "base/elementary.h"
#include "metrics/forecast_metric.h"

#define FORECAST_MOMENTS_NO_SPREAD \
  "has samples that are all equal, or nearly, and differ from the target"

static void forecast_moments_mse(const double *params, const pc_rows *rows, size_t begin,
                                 size_t count, double *out) {
  const pc_forecast_shape shape = pc_forecast_rows_shape(params, rows);
  for (size_t i = 0; i < count; i++) {
    const double *row = rows->probs + (begin + i) * rows->classes;
    double mean, variance;
    pc_forecast_moments(&shape, row, &mean, &variance);
    out[i] = (mean - row[shape.columns]) * (mean - row[shape.columns]);
  }
}

static void forecast_moments_variance(const double *params, const pc_rows *rows, size_t begin,
                                      size_t count, double *out) {
  const pc_forecast_shape shape = pc_forecast_rows_shape(params, rows);
  for (size_t i = 0; i < count; i++) {
    double mean;
    pc_forecast_moments(&shape, rows->probs + (begin + i) * rows->classes, &mean, &out[i]);
  }
}

/* Squared error over variance, or infinity. */
static double forecast_moments_ratio(const pc_forecast_shape *shape, const double *row,
                                     double *variance) {
  double mean;
  pc_forecast_moments(shape, row, &mean, variance);
  const double error = mean - row[shape->columns];
  return *variance > 0 ? error * error / *variance : INFINITY;
}

static void forecast_moments_dss(const double *params, const pc_rows *rows, size_t begin,
                                 size_t count, double *out) {
  const pc_forecast_shape shape = pc_forecast_rows_shape(params, rows);
  for (size_t i = 0; i < count; i++) {
    double variance;
    const double ratio =
        forecast_moments_ratio(&shape, rows->probs + (begin + i) * rows->classes, &variance);
    out[i] = isinf(ratio) ? ratio : ratio + pc_log(variance);
  }
}

static void forecast_moments_ratios(const double *params, const pc_rows *rows, size_t begin,
                                    size_t count, double *out) {
  const pc_forecast_shape shape = pc_forecast_rows_shape(params, rows);
  for (size_t i = 0; i < count; i++) {
    double variance;
    const double ratio =
        forecast_moments_ratio(&shape, rows->probs + (begin + i) * rows->classes, &variance);
    out[2 * i] = ratio;
    out[2 * i + 1] = ratio * ratio;
  }
}

static pcal_status forecast_moments_configure(pc_options *options, const pc_layout *layout,
                                              pc_metric_config *config,
                                              pc_values_function values, size_t count,
                                              pcal_error *err) {
  PC_TRY(pc_forecast_need_moments(options, layout, err));
  pc_forecast_sum(config, layout, values, count);
  return PCAL_OK;
}

static pcal_status mse_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  return forecast_moments_configure(options, layout, config, forecast_moments_mse, 1, err);
}

static pcal_status dss_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  return forecast_moments_configure(options, layout, config, forecast_moments_dss, 1, err);
}

static pcal_status mean_variance_configure(pc_options *options, const pc_layout *layout,
                                           pc_metric_config *config, pcal_error *err) {
  return forecast_moments_configure(options, layout, config, forecast_moments_variance, 1, err);
}

static pcal_status variance_ratio_configure(pc_options *options, const pc_layout *layout,
                                            pc_metric_config *config, pcal_error *err) {
  return forecast_moments_configure(options, layout, config, forecast_moments_ratios, 2, err);
}

static pcal_status forecast_moments_evaluate(const pc_options *options,
                                             const pc_evidence *evidence, const pcal_env *env,
                                             pc_metric_result *out, pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  pc_forecast_mean(evidence, 0, FORECAST_MOMENTS_NO_SPREAD, out);
  return PCAL_OK;
}

static pcal_status sharpness_evaluate(const pc_options *options, const pc_evidence *evidence,
                                      const pcal_env *env, pc_metric_result *out,
                                      pcal_error *err) {
  PC_TRY(forecast_moments_evaluate(options, evidence, env, out, err));
  out->value = sqrt(fmax(out->value, 0.0));
  return PCAL_OK;
}

static pcal_status variance_ratio_evaluate(const pc_options *options,
                                           const pc_evidence *evidence, const pcal_env *env,
                                           pc_metric_result *out, pcal_error *err) {
  PC_TRY(forecast_moments_evaluate(options, evidence, env, out, err));
  const double w = evidence->total, sum = evidence->sum.value[0];
  const double n = evidence->importance ? evidence->effective : w;
  const double square = fmax(evidence->sum.value[1] - sum / w * sum, 0.0) * (n / w);
  double deviation = n > 1 ? sqrt(square / (n - 1)) : (double)NAN;
  if (evidence->sum.infinite[1] > 0)
    deviation = INFINITY;
  pc_metric_result_part(out, "mean", out->value);
  pc_metric_result_part(out, "sd", deviation);
  return PCAL_OK;
}

const pc_metric pc_metric_mse = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "mse",
            .title = "mean squared error of the predicted means",
            .formula = "(1/N) sum_i (mu_i - y_i)^2",
            .about = "A proper score for the mean, lower is better. It does not depend on "
                     "variances, so recalibrating variances does not change it.",
            .notion = PCAL_NOTION_PROPER,
            .bound = PCAL_BOUND_UPPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_TARGET_SQUARED,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS,
    .configure = mse_configure,
    .evaluate = forecast_moments_evaluate,
};

const pc_metric pc_metric_dss = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "dss",
            .title = "Dawid-Sebastiani score",
            .formula = "(1/N) sum_i (mu_i - y_i)^2 / v_i + log v_i",
            .about = "A proper score for mean and variance, lower is better; unbounded "
                     "below, so only differences are meaningful. For normal predictions it "
                     "is 2 log - log(2 pi).",
            .citation = "Dawid & Sebastiani, Coherent dispersion criteria for optimal "
                        "experimental design, Annals of Statistics 1999",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
        },
    .range = PC_RANGE_ANY,
    .traits = PC_FORECAST_TRAITS,
    .configure = dss_configure,
    .evaluate = forecast_moments_evaluate,
};

const pc_metric pc_metric_mean_variance = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "mean-variance",
            .title = "mean predicted variance",
            .formula = "(1/N) sum_i v_i",
            .about = "In a calibrated model it equals the mean squared error.",
            .notion = PCAL_NOTION_VARIANCE,
            .machine = PCAL_MACHINE_SUM,
            .unit = PCAL_UNIT_TARGET_SQUARED,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS | PC_NO_OUTCOMES,
    .configure = mean_variance_configure,
    .evaluate = forecast_moments_evaluate,
};

const pc_metric pc_metric_sharpness = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "sharpness",
            .title = "root of the mean predicted variance",
            .formula = "sqrt((1/N) sum_i v_i)",
            .about = "How narrow predictions are, in the unit of the target: of two "
                     "calibrated models the one with the smaller value is more "
                     "informative. It does not depend on targets.",
            .citation = "Kuleshov, Fenner & Ermon, Accurate uncertainties for deep learning "
                        "using calibrated regression, ICML 2018",
            .notion = PCAL_NOTION_VARIANCE,
            .machine = PCAL_MACHINE_SUM,
            .unit = PCAL_UNIT_TARGET,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS | PC_NO_OUTCOMES,
    .configure = mean_variance_configure,
    .evaluate = sharpness_evaluate,
};

const pc_metric pc_metric_variance_ratio = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "variance-ratio",
            .title = "mean squared error over predicted variance",
            .formula = "mean r and its sd: r_i = (mu_i - y_i)^2 / v_i, sd with N - 1",
            .about = "1 for a calibrated model; above 1 if variances are too small. For "
                     "calibrated normal predictions the sd is sqrt 2.",
            .citation = "Gruber & Buettner, NeurIPS 2022, Tables 1 and 2",
            .notion = PCAL_NOTION_VARIANCE,
            .machine = PCAL_MACHINE_SUM,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS | PC_PARTS_IN_TEXT,
    .configure = variance_ratio_configure,
    .evaluate = variance_ratio_evaluate,
};
