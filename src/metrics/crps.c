/* crps: the continuous ranked probability score.
 *
 * Formula:  normal     s (z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi)),  z = (y - mu) / s
 *           samples    (1/n) sum_i |x_i - y| - 1/(n (n-1)) sum_{i<j} |x_i - x_j|  (fair)
 *           quantiles  2 times the mean over levels t of (y - q)(t - 1[y < q])
 * Edge cases:
 * (1) the fair estimator for samples may be negative for a row;
 * (2) quantiles give an approximation that depends on the levels: few levels and many levels
 *     give different values.
 * Source: Gneiting & Raftery 2007; Ferro 2014 (fair).
 * Accuracy: sums are exact; a row is within 1e-15 of its standard deviation, samples within n
 * ulp.
 * Cost: O(N); samples and quantiles O(N n) after sorting. */
#include <math.h>

#include "base/normal.h"
#include "metrics/forecast_metric.h"

#define CRPS_ROOT_PI_INVERSE 0.56418958354775628695

static double crps_gaussian(const double *row) {
  const double z = (row[2] - row[0]) / row[1];
  const double inside = 1.0 - 2.0 * pc_normal_cdf(-fabs(z)); /* |2 Phi - 1| */
  return row[1] * (fabs(z) * inside + 2.0 * pc_normal_density(z) - CRPS_ROOT_PI_INVERSE);
}

/* Sorted: sum_{i<j} (x_j - x_i) = sum_k x_k (2 k - n + 1), here about y. */
static double crps_samples(const double *row, size_t count) {
  const double y = row[count], n = (double)count;
  double near = 0.0, spread = 0.0;
  for (size_t k = 0; k < count; k++) {
    near += fabs(row[k] - y);
    spread += (row[k] - y) * (2.0 * (double)k - n + 1.0);
  }
  return near / n - spread / (n * (n - 1.0));
}

static double crps_quantiles(const double *row, const double *levels, size_t count) {
  const double y = row[count];
  double sum = 0.0;
  for (size_t l = 0; l < count; l++)
    sum += (y - row[l]) * (levels[l] - (y < row[l] ? 1.0 : 0.0));
  return 2.0 * sum / (double)count;
}

static void crps_values(const double *params, const pc_rows *rows, size_t begin, size_t count,
                        double *out) {
  const pc_forecast_shape shape = pc_forecast_rows_shape(params, rows);
  for (size_t i = 0; i < count; i++) {
    const double *row = rows->probs + (begin + i) * rows->classes;
    out[i] = shape.form == PC_FORM_GAUSSIAN  ? crps_gaussian(row)
             : shape.form == PC_FORM_SAMPLES ? crps_samples(row, shape.columns)
                                             : crps_quantiles(row, shape.levels, shape.columns);
  }
}

static pcal_status crps_configure(pc_options *options, const pc_layout *layout,
                                  pc_metric_config *config, pcal_error *err) {
  (void)options;
  (void)err;
  pc_forecast_sum(config, layout, crps_values, 1);
  return PCAL_OK;
}

const pc_metric pc_metric_crps = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "crps",
            .title = "continuous ranked probability score",
            .formula =
                "mean of integral (F(x) - 1[x >= y])^2 dx; normal: s (z (2 Phi(z) - 1) + "
                "2 phi(z) - 1/sqrt(pi))",
            .about = "A proper score in the unit of the target, lower is better; for a "
                     "prediction without uncertainty it is the absolute error. Samples by "
                     "the fair estimator, quantiles by twice the mean pinball loss over "
                     "their levels.",
            .citation = "Gneiting & Raftery, Strictly proper scoring rules, prediction, and "
                        "estimation, Journal of the American Statistical Association 2007",
            .notion = PCAL_NOTION_PROPER,
            .bound = PCAL_BOUND_UPPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_TARGET,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS,
    .configure = crps_configure,
    .evaluate = pc_metric_evaluate_mean,
};
