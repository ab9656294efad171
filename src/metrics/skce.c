/* skce, kce: the squared kernel calibration error, and its root.
 *
 * Formula:  h_ij = k(p_i, p_j) <e_{y_i} - p_i, e_{y_j} - p_j>
 *           k = exp(-d/s) or (kernel=gaussian) exp(-(d/s)^2 / 2)
 *           d = |p - q|_2 or (distance=tv) sum_c |p_c - q_c| / 2
 *           s = scale, a number or the median of d
 *           unbiased: mean of h_ij over i < j;  biased: over all i, j
 *           block=m:  mean over i < j inside each m consecutive rows, averaged over the blocks
 *           kce = sqrt(max(0, skce))
 * Edge cases:
 * (1) the unbiased and block estimators can be negative near calibration;
 * (2) a row of weight w counts as w rows: w (w - 1) / 2 pairs with itself, each |e_y - p|^2, or
 *     w^2 for the biased estimator, the only one that accepts weights that are not whole
 *     numbers;
 * (3) fewer than two rows: undefined, except for the biased estimator;
 * (4) the median is over all pairs i < j, copies included, halfway between the middle two; if
 *     it is 0 there is no kernel: undefined;
 * (5) blocks are cut at multiples of m of the row index; incomplete blocks, at the end or
 *     because a row is missing, are omitted; weights and a median of all pairs are refused;
 * (6) a one-column score is the vector (1 - p, p);
 * (7) kernel=gaussian with distance=tv is not positive definite for more than two classes: the
 *     population value can be negative there, and so can the biased estimate.
 * Source: Widmann, Lindsten & Zachariah 2019 and 2021, the matrix-valued kernel k times the
 * identity.
 * Accuracy: exponents to 2e-13 (pair_kernels.h); pairs of a tile are summed in a fixed order,
 * the tiles exactly.
 * Cost: N^2/2 pairs of 2 K operations and one exp, vectorised and over all threads; memory N K.
 * Blocks: N m / 2 pairs, memory m K.  The median: five times the pairs. */
#include <math.h>
#include <stdio.h>

#include "kernels/pair_tile.h"
#include "metrics/skce.h"
#include "stats/pair_median.h"
#include "stats/pair_sum.h"

enum { SKCE_ESTIMATOR, SKCE_BLOCK, SKCE_KERNEL, SKCE_DISTANCE, SKCE_SCALE };
enum { SKCE_UNBIASED, SKCE_BIASED, SKCE_BLOCKS };
enum { SKCE_MEDIAN = 0 }; /* choice of the option scale */
enum { SKCE_PARAM_TV, SKCE_PARAM_GAUSSIAN, SKCE_PARAM_SCALE };

#define SKCE_OPTIONS(fallback, about)                                                  \
  {                                                                                    \
    {"estimator", PCAL_OPTION_CHOICE, fallback, 0, 0, "unbiased|biased|block", about}, \
        {"block", PCAL_OPTION_INT, "2", 2, PC_BLOCK_MAX, NULL, "rows of a block"},     \
        PC_SKCE_KERNEL_OPTIONS,                                                        \
  }

static const pcal_option skce_options[] =
    SKCE_OPTIONS("unbiased", "unbiased: pairs of different rows; biased: all pairs, never "
                             "negative with a positive definite kernel; block: pairs "
                             "inside blocks of rows, for large data");
static const pcal_option kce_options[] =
    SKCE_OPTIONS("biased", "estimator before the root; biased: all pairs; unbiased: pairs "
                           "of different rows; block: pairs inside blocks of rows");

/* The mean of h over the pairs of one block. */
static double skce_block_value(const double *params, const pc_pair_rows *rows) {
  const pc_pair_form form =
      pc_pair_form_make(params[SKCE_PARAM_TV] > 0, params[SKCE_PARAM_GAUSSIAN] > 0,
                        params[SKCE_PARAM_SCALE], rows);
  const double count = (double)rows->count;
  pc_sum sum;
  pc_sum_clear(&sum);
  pc_skce_strip(&form, rows, 0, pc_pair_pack_count(rows), &sum);
  return pc_sum_value(&sum) / (count * (count - 1) / 2);
}

void pc_skce_read_blocks(const pc_skce_blocks *blocks, pc_metric_config *config) {
  config->need.machine = PC_BLOCK;
  config->need.block.value = skce_block_value;
  config->need.block.rows = blocks->rows;
  config->need.block.params[SKCE_PARAM_TV] = blocks->tv;
  config->need.block.params[SKCE_PARAM_GAUSSIAN] = blocks->gaussian;
  config->need.block.params[SKCE_PARAM_SCALE] = blocks->scale;
  config->traits &= ~(unsigned)(PC_ORDER_FREE | PC_FREQUENCY_WEIGHTS | PC_WHOLE_WEIGHTS);
  config->traits |= PC_NO_WEIGHTS | PC_BY_INDEX;
}

static pcal_status skce_configure_blocks(const pc_options *options, pc_metric_config *config,
                                         pcal_error *err) {
  const pc_option_value *value = options->value;
  if (value[SKCE_SCALE].choice == SKCE_MEDIAN)
    return pc_fail(err, PCAL_USAGE,
                   "%s: scale=median needs all pairs of rows, which estimator=block "
                   "avoids; give a number for scale or use another estimator",
                   options->name);
  const pc_skce_blocks blocks = {(size_t)value[SKCE_BLOCK].number, value[SKCE_DISTANCE].choice,
                                 value[SKCE_KERNEL].choice, value[SKCE_SCALE].number};
  pc_skce_read_blocks(&blocks, config);
  return PCAL_OK;
}

static pcal_status skce_configure(pc_options *options, const pc_layout *layout,
                                  pc_metric_config *config, pcal_error *err) {
  (void)layout;
  pc_option_value *value = options->value;
  if (value[SKCE_KERNEL].choice && value[SKCE_DISTANCE].choice)
    config->range.low = -config->range.high; /* this kernel is not positive definite */
  if (value[SKCE_ESTIMATOR].choice == SKCE_BLOCKS)
    return skce_configure_blocks(options, config, err);
  if (value[SKCE_BLOCK].given)
    return pc_fail(err, PCAL_USAGE, "%s: the option block needs estimator=block; add it",
                   options->name);
  value[SKCE_BLOCK].set = 0;
  config->need.machine = PC_PAIR;
  if (value[SKCE_ESTIMATOR].choice == SKCE_BIASED && value[SKCE_SCALE].choice != SKCE_MEDIAN)
    config->traits &= ~(unsigned)PC_WHOLE_WEIGHTS;
  return PCAL_OK;
}

static void skce_undefined(pc_metric_result *out, const char *why) {
  out->undefined = 1;
  snprintf(out->why, sizeof out->why, "%s", why);
}

/* Pairs of equal rows, by weight. */
static double skce_selves(const pc_pair_rows *rows, int biased) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t i = 0; i < rows->count; i++) {
    const double w = rows->weights[i], pairs = biased ? w * w : w * (w - 1) / 2;
    if (pairs > 0)
      pc_sum_add_product(&sum, pairs, pc_skce_self(rows, i));
  }
  return pc_sum_value(&sum);
}

/* Sum over rows of h_ii. */
static double skce_rows_alone(const pc_pair_rows *rows) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t i = 0; i < rows->count; i++)
    pc_sum_add_product(&sum, rows->weights[i], pc_skce_self(rows, i));
  return pc_sum_value(&sum);
}

#define SKCE_SCALE_LEAST 1e-100 /* smallest median whose square does not underflow */

/* Sets *scale to the option or to the median distance; to 0 if undefined. */
static pcal_status skce_scale(const pc_skce_kernel *kernel, const pc_pair_rows *rows,
                              const pcal_env *env, pc_metric_result *out, double *scale,
                              pcal_error *err) {
  *scale = kernel->scale;
  if (kernel->scale > 0.0)
    return PCAL_OK;
  PC_TRY(pc_pair_median(env, rows, kernel->tv, scale, err));
  *scale = *scale < SKCE_SCALE_LEAST ? 0.0 : *scale;
  pc_metric_result_part(out, "scale", *scale);
  if (*scale <= 0.0)
    skce_undefined(out, "the median distance between rows is 0; give a number for scale");
  return PCAL_OK;
}

pc_skce_kernel pc_skce_kernel_read(const pc_option_value *value) {
  const double scale = value[2].choice == SKCE_MEDIAN ? 0.0 : value[2].number;
  return (pc_skce_kernel){value[0].choice, value[1].choice, scale};
}

static pcal_status skce_sum(const pc_skce_kernel *kernel, int biased,
                            const pc_evidence *evidence, const pcal_env *env,
                            pc_metric_result *out, pcal_error *err) {
  const pc_pair_rows *rows = &evidence->pair.rows;
  const double total = evidence->total;
  double scale = 0.0, sum = 0.0;
  PC_TRY(skce_scale(kernel, rows, env, out, &scale, err));
  if (out->undefined)
    return PCAL_OK;
  const pc_pair_form form = pc_pair_form_make(kernel->tv, kernel->gaussian, scale, rows);
  out->pairs_on_device = pc_pair_sum_on_device(&evidence->pair.queue, rows);
  PC_TRY(pc_pair_sum(env, &form, rows, &evidence->pair.queue, &sum, err));
  const double selves = skce_selves(rows, biased);
  out->value =
      biased ? (2 * sum + selves) / total / total : (sum + selves) / (total * (total - 1) / 2);
  if (!biased)
    pc_metric_result_inner(out, out->value, 1);
  else if (total > 1)
    pc_metric_result_inner(
        out, (2 * sum + selves - skce_rows_alone(rows)) / (total * (total - 1)), 1);
  return PCAL_OK;
}

pcal_status pc_skce_pairs(const pc_skce_kernel *kernel, int all_pairs,
                          const pc_evidence *evidence, const pcal_env *env,
                          pc_metric_result *out, pcal_error *err) {
  if (evidence->total < 2 && !(all_pairs && kernel->scale > 0.0)) {
    skce_undefined(out, "at least two rows are needed");
    return PCAL_OK;
  }
  return skce_sum(kernel, all_pairs, evidence, env, out, err);
}

static void skce_blocks(const pc_options *options, const pc_evidence *evidence,
                        pc_metric_result *out) {
  const double blocks = (double)evidence->block.count;
  pc_metric_result_part(out, "blocks", blocks);
  out->value = blocks > 0 ? evidence->block.sum / blocks : 0.0;
  pc_metric_result_inner(out, out->value, 1);
  if (blocks > 0)
    return;
  out->undefined = 1;
  snprintf(out->why, sizeof out->why,
           "no block of %.0f rows is complete; blocks begin at multiples of that row index",
           options->value[SKCE_BLOCK].number);
}

static pcal_status skce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                 const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  const int estimator = options->value[SKCE_ESTIMATOR].choice;
  if (estimator == SKCE_BLOCKS) {
    skce_blocks(options, evidence, out);
    return PCAL_OK;
  }
  const pc_skce_kernel kernel = pc_skce_kernel_read(&options->value[SKCE_KERNEL]);
  return pc_skce_pairs(&kernel, estimator == SKCE_BIASED, evidence, env, out, err);
}

static pcal_status kce_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  PC_TRY(skce_evaluate(options, evidence, env, out, err));
  out->value = out->value > 0 ? sqrt(out->value) : 0.0;
  if (out->inner_power > 0)
    out->inner_power = 2;
  return PCAL_OK;
}

#define SKCE_TRAITS \
  (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_WHOLE_WEIGHTS | PC_NEEDS_CLASSES)

const pc_metric pc_metric_skce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "skce",
            .title = "squared kernel calibration error",
            .formula = "2/(N(N-1)) sum_{i<j} exp(-|p_i - p_j|) <e_{y_i} - p_i, e_{y_j} - p_j>",
            .about =
                "Expectation zero if the whole probability vector is calibrated; unbiased, "
                "so it may be negative. Its cost grows with the square of the number of "
                "rows; estimator=block uses a few pairs per row and little memory.",
            .citation = "Widmann, Lindsten & Zachariah, Calibration tests in multi-class "
                        "classification, NeurIPS 2019",
            .notion = PCAL_NOTION_CANONICAL,
            .machine = PCAL_MACHINE_PAIR,
            .better = PCAL_BETTER_LOWER,
            .options = skce_options,
            .option_count = sizeof skce_options / sizeof *skce_options,
        },
    .range = {0.0, 2.0},
    .traits = SKCE_TRAITS | PC_SQUARED,
    .for_any_weights = "skce:estimator=biased",
    .configure = skce_configure,
    .evaluate = skce_evaluate,
};

const pc_metric pc_metric_kce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "kce",
            .title = "kernel calibration error",
            .formula =
                "sqrt(max(0, 1/N^2 sum_{i,j} exp(-|p_i - p_j|) <e_{y_i} - p_i, e_{y_j} - "
                "p_j>))",
            .about = "The root of the biased estimate of skce: the largest mean of (e_y - "
                     "p) f(p) over functions f of norm 1 in the kernel's space. Positive "
                     "for every finite sample.",
            .citation = "Widmann, Lindsten & Zachariah, Calibration tests in multi-class "
                        "classification, NeurIPS 2019",
            .notion = PCAL_NOTION_CANONICAL,
            .machine = PCAL_MACHINE_PAIR,
            .better = PCAL_BETTER_LOWER,
            .options = kce_options,
            .option_count = sizeof kce_options / sizeof *kce_options,
        },
    .range = {0.0, 1.4142135623730951},
    .traits = SKCE_TRAITS,
    .for_any_weights = "kce:estimator=biased",
    .configure = skce_configure,
    .evaluate = kce_evaluate,
};
