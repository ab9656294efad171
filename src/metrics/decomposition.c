/* decomposition: a proper score as calibration error - sharpness + entropy.
 *
 * Formula:  score = calibration - sharpness + entropy + within_variance - within_covariance,
 *           each part by bins (stats/decompose.c) or by isotonic regression (CORP,
 *           curve/corp_decomposition.c)
 * Edge cases:
 * (1) the score is that of the view: of class 1 (positive), of the predicted class (top), or
 *     the sum over classes of one class against the rest (classwise), which for brier is the
 *     multi-class score and for log is not; for class 1 brier is (p - a)^2, half of the metric
 *     brier;
 * (2) bins have equal width, (lo, hi], 0 in the first;
 * (3) by=corp has only calibration, sharpness and entropy;
 * (4) the debiased parts exist for brier by bins; a bin of fewer than two rows adds nothing to
 *     the debiased calibration, as in ece: its whole square is attributed to chance, also for
 *     sharpness, so that the parts add up;
 * (5) log is infinite if a score of 0 is a hit or a score of 1 is a miss; any other score of 0
 *     or 1 in a bin with outcomes of both kinds would add the same infinite term to both parts
 *     within bins: it is omitted from both, so that all parts are finite where the score is,
 *     and within_variance may be negative;
 * (6) log computes 1 - p from p: a probability above 1 - 2^-54, even one from logits, counts as
 *     1.
 * Value: the score.
 * Parts: those of the formula, and calibration_debiased, sharpness_debiased, entropy_debiased,
 * which add up in the same way.
 * Source: Murphy 1973; Stephenson et al. 2008; Broecker 2009, 2012; Dimitriadis et al. 2021.
 * Accuracy: the parts add up to the score to a few ulp of 1.
 * Cost: by bins O(1) per row; by=corp one sort. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "curve/corp_decomposition.h"
#include "curve/isotonic.h"
#include "metrics/metric.h"
#include "stats/decompose.h"

#define DECOMPOSITION_LOG_2 \
  0.69314718055994531 /* largest entropy of an outcome; 1/4 for brier */

enum { DECOMPOSITION_SCORE, DECOMPOSITION_BY, DECOMPOSITION_VIEW, DECOMPOSITION_BINS };
enum { DECOMPOSITION_BY_BINS, DECOMPOSITION_BY_CORP };
enum { DECOMPOSITION_CALIBRATION, DECOMPOSITION_SHARPNESS }; /* the first parts */
enum { DECOMPOSITION_CLASSWISE = 3 }; /* after the views of pc_metric_choose_view */

static const pcal_option decomposition_options[] = {
    {"score", PCAL_OPTION_CHOICE, "brier", 0, 0, "brier|log", "the score to decompose"},
    {"by", PCAL_OPTION_CHOICE, "bins", 0, 0, "bins|corp",
     "estimate of the true probabilities: frequencies in bins, or isotonic regression"},
    {"view", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|positive|classwise",
     "score of the predicted class (top), of class 1 of two (positive), or the sum over "
     "classes against the rest (classwise); auto is positive for a one-column score, else "
     "top"},
    {"bins", PCAL_OPTION_INT, "15", 1, PC_BINS_MAX, NULL, "number of bins, for by=bins"},
};

static pcal_status decomposition_view(pc_options *options, const pc_layout *layout,
                                      pc_metric_config *config, pcal_error *err) {
  if (options->value[DECOMPOSITION_VIEW].choice != DECOMPOSITION_CLASSWISE)
    return pc_metric_choose_view(options, DECOMPOSITION_VIEW, layout, config, err);
  if (layout->kind == PCAL_CONFIDENCE)
    return pc_fail(err, PCAL_USAGE,
                   "decomposition: view=classwise needs the probabilities of all classes, and "
                   "the data have only confidences; use view=top");
  config->need.view.kind = PC_VIEW_CLASSES;
  return PCAL_OK;
}

static pcal_status decomposition_configure(pc_options *options, const pc_layout *layout,
                                           pc_metric_config *config, pcal_error *err) {
  PC_TRY(decomposition_view(options, layout, config, err));
  config->notion = PCAL_NOTION_PROPER;
  if (options->value[DECOMPOSITION_BY].choice == DECOMPOSITION_BY_BINS) {
    config->need.machine = PC_GRID;
    config->need.grid.rule = PC_EDGES_RIGHT;
    config->need.grid.bins = (size_t)options->value[DECOMPOSITION_BINS].number;
    config->need.grid.moments = options->value[DECOMPOSITION_SCORE].choice == PC_BINARY_LOG
                                    ? PC_MOMENT_LOG
                                    : PC_MOMENT_SQUARE | PC_MOMENT_HIT;
    return PCAL_OK;
  }
  if (options->value[DECOMPOSITION_BINS].given)
    return pc_fail(err, PCAL_USAGE,
                   "decomposition: by=corp uses no bins; remove bins= or by=corp");
  options->value[DECOMPOSITION_BINS].set = 0;
  config->need.machine = PC_CURVE;
  return PCAL_OK;
}

typedef pc_debiased (*decomposition_squares)(const pc_bin *bins, size_t count, double total);

/* The distribution of a debiased part. */
static pc_variance_model decomposition_law(const pc_evidence *evidence,
                                           decomposition_squares squares) {
  const size_t bins = evidence->grid.bin_count;
  pc_debiased sum = {0};
  for (size_t p = 0; p < evidence->grid.part_count; p++)
    pc_debiased_add(&sum, squares(evidence->grid.bins + p * bins, bins, evidence->total));
  return pc_debiased_variance(&sum, 1.0, PC_MOST_BY_WIDTH);
}

/* What one row that the data lack may add to the parts, times the number of rows: a row in a bin of
 * its own, or with a score near the edge of its bin if the others are near the other edge; for the
 * covariance 2 |p - c| |a - q| of a row half a bin from its mean, with an outcome that the
 * others leave open.  A row changes two classes. */
typedef struct decomposition_missing {
  double entropy, variance, covariance, square;
} decomposition_missing;

static decomposition_missing decomposition_missing_row(const pc_evidence *evidence, int score) {
  if (evidence->machine != PC_GRID)
    return (decomposition_missing){0};
  const double width = 1.0 / (double)evidence->grid.bin_count;
  const double times = evidence->grid.part_count > 1 ? 2.0 : 1.0;
  if (score != PC_BINARY_BRIER)
    return (decomposition_missing){.entropy = times * DECOMPOSITION_LOG_2};
  return (decomposition_missing){0.25 * times, 0.8 * times * width * width, 0.5 * times * width,
                                 PC_UNSEEN_SQUARE * times};
}

static void decomposition_parts(const pc_decomposition *found, const pc_evidence *evidence,
                                int score, pc_metric_result *out) {
  const decomposition_missing row = decomposition_missing_row(evidence, score);
  pc_metric_result_part(out, "calibration", found->calibration);
  pc_metric_result_about_part(out, PC_PART_IS_ERROR, 0.0);
  pc_metric_result_part(out, "sharpness", found->sharpness);
  pc_metric_result_about_part(out, 0, row.entropy);
  pc_metric_result_part(out, "entropy", found->entropy);
  if (evidence->machine != PC_GRID) /* by=corp */
    return;
  pc_metric_result_part(out, "within_variance", found->within_variance);
  pc_metric_result_about_part(out, 0, row.variance);
  pc_metric_result_part(out, "within_covariance", found->within_covariance);
  pc_metric_result_about_part(out, 0, row.covariance);
  if (score != PC_BINARY_BRIER)
    return;
  pc_metric_result_unbiased_part(out, "calibration_debiased", found->calibration_debiased,
                                 decomposition_law(evidence, pc_bins_debiased));
  pc_metric_result_about_part(out, PC_PART_IS_ERROR, row.square);
  pc_metric_result_twin(out, DECOMPOSITION_CALIBRATION);
  pc_metric_result_unbiased_part(out, "sharpness_debiased", found->sharpness_debiased,
                                 decomposition_law(evidence, pc_bins_sharpness));
  pc_metric_result_about_part(out, 0, row.entropy);
  pc_metric_result_twin(out, DECOMPOSITION_SHARPNESS);
  pc_metric_result_unbiased_part(out, "entropy_debiased", found->entropy_debiased,
                                 (pc_variance_model){0});
}

static pcal_status decomposition_sum(const pc_options *options, const pc_evidence *evidence,
                                     const pcal_env *env, pc_decomposition *sum,
                                     pcal_error *err) {
  const pc_binary_score score = (pc_binary_score)options->value[DECOMPOSITION_SCORE].choice;
  const size_t bins = evidence->grid.bin_count;
  for (size_t p = 0; evidence->machine == PC_GRID && p < evidence->grid.part_count; p++)
    if (score == PC_BINARY_LOG)
      pc_decompose_log(evidence->grid.bins + p * bins, evidence->grid.logs + p * bins, bins,
                       evidence->total, sum);
    else
      pc_decompose_brier(evidence->grid.bins + p * bins, bins, evidence->total, sum);
  for (size_t p = 0; evidence->machine == PC_CURVE && p < evidence->curve.part_count; p++)
    PC_TRY(pc_decompose_corp(env, &evidence->curve.parts[p], score, sum, err));
  return PCAL_OK;
}

/* The blocks of the isotonic regression of one part, for plots. */
static pcal_status decomposition_graph(const pc_curve_table *table, const pcal_env *env,
                                       pc_plot_table *graph, pcal_error *err) {
  static const char *const names[] = {"low", "high", "weight", "accuracy", NULL};
  pc_isotonic fit = {NULL, 0, 0};
  pcal_status status = pc_isotonic_fit(env, table, &fit, err);
  if (status == PCAL_OK)
    status = pc_plot_table_new(env, names, fit.count, graph, err);
  for (size_t i = 0; status == PCAL_OK && i < fit.count; i++, graph->count++) {
    graph->columns[0][i] = fit.blocks[i].low;
    graph->columns[1][i] = fit.blocks[i].high;
    graph->columns[2][i] = fit.blocks[i].weight;
    graph->columns[3][i] = pc_isotonic_value(&fit.blocks[i]);
  }
  pc_isotonic_free(env, &fit);
  return status;
}

static pcal_status decomposition_evaluate(const pc_options *options,
                                          const pc_evidence *evidence, const pcal_env *env,
                                          pc_metric_result *out, pcal_error *err) {
  pc_decomposition found = {0};
  PC_TRY(decomposition_sum(options, evidence, env, &found, err));
  out->value = found.score;
  if (isinf(found.score))
    snprintf(out->why, sizeof out->why,
             "a score of exactly 0 came true, or one of exactly 1 did not, so the log "
             "score is infinite; score=brier is finite");
  else
    decomposition_parts(&found, evidence, options->value[DECOMPOSITION_SCORE].choice, out);
  if (out->graph.wanted && evidence->machine == PC_CURVE && evidence->curve.part_count == 1)
    return decomposition_graph(&evidence->curve.parts[0], env, &out->graph, err);
  return PCAL_OK;
}

const pc_metric pc_metric_decomposition = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "decomposition",
            .title = "calibration, sharpness and entropy of a proper score",
            .formula = "score = calibration - sharpness + entropy + within_variance - "
                       "within_covariance\n"
                       "by=corp: score = calibration - sharpness + entropy",
            .about =
                "Decomposes a proper score into calibration (distance of predictions from "
                "the frequencies of outcomes), sharpness (distance of these frequencies "
                "from the overall frequency) and entropy (uncertainty of the outcomes). "
                "With bins, two further parts describe the variation inside bins, so that "
                "all parts add up exactly; for brier there are debiased parts too, since "
                "bins of few rows overestimate calibration and sharpness. by=corp needs no "
                "bins: isotonic regression gives the frequencies. The score is that of the "
                "view, summed over classes for classwise; for log that sum is not the "
                "multi-class log score.",
            .citation = "Murphy 1973; Stephenson, Coelho & Jolliffe 2008; Broecker 2012; "
                        "Dimitriadis, Gneiting & Jordan, PNAS 2021",
            .notion = PCAL_NOTION_PROPER,
            .bound = PCAL_BOUND_UPPER,
            .machine = PCAL_MACHINE_GRID,
            .better = PCAL_BETTER_LOWER,
            .options = decomposition_options,
            .option_count = sizeof decomposition_options / sizeof *decomposition_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits =
        PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_PARTS_IN_TEXT | PC_SQUARED,
    .configure = decomposition_configure,
    .evaluate = decomposition_evaluate,
};
