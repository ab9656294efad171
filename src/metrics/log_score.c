/* log: the logarithmic score (cross entropy, negative log-likelihood).
 *
 * Formula:  -(1/N) sum_i log p_{i, y_i}, natural logarithm
 * Edge cases:
 * (1) logits are converted by log-softmax, so that the logarithm of a tiny probability is
 *     accurate;
 * (2) a true class of probability exactly 0 makes the score infinite, and the result names the
 *     first such row; nothing is clipped silently;
 * (3) clip=c > 0 raises each p_y to at least c;
 * (4) probabilities are used as stored, so p_y = 1 + 1e-6 gives a value below 0.
 * Source: Good 1952.
 * Accuracy: each row to a few ulp, the mean exact.
 * Cost: one logarithm per row. */
#include <math.h>
#include <stdio.h>

#include "base/elementary.h"
#include "metrics/metric.h"
#include "metrics/score_needs.h"

enum { LOG_CLIP };

static const pcal_option log_score_options[] = {
    {"clip", PCAL_OPTION_REAL, "0", 0, 0.5, NULL,
     "raise the probability of the true class to at least this; 0: no clipping"},
};

/* Edge case 3. */
static double log_score_lowest(double clip) {
  return clip > 0 ? pc_log(clip) : -INFINITY;
}

static void log_score_values(const double *params, const pc_rows *rows, size_t begin,
                             size_t count, double *out) {
  const double lowest = log_score_lowest(params[0]);
  for (size_t i = 0; i < count; i++)
    out[i] = pc_row_value_log(rows->log_true[begin + i], lowest);
}

void pc_need_log(pc_need *need, double clip) {
  need->machine = PC_SUM;
  need->sum.values = log_score_values;
  need->sum.value_count = 1;
  need->sum.params[0] = clip;
  need->sum.needs_log = 1;
  need->sum.row_value = PC_ROW_VALUE_LOG;
  need->sum.lowest = log_score_lowest(clip);
}

static pcal_status log_score_configure(pc_options *options, const pc_layout *layout,
                                       pc_metric_config *config, pcal_error *err) {
  (void)layout;
  (void)err;
  pc_need_log(&config->need, options->value[LOG_CLIP].number);
  return PCAL_OK;
}

static pcal_status log_score_evaluate(const pc_options *options, const pc_evidence *evidence,
                                      const pcal_env *env, pc_metric_result *out,
                                      pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  out->value = evidence->sum.value[0] / evidence->total;
  if (evidence->sum.infinite[0] > 0) {
    out->value = INFINITY;
    snprintf(out->why, sizeof out->why,
             "row %llu gives its true class probability 0, so the score is infinite; "
             "log:clip=1e-15 keeps it finite",
             (unsigned long long)evidence->sum.infinite_row[0]);
  }
  return PCAL_OK;
}

static double log_score_limit(const pc_options *options) {
  const double clip = options->value[LOG_CLIP].number;
  return clip > 0 ? -pc_log(clip) : 0.0;
}

const pc_metric pc_metric_log = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "log",
            .title = "log score (negative log-likelihood)",
            .formula = "-(1/N) sum_i log p_{i,y_i}",
            .about = "A proper score, lower is better, natural logarithm. Infinite if a "
                     "true class has probability 0; the result then names the row. Logits "
                     "are converted by log-softmax in double precision, without clipping.",
            .citation = "Good, Rational decisions, Journal of the Royal Statistical Society B "
                        "1952",
            .notion = PCAL_NOTION_PROPER,
            .bound = PCAL_BOUND_UPPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
            .unit = PCAL_UNIT_NATS,
            .options = log_score_options,
            .option_count = sizeof log_score_options / sizeof *log_score_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_NEEDS_CLASSES | PC_LOSS |
              PC_PROPER_SCORE | PC_SQUARED,
    .loss_limit = log_score_limit,
    .configure = log_score_configure,
    .evaluate = log_score_evaluate,
};
