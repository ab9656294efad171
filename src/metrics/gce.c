/* gce, rmsce, sce, ace, tace: general calibration errors, evaluated by the same code.
 *
 * Formula:  scores of a slice j that are above the threshold, in bins b:
 *           E_j = sum_b (n_b / n_j) |conf_b - acc_b|    norm=l2: (conf_b - acc_b)^2
 *           value = (1/K) sum_j E_j                     norm=l2: its root
 *           scope=top: scores of the predicted class; scope=all: of every class of every row
 *           classwise=yes: one slice for each class (the predicted class, or the class of the
 *           score), all with equal weight; classwise=no: one slice
 * Variants: five bits, from the highest: binning (width, adaptive), scope (top, all), classwise
 * (yes, no), threshold (0, 0.01), norm (l1, l2); 4 is ece:convention=nixon, 8 sce, 21 rmsce, 24
 * ace, 26 tace, 0 the class-conditional ECE.
 * Edge cases:
 * (1) width: edges i*(1/M), [lo, hi), 1 in a bin of its own;
 * (2) adaptive: edge r is the sorted score with index round(r (n/R)), halves to even, at most
 *     the last; a score on an edge belongs to the bin above, so that ties are never split but
 *     may leave bins empty;
 * (3) only scores above the threshold are kept; at threshold 0 all of them;
 * (4) a slice without scores has error 0 and counts in K; if no slice has any the value is
 *     undefined;
 * (5) ace:weights=equal is the formula of the paper: K*R ranges of equally many rows with equal
 *     weight; a score on both sides of an edge is shared between them;
 * (6) rmsce:per-bin=n uses floor(N/n) bins, at least one;
 * (7) a one-column score means class 1 for scope=top, unless view=top.
 * Class values: E_j, for norm=l2 its root.
 * Source: Nixon et al. 2019 and its code (uncertainty-metrics), which weights bins by their
 * rows where the paper does not; rmsce: Hendrycks, Mazeika & Dietterich 2019.
 * Accuracy: bin sums exact to 2^-50 per score.
 * Cost: width: O(1) per score, one addition for most scores of scope=all; adaptive: a sort, or for
 * sources that can be read again two passes or a few more, one count for each score in each. */
#include <math.h>
#include <stdio.h>

#include "curve/curve_bins.h"
#include "metrics/binned_error.h"

enum {
  GCE_BINNING,
  GCE_SCOPE,
  GCE_CLASSWISE,
  GCE_THRESHOLD,
  GCE_NORM,
  GCE_BINS,
  GCE_VIEW,
  GCE_VARIANT
};
enum { RMSCE_BINS, RMSCE_PER_BIN, RMSCE_VIEW };
enum { SCE_BINS };
enum { ACE_BINS, ACE_WEIGHTS };
enum { TACE_BINS, TACE_THRESHOLD };

#define GCE_VARIANTS 32
#define GCE_VARIANT_THRESHOLD 0.01

#define GCE_THRESHOLD_OPTION(fallback)                   \
  {                                                      \
    "threshold", PCAL_OPTION_REAL, fallback, 0, 1, NULL, \
        "use only scores above it; 0: all scores"        \
  }

static const pcal_option gce_options[] = {
    {"binning", PCAL_OPTION_CHOICE, "width", 0, 0, "width|adaptive",
     "bins of equal width, or of equally many scores"},
    {"scope", PCAL_OPTION_CHOICE, "top", 0, 0, "top|all",
     "scores of the predicted class, or of every class"},
    {"classwise", PCAL_OPTION_BOOL, "no", 0, 0, NULL,
     "compute the error of each class and average"},
    GCE_THRESHOLD_OPTION("0"),
    {"norm", PCAL_OPTION_CHOICE, "l1", 0, 0, "l1|l2", "mean, or root mean square"},
    PC_BINS_OPTION,
    PC_VIEW_OPTION,
    {"variant", PCAL_OPTION_INT, "", 0, GCE_VARIANTS - 1, NULL,
     "number of the variant of Nixon et al., in place of the five properties"},
};

static const pcal_option rmsce_options[] = {
    PC_BINS_OPTION,
    {"per-bin", PCAL_OPTION_INT, "0", 0, 1e9, NULL,
     "rows per bin, in place of bins; 0: use bins"},
    PC_VIEW_OPTION,
};

static const pcal_option sce_options[] = {PC_BINS_OPTION};

static const pcal_option ace_options[] = {
    PC_BINS_OPTION,
    {"weights", PCAL_OPTION_CHOICE, "count", 0, 0, "count|equal",
     "weight bins by their rows (the published code) or equally (the paper)"},
};

static const pcal_option tace_options[] = {PC_BINS_OPTION, GCE_THRESHOLD_OPTION("0.01")};

/* The five properties, and the options of presets. */
typedef struct gce_form {
  int adaptive, all, classwise, l2;
  double threshold;
  size_t bins;
  double per_bin; /* rows of a bin; 0: as many bins as `bins` says */
  int equal_weights;
} gce_form;

/* ---- options ---- */

static gce_form gce_form_of(const pc_options *options) {
  return (gce_form){.adaptive = options->value[GCE_BINNING].choice,
                    .all = options->value[GCE_SCOPE].choice,
                    .classwise = options->value[GCE_CLASSWISE].choice,
                    .threshold = options->value[GCE_THRESHOLD].number,
                    .l2 = options->value[GCE_NORM].choice,
                    .bins = (size_t)options->value[GCE_BINS].number};
}

static gce_form gce_rmsce_form(const pc_options *options) {
  return (gce_form){.adaptive = 1,
                    .l2 = 1,
                    .bins = (size_t)options->value[RMSCE_BINS].number,
                    .per_bin = options->value[RMSCE_PER_BIN].number};
}

static gce_form gce_sce_form(const pc_options *options) {
  return (gce_form){.all = 1, .classwise = 1, .bins = (size_t)options->value[SCE_BINS].number};
}

static gce_form gce_ace_form(const pc_options *options) {
  return (gce_form){.adaptive = 1,
                    .all = 1,
                    .classwise = 1,
                    .bins = (size_t)options->value[ACE_BINS].number,
                    .equal_weights = options->value[ACE_WEIGHTS].choice};
}

static gce_form gce_tace_form(const pc_options *options) {
  return (gce_form){.adaptive = 1,
                    .all = 1,
                    .classwise = 1,
                    .threshold = options->value[TACE_THRESHOLD].number,
                    .bins = (size_t)options->value[TACE_BINS].number};
}

/* Sets the properties of a variant as if they were the defaults. */
static pcal_status gce_from_variant(pc_options *options, pcal_error *err) {
  pc_option_value *value = options->value;
  if (!value[GCE_VARIANT].set)
    return PCAL_OK;
  for (size_t i = GCE_BINNING; i <= GCE_NORM; i++)
    if (value[i].given)
      return pc_fail(err, PCAL_USAGE,
                     "gce: variant=%.0f already sets %s=; give the variant or the "
                     "properties, not both",
                     value[GCE_VARIANT].number, options->table[i].name);
  const unsigned bits = (unsigned)value[GCE_VARIANT].number;
  value[GCE_BINNING].choice = (int)(bits >> 4 & 1);
  value[GCE_SCOPE].choice = (int)(bits >> 3 & 1);
  value[GCE_CLASSWISE].choice = !(bits >> 2 & 1);
  value[GCE_CLASSWISE].number = value[GCE_CLASSWISE].choice;
  value[GCE_THRESHOLD].number = bits >> 1 & 1 ? GCE_VARIANT_THRESHOLD : 0.0;
  value[GCE_NORM].choice = (int)(bits & 1);
  value[GCE_VARIANT].set = 0;
  return PCAL_OK;
}

/* ---- data needs ---- */

static pc_curve_binning gce_binning(const gce_form *form) {
  return (pc_curve_binning){PC_BINNING_ADAPTIVE, form->bins, form->per_bin, form->threshold};
}

static void gce_need(const gce_form *form, pc_metric_config *config) {
  pc_need *need = &config->need;
  if (form->all || form->classwise) {
    need->view.kind = !form->all        ? PC_VIEW_RANK
                      : form->classwise ? PC_VIEW_CLASSES
                                        : PC_VIEW_POOLED;
    need->view.index = !form->all;
    need->view.by_label = !form->all;
    config->notion = form->all ? PCAL_NOTION_CLASS_WISE : PCAL_NOTION_TOP_LABEL;
  }
  config->bound = form->threshold > 0 ? PCAL_BOUND_NONE : PCAL_BOUND_LOWER;
  config->most = 1.0;
  if (!(form->threshold > 0) && !form->equal_weights)
    config->gaps = form->l2 ? PC_GAPS_SQUARES : PC_GAPS_MEAN;
  need->machine = form->adaptive ? PC_CURVE : PC_GRID;
  if (form->adaptive && !form->equal_weights)
    config->binning = gce_binning(form);
  if (form->adaptive)
    return;
  need->grid.rule = PC_EDGES_OWN_ONE;
  need->grid.bins = form->bins;
  need->grid.threshold = form->threshold;
}

static pcal_status gce_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  PC_TRY(gce_from_variant(options, err));
  const gce_form form = gce_form_of(options);
  if (form.all || form.classwise) {
    if (layout->kind == PCAL_CONFIDENCE)
      return pc_fail(err, PCAL_USAGE,
                     "gce: %s needs the probabilities of all classes; give them as {probs} or "
                     "{logits} instead of {confidence}",
                     form.all ? "scope=all" : "classwise=yes");
    if (options->value[GCE_VIEW].given)
      return pc_fail(err, PCAL_USAGE, "gce: view= needs scope=top and classwise=no; remove it");
    options->value[GCE_VIEW].set = 0;
  } else {
    PC_TRY(pc_metric_choose_view(options, GCE_VIEW, layout, config, err));
  }
  gce_need(&form, config);
  return PCAL_OK;
}

static pcal_status rmsce_configure(pc_options *options, const pc_layout *layout,
                                   pc_metric_config *config, pcal_error *err) {
  pc_option_value *value = options->value;
  if (value[RMSCE_PER_BIN].number > 0 && value[RMSCE_BINS].given)
    return pc_fail(err, PCAL_USAGE,
                   "rmsce: per-bin= determines the number of bins; give per-bin= or bins=, "
                   "not both");
  value[value[RMSCE_PER_BIN].number > 0 ? RMSCE_BINS : RMSCE_PER_BIN].set = 0;
  PC_TRY(pc_metric_choose_view(options, RMSCE_VIEW, layout, config, err));
  const gce_form form = gce_rmsce_form(options);
  gce_need(&form, config);
  return PCAL_OK;
}

static pcal_status sce_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  (void)layout;
  (void)err;
  const gce_form form = gce_sce_form(options);
  gce_need(&form, config);
  return PCAL_OK;
}

static pcal_status ace_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  (void)layout;
  (void)err;
  const gce_form form = gce_ace_form(options);
  gce_need(&form, config);
  config->whole_curve = form.equal_weights;
  return PCAL_OK;
}

static pcal_status tace_configure(pc_options *options, const pc_layout *layout,
                                  pc_metric_config *config, pcal_error *err) {
  (void)layout;
  (void)err;
  const gce_form form = gce_tace_form(options);
  gce_need(&form, config);
  return PCAL_OK;
}

static size_t gce_wants(const pc_options *options, const pc_curve_table *table,
                        uint8_t *wanted) {
  const gce_form form = gce_form_of(options);
  return pc_bins_adaptive_wants(table, form.threshold, form.bins, wanted);
}

static size_t rmsce_wants(const pc_options *options, const pc_curve_table *table,
                          uint8_t *wanted) {
  const gce_form form = gce_rmsce_form(options);
  const pc_curve_binning binning = gce_binning(&form);
  return pc_bins_adaptive_wants(table, 0.0, pc_curve_binning_count(&binning, table->total),
                                wanted);
}

static size_t ace_wants(const pc_options *options, const pc_curve_table *table,
                        uint8_t *wanted) {
  return pc_bins_adaptive_wants(table, 0.0, gce_ace_form(options).bins, wanted);
}

static size_t tace_wants(const pc_options *options, const pc_curve_table *table,
                         uint8_t *wanted) {
  const gce_form form = gce_tace_form(options);
  return pc_bins_adaptive_wants(table, form.threshold, form.bins, wanted);
}

/* ---- the value ---- */

static pcal_status gce_value(const gce_form *form, const pc_evidence *evidence,
                             const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const pc_curve_binning binning = gce_binning(form);
  const pc_binned_error how = {.binning =
                                   form->equal_weights ? PC_BINNING_EVEN : PC_BINNING_ADAPTIVE,
                               .bins = pc_curve_binning_count(&binning, evidence->total),
                               .threshold = form->threshold,
                               .p = form->l2 ? 2.0 : 1.0,
                               .equal_weights = form->equal_weights,
                               .mean = 1};
  PC_TRY(pc_binned_error_evaluate(&how, evidence, env, out, err));
  if (out->undefined)
    snprintf(out->why, sizeof out->why, "no score is above the threshold");
  return PCAL_OK;
}

static pcal_status gce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const gce_form form = gce_form_of(options);
  return gce_value(&form, evidence, env, out, err);
}

static pcal_status rmsce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                  const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const gce_form form = gce_rmsce_form(options);
  return gce_value(&form, evidence, env, out, err);
}

static pcal_status sce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const gce_form form = gce_sce_form(options);
  return gce_value(&form, evidence, env, out, err);
}

static pcal_status ace_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const gce_form form = gce_ace_form(options);
  return gce_value(&form, evidence, env, out, err);
}

static pcal_status tace_evaluate(const pc_options *options, const pc_evidence *evidence,
                                 const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const gce_form form = gce_tace_form(options);
  return gce_value(&form, evidence, env, out, err);
}

/* ---- rows ---- */

#define GCE_NIXON "Nixon et al., Measuring Calibration in Deep Learning, 2019"
#define GCE_TRAITS (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS)

const pc_metric pc_metric_gce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "gce",
            .title = "general calibration error",
            .formula = "mean over slices j of sum_b (n_b/n_j) |conf_b - acc_b|\n"
                       "norm=l2: root of the mean of sum_b (n_b/n_j) (conf_b - acc_b)^2",
            .about = "The general calibration error of Nixon et al.: options choose the scores "
                     "(scope, threshold), slices by class (classwise), the bins and the norm. "
                     "variant=0 to 31 are all combinations with thresholds 0 and 0.01: 4 is "
                     "ECE, 0 the class-conditional ECE, 8 sce, 21 rmsce, 24 ace, 26 tace. All "
                     "classes have equal weight, even rare ones.",
            .citation = GCE_NIXON,
            .notion = PCAL_NOTION_TOP_LABEL,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_LOWER,
            .options = gce_options,
            .option_count = sizeof gce_options / sizeof *gce_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = GCE_TRAITS,
    .configure = gce_configure,
    .evaluate = gce_evaluate,
    .wants = gce_wants,
};

const pc_metric pc_metric_rmsce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "rmsce",
            .title = "root mean square calibration error",
            .formula = "sqrt(sum_b (n_b/N) (conf_b - acc_b)^2), bins of equally many rows",
            .about = "The root of the mean squared gap over adaptive bins: gce:variant=21. "
                     "per-bin=100 uses bins of 100 rows, as its authors do.",
            .citation = "Hendrycks, Mazeika & Dietterich, ICLR 2019; " GCE_NIXON,
            .notion = PCAL_NOTION_TOP_LABEL,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = rmsce_options,
            .option_count = sizeof rmsce_options / sizeof *rmsce_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = GCE_TRAITS,
    .configure = rmsce_configure,
    .evaluate = rmsce_evaluate,
    .wants = rmsce_wants,
};

const pc_metric pc_metric_sce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "sce",
            .title = "static calibration error",
            .formula = "(1/K) sum_k sum_b (n_bk/N) |conf_bk - acc_bk|",
            .about = "The ECE of the probability of each class, averaged over classes: "
                     "gce:variant=8. With many classes nearly all probabilities lie in the "
                     "first bin, which alone makes the value small.",
            .citation = GCE_NIXON,
            .notion = PCAL_NOTION_CLASS_WISE,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = sce_options,
            .option_count = sizeof sce_options / sizeof *sce_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = GCE_TRAITS | PC_NEEDS_CLASSES,
    .configure = sce_configure,
    .evaluate = sce_evaluate,
};

const pc_metric pc_metric_ace = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "ace",
            .title = "adaptive calibration error",
            .formula = "(1/K) sum_k sum_r (n_rk/N) |conf_rk - acc_rk|\n"
                       "weights=equal: (1/(K R)) sum_k sum_r |conf_rk - acc_rk|",
            .about = "As sce, with bins of equally many rows for each class: "
                     "gce:variant=24, as the published code computes it. weights=equal is "
                     "the formula of the paper. The \"ACE\" of netcal is a different "
                     "quantity.",
            .citation = GCE_NIXON,
            .notion = PCAL_NOTION_CLASS_WISE,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = ace_options,
            .option_count = sizeof ace_options / sizeof *ace_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = GCE_TRAITS | PC_NEEDS_CLASSES,
    .configure = ace_configure,
    .evaluate = ace_evaluate,
    .wants = ace_wants,
};

const pc_metric pc_metric_tace = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "tace",
            .title = "thresholded adaptive calibration error",
            .formula = "ace over the probabilities above the threshold",
            .about = "As ace, but only for probabilities above the threshold: "
                     "gce:variant=26. Each class is divided by the number of its scores "
                     "above the threshold, as in the published code, so that values are "
                     "not comparable with ace.",
            .citation = GCE_NIXON,
            .notion = PCAL_NOTION_CLASS_WISE,
            .bound = PCAL_BOUND_NONE,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_SHARE,
            .options = tace_options,
            .option_count = sizeof tace_options / sizeof *tace_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = GCE_TRAITS | PC_NEEDS_CLASSES,
    .configure = tace_configure,
    .evaluate = tace_evaluate,
    .wants = tace_wants,
};
