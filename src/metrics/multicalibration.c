/* multicalibration: the largest calibration gap in any bin of any group.
 *
 * Formula:  max_g max_b |conf_gb - acc_gb|  over the bins b of equal width of all rows and of
 *           every group g that hold at least the share `share` of all rows
 * Interval: with m = bins (groups + 1), Wilson's interval of the level 1 - (1 - level) / m for
 *           acc_gb gives an interval of each gap.  All of them hold together with the level, and
 *           so do the largest of their lower and the largest of their upper ends for the
 *           largest gap.
 * Edge cases:
 * (1) without groups: the bins of all rows;
 * (2) the value of a group is the largest gap of its bins, and its interval holds together with
 *     those of all other groups; without a bin of enough rows it has no value;
 * (3) groups that are known by several columns overlap, and count as often as they are shown;
 * (4) bins=1: the largest error of a group's mean, multiaccuracy.
 * Parts: of the bin with the largest gap `low` and `high`, its ends, `claimed` and `true`, its
 * mean score and its share of hits.
 * Source: Hebert-Johnson, Kim, Reingold & Rothblum, Multicalibration, ICML 2018; the least share:
 * their sets of at least gamma; interval: Bonferroni.
 * Accuracy: bin sums exact to 2^-53 per row.
 * Cost: O(1) per row. */
#include <math.h>
#include <stdio.h>

#include "metrics/metric.h"

enum { MULTICALIBRATION_BINS, MULTICALIBRATION_SHARE, MULTICALIBRATION_VIEW };

static const pcal_option multicalibration_options[] = {
    {"bins", PCAL_OPTION_INT, "10", 1, 1000, NULL,
     "number of bins; 1 compares only the means of groups"},
    {"share", PCAL_OPTION_REAL, "0.01", 0, 1, NULL,
     "least share of all rows that a bin of a group must hold to count"},
    PC_VIEW_OPTION,
};

static pcal_status multicalibration_configure(pc_options *options, const pc_layout *layout,
                                              pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_metric_choose_view(options, MULTICALIBRATION_VIEW, layout, config, err));
  config->need.machine = PC_GRID;
  config->need.grid.bins = (size_t)options->value[MULTICALIBRATION_BINS].number;
  config->need.grid.rule = PC_EDGES_RIGHT;
  return PCAL_OK;
}

/* True if a bin holds the least share of all rows. */
static int multicalibration_counts(const pc_options *options, const pc_evidence *evidence,
                                   const pc_bin *bin) {
  const double total = evidence->family.groups == 0 ? evidence->total : evidence->family.total;
  return bin->weight > 0 &&
         bin->weight >= options->value[MULTICALIBRATION_SHARE].number * total;
}

static pcal_status multicalibration_evaluate(const pc_options *options,
                                             const pc_evidence *evidence, const pcal_env *env,
                                             pc_metric_result *out, pcal_error *err) {
  const pc_bin *bins = evidence->grid.bins, *worst = NULL;
  for (size_t b = 0; b < evidence->grid.bin_count; b++) {
    if (!multicalibration_counts(options, evidence, &bins[b]))
      continue;
    const double gap = fabs(pc_bin_confidence(&bins[b]) - pc_bin_frequency(&bins[b]));
    if (worst != NULL && !(gap > out->value))
      continue;
    out->value = gap;
    worst = &bins[b];
  }
  if (worst == NULL) {
    out->undefined = 1;
    snprintf(out->why, sizeof out->why, "no bin has the least share of all rows");
    return PCAL_OK;
  }
  pc_metric_result_part(out, "low", worst->low);
  pc_metric_result_part(out, "high", worst->high);
  pc_metric_result_part(out, "claimed", pc_bin_confidence(worst));
  pc_metric_result_part(out, "true", pc_bin_frequency(worst));
  return pc_plot_table_bins(env, bins, evidence->grid.bin_count, &out->graph, err);
}

static pc_interval multicalibration_bounds(const pc_options *options,
                                           const pc_evidence *evidence, double level) {
  const pc_bin *bins = evidence->grid.bins;
  const double family =
      (double)evidence->grid.bin_count * ((double)evidence->family.groups + 1.0);
  pc_interval found = {0.0, 0.0};
  for (size_t b = 0; b < evidence->grid.bin_count; b++) {
    if (!multicalibration_counts(options, evidence, &bins[b]))
      continue;
    const pc_interval share = pc_interval_wilson(pc_bin_frequency(&bins[b]), bins[b].weight,
                                                 1.0 - (1.0 - level) / family);
    const double claimed = pc_bin_confidence(&bins[b]);
    found.low = fmax(found.low, fmax(share.low - claimed, claimed - share.high));
    found.high = fmax(found.high, fmax(share.high - claimed, claimed - share.low));
  }
  return found;
}

const pc_metric pc_metric_multicalibration = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "multicalibration",
            .title = "largest calibration gap in any bin of any group",
            .formula = "max_g max_b |conf_gb - acc_gb|",
            .about =
                "The largest gap between the mean score and the share of hits over the bins "
                "of all rows and of every group; bins with fewer than a share of all rows "
                "are left out. Chance makes it larger, the more the smaller the groups: its "
                "interval allows for the choice of the largest, and a lower end above 0 is "
                "an error that chance does not explain. With several group columns "
                "the groups overlap. Intervals of groups hold together.",
            .citation = "Hebert-Johnson, Kim, Reingold & Rothblum, ICML 2018",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = multicalibration_options,
            .option_count = sizeof multicalibration_options / sizeof *multicalibration_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_OF_THE_SAMPLE |
              PC_LARGEST_OF_GROUPS,
    .configure = multicalibration_configure,
    .evaluate = multicalibration_evaluate,
    .bounds = multicalibration_bounds,
};
