/* skce for regression: the squared kernel calibration error of normal predictions.
 *
 * Formula, with all values divided by the option length:
 *   h_ij = exp(-W) (k(y_i, y_j) - A(mu_i, s_i; y_j) - A(mu_j, s_j; y_i) + G)
 *   W = sqrt((mu_i - mu_j)^2 + (s_i - s_j)^2)   (Wasserstein distance)
 *   k(y, y') = exp(-(y - y')^2 / 2)
 *   A(mu, s; y) = exp(-(mu - y)^2 / (2 (1 + s^2))) / sqrt(1 + s^2)
 *   G = exp(-(mu_i - mu_j)^2 / (2 (1 + s_i^2 + s_j^2))) / sqrt(1 + s_i^2 + s_j^2)
 *   unbiased: mean of h_ij over i < j;  biased: over all i, j
 *   block=m:  mean over i < j inside each m consecutive rows, averaged over the blocks
 * Edge cases:
 * (1) the unbiased and block estimators can be negative;
 * (2) a row of weight w counts as w rows: w (w - 1) / 2 pairs with itself, or w^2 for the
 *     biased estimator, the only one that accepts weights that are not whole numbers;
 * (3) fewer than two rows: undefined, except for the biased estimator;
 * (4) blocks are cut at multiples of m of the row index, incomplete ones are omitted, and
 *     weights are refused;
 * (5) with length=1 targets on a large scale give about 0: standardise them, or set length to
 *     their standard deviation;
 * (6) samples and quantiles are refused.
 * Source: Widmann, Lindsten & Zachariah 2021, product of exp(-W) and the Gaussian kernel.
 * Accuracy: 1e-14 of a pair; pairs of a row are summed in a fixed order, the rows exactly.
 * Cost: N^2 / 2 pairs of five exponentials and three roots, over all threads; memory 40 N.
 * Blocks: N m / 2 pairs, memory 40 m. */
#include "metrics/skce_gaussian.h"

#include <math.h>
#include <stdio.h>

#include "base/executor.h"
#include "base/sum.h"
#include "kernels/lane_math.h"
#include "metrics/forecast_metric.h"

#define SKCE_GAUSSIAN_STRIP 64  /* rows per task */
#define SKCE_GAUSSIAN_COST 40.0 /* nanoseconds per pair */

enum { SKCE_GAUSSIAN_ESTIMATOR, SKCE_GAUSSIAN_BLOCK, SKCE_GAUSSIAN_LENGTH };
enum { SKCE_GAUSSIAN_UNBIASED, SKCE_GAUSSIAN_BIASED, SKCE_GAUSSIAN_BLOCKS };

static const pcal_option skce_gaussian_options[] = {
    {"estimator", PCAL_OPTION_CHOICE, "unbiased", 0, 0, "unbiased|biased|block",
     "unbiased: pairs of different rows; biased: all pairs, never negative; block: pairs "
     "inside blocks of rows, for large data"},
    {"block", PCAL_OPTION_INT, "2", 2, PC_BLOCK_MAX, NULL, "rows of a block"},
    {"length", PCAL_OPTION_REAL, "1", 1e-9, 1e9, NULL,
     "divisor of means, standard deviations and targets"},
};

static pc_gaussian_row skce_gaussian_load(const pc_pair_rows *rows, size_t i, double length) {
  return (pc_gaussian_row){*pc_pair_prob(rows, i, 0) / length,
                           *pc_pair_prob(rows, i, 1) / length,
                           *pc_pair_prob(rows, i, 2) / length};
}

/* E k(Y, y) for Y of variance v - 1 around a mean at distance d. */
static double skce_gaussian_expected(double d, double v) {
  return pc_lane_exp(-d * d / (2 * v)) / sqrt(v);
}

static double skce_gaussian_pair(const pc_gaussian_row *a, const pc_gaussian_row *b) {
  const double between = a->mean - b->mean, widths = a->deviation - b->deviation;
  const double va = a->deviation * a->deviation, vb = b->deviation * b->deviation;
  const double near = pc_lane_exp(-sqrt(between * between + widths * widths));
  if (near <= 0.0)
    return 0.0;
  const double kernel = skce_gaussian_expected(a->target - b->target, 1.0) -
                        skce_gaussian_expected(a->mean - b->target, 1 + va) -
                        skce_gaussian_expected(b->mean - a->target, 1 + vb) +
                        skce_gaussian_expected(between, 1 + va + vb);
  return near * kernel;
}

double pc_skce_gaussian(const pc_gaussian_row *rows, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++)
    for (size_t j = i + 1; j < count; j++)
      sum += skce_gaussian_pair(&rows[i], &rows[j]);
  return count < 2 ? (double)NAN : sum / (0.5 * (double)count * (double)(count - 1));
}

/* Sum over pairs i < j with i in [begin, end). */
static double skce_gaussian_strip(const pc_pair_rows *rows, size_t begin, size_t end,
                                  double length) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t i = begin; i < end; i++) {
    const pc_gaussian_row here = skce_gaussian_load(rows, i, length);
    double row = 0.0;
    for (size_t j = i + 1; j < rows->count; j++) {
      const pc_gaussian_row there = skce_gaussian_load(rows, j, length);
      row += rows->weights[j] * skce_gaussian_pair(&here, &there);
    }
    pc_sum_add_product(&sum, rows->weights[i], row);
  }
  return pc_sum_value(&sum);
}

typedef struct skce_gaussian_work {
  const pc_pair_rows *rows;
  double length;
  double *sums; /* one per strip */
} skce_gaussian_work;

static pcal_status skce_gaussian_task(void *user, size_t index, size_t worker,
                                      pcal_error *err) {
  (void)worker;
  (void)err;
  const skce_gaussian_work *work = user;
  const size_t begin = index * SKCE_GAUSSIAN_STRIP, end = begin + SKCE_GAUSSIAN_STRIP;
  work->sums[index] = skce_gaussian_strip(
      work->rows, begin, end < work->rows->count ? end : work->rows->count, work->length);
  return PCAL_OK;
}

static pcal_status skce_gaussian_sum(const pcal_env *env, const pc_pair_rows *rows,
                                     double length, double *out, pcal_error *err) {
  const size_t strips = (rows->count + SKCE_GAUSSIAN_STRIP - 1) / SKCE_GAUSSIAN_STRIP;
  skce_gaussian_work work = {rows, length, pc_alloc(env, strips, sizeof(double))};
  if (work.sums == NULL)
    return pc_fail_memory(err, "summing pairs");
  const double cost = SKCE_GAUSSIAN_COST * (double)rows->count * (double)rows->count / 2;
  const pcal_status status =
      pc_run_with_progress(env, "pairing rows", strips, cost, skce_gaussian_task, &work, err);
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t s = 0; s < strips && status == PCAL_OK; s++)
    pc_sum_add(&sum, work.sums[s]);
  *out = pc_sum_value(&sum);
  pc_free(env, work.sums);
  return status;
}

/* Pairs of equal rows, by weight. */
static double skce_gaussian_selves(const pc_pair_rows *rows, double length, int biased) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t i = 0; i < rows->count; i++) {
    const double w = rows->weights[i], pairs = biased ? w * w : w * (w - 1) / 2;
    const pc_gaussian_row here = skce_gaussian_load(rows, i, length);
    if (pairs > 0)
      pc_sum_add_product(&sum, pairs, skce_gaussian_pair(&here, &here));
  }
  return pc_sum_value(&sum);
}

static double skce_gaussian_block(const double *params, const pc_pair_rows *rows) {
  const double count = (double)rows->count;
  return skce_gaussian_strip(rows, 0, rows->count, params[0]) / (count * (count - 1) / 2);
}

static pcal_status skce_gaussian_configure(pc_options *options, const pc_layout *layout,
                                           pc_metric_config *config, pcal_error *err) {
  pc_option_value *value = options->value;
  PC_TRY(pc_forecast_need_gaussian(options, layout, err));
  if (value[SKCE_GAUSSIAN_ESTIMATOR].choice == SKCE_GAUSSIAN_BLOCKS) {
    config->need.machine = PC_BLOCK;
    config->need.block.value = skce_gaussian_block;
    config->need.block.rows = (size_t)value[SKCE_GAUSSIAN_BLOCK].number;
    config->need.block.params[0] = value[SKCE_GAUSSIAN_LENGTH].number;
    config->traits &= ~(unsigned)(PC_ORDER_FREE | PC_FREQUENCY_WEIGHTS | PC_WHOLE_WEIGHTS);
    config->traits |= PC_NO_WEIGHTS | PC_BY_INDEX;
    return PCAL_OK;
  }
  if (value[SKCE_GAUSSIAN_BLOCK].given)
    return pc_fail(err, PCAL_USAGE, "%s: the option block needs estimator=block; add it",
                   options->name);
  value[SKCE_GAUSSIAN_BLOCK].set = 0;
  config->need.machine = PC_PAIR;
  if (value[SKCE_GAUSSIAN_ESTIMATOR].choice == SKCE_GAUSSIAN_BIASED)
    config->traits &= ~(unsigned)PC_WHOLE_WEIGHTS;
  return PCAL_OK;
}

static void skce_gaussian_blocks(const pc_options *options, const pc_evidence *evidence,
                                 pc_metric_result *out) {
  const double blocks = (double)evidence->block.count;
  pc_metric_result_part(out, "blocks", blocks);
  out->undefined = !(blocks > 0);
  out->value = blocks > 0 ? evidence->block.sum / blocks : 0.0;
  if (out->undefined)
    snprintf(out->why, sizeof out->why,
             "no block of %.0f rows is complete; blocks begin at multiples of that row index",
             options->value[SKCE_GAUSSIAN_BLOCK].number);
}

static pcal_status skce_gaussian_evaluate(const pc_options *options,
                                          const pc_evidence *evidence, const pcal_env *env,
                                          pc_metric_result *out, pcal_error *err) {
  const int estimator = options->value[SKCE_GAUSSIAN_ESTIMATOR].choice;
  const double length = options->value[SKCE_GAUSSIAN_LENGTH].number, total = evidence->total;
  const int biased = estimator == SKCE_GAUSSIAN_BIASED;
  double sum = 0.0;
  if (estimator == SKCE_GAUSSIAN_BLOCKS) {
    skce_gaussian_blocks(options, evidence, out);
    return PCAL_OK;
  }
  if (total < 2 && !biased) {
    out->undefined = 1;
    snprintf(out->why, sizeof out->why, "at least two rows are needed");
    return PCAL_OK;
  }
  PC_TRY(skce_gaussian_sum(env, &evidence->pair.rows, length, &sum, err));
  const double selves = skce_gaussian_selves(&evidence->pair.rows, length, biased);
  out->value =
      biased ? (2 * sum + selves) / total / total : (sum + selves) / (total * (total - 1) / 2);
  return PCAL_OK;
}

const pc_metric pc_metric_skce_gaussian = {
    .row =
        {
            .registry = PCAL_METRICS,
            .task = PCAL_REGRESSION,
            .name = "skce",
            .title = "squared kernel calibration error of normal predictions",
            .formula =
                "2/(N(N-1)) sum_{i<j} exp(-W_ij) (k(y_i, y_j) - E k(Y_i, y_j) - E k(y_i, "
                "Y_j) + E k(Y_i, Y_j))",
            .about = "Expectation zero if each prediction is the distribution of its "
                     "targets; unbiased, so it may be negative. W is the Wasserstein "
                     "distance of predictions, k(y, y') = exp(-(y - y')^2 / 2). Targets "
                     "should have a standard deviation of about 1: standardise them, or "
                     "set length. Its cost grows with the square of the number of rows; "
                     "estimator=block uses a few pairs per row. For classes there is a "
                     "metric of the same name.",
            .citation = "Widmann, Lindsten & Zachariah, Calibration tests beyond "
                        "classification, ICLR 2021",
            .notion = PCAL_NOTION_CANONICAL,
            .machine = PCAL_MACHINE_PAIR,
            .better = PCAL_BETTER_LOWER,
            .options = skce_gaussian_options,
            .option_count = sizeof skce_gaussian_options / sizeof *skce_gaussian_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_FORECAST_TRAITS | PC_WHOLE_WEIGHTS | PC_SQUARED,
    .for_any_weights = "skce:estimator=biased",
    .configure = skce_gaussian_configure,
    .evaluate = skce_gaussian_evaluate,
};
