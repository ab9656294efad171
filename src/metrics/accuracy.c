/* accuracy: the share of rows whose predicted class is the true one.
 *
 * Formula:  (1/N) sum_i [argmax_k p_ik = y_i]
 * Edge cases:
 * (1) ties go to the class with the lower index;
 * (2) a binary score of exactly 0.5 predicts class 0, by (1);
 * (3) confidences: the share of rows marked correct.
 * Cost: O(K) per row. */
#include "metrics/metric.h"

static void accuracy_values(const double *params, const pc_rows *rows, size_t begin,
                            size_t count, double *out) {
  (void)params;
  const int32_t *labels = rows->labels + begin;
  for (size_t i = 0; rows->classes == 1 && i < count; i++)
    out[i] = labels[i];
  for (size_t i = 0; rows->classes > 1 && i < count; i++)
    out[i] = rows->top_label[begin + i] == labels[i];
}

static pcal_status accuracy_configure(pc_options *options, const pc_layout *layout,
                                      pc_metric_config *config, pcal_error *err) {
  (void)options;
  (void)layout;
  (void)err;
  config->need.machine = PC_SUM;
  config->need.sum.values = accuracy_values;
  config->need.sum.value_count = 1;
  config->need.sum.row_value = PC_ROW_VALUE_HIT;
  return PCAL_OK;
}

const pc_metric pc_metric_accuracy = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "accuracy",
            .title = "share of correct predictions",
            .formula = "(1/N) sum_i [argmax_k p_ik = y_i]",
            .about = "Does not measure calibration; a reference for calibration errors. "
                     "Ties between classes go to the lower index.",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_HIGHER,
            .unit = PCAL_UNIT_SHARE,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_SHARE,
    .configure = accuracy_configure,
    .evaluate = pc_metric_evaluate_mean,
};
