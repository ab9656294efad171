/* spherical: the spherical score.
 *
 * Formula:  -(1/N) sum_i p_{i, y_i} / |p_i|,  |p|: the Euclidean norm
 * Edge cases:
 * (1) lower is better, from -1 (the true class has probability 1) to 0 (it has probability 0):
 *     never infinite;
 * (2) probabilities are used as stored; the score does not change if a row is rescaled.
 * Source: Good 1971; Gneiting & Raftery 2007, example 2 (with the opposite sign).
 * Accuracy: 1 + the score of each row to a few ulp, without cancellation; the mean exact.
 * Cost: one root per row. */
#include <math.h>

#include "metrics/metric.h"
#include "metrics/score_needs.h"

static void spherical_values(const double *params, const pc_rows *rows, size_t begin,
                             size_t count, double *out) {
  (void)params;
  for (size_t i = begin; i < begin + count; i++)
    *out++ = pc_row_value_spherical(rows->true_gap[i], rows->others_square[i]);
}

void pc_need_spherical(pc_need *need) {
  need->machine = PC_SUM;
  need->sum.values = spherical_values;
  need->sum.value_count = 1;
  need->sum.row_value = PC_ROW_VALUE_SPHERICAL;
}

static pcal_status spherical_configure(pc_options *options, const pc_layout *layout,
                                       pc_metric_config *config, pcal_error *err) {
  (void)options;
  (void)layout;
  (void)err;
  pc_need_spherical(&config->need);
  return PCAL_OK;
}

static pcal_status spherical_evaluate(const pc_options *options, const pc_evidence *evidence,
                                      const pcal_env *env, pc_metric_result *out,
                                      pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  out->value = evidence->sum.value[0] / evidence->total - 1.0;
  return PCAL_OK;
}

const pc_metric pc_metric_spherical = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "spherical",
            .title = "spherical score",
            .formula = "-(1/N) sum_i p_{i,y_i} / sqrt(sum_k p_ik^2)",
            .about = "A proper score from -1 to 0, lower is better, never infinite. The "
                     "score plus one, upper-bound:score=spherical, is an upper bound of "
                     "its calibration error.",
            .citation = "Gneiting & Raftery, Strictly proper scoring rules, prediction, and "
                        "estimation, JASA 2007",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
        },
    .range = {-1.0, 0.0},
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_NEEDS_CLASSES | PC_LOSS |
              PC_PROPER_SCORE | PC_SQUARED,
    .largest_loss = 1.0,
    .configure = spherical_configure,
    .evaluate = spherical_evaluate,
};
