/* tce, cwce: top-label and class-wise calibration errors of order p.
 *
 * Formula:  tce  = (sum_b (n_b/N) |conf_b - acc_b|^p)^(1/p)
 *           cwce = (sum_k sum_b (n_bk/N) |conf_bk - acc_bk|^p)^(1/p)
 *           classes=mean: (1/K) sum_k in place of sum_k, smaller by K^(1/p)
 * Edge cases:
 * (1) width: (lo, hi] with edges i/M, each rounded once, and 0 in the first bin; mass: as
 *     ece:binning=mass;
 * (2) empty bins add nothing; a class that never occurs counts;
 * (3) debias=yes (p = 2) subtracts acc (1 - acc) / (n_b - 1) from each square, bins with n_b <
 *     2 give 0, then the positive part of each class is summed;
 * (4) for p above 2 gaps are divided by the largest before powers are taken, so that none
 *     underflows.
 * Class values of cwce: (sum_b (n_bk/N) |conf_bk - acc_bk|^p)^(1/p) for each class.
 * Source: Gruber & Buettner 2022 (CWCE with the sum over classes); Kumar, Liang & Ma 2019
 * (debiasing, and the mean over classes); Kull et al. 2019; Broecker 2012.
 * Accuracy: bin sums exact to 2^-50 per score.
 * Cost: width: O(1) per score, one addition for most scores of cwce; mass: a sort. */
#include <math.h>

#include "base/elementary.h"
#include "curve/curve_bins.h"
#include "metrics/binned_error.h"

/* TCE_P to TCE_DEBIAS are the first options of both metrics. */
enum { TCE_P, TCE_BINS, TCE_BINNING, TCE_DEBIAS, TCE_VIEW };
enum { CWCE_CLASSES = TCE_DEBIAS + 1 };
enum { TCE_BY_WIDTH, TCE_BY_MASS };
enum { CWCE_SUM, CWCE_MEAN };

#define TCE_P_MAX 100

#define TCE_OPTIONS                                                                       \
  {"p", PCAL_OPTION_REAL, "2", 1, TCE_P_MAX, NULL, "order of the error"}, PC_BINS_OPTION, \
      {"binning",                                                                         \
       PCAL_OPTION_CHOICE,                                                                \
       "width",                                                                           \
       0,                                                                                 \
       0,                                                                                 \
       "width|mass",                                                                      \
       "bins of equal width, or of equally many rows"},                                   \
  {                                                                                       \
    "debias", PCAL_OPTION_BOOL, "no", 0, 0, NULL,                                         \
        "subtract the expected contribution of chance from each square (needs p=2)"       \
  }

static const pcal_option tce_options[] = {TCE_OPTIONS, PC_VIEW_OPTION};

static const pcal_option cwce_options[] = {
    TCE_OPTIONS,
    {"classes", PCAL_OPTION_CHOICE, "sum", 0, 0, "sum|mean", "sum over classes, or their mean"},
};

static pcal_status tce_need(const pc_options *options, pc_metric_config *config,
                            pcal_error *err) {
  if (options->value[TCE_DEBIAS].choice && options->value[TCE_P].number != 2)
    return pc_fail(err, PCAL_USAGE, "%s: debias=yes needs p=2; add it or remove debias",
                   options->name);
  config->need.machine = PC_CURVE;
  config->debiased = options->value[TCE_DEBIAS].choice;
  config->gaps = options->value[TCE_P].number >= 2 ? PC_GAPS_SQUARES : PC_GAPS_MEAN;
  if (options->value[TCE_BINNING].choice == TCE_BY_MASS) {
    config->binning = (pc_curve_binning){.rule = PC_BINNING_MASS,
                                         .bins = (size_t)options->value[TCE_BINS].number};
    return PCAL_OK;
  }
  config->need.machine = PC_GRID;
  config->need.grid.rule = PC_EDGES_RIGHT;
  config->need.grid.bins = (size_t)options->value[TCE_BINS].number;
  if (options->value[TCE_DEBIAS].choice) /* for the variance of debiased squares */
    config->need.grid.moments = PC_MOMENT_SQUARE | PC_MOMENT_HIT;
  return PCAL_OK;
}

static pcal_status tce_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_metric_choose_view(options, TCE_VIEW, layout, config, err));
  config->most = 1.0;
  return tce_need(options, config, err);
}

static pcal_status cwce_configure(pc_options *options, const pc_layout *layout,
                                  pc_metric_config *config, pcal_error *err) {
  (void)layout;
  config->need.view.kind = PC_VIEW_CLASSES;
  /* sum_k |p_k - e_k|^p is at most 2 for a row */
  config->most = options->value[CWCE_CLASSES].choice == CWCE_SUM
                     ? pc_pow(2.0, 1.0 / options->value[TCE_P].number)
                     : 1.0;
  config->range.high = config->most;
  return tce_need(options, config, err);
}

static size_t tce_wants(const pc_options *options, const pc_curve_table *table,
                        uint8_t *wanted) {
  return pc_bins_by_mass_wants(table, (size_t)options->value[TCE_BINS].number, wanted);
}

static pcal_status tce_value(const pc_options *options, int mean, const pc_evidence *evidence,
                             const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const pc_binned_error how = {.binning = PC_BINNING_MASS,
                               .bins = (size_t)options->value[TCE_BINS].number,
                               .p = options->value[TCE_P].number,
                               .debias = options->value[TCE_DEBIAS].choice,
                               .mean = mean};
  return pc_binned_error_evaluate(&how, evidence, env, out, err);
}

static pcal_status tce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  return tce_value(options, 0, evidence, env, out, err);
}

static pcal_status cwce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                 const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const int mean = options->value[CWCE_CLASSES].choice == CWCE_MEAN;
  return tce_value(options, mean, evidence, env, out, err);
}

const pc_metric pc_metric_tce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "tce",
            .title = "top-label calibration error of order p",
            .formula = "(sum_b (n_b/N) |conf_b - acc_b|^p)^(1/p)\n"
                       "debias=yes: root of sum_b (n_b/N) [(conf_b - acc_b)^2 - "
                       "acc_b (1 - acc_b)/(n_b - 1)], where positive",
            .about = "The gap between confidence and accuracy of the predicted class, in "
                     "bins. Bins average over their scores, so it estimates a lower bound "
                     "of the error; in bins of few rows chance increases it, which "
                     "debias=yes corrects. With equal bins it does not decrease as p "
                     "grows.",
            .citation = "Kumar, Liang & Ma, NeurIPS 2019; Gruber & Buettner, NeurIPS 2022; "
                        "Broecker 2012",
            .notion = PCAL_NOTION_TOP_LABEL,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = tce_options,
            .option_count = sizeof tce_options / sizeof *tce_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = tce_configure,
    .evaluate = tce_evaluate,
    .wants = tce_wants,
};

const pc_metric pc_metric_cwce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "cwce",
            .title = "class-wise calibration error of order p",
            .formula = "(sum_k sum_b (n_bk/N) |conf_bk - acc_bk|^p)^(1/p)\n"
                       "classes=mean: (1/K) sum_k",
            .about = "The gap between the probability of each class and its frequency, in "
                     "bins, over all classes. Packages differ: some sum over classes "
                     "(Gruber & Buettner, Kull's tables), others average (Kumar).",
            .citation = "Gruber & Buettner, NeurIPS 2022; Kumar, Liang & Ma, NeurIPS 2019; "
                        "Kull et al., NeurIPS 2019",
            .notion = PCAL_NOTION_CLASS_WISE,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_LOWER,
            .options = cwce_options,
            .option_count = sizeof cwce_options / sizeof *cwce_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_NEEDS_CLASSES,
    .configure = cwce_configure,
    .evaluate = cwce_evaluate,
    .wants = tce_wants,
};
