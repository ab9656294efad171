/* ece-expected: the expected ECE at this number of rows.
 *
 * Formula:  with gap_b = conf_b - acc_b and v_b = (var conf_b + acc_b (1 - acc_b)) / n_b
 *           mu   = sum_b (n_b/N) E|normal(gap_b, v_b)|
 *           null = sum_b (n_b/N) sqrt(2 v_b/pi), the same if every gap were zero
 * Edge cases:
 * (1) bins of equal width, (lo, hi], 0 in the first, as in ece;
 * (2) empty bins add nothing;
 * (3) a bin whose scores and outcomes do not vary has v_b = 0 and adds |gap_b| to mu and
 *     nothing to null: in bins of very few rows null is too small.
 * Value: mu.
 * Parts: mu, null.
 * Source: Gruber & Buettner 2022, Proposition 3.3 and appendix D.5.
 * Accuracy: bin sums exact to 2^-61 per row.
 * Cost: O(1) per row. */
#include "metrics/metric.h"
#include "stats/expected_ece.h"

enum { EXPECTED_BINS, EXPECTED_VIEW };

static const pcal_option ece_expected_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, PC_BINS_MAX, NULL, "number of bins"},
    PC_VIEW_OPTION,
};

static pcal_status ece_expected_configure(pc_options *options, const pc_layout *layout,
                                          pc_metric_config *config, pcal_error *err) {
  config->need.machine = PC_GRID;
  config->need.grid.rule = PC_EDGES_RIGHT;
  config->need.grid.bins = (size_t)options->value[EXPECTED_BINS].number;
  config->need.grid.moments = PC_MOMENT_SQUARE;
  return pc_metric_choose_view(options, EXPECTED_VIEW, layout, config, err);
}

static pcal_status ece_expected_evaluate(const pc_options *options, const pc_evidence *evidence,
                                         const pcal_env *env, pc_metric_result *out,
                                         pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  const pc_expected_ece expected =
      pc_expected_ece_of(evidence->grid.bins, evidence->grid.bin_count, evidence->total);
  out->value = expected.mean;
  pc_metric_result_part(out, "mu", expected.mean);
  pc_metric_result_part(out, "null", expected.null_mean);
  return PCAL_OK;
}

const pc_metric pc_metric_ece_expected = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "ece-expected",
            .title = "expected ECE at this number of rows",
            .formula = "mu   = sum_b (n_b/N) E|normal(conf_b - acc_b, v_b)|\n"
                       "null = sum_b (n_b/N) sqrt(2 v_b/pi)\n"
                       "v_b  = (var conf_b + acc_b (1 - acc_b)) / n_b",
            .about = "The ECE is larger for fewer rows, even for a calibrated model. The "
                     "value, also the part \"mu\", is the expected ECE of samples of this "
                     "size if the gaps of the bins were the true ones; the part \"null\" "
                     "is its expectation if they were zero, due to sample size alone. An "
                     "ECE close to null is no evidence of miscalibration.",
            .citation = "Gruber & Buettner, Better uncertainty calibration via proper scores "
                        "for classification and beyond, NeurIPS 2022, Proposition 3.3",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = ece_expected_options,
            .option_count = sizeof ece_expected_options / sizeof *ece_expected_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_OF_THE_SAMPLE,
    .configure = ece_expected_configure,
    .evaluate = ece_expected_evaluate,
};
