/* spiegelhalter: Spiegelhalter's Z.
 *
 * Formula:  Z = sum_i (y_i - p_i)(1 - 2 p_i) / sqrt(sum_i (1 - 2 p_i)^2 p_i (1 - p_i)),
 *           standard normal when the probabilities are calibrated; two-sided p-value.
 * Edge cases:
 * (1) where every score is 0, 1/2 or 1 the variance is 0 and there is no test;
 * (2) scores stored outside [0, 1] count as 0 or 1;
 * (3) view=classwise: the smallest of K p-values after Holm's correction, with the class it
 *     belongs to; the smallest of many p-values is in the far tail, where Z of a class with few
 *     rows is not normal, so these p-values are corrected for skewness (stats/distributions.h).
 * Source: Spiegelhalter, Probabilistic prediction in patient management and clinical trials,
 * Statistics in Medicine 1986.
 * Accuracy: sums over sorted distinct scores in double.   Cost: one sort. */
#include <math.h>

#include "metrics/calibration_test.h"
#include "stats/distributions.h"

enum { SPIEGELHALTER_VIEW };

static const pcal_option spiegelhalter_options[] = {PC_CALIBRATION_TEST_VIEW_OPTION};

static pcal_status spiegelhalter_test(const pc_options *options, const pc_curve_table *table,
                                      const pcal_env *env, pc_calibration_test *out,
                                      pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  double sum = 0.0, variance = 0.0, third = 0.0;
  for (size_t i = 0; i < table->count; i++) {
    const double p = pc_calibration_test_score(table->score[i]), lean = 1.0 - 2.0 * p;
    sum += (table->hits[i] - table->weight[i] * p) * lean;
    variance += table->weight[i] * lean * lean * p * (1.0 - p);
    third += table->weight[i] * lean * lean * lean * lean * p * (1.0 - p);
  }
  if (!(variance > 0.0)) {
    out->cannot = "every score is 0, 1/2 or 1, so the variance of the statistic is 0; use "
                  "ks-test";
    return PCAL_OK;
  }
  out->statistic = sum / sqrt(variance);
  const double skewness = third / (variance * sqrt(variance));
  const double deviate =
      out->among > 1 ? pc_skewed_deviate(out->statistic, skewness) : out->statistic;
  out->p_value = 2.0 * pc_normal_tail(fabs(deviate));
  return PCAL_OK;
}

static pcal_status spiegelhalter_configure(pc_options *options, const pc_layout *layout,
                                           pc_metric_config *config, pcal_error *err) {
  return pc_calibration_test_configure(options, SPIEGELHALTER_VIEW, layout, config, err);
}

static pcal_status spiegelhalter_evaluate(const pc_options *options,
                                          const pc_evidence *evidence, const pcal_env *env,
                                          pc_metric_result *out, pcal_error *err) {
  return pc_calibration_test_evaluate(options, evidence, env, spiegelhalter_test, out, err);
}

const pc_metric pc_metric_spiegelhalter = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "spiegelhalter",
            .title = "Spiegelhalter's Z test",
            .formula = "sum_i (y_i - p_i)(1 - 2 p_i) / sqrt(sum_i (1 - 2 p_i)^2 p_i (1 - p_i))",
            .about = "Tests whether the Brier score equals its expectation for calibrated "
                     "probabilities. Positive if it is worse, as for over-confident "
                     "scores. It cannot detect errors that cancel.",
            .citation = "Spiegelhalter, Statistics in Medicine 1986",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_CURVE,
            .is_test = 1,
            .options = spiegelhalter_options,
            .option_count = sizeof spiegelhalter_options / sizeof *spiegelhalter_options,
        },
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = spiegelhalter_configure,
    .evaluate = spiegelhalter_evaluate,
};
