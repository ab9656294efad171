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
 * Accuracy: exact sums of the terms of rows; view=classwise over sorted distinct scores in double.
 * Cost: O(1) per row; view=classwise one sort. */
#include <math.h>

#include "metrics/calibration_test.h"
#include "metrics/event_view.h"
#include "stats/distributions.h"

enum { SPIEGELHALTER_VIEW };

static const pcal_option spiegelhalter_options[] = {PC_CALIBRATION_TEST_VIEW_OPTION};

/* The sums of a statistic. */
typedef struct spiegelhalter_sums {
  double lean;            /* of (y - p)(1 - 2 p) */
  double variance, third; /* of (1 - 2 p)^2 p (1 - p) and of (1 - 2 p)^4 p (1 - p) */
} spiegelhalter_sums;

#define SPIEGELHALTER_SUMS 3

static void spiegelhalter_conclude(const spiegelhalter_sums *sums, pc_calibration_test *out) {
  if (!(sums->variance > 0.0)) {
    out->cannot = "every score is 0, 1/2 or 1, so the variance of the statistic is 0; use "
                  "ks-test";
    return;
  }
  out->statistic = sums->lean / sqrt(sums->variance);
  const double skewness = sums->third / (sums->variance * sqrt(sums->variance));
  const double deviate =
      out->among > 1 ? pc_skewed_deviate(out->statistic, skewness) : out->statistic;
  out->p_value = 2.0 * pc_normal_tail(fabs(deviate));
}

static pcal_status spiegelhalter_test(const pc_options *options, const pc_curve_table *table,
                                      const pcal_env *env, pc_calibration_test *out,
                                      pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  spiegelhalter_sums sums = {0};
  for (size_t i = 0; i < table->count; i++) {
    const double p = pc_calibration_test_score(table->score[i]), lean = 1.0 - 2.0 * p;
    sums.lean += (table->hits[i] - table->weight[i] * p) * lean;
    sums.variance += table->weight[i] * lean * lean * p * (1.0 - p);
    sums.third += table->weight[i] * lean * lean * lean * lean * p * (1.0 - p);
  }
  spiegelhalter_conclude(&sums, out);
  return PCAL_OK;
}

/* The terms of each row, for one view. */
static void spiegelhalter_values(const double *params, const pc_rows *rows, size_t begin,
                                 size_t count, double *out) {
  const int positive = params[0] > 0;
  for (size_t i = begin; i < begin + count; i++) {
    const double p = pc_calibration_test_score(pc_event_score(rows, i, positive));
    const double lean = 1.0 - 2.0 * p, term = lean * lean * p * (1.0 - p);
    *out++ = (pc_event_outcome(rows, i, positive) - p) * lean;
    *out++ = term;
    *out++ = lean * lean * term;
  }
}

static pcal_status spiegelhalter_configure(pc_options *options, const pc_layout *layout,
                                           pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_calibration_test_configure(options, SPIEGELHALTER_VIEW, layout, config, err));
  if (config->need.view.kind == PC_VIEW_CLASSES)
    return PCAL_OK;
  config->need.machine = PC_SUM;
  config->need.sum.values = spiegelhalter_values;
  config->need.sum.value_count = SPIEGELHALTER_SUMS;
  config->need.sum.params[0] = config->need.view.kind == PC_VIEW_CLASS;
  return PCAL_OK;
}

static pcal_status spiegelhalter_evaluate(const pc_options *options,
                                          const pc_evidence *evidence, const pcal_env *env,
                                          pc_metric_result *out, pcal_error *err) {
  if (evidence->machine != PC_SUM)
    return pc_calibration_test_evaluate(options, evidence, env, spiegelhalter_test, out, err);
  const double *sums = evidence->sum.value; /* importance weights are not scaled in sums */
  const double unit = evidence->importance ? evidence->effective / evidence->total : 1.0;
  pc_calibration_test only = {.among = 1};
  spiegelhalter_conclude(&(spiegelhalter_sums){unit * sums[0], unit * sums[1], unit * sums[2]},
                         &only);
  pc_calibration_test_result(&only, out);
  return PCAL_OK;
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
            .machine = PCAL_MACHINE_SUM,
            .is_test = 1,
            .options = spiegelhalter_options,
            .option_count = sizeof spiegelhalter_options / sizeof *spiegelhalter_options,
        },
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = spiegelhalter_configure,
    .evaluate = spiegelhalter_evaluate,
};
