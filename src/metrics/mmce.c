/* mmce: the maximum mean calibration error.
 *
 * Formula:  MMCE^2 = (1/N^2) sum_{i,j} r_i r_j exp(-|c_i - c_j| / width),  r_i = c_i - a_i
 *           estimator=u: (1/(N(N-1))) sum over i != j
 *           value: sqrt(max(0, MMCE^2));  c_i: score, a_i: outcome
 * Edge cases:
 * (1) rounding can make a sum of 0 negative, and estimator=u can be negative by itself: both
 *     give 0; the part squared is the value before the root;
 * (2) estimator=u: a row of weight w is w rows, which pair with each other; weights that are
 *     not whole numbers are refused; fewer than two rows: undefined;
 * (3) one row: |c - a|;
 * (4) from 2^16 rows on, and for widths of 2^-7 or more, scores are joined in cells of width
 *     d = 2^-14 (2^-17 for widths below 1/4): hits and misses of a cell count at their means.
 *     Only pairs in one cell see this at first order: with S the share of pairs in the same
 *     cell, MMCE^2 changes by at most S d / width + (d / width)^2.  So rounds
 *     (measure/rounds.h) need the sums of cells only;
 * (5) replicas of many rows, for widths of 1/16 or more: all scores of a cell of width 1/128 or
 *     less count at their mean (measure/replicas/score_cells.h).
 * Parts: squared, the estimate of MMCE^2.
 * Source: Kumar, Sarawagi & Jain 2018, equation 2, the Laplacian kernel of width 0.4.
 * Accuracy: 1e-14 of sum |r_i r_j| k / N^2.  With S the sum of r exp(c / width) over lower
 * scores, the pairs of a score contribute 2 r exp(-c / width) S, so that no recursion
 * accumulates errors.  S and the result are each kept as a sum of two doubles; the origin of c
 * is moved so that exponents stay in [0, 32].
 * Cost: one sort, one exp for each distinct score or cell. */
#include <math.h>
#include <stdio.h>

#include "curve/point_masses.h"
#include "kernels/lane_math.h"
#include "metrics/metric.h"

#define MMCE_SPAN 32.0 /* exponents before the origin moves */
#define MMCE_WIDE 0.25 /* narrower kernels need narrower cells: */
#define MMCE_NARROW_LEVEL 17
#define MMCE_NARROWEST 0x1p-7 /* and below this width every score */
#define MMCE_ON_CELLS 0.0625 /* replicas of kernels this wide are evaluated on cells of 1/128 */

enum { MMCE_ESTIMATOR, MMCE_WIDTH, MMCE_VIEW };
enum { MMCE_V, MMCE_U };

static const pcal_option mmce_options[] = {
    {"estimator", PCAL_OPTION_CHOICE, "v", 0, 0, "v|u",
     "v: all pairs, including each row with itself; u: pairs of different rows, unbiased "
     "before the root"},
    {"width", PCAL_OPTION_REAL, "0.4", 1e-6, 1e6, NULL,
     "width of the kernel exp(-distance "
     "/ width)"},
    PC_VIEW_OPTION,
};

static pcal_status mmce_configure(pc_options *options, const pc_layout *layout,
                                  pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_metric_choose_view(options, MMCE_VIEW, layout, config, err));
  config->need.machine = PC_CURVE;
  config->scores_alone = 1;
  config->on_cells = options->value[MMCE_WIDTH].number >= MMCE_ON_CELLS;
  config->sorts_alone = options->value[MMCE_WIDTH].number < MMCE_NARROWEST;
  config->bound = PCAL_BOUND_LOWER;
  if (options->value[MMCE_ESTIMATOR].choice == MMCE_U)
    config->traits |= PC_WHOLE_WEIGHTS;
  return PCAL_OK;
}

/* A compensated sum: `rest` holds the rounding errors of `value`. */
typedef struct mmce_sum {
  double value, rest;
} mmce_sum;

static void mmce_add(mmce_sum *sum, double term) {
  const double total = sum->value + term, back = total - sum->value;
  sum->rest += (sum->value - (total - back)) + (term - back);
  sum->value = total;
}

/* Sum of the residuals of all rows with one score. */
static double mmce_residual(const pc_curve_table *table, size_t i) {
  pc_fixed sum = {0};
  pc_fixed_add_weighted(&sum, table->weight[i], table->score[i]);
  pc_fixed_add_weighted(&sum, table->hits[i], -1.0);
  return pc_fixed_value(&sum);
}

/* sum_{i,j} r_i r_j exp(-|c_i - c_j| / width) over all i and j. */
static double mmce_pairs(const pc_curve_table *table, double width) {
  mmce_sum below = {0.0, 0.0}, total = {0.0, 0.0};
  double origin = table->score[0];
  for (size_t i = 0; i < table->count; i++) {
    const double residual = mmce_residual(table, i);
    double away = (table->score[i] - origin) / width;
    if (away > MMCE_SPAN) {
      const double shrink = pc_lane_exp(-away);
      below = (mmce_sum){below.value * shrink, below.rest * shrink};
      origin = table->score[i];
      away = 0.0;
    }
    const double grown = pc_lane_exp(away);
    mmce_add(&total, residual * residual);
    mmce_add(&total, 2 * residual * ((below.value + below.rest) / grown));
    mmce_add(&below, residual * grown);
  }
  return total.value + total.rest;
}

/* The terms with i = j. */
static double mmce_self(const pc_curve_table *table) {
  mmce_sum sum = {0.0, 0.0};
  for (size_t i = 0; i < table->count; i++) {
    const double c = table->score[i], hits = table->hits[i];
    mmce_add(&sum, (table->weight[i] - hits) * (c * c));
    mmce_add(&sum, hits * ((1 - c) * (1 - c)));
  }
  return sum.value + sum.rest;
}

/* Under calibration the variance of the unbiased square is 2 / N^2 times the mean of
 * (r_i r_j k_ij)^2; the slope is the one for a kernel of rank one. */
static pc_variance_model mmce_variance(const pc_curve_table *table, double width, double n) {
  mmce_sum below = {0.0, 0.0}, total = {0.0, 0.0};
  double origin = table->score[0];
  for (size_t i = 0; i < table->count; i++) {
    const double c = table->score[i], hits = table->hits[i];
    const double square = (table->weight[i] - hits) * (c * c) + hits * ((1 - c) * (1 - c));
    const double away = 2 * (c - origin) / width, shrink = pc_lane_exp(-away);
    below = (mmce_sum){below.value * shrink, below.rest * shrink};
    origin = c;
    mmce_add(&total, 2 * square * (below.value + below.rest));
    mmce_add(&below, square);
  }
  const double noise = 2 * (total.value + total.rest) / (n * n) / (n * n);
  return (pc_variance_model){noise, 2 * sqrt(2 * noise), 2.0};
}

/* Edge case 4: the level of cells. */
static unsigned mmce_level(const pc_options *options, const pc_curve_table *table) {
  const double width = options->value[MMCE_WIDTH].number;
  if (table->total < PC_POINT_JOIN_ROWS || width < MMCE_NARROWEST)
    return PC_EACH_SCORE;
  return width < MMCE_WIDE ? MMCE_NARROW_LEVEL : PC_POINT_JOIN_LEVEL;
}

static pcal_status mmce_cells(const pc_options *options, const pc_curve_table *table,
                              const pcal_env *env, unsigned *level, pcal_error *err) {
  const unsigned needed = mmce_level(options, table);
  (void)env;
  (void)err;
  *level = pc_point_masses_wants(table, needed, NULL) > 0 ? needed : 0;
  return PCAL_OK;
}

static void mmce_conclude(const pc_options *options, const pc_curve_table *table, double n,
                          pc_metric_result *out) {
  const double pairs = mmce_pairs(table, options->value[MMCE_WIDTH].number);
  const int unbiased = options->value[MMCE_ESTIMATOR].choice == MMCE_U;
  if (unbiased && n < 2) {
    out->undefined = 1;
    snprintf(out->why, sizeof out->why, "at least two rows are needed");
    return;
  }
  const double squared =
      unbiased ? (pairs - mmce_self(table)) / (n * (n - 1)) : pairs / (n * n);
  out->value = sqrt(fmax(squared, 0.0));
  if (n > 1) {
    pc_metric_result_inner(out, (pairs - mmce_self(table)) / (n * (n - 1)), 2);
    out->inner_variance = mmce_variance(table, options->value[MMCE_WIDTH].number, n);
  }
  pc_metric_result_part(out, "squared", squared);
}

static pcal_status mmce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                 const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  const unsigned level = mmce_level(options, table);
  pc_curve_table points;
  if (level == PC_EACH_SCORE && table->form == PC_CURVE_SCORES) {
    mmce_conclude(options, table, evidence->total, out);
    return PCAL_OK;
  }
  PC_TRY(pc_point_scores(env, table, level, &points, err));
  mmce_conclude(options, &points, evidence->total, out);
  pc_curve_table_free(env, &points);
  return PCAL_OK;
}

const pc_metric pc_metric_mmce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "mmce",
            .title = "maximum mean calibration error",
            .formula =
                "sqrt((1/N^2) sum_{i,j} (c_i - a_i) (c_j - a_j) exp(-|c_i - c_j|/width))\n"
                "estimator=u: sqrt(max(0, (1/(N(N-1))) sum_{i != j} ...))",
            .about =
                "Whether residuals of rows with similar scores agree in sign: the largest mean "
                "of residual times f(score) over functions f of norm 1 in the kernel's space. "
                "It needs no bins. With estimator=v each row is also paired with itself, which "
                "makes the value positive for a calibrated model with few rows; estimator=u "
                "omits these pairs, is unbiased before the root, and is 0 if its square is "
                "negative (see the part \"squared\"). Wider kernels detect only the mean "
                "residual, narrower ones are noisier. From 65,536 rows on, scores are joined "
                "in cells of 2^-14 (of 2^-17 for widths below 1/4, and not at all below 2^-7), "
                "which changes the square by at most 2e-4 at the default width, in practice by "
                "far less.",
            .citation = "Kumar, Sarawagi & Jain, Trainable calibration measures for neural "
                        "networks from kernel mean embeddings, ICML 2018",
            .notion = PCAL_NOTION_TOP_LABEL,
            .bound = PCAL_BOUND_LOWER,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .options = mmce_options,
            .option_count = sizeof mmce_options / sizeof *mmce_options,
        },
    .range = PC_RANGE_SHARE,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .for_any_weights = "mmce:estimator=v",
    .configure = mmce_configure,
    .evaluate = mmce_evaluate,
    .cells = mmce_cells,
};
