/* ece, mce: binned calibration errors of one score.
 *
 * Formula:  ECE = sum_b (n_b / N) |conf_b - acc_b|,  conf_b, acc_b: means over bin b
 *           norm=l2: sqrt(sum_b (n_b / N) (conf_b - acc_b)^2)
 *           norm=max and mce: max_b |conf_b - acc_b|
 * Edge cases:
 * (1) bins of equal width are (lo, hi] with edges i/M, each rounded once, and 0 in the first
 *     bin; edges=left: [lo, hi), 1 in the last;
 * (2) empty bins add nothing, and the maximum is over non-empty bins;
 * (3) binning=mass splits the sorted scores as evenly as possible, with edges midway between
 *     parts; equal edges are joined, so that ties are never split;
 * (4) debias=yes subtracts acc (1 - acc) / (n_b - 1) from each square; bins with n_b < 2 give
 *     0, and a negative sum counts as 0 before the root is taken; it needs norm=l2;
 * (5) convention= uses the edges of a package, see conventions.def; scores in none of its bins
 *     still count in N;
 * (6) binning=sweep uses equal-mass bins, as many as possible such that the accuracy does not
 *     decrease from any bin to the next, for that number of bins and all smaller ones; at most
 *     one per row, and at most 10000.
 * Parts: with binning=sweep, `bins`, the number of bins.
 * Source: Naeini et al. 2015; Guo et al. 2017; equal mass and debiasing: Kumar et al. 2019,
 * Broecker 2012; sweep: Roelofs et al. 2022.
 * Accuracy: bin sums exact to 2^-53 per row.
 * Cost: O(1) per row; mass: one sort. */
#include "curve/curve_bins.h"
#include "metrics/binned_error.h"
#include "stats/expected_ece.h"

enum { ECE_BINS, ECE_BINNING, ECE_NORM, ECE_DEBIAS, ECE_EDGES, ECE_VIEW, ECE_CONVENTION };
enum { ECE_BY_WIDTH, ECE_BY_MASS, ECE_BY_SWEEP };
enum { ECE_EDGES_RIGHT, ECE_EDGES_LEFT };
enum { MCE_BINS, MCE_EDGES, MCE_VIEW, MCE_CONVENTION };

#define CONVENTION(symbol, name, rule, mass, title, about) name "|"
static const char ece_conventions[] =
#include "metrics/conventions.def"
    "none";
#undef CONVENTION

#define ECE_EDGES_OPTION                                                   \
  {                                                                        \
    "edges", PCAL_OPTION_CHOICE, "right", 0, 0, "right|left",              \
        "which side of an equal-width bin is closed: (lo, hi] or [lo, hi)" \
  }
#define ECE_CONVENTION_OPTION                                           \
  {                                                                     \
    "convention", PCAL_OPTION_CHOICE, "none", 0, 0, ece_conventions,    \
        "use the bin edges of a published package; see the conventions" \
  }

static const pcal_option ece_options[] = {
    PC_BINS_OPTION,
    {"binning", PCAL_OPTION_CHOICE, "width", 0, 0, "width|mass|sweep",
     "bins of equal width, or of equally many rows; sweep chooses their number"},
    {"norm", PCAL_OPTION_CHOICE, "l1", 0, 0, "l1|l2|max",
     "mean, root mean square or maximum of the bins' errors"},
    {"debias", PCAL_OPTION_BOOL, "no", 0, 0, NULL,
     "subtract the expected contribution of chance from each square (needs norm=l2)"},
    ECE_EDGES_OPTION,
    PC_VIEW_OPTION,
    ECE_CONVENTION_OPTION,
};

static const pcal_option mce_options[] = {
    PC_BINS_OPTION,
    ECE_EDGES_OPTION,
    PC_VIEW_OPTION,
    ECE_CONVENTION_OPTION,
};

static const struct ece_convention {
  pc_edge_rule rule;
  int allows_mass;
} ece_convention_rules[] = {
#define CONVENTION(symbol, name, rule, mass, title, about) {rule, mass},
#include "metrics/conventions.def"
#undef CONVENTION
};

static const struct ece_convention *ece_convention_of(const pc_option_value *value) {
  const size_t count = sizeof ece_convention_rules / sizeof *ece_convention_rules;
  return (size_t)value->choice < count ? &ece_convention_rules[value->choice] : NULL;
}

/* netcal treats two columns as one score, that of class 1. */
static pcal_status ece_view(pc_options *options, size_t view, size_t convention,
                            const pc_layout *layout, pc_metric_config *config,
                            pcal_error *err) {
  const struct ece_convention *rule = ece_convention_of(&options->value[convention]);
  if (rule != NULL && rule->rule == PC_EDGES_NETCAL && layout->columns == 2 &&
      layout->classes == 2 && !options->value[view].given)
    pc_options_choose(options, view, "positive");
  return pc_metric_choose_view(options, view, layout, config, err);
}

/* Requests equal-width bins by the options edges and convention. */
static pcal_status ece_width(pc_options *options, size_t edges, size_t convention,
                             pc_metric_config *config, pcal_error *err) {
  const struct ece_convention *rule = ece_convention_of(&options->value[convention]);
  if (rule != NULL && options->value[edges].given)
    return pc_fail(err, PCAL_USAGE,
                   "%s: a convention fixes the edges; give convention= or edges=, not both",
                   options->name);
  if (rule != NULL)
    options->value[edges].set = 0; /* the convention fixes the edges */
  config->need.machine = PC_GRID;
  config->need.grid.bins = (size_t)options->value[ECE_BINS].number;
  config->need.grid.rule = rule != NULL                                     ? rule->rule
                           : options->value[edges].choice == ECE_EDGES_LEFT ? PC_EDGES_LEFT
                                                                            : PC_EDGES_RIGHT;
  config->bound = PCAL_BOUND_LOWER;
  config->most = 1.0;
  return PCAL_OK;
}

static pcal_status ece_mass(pc_options *options, pc_metric_config *config, pcal_error *err) {
  const struct ece_convention *rule = ece_convention_of(&options->value[ECE_CONVENTION]);
  if (rule != NULL && !rule->allows_mass)
    return pc_fail(err, PCAL_USAGE,
                   "ece: this convention has no equal-mass bins; remove binning= or use "
                   "convention=verified");
  if (options->value[ECE_EDGES].given)
    return pc_fail(err, PCAL_USAGE, "ece: equal-mass bins are always (lo, hi]; remove edges=");
  options->value[ECE_EDGES].set = 0;
  config->need.machine = PC_CURVE;
  config->bound = PCAL_BOUND_LOWER;
  config->most = 1.0;
  return PCAL_OK;
}

static pcal_status ece_sweep(pc_options *options, pc_metric_config *config, pcal_error *err) {
  if (options->value[ECE_BINS].given)
    return pc_fail(err, PCAL_USAGE,
                   "ece: binning=sweep chooses the number of bins; remove bins= or use "
                   "binning=mass");
  options->value[ECE_BINS].set = 0;
  config->whole_curve = 1;
  return ece_mass(options, config, err);
}

static pcal_status ece_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  if (options->value[ECE_DEBIAS].number != 0 && options->value[ECE_NORM].choice != PC_NORM_L2)
    return pc_fail(err, PCAL_USAGE, "ece: debias=yes needs norm=l2; add norm=l2");
  PC_TRY(ece_view(options, ECE_VIEW, ECE_CONVENTION, layout, config, err));
  static const pc_gap_norm norms[] = {PC_GAPS_MEAN, PC_GAPS_SQUARES, PC_GAPS_LARGEST};
  config->gaps = norms[options->value[ECE_NORM].choice];
  config->debiased = options->value[ECE_DEBIAS].number != 0;
  if (options->value[ECE_BINNING].choice == ECE_BY_MASS) {
    config->binning = (pc_curve_binning){.rule = PC_BINNING_MASS,
                                         .bins = (size_t)options->value[ECE_BINS].number};
    return ece_mass(options, config, err);
  }
  if (options->value[ECE_BINNING].choice == ECE_BY_SWEEP)
    return ece_sweep(options, config, err);
  if (options->value[ECE_DEBIAS].number != 0) /* for the variance of debiased squares */
    config->need.grid.moments = PC_MOMENT_SQUARE | PC_MOMENT_HIT;
  return ece_width(options, ECE_EDGES, ECE_CONVENTION, config, err);
}

static pcal_status mce_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  PC_TRY(ece_view(options, MCE_VIEW, MCE_CONVENTION, layout, config, err));
  config->gaps = PC_GAPS_LARGEST;
  return ece_width(options, MCE_EDGES, MCE_CONVENTION, config, err);
}

static size_t ece_wants(const pc_options *options, const pc_curve_table *table,
                        uint8_t *wanted) {
  return pc_bins_by_mass_wants(table, (size_t)options->value[ECE_BINS].number, wanted);
}

static void ece_value(const pc_options *options, const pc_bin *bins, size_t count, double total,
                      pc_metric_result *out) {
  const int debias = options->value[ECE_DEBIAS].number != 0;
  out->value =
      pc_bins_error(bins, count, total, (pc_norm)options->value[ECE_NORM].choice, debias);
  const int by_width = options->value[ECE_BINNING].choice == ECE_BY_WIDTH;
  if (debias)
    pc_metric_result_debiased(out, pc_bins_debiased(bins, count, total), 1.0,
                              by_width ? PC_MOST_BY_WIDTH : 1.0);
  else if (options->value[ECE_NORM].choice == PC_NORM_L2) {
    const pc_debiased sum = pc_bins_square(bins, count, total);
    pc_metric_result_square(out, &sum, 1.0, PC_SLOPE_ONE_SCORE);
  }
  out->inner_unseen = debias && by_width ? PC_UNSEEN_SQUARE : 0.0;
}

static pcal_status ece_evaluate_mass(const pc_options *options, const pc_evidence *evidence,
                                     const pcal_env *env, pc_metric_result *out,
                                     pcal_error *err) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  const int sweep = options->value[ECE_BINNING].choice == ECE_BY_SWEEP;
  size_t count = (size_t)options->value[ECE_BINS].number;
  if (sweep)
    PC_TRY(pc_bins_sweep(env, table, PC_BINS_MAX, &count, err));
  pc_bin *bins = pc_alloc(env, count, sizeof *bins);
  if (bins == NULL)
    return pc_fail_memory(err, "making equal-mass bins");
  count = pc_bins_by_mass_of_error(table, count, bins);
  if (sweep)
    pc_metric_result_part(out, "bins", (double)count);
  ece_value(options, bins, count, evidence->total, out);
  const pcal_status status = pc_plot_table_bins(env, bins, count, &out->graph, err);
  pc_free(env, bins);
  return status;
}

static pcal_status ece_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  if (evidence->machine == PC_CURVE)
    return ece_evaluate_mass(options, evidence, env, out, err);
  ece_value(options, evidence->grid.bins, evidence->grid.bin_count, evidence->total, out);
  if (options->value[ECE_NORM].choice == PC_NORM_L1)
    out->null_mean =
        pc_chance_ece_of(evidence->grid.bins, evidence->grid.bin_count, evidence->total).mean;
  return pc_plot_table_bins(env, evidence->grid.bins, evidence->grid.bin_count, &out->graph,
                            err);
}

static pcal_status mce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  (void)options;
  out->value = pc_bins_error(evidence->grid.bins, evidence->grid.bin_count, evidence->total,
                             PC_NORM_MAX, 0);
  return pc_plot_table_bins(env, evidence->grid.bins, evidence->grid.bin_count, &out->graph,
                            err);
}

const pc_metric pc_metric_ece = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "ece",
            .title = "expected calibration error",
            .formula = "sum_b (n_b/N) |conf_b - acc_b|\n"
                       "norm=l2:  sqrt(sum_b (n_b/N) (conf_b - acc_b)^2)\n"
                       "norm=max: max_b |conf_b - acc_b|",
            .about = "The mean gap between confidence and accuracy over bins of "
                     "confidence. It estimates a lower bound of the top-label error, is "
                     "larger for fewer rows, and depends on the number of bins: compare "
                     "only values with equal bins and similar numbers of rows. Empty bins "
                     "add nothing. Packages differ in the bin of a score on an edge; "
                     "convention= reproduces them.",
            .citation = "Naeini, Cooper & Hauskrecht, AAAI 2015; Guo et al., ICML 2017; "
                        "Nixon et al. 2019; Kumar, Liang & Ma, NeurIPS 2019",
            .notion = PCAL_NOTION_TOP_LABEL,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = ece_options,
            .option_count = sizeof ece_options / sizeof *ece_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = ece_configure,
    .evaluate = ece_evaluate,
    .wants = ece_wants,
};

const pc_metric pc_metric_mce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "mce",
            .title = "maximum calibration error",
            .formula = "max_b |conf_b - acc_b|",
            .about =
                "The largest gap over non-empty bins of equal width. A single bin with few "
                "rows can determine it, so it is noisy.",
            .citation = "Naeini, Cooper & Hauskrecht, AAAI 2015",
            .notion = PCAL_NOTION_TOP_LABEL,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = mce_options,
            .option_count = sizeof mce_options / sizeof *mce_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = mce_configure,
    .evaluate = mce_evaluate,
};
