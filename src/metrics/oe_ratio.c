/* oe-ratio: observed to expected events.
 *
 * Formula:  sum_i y_i / sum_i p_i
 * Edge cases:
 * (1) no expected events: no value;
 * (2) intervals by the delta method on the logarithmic scale, which also allow for one more
 *     event if there are few (stats/interval.c); no observed events: on the plain scale.
 * Source: Debray et al., A guide to systematic review and meta-analysis of prediction model
 * performance, BMJ 2017.
 * Accuracy: exact sums.   Cost: O(1) per row. */
#include <stdio.h>

#include "metrics/event_view.h"

enum { OE_RATIO_VIEW };

static const pcal_option oe_ratio_options[] = {PC_EVENT_VIEW_OPTION};

static void oe_ratio_values(const double *params, const pc_rows *rows, size_t begin,
                            size_t count, double *out) {
  const int positive = params[0] > 0;
  for (size_t i = begin; i < begin + count; i++) {
    *out++ = pc_event_outcome(rows, i, positive);
    *out++ = pc_event_score(rows, i, positive);
  }
}

static pcal_status oe_ratio_configure(pc_options *options, const pc_layout *layout,
                                      pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_event_view_choose(options, OE_RATIO_VIEW, layout, config, err));
  config->need.machine = PC_SUM;
  config->need.sum.values = oe_ratio_values;
  config->need.sum.value_count = 2;
  config->need.sum.params[0] = config->need.view.kind == PC_VIEW_CLASS;
  return PCAL_OK;
}

static pcal_status oe_ratio_evaluate(const pc_options *options, const pc_evidence *evidence,
                                     const pcal_env *env, pc_metric_result *out,
                                     pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  const double observed = evidence->sum.value[0], expected = evidence->sum.value[1];
  out->undefined = !(expected > 0);
  if (out->undefined) {
    snprintf(out->why, sizeof out->why, "the scores expect no events");
    return PCAL_OK;
  }
  out->value = observed / expected;
  const double rows = evidence->importance ? evidence->effective : evidence->total;
  const double all = evidence->total / expected;
  out->scale = PC_SCALE_LOG;
  out->count = (pc_interval_count){0.0, all, all / rows, 0.0};
  pc_metric_result_part(out, "observed", observed / evidence->total);
  pc_metric_result_part(out, "expected", expected / evidence->total);
  return PCAL_OK;
}

const pc_metric pc_metric_oe_ratio = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "oe-ratio",
            .title = "observed to expected events",
            .formula = "sum_i y_i / sum_i p_i",
            .about = "1 for a calibrated model. Above 1 more events occurred than the "
                     "probabilities predicted, below 1 fewer. The parts are the two rates.",
            .citation = "Debray et al., BMJ 2017",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_SUM,
            .options = oe_ratio_options,
            .option_count = sizeof oe_ratio_options / sizeof *oe_ratio_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_KNOWN_IF_CALIBRATED,
    .if_calibrated = 1,
    .configure = oe_ratio_configure,
    .evaluate = oe_ratio_evaluate,
};
