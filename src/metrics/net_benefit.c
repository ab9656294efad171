/* net-benefit: true positives less false positives at the odds of a threshold.
 *
 * Formula:  (1/N) sum_i [p_i >= t] (y_i - (1 - y_i) t / (1 - t))
 * Edge cases:
 * (1) a score equal to the threshold is acted upon;
 * (2) intervals by the delta method, which also allow for one more event among the rows acted upon
 *     if there are few: in place of a false positive it adds 1 / (1 - t) / N (stats/interval.c);
 * (3) no row is acted upon: the value is 0, and the interval allows for rows that would have been,
 *     as many as none in N rows leave possible;
 * (4) t = 0: everyone is treated at no cost, and the value is the share of events.
 * Parts: treat_all, the net benefit of acting on every row; acting on none has 0.
 * Source: Vickers & Elkin, Decision curve analysis, Medical Decision Making 2006.
 * Accuracy: exact sums.   Cost: O(1) per row. */
#include "metrics/event_view.h"

enum { NET_BENEFIT_THRESHOLD, NET_BENEFIT_VIEW };

static const pcal_option net_benefit_options[] = {
    {"threshold", PCAL_OPTION_REAL, "0.1", 0, 0.999, NULL,
     "probability from which on one acts; its odds are the harm of acting in vain relative to "
     "the benefit of acting rightly"},
    PC_EVENT_VIEW_OPTION,
};

static void net_benefit_values(const double *params, const pc_rows *rows, size_t begin,
                               size_t count, double *out) {
  const int positive = params[0] > 0;
  const double threshold = params[1], odds = threshold / (1.0 - threshold);
  for (size_t i = begin; i < begin + count; i++) {
    const double outcome = pc_event_outcome(rows, i, positive);
    const double gain = outcome - (1.0 - outcome) * odds;
    *out++ = pc_event_score(rows, i, positive) >= threshold ? gain : 0.0;
    *out++ = gain;
    *out++ = pc_event_score(rows, i, positive) >= threshold;
  }
}

static pcal_status net_benefit_configure(pc_options *options, const pc_layout *layout,
                                         pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_event_view_choose(options, NET_BENEFIT_VIEW, layout, config, err));
  config->notion = PCAL_NOTION_PROPER;
  config->need.machine = PC_SUM;
  config->need.sum.values = net_benefit_values;
  config->need.sum.value_count = 3;
  config->need.sum.params[0] = config->need.view.kind == PC_VIEW_CLASS;
  config->need.sum.params[1] = options->value[NET_BENEFIT_THRESHOLD].number;
  return PCAL_OK;
}

static pcal_status net_benefit_evaluate(const pc_options *options, const pc_evidence *evidence,
                                        const pcal_env *env, pc_metric_result *out,
                                        pcal_error *err) {
  const double threshold = options->value[NET_BENEFIT_THRESHOLD].number;
  const double rows = evidence->importance ? evidence->effective : evidence->total;
  const double odds = threshold / (1.0 - threshold);
  const double acted = evidence->sum.value[2] / evidence->total;
  PC_TRY(pc_metric_evaluate_mean(options, evidence, env, out, err));
  out->count = acted > 0.0 ? (pc_interval_count){-odds * acted, acted, (1.0 + odds) / rows, 0.0}
                           : (pc_interval_count){0.0, 0.0, 1.0 / rows, odds / rows};
  pc_metric_result_part(out, "treat_all", evidence->sum.value[1] / evidence->total);
  return PCAL_OK;
}

const pc_metric pc_metric_net_benefit = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "net-benefit",
            .title = "net benefit of acting above a threshold",
            .formula = "(1/N) sum_i [p_i >= t] (y_i - (1 - y_i) t / (1 - t))",
            .about =
                "True positives per row, less false positives weighted by the odds of the "
                "threshold. Useful if above 0 (act on no one) and above the part treat_all "
                "(act on everyone). The figure decision-curve shows it for many thresholds.",
            .citation = "Vickers & Elkin, Medical Decision Making 2006",
            .notion = PCAL_NOTION_PROPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_HIGHER,
            .options = net_benefit_options,
            .option_count = sizeof net_benefit_options / sizeof *net_benefit_options,
        },
    .range = {-INFINITY, 1.0},
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_SQUARED,
    .configure = net_benefit_configure,
    .evaluate = net_benefit_evaluate,
};
