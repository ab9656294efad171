/* crps-decomposition: the CRPS of an ensemble as reliability - resolution + uncertainty.
 *
 * Formula:  x_1 <= ... <= x_n the samples of a row, y its target, p_i = i/n.  For i = 1 .. n-1
 *           a_i and b_i are the parts of [x_i, x_(i+1)] below and above y; b_0 = max(x_1 - y, 0),
 *           a_n = max(y - x_n, 0).  With means over the rows
 *             g_i = a_i + b_i, o_i = b_i / g_i                       for i = 1 .. n-1
 *             o_0 = share of y < x_1, g_0 = b_0 / o_0
 *             o_n = share of y <= x_n, g_n = a_n / (1 - o_n)
 *           reliability = sum_i g_i (o_i - p_i)^2
 *           potential   = sum_i g_i o_i (1 - o_i)
 *           uncertainty = 1/2 of the mean |y - y'| over all pairs of targets: the CRPS of the
 *                         observed distribution as the forecast of every row
 *           resolution  = uncertainty - potential
 *           value       = reliability + potential = reliability - resolution + uncertainty
 * Edge cases:
 * (1) the value is the CRPS of the step function of the samples,
 *     (1/n) sum_i |x_i - y| - 1/(2 n^2) sum_ij |x_i - x_j|; the metric crps is the fair estimate,
 *     which is lower by the mean of sum_ij |x_i - x_j| / (2 n^2 (n - 1));
 * (2) g_i = 0, and o_0 = 0 or o_n = 1: the term is 0;
 * (3) the samples are the whole forecast: even an ensemble from the true distribution has a
 *     reliability above 0, of the order 1/n^2 of the CRPS, since o_0 = 1/(n + 1) and not 0;
 * (4) few rows for each sample make the reliability larger, as for bins of ece;
 * (5) means with variances, and quantiles, are refused: they have no samples.
 * Value: the CRPS.  Parts: reliability, resolution, uncertainty, potential.
 * Source: Hersbach 2000, equations 25 to 39.
 * Accuracy: means are exact; the parts add up to the value to a few ulp.
 * Cost: O(N n + N log N); memory 8 N n bytes. */
#include <math.h>
#include <stdlib.h>

#include "base/sum.h"
#include "metrics/forecast_metric.h"

static pcal_status crps_decomposition_configure(pc_options *options, const pc_layout *layout,
                                                pc_metric_config *config, pcal_error *err) {
  if (layout->form != PC_FORM_SAMPLES)
    return pc_fail(err, PCAL_USAGE,
                   "%s needs samples, the members of an ensemble; give {samples}, or use crps",
                   options->name);
  config->need.machine = PC_ROWS;
  config->need.rows.all_probs = 1;
  return PCAL_OK;
}

/* The interval i of the formula: means of a_i and b_i, and the share of outliers at the ends. */
typedef struct crps_interval {
  double below, above, outside;
} crps_interval;

static crps_interval crps_interval_mean(const pc_evidence *evidence, size_t i) {
  const pc_kept_rows *kept = &evidence->kept;
  const size_t last = kept->classes - 1;
  pc_sum below, above, outside;
  pc_sum_clear(&below);
  pc_sum_clear(&above);
  pc_sum_clear(&outside);
  for (size_t r = 0; r < kept->count; r++) {
    const double *row = kept->probs + r * kept->classes, y = row[last];
    const double low = i == 0 ? y : row[i - 1], high = i == last ? y : row[i];
    if (high <= low && i != 0 && i != last)
      continue;
    pc_sum_add_product(&below, kept->weights[r], fmax(fmin(y, high) - low, 0.0));
    pc_sum_add_product(&above, kept->weights[r], fmax(high - fmax(y, low), 0.0));
    if (i == 0 ? y < high : i == last && y > low)
      pc_sum_add(&outside, kept->weights[r]);
  }
  return (crps_interval){pc_sum_value(&below) / evidence->total,
                         pc_sum_value(&above) / evidence->total,
                         pc_sum_value(&outside) / evidence->total};
}

/* Adds the terms of interval i to *reliability and *potential. */
static void crps_interval_add(const crps_interval *mean, size_t i, size_t samples,
                              double *reliability, double *potential) {
  const double p = (double)i / (double)samples;
  const int inner = i != 0 && i != samples;
  const double width = inner               ? mean->below + mean->above
                       : mean->outside > 0 ? (mean->below + mean->above) / mean->outside
                                           : 0.0;
  if (!(width > 0))
    return;
  const double o = inner ? mean->above / width : i == 0 ? mean->outside : 1.0 - mean->outside;
  *reliability += width * (o - p) * (o - p);
  *potential += width * o * (1.0 - o);
}

typedef struct crps_target {
  double target, weight;
} crps_target;

static int crps_target_order(const void *a, const void *b) {
  const crps_target *x = a, *y = b;
  return (x->target > y->target) - (x->target < y->target);
}

/* The sum over neighbouring targets of their distance times the shares below and above. */
static pcal_status crps_uncertainty(const pc_evidence *evidence, const pcal_env *env,
                                    double *out, pcal_error *err) {
  const pc_kept_rows *kept = &evidence->kept;
  crps_target *targets = pc_alloc_raw(env, kept->count, sizeof *targets);
  if (targets == NULL)
    return pc_fail_memory(err, "sorting targets");
  for (size_t r = 0; r < kept->count; r++)
    targets[r] = (crps_target){kept->probs[(r + 1) * kept->classes - 1], kept->weights[r]};
  qsort(targets, kept->count, sizeof *targets, crps_target_order);
  pc_sum sum, below;
  pc_sum_clear(&sum);
  pc_sum_clear(&below);
  for (size_t r = 0; r + 1 < kept->count; r++) {
    pc_sum_add(&below, targets[r].weight);
    const double gap = targets[r + 1].target - targets[r].target;
    const double share = gap > 0 ? pc_sum_value(&below) / evidence->total : 0.0;
    pc_sum_add_product(&sum, gap, share * (1.0 - share));
  }
  *out = pc_sum_value(&sum);
  pc_free(env, targets);
  return PCAL_OK;
}

static pcal_status crps_decomposition_evaluate(const pc_options *options,
                                               const pc_evidence *evidence, const pcal_env *env,
                                               pc_metric_result *out, pcal_error *err) {
  (void)options;
  const size_t samples = evidence->kept.classes - 1;
  double reliability = 0.0, potential = 0.0, uncertainty = 0.0;
  PC_TRY(crps_uncertainty(evidence, env, &uncertainty, err));
  for (size_t i = 0; i <= samples; i++) {
    const crps_interval mean = crps_interval_mean(evidence, i);
    crps_interval_add(&mean, i, samples, &reliability, &potential);
  }
  out->value = reliability + potential;
  pc_metric_result_part(out, "reliability", reliability);
  pc_metric_result_part(out, "resolution", uncertainty - potential);
  pc_metric_result_part(out, "uncertainty", uncertainty);
  pc_metric_result_part(out, "potential", potential);
  return PCAL_OK;
}

const pc_metric pc_metric_crps_decomposition = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "crps-decomposition",
            .title = "CRPS of an ensemble: reliability - resolution + uncertainty",
            .formula = "sum_i g_i (o_i - i/n)^2 - (U - sum_i g_i o_i (1 - o_i)) + U",
            .about = "g_i is the mean width of the interval between samples i and i+1, o_i how "
                     "often the target lies below it. Reliability is the part that a better "
                     "calibration removes; resolution is what the forecast knows beyond the "
                     "observed distribution, whose CRPS is the uncertainty U. The value is the "
                     "CRPS of the samples as they are, above the fair estimate of crps.",
            .citation =
                "Hersbach, Decomposition of the continuous ranked probability score for "
                "ensemble prediction systems, Weather and Forecasting 2000",
            .notion = PCAL_NOTION_PROPER,
            .bound = PCAL_BOUND_UPPER,
            .machine = PCAL_MACHINE_KEEP,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_TARGET,
        },
    .traits = PC_FORECAST_TRAITS | PC_PARTS_IN_TEXT,
    .configure = crps_decomposition_configure,
    .evaluate = crps_decomposition_evaluate,
};
