/* brier, rbs: the Brier score and its square root.
 *
 * Formula:  BS = (1/N) sum_i sum_k (p_ik - [y_i = k])^2,   RBS = sqrt(BS)
 * Edge cases:
 * (1) the sum runs over all classes: the range is [0, 2]; for a binary score 2 (p - y)^2;
 * (2) half=yes halves it, which for two classes is the mean squared error of class 1;
 * (3) probabilities are used as stored, even if a row sums to 1 - 1e-6;
 * (4) two classes: the part one_column is half of the score, the mean of (p - y)^2 of class 1
 *     that scikit-learn and clinical papers call the Brier score;
 * (5) the score is never divided by K.
 * Source: Brier 1950; the root as an upper bound of the canonical calibration error: Gruber &
 * Buettner 2022, Theorem 3.1.
 * Accuracy: each row to a few ulp, the mean exact.
 * Cost: O(K) per row. */
#include <math.h>

#include "metrics/metric.h"
#include "metrics/score_needs.h"

enum { BRIER_HALF };

static const pcal_option brier_options[] = {
    {"half", PCAL_OPTION_BOOL, "no", 0, 0, NULL,
     "halve the sum over classes; for two classes that is the mean squared error of class 1"},
};

static void brier_values(const double *params, const pc_rows *rows, size_t begin, size_t count,
                         double *out) {
  (void)params;
  for (size_t i = begin; i < begin + count; i++)
    *out++ = pc_row_value_brier(rows->true_gap[i], rows->others_square[i]);
}

void pc_need_brier(pc_need *need) {
  need->machine = PC_SUM;
  need->sum.values = brier_values;
  need->sum.value_count = 1;
  need->sum.row_value = PC_ROW_VALUE_BRIER;
}

static pcal_status brier_configure(pc_options *options, const pc_layout *layout,
                                   pc_metric_config *config, pcal_error *err) {
  (void)options;
  (void)layout;
  (void)err;
  pc_need_brier(&config->need);
  return PCAL_OK;
}

static pcal_status brier_evaluate(const pc_options *options, const pc_evidence *evidence,
                                  const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  (void)env;
  (void)err;
  const double mean = evidence->sum.value[0] / evidence->total;
  const int half = options->value[BRIER_HALF].number != 0;
  out->value = half ? mean / 2 : mean;
  if (!half && evidence->layout->classes == 2)
    pc_metric_result_part(out, "one_column", mean / 2);
  return PCAL_OK;
}

static pcal_status brier_evaluate_root(const pc_options *options, const pc_evidence *evidence,
                                       const pcal_env *env, pc_metric_result *out,
                                       pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  out->value = sqrt(evidence->sum.value[0] / evidence->total);
  return PCAL_OK;
}

const pc_metric pc_metric_brier = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "brier",
            .title = "Brier score",
            .formula = "(1/N) sum_i sum_k (p_ik - [y_i = k])^2",
            .about = "A proper score from 0 to 2, lower is better. It is the sum over "
                     "classes, never divided by their number; with two classes the part "
                     "one_column is that of class 1 alone, as in scikit-learn. It is an "
                     "upper bound of the squared canonical calibration error, and its "
                     "expectation does not depend on the number of rows.",
            .citation = "Brier, Verification of forecasts expressed in terms of probability, "
                        "Monthly Weather Review 1950",
            .notion = PCAL_NOTION_PROPER,
            .bound = PCAL_BOUND_UPPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
            .options = brier_options,
            .option_count = sizeof brier_options / sizeof *brier_options,
        },
    .range = {0.0, 2.0},
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_NEEDS_CLASSES | PC_LOSS |
              PC_PROPER_SCORE | PC_SQUARED | PC_PARTS_IN_TEXT,
    .largest_loss = 2.0,
    .configure = brier_configure,
    .evaluate = brier_evaluate,
};

const pc_metric pc_metric_rbs = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "rbs",
            .title = "root Brier score",
            .formula = "sqrt((1/N) sum_i sum_k (p_ik - [y_i = k])^2)",
            .about = "An upper bound of every calibration error in the hierarchy of Gruber "
                     "& Buettner: top-label, class-wise and canonical. Robust to the "
                     "number of rows, so that models can be compared by it.",
            .citation = "Gruber & Buettner, Better uncertainty calibration via proper scores "
                        "for classification and beyond, NeurIPS 2022, Theorem 3.1",
            .notion = PCAL_NOTION_PROPER,
            .bound = PCAL_BOUND_UPPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
        },
    .range = {0.0, 1.4142135623730951},
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_NEEDS_CLASSES | PC_LOSS,
    .largest_loss = 2.0,
    .configure = brier_configure,
    .evaluate = brier_evaluate_root,
};
