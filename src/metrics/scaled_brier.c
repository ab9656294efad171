/* scaled-brier: the Brier score relative to that of the class frequencies.
 *
 * Formula:  1 - sum_i sum_k (p_ik - [y_i = k])^2 / (N (1 - sum_k f_k^2)),  f_k: share of class k
 * Edge cases:
 * (1) all rows of one class: the reference is perfect, and there is no value;
 * (2) confidences: the event is "the prediction is correct".
 * Source: Steyerberg et al., Assessing the performance of prediction models, Epidemiology 2010;
 * Kattan & Gerds, The index of prediction accuracy, Diagnostic and Prognostic Research 2018.
 * Accuracy: exact sums of scores, squares and hits.   Cost: O(K) per row. */
#include <stdio.h>

#include "metrics/metric.h"

static pcal_status scaled_brier_configure(pc_options *options, const pc_layout *layout,
                                          pc_metric_config *config, pcal_error *err) {
  (void)options;
  (void)err;
  const int one = layout->classes <= 2;
  config->need.machine = PC_GRID;
  config->need.view.kind = layout->classes == 1 ? PC_VIEW_RANK
                           : one                ? PC_VIEW_CLASS
                                                : PC_VIEW_CLASSES;
  config->need.view.index = one;
  config->need.grid.rule = PC_EDGES_RIGHT;
  config->need.grid.bins = 1;
  config->need.grid.moments = PC_MOMENT_SQUARE | PC_MOMENT_HIT;
  config->interval = PCAL_INTERVAL_JACKKNIFE;
  return PCAL_OK;
}

static pcal_status scaled_brier_evaluate(const pc_options *options, const pc_evidence *evidence,
                                         const pcal_env *env, pc_metric_result *out,
                                         pcal_error *err) {
  double score = 0.0, reference = 0.0;
  (void)options;
  (void)env;
  (void)err;
  for (size_t p = 0; p < evidence->grid.part_count; p++) {
    const pc_bin *bin = &evidence->grid.bins[p]; /* with moments, grids are not sparse */
    if (!(bin->weight > 0))
      continue;
    score += bin->score_square - 2.0 * bin->score_hit + bin->hits;
    reference += bin->hits * (1.0 - bin->hits / bin->weight);
  }
  out->undefined = !(reference > 0);
  if (out->undefined)
    snprintf(out->why, sizeof out->why,
             "all outcomes are the same, so a constant prediction is perfect");
  else
    out->value = 1.0 - score / reference;
  return PCAL_OK;
}

const pc_metric pc_metric_scaled_brier = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "scaled-brier",
            .title = "Brier score relative to the class frequencies",
            .formula = "1 - brier / (1 - sum_k f_k^2), f_k the share of class k",
            .about = "1 for a perfect model, 0 for one that predicts the class frequencies, "
                     "negative for a worse one. Also called index of prediction accuracy, or "
                     "Brier skill score.",
            .citation = "Steyerberg et al., Epidemiology 2010; Kattan & Gerds, Diagnostic and "
                        "Prognostic Research 2018",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_HIGHER,
        },
    .range = {-INFINITY, 1.0},
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_SQUARED,
    .configure = scaled_brier_configure,
    .evaluate = scaled_brier_evaluate,
};
